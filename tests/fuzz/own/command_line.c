// SPDX-License-Identifier: MIT
/*
 * command_line.c - fuzzes the boot command line: kernel/lib/params.c, and the runtime's options.c and ignore.c.
 *
 * These files are the program's own here, with variables of their own, so no input changes the running kernel. For the
 * same reason the parameters below stand in for the kernel's, and empty functions for what options do.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/string.h>

/* Included, because each input begins with an empty table of settings. */
#include "../../../kernel/lib/params.c"
#include "../../../runtime/alloc/quarantine.h"
#include "../../../runtime/base/base.h"
#include "../../../runtime/tags/tags.h"
#include "../../../runtime/track/track.h"

/* --- Parameters of each type --- */

static bool a_switch;
static unsigned long a_number;
static unsigned int small;
static struct param_range a_range = {&small, 2, 100};
static const char *a_text;
static size_t a_size;

static int set_size(const char *value, void *var)
{
	return param_parse_size(value, var);
}

/* In place of the array that the linker makes. */
#define PARAMS 5
__attribute__((no_sanitize_address)) const struct kernel_param __init_params_start[PARAMS] = {
	{"switch", param_set_bool, &a_switch, "on|off", ""},
	{"the_number", param_set_ulong, &a_number, "a number", ""},
	{"range", param_set_range, &a_range, "2 to 100", ""},
	{"text", param_set_charp, &a_text, "a text", ""},
	{"size", set_size, &a_size, "a size", ""},
};
_Static_assert(sizeof(struct kernel_param) == 40, "the end of the array is behind its last entry");
__asm__(".globl __init_params_end\n__init_params_end = __init_params_start + 5 * 40");

/* --- What the options would do to the running kernel --- */

void kasan_set_reporting(enum kasan_reporting reporting)
{
}

void kasan_set_hooks_off(bool off)
{
}

void kasan_slab_set_flag(unsigned int flag, bool on)
{
}

void kasan_known_update(void)
{
}

void kasan_depot_set_size(size_t bytes)
{
}

void kasan_quarantine_update(void)
{
}

void kasan_quarantine_set_size(size_t bytes)
{
}

/* Formats as the kernel does, without the console, which would take most of the time. */
int printk(const char *fmt, ...)
{
	char line[256];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Settings point into the line. */
	static char *line;
	char *argv[8], *rest;

	nr_settings = 0;
	a_text = NULL;
	free(line);
	line = malloc(size + 1);
	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	param_early(line, "the-number");
	rest = parse_params(line);
	BUG_ON(rest && (rest < line || rest > line + size));
	BUG_ON(small && (small < a_range.low || small > a_range.high));
	if (rest) {
		const int argc = split_args(rest, argv, ARRAY_SIZE(argv));

		for (int i = 0; i < argc; i++)
			BUG_ON(argv[i] < line || argv[i] + strlen(argv[i]) > line + size);
	}
	return 0;
}
