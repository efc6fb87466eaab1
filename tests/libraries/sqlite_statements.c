// SPDX-License-Identifier: MIT
/*
 * Runs 10,000 statements on a database in memory: floating point, indices, joins, aggregates, windows, JSON, full-text
 * search, r-trees, transactions.
 *
 * Each statement gives a line with its rows and a checksum of their text, so that two machines can be compared.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

/* A shorter run has fewer. */
#ifndef STATEMENTS
#define STATEMENTS 10000
#endif

static sqlite3 *db;
static int statements;
static uint32_t state = 20;

static const char *const words[] = {"alpha",   "beta", "gamma", "delta",
				    "epsilon", "zeta", "eta",	"theta"};

static uint32_t draw(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

/* A number with a fraction, from -1e9 to 1e9, and as often near to 0. */
static double fraction(void)
{
	static const double scales[] = {1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9};

	double number = ((double)draw(2000001) - 1000000) / 1000003;

	return number * scales[draw(6)];
}

/* Run the statement that sqlite3_mprintf() makes of @format, print its line, and return its first value as text in
 * @first. A statement that fails ends the program, unless a constraint of the tables forbids it. */
static void run(char *first, size_t room, const char *format, ...)
{
	sqlite3_stmt *statement = NULL;
	uint32_t sum = 2166136261U;
	int status, rows = 0;
	va_list arguments;

	va_start(arguments, format);
	char *text = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	statements++;
	if (first != NULL)
		first[0] = '\0';
	status = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
	while (status == SQLITE_OK || status == SQLITE_ROW) {
		status = sqlite3_step(statement);
		if (status != SQLITE_ROW)
			break;
		rows++;
		for (int column = 0; column < sqlite3_column_count(statement); column++) {
			const char *value = (const char *)sqlite3_column_text(statement, column);

			value = value != NULL ? value : "NULL";
			if (rows == 1 && column == 0 && first != NULL)
				snprintf(first, room, "%s", value);
			for (const char *at = value; *at != '\0'; at++)
				sum = (sum ^ (uint8_t)*at) * 16777619U;
			sum = (sum ^ '|') * 16777619U;
		}
	}
	sqlite3_finalize(statement);
	printf("%d: %d rows, %08x, status %d\n", statements, rows, sum, status);
	if (status != SQLITE_DONE && status != SQLITE_CONSTRAINT) {
		printf("%s: %s\n", text, sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_free(text);
}

#define RUN(...) run(NULL, 0, __VA_ARGS__)

static void create(void)
{
	RUN("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, stock "
	    "INTEGER CHECK (stock >= 0),"
	    " note TEXT)");
	RUN("CREATE TABLE sale (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item(id), amount "
	    "REAL, day TEXT)");
	RUN("CREATE INDEX item_name ON item (name, price DESC)");
	RUN("CREATE INDEX sale_item ON sale (item)");
	RUN("CREATE UNIQUE INDEX item_note ON item (note) WHERE note IS NOT NULL");
	RUN("CREATE VIEW total AS SELECT item, sum(amount) AS amount FROM sale GROUP BY item");
	RUN("CREATE TRIGGER sold AFTER INSERT ON sale BEGIN UPDATE item SET stock = max(0, stock - "
	    "1) WHERE id = new.item;"
	    " END");
	RUN("CREATE VIRTUAL TABLE page USING fts5(title, body)");
	RUN("CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1)");
}

/* The values in the next statement. Drawn before its text is made: a compiler may evaluate arguments in any order. */
struct values {
	double x, y;
	int item, number, other, small;
	const char *words[5];
};

static struct values draw_values(void)
{
	struct values v;

	v.x = fraction();
	v.y = fraction();
	v.item = (int)draw(600);
	v.number = (int)draw(100000);
	v.other = (int)draw(400);
	v.small = (int)draw(10);
	for (int i = 0; i < 5; i++)
		v.words[i] = words[draw(sizeof(words) / sizeof(words[0]))];
	return v;
}

static void change(void)
{
	struct values v = draw_values();

	switch (draw(10)) {
	case 0:
	case 1:
		RUN("INSERT INTO item (name, price, stock, note) VALUES (%Q, %!.15g, %d, 'note "
		    "%d')",
		    v.words[0], v.x, v.other, v.number);
		break;
	case 2:
	case 3:
		RUN("INSERT INTO sale (item, amount, day) VALUES (%d, %!.15g, date('2024-01-01', "
		    "'+%d days'))",
		    v.item, v.x, v.other);
		break;
	case 4:
		RUN("UPDATE item SET price = round(price * %!.15g, 4) WHERE id = %d",
		    1 + (double)v.small / 100, v.item);
		break;
	case 5:
		RUN("UPDATE item SET stock = stock - %d WHERE name = %Q AND price < %!.15g",
		    v.small, v.words[0], v.x);
		break;
	case 6:
		RUN("DELETE FROM sale WHERE id = %d", v.other);
		break;
	case 7:
		RUN("INSERT INTO page VALUES ('%s %s', '%s %s %s %d')", v.words[0], v.words[1],
		    v.words[2], v.words[3], v.words[4], v.other);
		break;
	case 8:
		RUN("INSERT INTO box VALUES (NULL, %d, %d, %d, %d)", v.item % 100,
		    100 + v.other % 100, v.number % 100, 100 + v.small * 10);
		break;
	default:
		RUN("REPLACE INTO item (id, name, price, stock) VALUES (%d, %Q, %!.15g, %d)",
		    v.item, v.words[0], v.y, v.small);
	}
}

static void ask(void)
{
	struct values v = draw_values();

	switch (draw(12)) {
	case 0:
		RUN("SELECT %!.15g + %!.15g, %!.15g * %!.15g, printf('%%.9f', %!.15g), "
		    "round(%!.15g, 3), CAST(%!.15g AS INTEGER)",
		    v.x, v.y, v.x, v.y, v.x, v.y, v.x);
		break;
	case 1:
		RUN("SELECT name, count(*), printf('%%.10g', sum(price)), printf('%%.10g', "
		    "avg(price)) FROM item GROUP BY name");
		break;
	case 2:
		RUN("SELECT item.id, name, printf('%%.10g', sum(amount * price)) FROM item JOIN "
		    "sale ON sale.item = item.id"
		    " WHERE name = %Q GROUP BY item.id ORDER BY 3 DESC, 1 LIMIT 20",
		    v.words[0]);
		break;
	case 3:
		RUN("SELECT id, price, rank() OVER (PARTITION BY name ORDER BY price) FROM item "
		    "WHERE id BETWEEN %d AND %d",
		    v.other, v.other + 4 * v.small);
		break;
	case 4:
		RUN("SELECT json_extract('{\"a\":[%d,{\"b\":%!.15g}]}', '$.a[1].b'), "
		    "json_array(%!.15g, %Q)",
		    v.small, v.x, v.y, v.words[0]);
		break;
	case 5:
		RUN("SELECT rowid, highlight(page, 0, '<', '>') FROM page WHERE page MATCH '%s AND "
		    "%s' ORDER BY rowid",
		    v.words[0], v.words[1]);
		break;
	case 6:
		RUN("SELECT id, x0, y1 FROM box WHERE x0 < %d AND y1 > %d ORDER BY id", v.other / 4,
		    100 + v.small * 10);
		break;
	case 7:
		RUN("WITH RECURSIVE n(i, f) AS (SELECT 1, %!.15g UNION ALL SELECT i + 1, f / 2 "
		    "FROM n WHERE i < 30)"
		    " SELECT count(*), printf('%%.12g', sum(f)), printf('%%.12e', min(f)) FROM n",
		    v.x);
		break;
	case 8:
		RUN("SELECT strftime('%%Y-%%W', day), count(*) FROM sale GROUP BY 1 ORDER BY 2 "
		    "DESC, 1 LIMIT 5");
		break;
	case 9:
		RUN("SELECT upper(name) || '-' || hex(substr(note, 1, 3)), like('%%%d%%', note) "
		    "FROM item WHERE note GLOB '*%d'",
		    v.small, v.number % 100);
		break;
	case 10:
		RUN("SELECT item.id FROM item LEFT JOIN total ON total.item = item.id WHERE "
		    "total.amount > %!.15g"
		    " EXCEPT SELECT id FROM item WHERE price < %!.15g",
		    v.x, v.y);
		break;
	default:
		RUN("SELECT printf('%%.10g', sqrt(abs(%!.15g))), printf('%%.10g', exp(%!.15g)), "
		    "printf('%%.10g', sin(%!.15g))",
		    v.x, v.x / 1e9, v.y);
	}
}

int main(void)
{
	char said[64];

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return 1;
	printf("SQLite %s\n", sqlite3_libversion());
	create();
	while (statements < STATEMENTS - 3) {
		uint32_t kind = draw(100);

		if (kind == 0 && statements < STATEMENTS - 20) {
			RUN("BEGIN");
			for (int i = 0; i < 8; i++)
				change();
			RUN(draw(2) != 0 ? "COMMIT" : "ROLLBACK");
		} else if (kind < 60) {
			change();
		} else {
			ask();
		}
	}
	RUN("VACUUM");
	RUN("SELECT count(*), printf('%%.10g', total(price)) FROM item");
	run(said, sizeof(said), "PRAGMA integrity_check");
	printf("%d statements, integrity: %s\n", statements, said);
	if (sqlite3_close(db) != SQLITE_OK)
		return 1;
	return strcmp(said, "ok") != 0;
}
