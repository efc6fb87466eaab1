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

static char no_key[] = "";
static char *key = no_key;
core_param("each.key", key, charp, "a word",
	   "in the lines that say when one of many programs begins and ends");

/* The first report since a program began. Written in the context of the bug, read after the program's
 * end, so no lock; volatile, as the compiler sees no call that could change it. */
static volatile bool reported;
static const char *bug_type = "no type";
static uintptr_t bug_ip;

#ifdef CONFIG_KASAN
static void note_report(const struct kasan_report_info *info)
{
	if (reported)
		return;
	bug_type = info->bug_type;
	bug_ip = info->ip;
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
		scnprintf(why, sizeof(why), "KASAN: %s in %pS", bug_type, (void *)bug_ip);
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

/* Return: a copy of @argv with @name before it, which the program may keep; NULL without memory. */
static char **copy_argv(const char *name, int argc, char **argv)
{
	char **copy = kcalloc((size_t)argc + 1, sizeof(*copy), GFP_KERNEL);

	if (!copy)
		return NULL;
	for (int i = 0; i < argc; i++) {
		copy[i] = kstrdup(i ? argv[i] : name, GFP_KERNEL);
		if (copy[i])
			continue;
		while (i--)
			kfree(copy[i]);
		kfree(copy);
		return NULL;
	}
	return copy;
}

bool run_programs(int argc, char **argv)
{
	unsigned int count = redzone_nr_programs;
	unsigned long memory = nr_free_pages();
	bool ok = true;

#ifdef CONFIG_KASAN
	kasan_save_multi_shot();
	kasan_report_hook(note_report);
#endif
	printk("KTAP version 1\n");
	printk("1..%u\n", count);
	for (unsigned int number = first; number <= count; number++) {
		const struct program_entry *entry = &redzone_programs[number - 1];
		enum program_end end = PROGRAM_NO_THREAD;
		int status = -ENOMEM;
		char **own;

		if (nr_free_pages() < memory / 2) {
			printk("# each: half of the memory is gone; %u wants another boot\n",
			       number);
			break;
		}
		reported = false;
		printk("# each %s: %u begins\n", key, number);
		own = copy_argv(entry->name, argc, argv);
		if (own)
			end = program_run_one(entry, argc, own, timeout_ms, &status);
		ok &= print_result(number, entry->name, end, status);
	}
	return ok;
}
