// SPDX-License-Identifier: MIT
/*
 * env.c - an environment, as it is read from a disk or given to `env import`: text or binary, with a checksum or
 * without. It goes to a table of its own, so that U-Boot's stays as it is.
 *
 * The first byte of the input says how; the environment is the rest.
 */
#include <common.h>
#include <env.h>
#include <env_flags.h>
#include <env_internal.h>
#include <malloc.h>
#include <search.h>

#include "target.h"

#define TEXT	 1
#define CRLF	 2
#define CHOSEN	 4
#define TWICE	 8
#define EXPORTED 4096

static void use(struct hsearch_data *table)
{
	static const char *const pieces[] = {"boot", "a"};
	struct env_entry *found = NULL, item = {.key = "new", .data = "value"};
	char *text = NULL;

	if (hexport_r(table, '\n', H_HIDE_DOT, &text, 0, 0, NULL) > 0)
		free(text);
	text = NULL;
	hexport_r(table, '\0', H_MATCH_KEY | H_MATCH_DATA | H_MATCH_SUBSTR, &text, EXPORTED,
		  ARRAY_SIZE(pieces), (char *const *)pieces);
	free(text);
	text = NULL;
	hexport_r(table, '\n', H_MATCH_BOTH | H_MATCH_REGEX, &text, 0, 1, (char *const *)pieces);
	free(text);
	hsearch_r(item, ENV_ENTER, &found, table, 0);
	item.data = NULL;
	hsearch_r(item, ENV_FIND, &found, table, 0);
	hdelete_r("new", table, 0);
}

static int run(const unsigned char *data, unsigned long size)
{
	struct hsearch_data table = {.change_ok = env_flags_validate};
	static char *const names[] = {"bootcmd", "a", "absent"};
	const int some = size && data[0] & CHOSEN ? ARRAY_SIZE(names) : 0;
	char separator;

	if (!size)
		return -1;
	separator = data[0] & TEXT ? '\n' : '\0';
	if (himport_r(&table, (const char *)data + 1, size - 1, separator, 0, !!(data[0] & CRLF),
		      some, some ? names : NULL)) {
		if (data[0] & TWICE)
			himport_r(&table, (const char *)data + 1, size - 1, separator,
				  H_NOCLEAR | H_FORCE, 0, 0, NULL);
		use(&table);
	}
	if (table.table)
		hdestroy_r(&table);
	return 0;
}

const struct fuzz_target fuzz_env = {"env", NULL, run};
