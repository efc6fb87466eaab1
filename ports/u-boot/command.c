// SPDX-License-Identifier: MIT
/*
 * command.c - the command `kasan`: plants one bug of each kind, instrumented like U-Boot's own code, to show that
 * the port works. Also says how many reports there were.
 */
#include <common.h>
#include <command.h>
#include <malloc.h>

#include "uboot.h"

/* Of <kasan/kasan.h>, see uboot.h. */
unsigned long kasan_report_count(void);
/* Of the runtime: never checked. */
void *__memset(void *dest, int value, size_t size);

/* Hides the value of a pointer or an index from the compiler. */
#define opaque(value) asm volatile("" : "+r"(value))

static volatile char table[10];

static noinline char *make_buffer(size_t size)
{
	char *buffer = malloc(size);

	opaque(buffer);
	return buffer;
}

static noinline void drop_buffer(char *buffer)
{
	free(buffer);
}

static noinline void bug_heap(void)
{
	char *buffer = make_buffer(21);
	size_t at = 21;

	opaque(at);
	buffer[at] = 'x';
	drop_buffer(buffer);
}

static noinline void bug_uaf(void)
{
	char *buffer = make_buffer(40);
	volatile char seen;

	drop_buffer(buffer);
	opaque(buffer);
	seen = buffer[5];
	(void)seen;
}

static noinline void bug_double_free(void)
{
	char *buffer = make_buffer(16);

	drop_buffer(buffer);
	opaque(buffer);
	drop_buffer(buffer);
}

/* The runtime's own words about a chunk, overwritten by something that no check sees. */
static noinline void bug_header(void)
{
	char *buffer = make_buffer(16);

	__memset(buffer - 48, 0x5a, 48);
	drop_buffer(buffer);
}

static noinline void bug_global(void)
{
	size_t at = sizeof(table);

	opaque(at);
	table[at] = 'x';
}

static noinline void bug_stack(void)
{
	char local[10];
	size_t at = sizeof(local);
	char *pointer = local;

	opaque(at);
	opaque(pointer);
	pointer[at] = 'x';
}

static const struct bug {
	const char *name;
	void (*run)(void);
} bugs[] = {
	{"heap", bug_heap},	{"uaf", bug_uaf},	{"double-free", bug_double_free},
	{"header", bug_header}, {"global", bug_global}, {"stack", bug_stack},
};

static int do_kasan(struct cmd_tbl *cmdtp, int flag, int argc, char *const argv[])
{
	int i;

	if (argc == 1) {
		printf("KASAN reports: %lu\n", kasan_report_count());
		return CMD_RET_SUCCESS;
	}
	if (!strcmp(argv[1], "again")) {
		uboot_forget_reports();
		return CMD_RET_SUCCESS;
	}
	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(argv[1], bugs[i].name)) {
			bugs[i].run();
			return CMD_RET_SUCCESS;
		}
	}
	return CMD_RET_USAGE;
}

U_BOOT_CMD(kasan, 2, 0, do_kasan, "count KASAN reports, or plant a bug",
	   "- how many reports there were\n"
	   "kasan again - report every place anew, also those that were reported several times\n"
	   "kasan heap|uaf|double-free|header|global|stack - do something that must be reported");
