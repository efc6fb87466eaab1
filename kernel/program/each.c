// SPDX-License-Identifier: MIT
/*
 * each.c - many programs in one boot: one after the other, each with a verdict of its own.
 *
 * A verdict is one KTAP line. For tools a line "# each KEY: NUMBER begins" comes before the program's output,
 * and "# each KEY: NUMBER ends: VERDICT" after it. A program cannot fake these lines, because it does not know
 * each.key=. Only the first report of a program counts; later ones, such as those of a thread that was
 * given up, are printed and change nothing. Memory that a program leaks is never reused, because a pointer
 * to it may still exist. When half of the memory is gone, the rest of the programs is left to another boot.
 */
#include <kasan/kasan.h>
#include <kernel/errno.h>
#include <kernel/gfp.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "internal.h"

static unsigned int timeout_ms = 60000;
range_param("each.timeout_ms", timeout_ms, 1, 4294967295, "a number of milliseconds",
	    "time of each of many programs; one that takes longer is ended");

static unsigned int first = 1;
range_param("each.first", first, 1, 4294967295, "a number",
	    "first of many programs to run, counted from 1");

/* Ranges of numbers, as set_only() has accepted them. The host leaves out what it knows the verdict of. */
static const char *only = "";

/* Read one "N" or "N-M" at @text. Return: what follows it, NULL if it is malformed. */
static const char *next_range(const char *text, unsigned int *low, unsigned int *high)
{
	unsigned int *bounds[] = {low, high};

	*high = 0;
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		unsigned long long value = 0;

		if (*text < '0' || *text > '9')
			return NULL;
		for (; *text >= '0' && *text <= '9'; text++) {
			value = value * 10 + (unsigned int)(*text - '0');
			if (value > UINT_MAX)
				return NULL;
		}
		*bounds[i] = (unsigned int)value;
		if (*text != '-' || i)
			break;
		text++;
	}
	if (!*high)
		*high = *low;
	if (!*low || *high < *low || (*text && *text != ','))
		return NULL;
	return *text ? text + 1 : text;
}

static bool is_chosen(unsigned int number)
{
	unsigned int low, high;

	for (const char *text = only; *text;) {
		text = next_range(text, &low, &high);
		if (low <= number && number <= high)
			return true;
	}
	return !*only;
}

static int set_only(const char *value, void *var)
{
	unsigned int low, high;
	const char *text = value;

	if (!value || !*value)
		return -EINVAL;
	while (*text) {
		text = next_range(text, &low, &high);
		if (!text)
			return -EINVAL;
	}
	only = value;
	return 0;
}
setup_param("each.only", set_only, "numbers and ranges of them, as in `2,5-9`",
	    "of many programs, run only these");

static char no_key[] = "";
static char *key = no_key;
core_param("each.key", key, charp, "a word",
	   "in the lines that say when one of many programs begins and ends");

/* The first report since a program began. Written in the context of the bug, read after the program's
 * end, so no lock; volatile, as the compiler sees no call that could change it. */
static volatile bool reported;
static const char *bug_type = "no type";
static uintptr_t bug_ip;
static bool bug_is_undefined;

#if defined(CONFIG_KASAN) || defined(KASAN_ALONE)
static void note_report(const struct kasan_report_info *info)
{
	if (reported)
		return;
	bug_type = info->bug_type;
	bug_ip = info->ip;
	bug_is_undefined = info->is_undefined;
	reported = true;
}
#endif

/* Copy @name with a backslash before each '#', which would start a comment in KTAP. */
static void escape_name(char *copy, size_t size, const char *name)
{
	size_t len = 0;

	for (; *name && len + 2 < size; name++) {
		if (*name == '#')
			copy[len++] = '\\';
		copy[len++] = *name;
	}
	copy[len] = '\0';
}

/* Return: true if it ended well. */
static bool print_result(unsigned int number, const char *name, enum program_end end, int status)
{
	char shown[256], why[128];
	bool ok = false;

	escape_name(shown, sizeof(shown), name);
	if (reported) {
		scnprintf(why, sizeof(why), "%s: %s in %pS", bug_is_undefined ? "UBSAN" : "KASAN",
			  bug_type, (void *)bug_ip);
	} else if (end == PROGRAM_RETURNED && program_leaks()->count) {
		const struct program_leaks *leaks = program_leaks();

		scnprintf(why, sizeof(why), "leak: %lu objects of %lu bytes in %s", leaks->count,
			  leaks->bytes, leaks->where ? leaks->where : "no function");
	} else if (end == PROGRAM_RETURNED) {
		ok = !status;
		scnprintf(why, sizeof(why), "returned %d", status);
	} else if (end == PROGRAM_KILLED) {
		scnprintf(why, sizeof(why), "crashed");
	} else if (end == PROGRAM_TIMEOUT) {
		scnprintf(why, sizeof(why), "no end after %u ms", timeout_ms);
	} else {
		scnprintf(why, sizeof(why), "no memory to begin with: error %d", -status);
	}
	if (ok)
		printk("ok %u %s\n", number, shown);
	else
		printk("not ok %u %s # %s\n", number, shown, why);
	printk("# each %s: %u ends: %s\n", key, number, why);
	return ok;
}

/* Return: a copy of the arguments that the program may keep, @name first; NULL without memory. The others are those of
 * @argv, or if @text is not NULL the strings that follow each other there. */
static char **copy_argv(const char *name, int argc, char **argv, const char *text)
{
	char **copy = kcalloc((size_t)argc + 1, sizeof(*copy), GFP_KERNEL);

	if (!copy)
		return NULL;
	for (int i = 0; i < argc; i++) {
		copy[i] = kstrdup(!i ? name : text ? text : argv[i], GFP_KERNEL);
		if (copy[i]) {
			if (i && text)
				text += strlen(text) + 1;
			continue;
		}
		while (i--)
			kfree(copy[i]);
		kfree(copy);
		return NULL;
	}
	return copy;
}

/* Return: the arguments of program @number, in @argc as well: those that the host gave it in a file, with a NUL after each,
 * or else those of all programs, which @argc and @argv are. NULL without memory. */
static char **arguments_of(unsigned int number, const char *name, int *argc, char **argv)
{
	size_t size;
	const char *text = program_setting_of("arguments", number, &size);

	if (!text || (size && text[size - 1]))
		return copy_argv(name, *argc, argv, NULL);
	*argc = 1;
	for (size_t i = 0; i < size; i++)
		*argc += !text[i];
	return copy_argv(name, *argc, argv, text);
}

bool run_programs(int argc, char **argv)
{
	unsigned int count = redzone_nr_programs;
	unsigned long memory = nr_free_pages();
	bool ok = true;

#if defined(CONFIG_KASAN) || defined(KASAN_ALONE)
	kasan_save_multi_shot();
	kasan_report_hook(note_report);
#endif
	printk("KTAP version 1\n");
	printk("1..%u\n", count);
	for (unsigned int number = first; number <= count; number++) {
		const struct program_entry *entry = &redzone_programs[number - 1];
		enum program_end end = PROGRAM_NO_THREAD;
		int status = -ENOMEM, own_argc = argc;
		char **own;

		if (!is_chosen(number))
			continue;
		if (nr_free_pages() < memory / 2) {
			printk("# each: half of the memory is gone; %u wants another boot\n",
			       number);
			break;
		}
		reported = false;
		printk("# each %s: %u begins\n", key, number);
		own = arguments_of(number, entry->name, &own_argc, argv);
		program_environ_choose(number);
		if (own)
			end = program_run_one(entry, own_argc, own, timeout_ms, &status);
		ok &= print_result(number, entry->name, end, status);
	}
	return ok;
}
