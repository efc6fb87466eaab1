/* SPDX-License-Identifier: MIT */
/* sqlite.c - for ./redzone bench time: 20 rows go into an indexed table in memory, are summed up and deleted. */
#include <sqlite3.h>
#include <stdlib.h>

#include "work.h"

static void sql(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		exit(1);
}

void work(unsigned long rounds, unsigned int thread)
{
	sqlite3_stmt *insert, *sum;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		exit(1);
	sql(db, "create table t(id integer primary key, word text, number real);"
		"create index words on t(word);");
	if (sqlite3_prepare_v2(db, "insert into t(word, number) values(?1 || ' word', ?1 * 1.5)",
			       -1, &insert, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "select count(*), sum(number) from t where word > '1'", -1, &sum,
			       NULL) != SQLITE_OK)
		exit(1);
	while (rounds--) {
		sql(db, "begin");
		for (int i = 0; i < 20; i++) {
			sqlite3_bind_int(insert, 1, 100 + i * 7 + (int)thread);
			if (sqlite3_step(insert) != SQLITE_DONE)
				exit(1);
			sqlite3_reset(insert);
		}
		if (sqlite3_step(sum) != SQLITE_ROW || sqlite3_column_int(sum, 0) != 20)
			exit(1);
		sqlite3_reset(sum);
		sql(db, "delete from t; commit");
	}
	sqlite3_finalize(insert);
	sqlite3_finalize(sum);
	if (sqlite3_close(db) != SQLITE_OK)
		exit(1);
}
