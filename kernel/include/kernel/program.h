/* SPDX-License-Identifier: MIT */
/* program.h - the ordinary C program linked into the kernel, as the rest of the kernel sees it. */
#ifndef KERNEL_PROGRAM_H
#define KERNEL_PROGRAM_H

#include <kernel/types.h>

/** redzone_program_main() - the program's main(), renamed by -Dmain=redzone_program_main. Weak:
 * NULL in a kernel that was linked without a program. */
int redzone_program_main(int argc, char **argv) __weak;

/** program_hook_t - a constructor or destructor of a program, as an entry of their arrays */
typedef void (*const program_hook_t)(void);

/* What tools/constructors.py took out of the program's .init_array and .fini_array, in the order of the
 * calls, NULL behind the last. Weak: absent without any. */
extern program_hook_t redzone_ctors_program[] __weak;
extern program_hook_t redzone_dtors_program[] __weak;

/**
 * run_program() - run the linked program to its end in a thread of its own
 * @argc, @argv: as for main(): argv[0] is the program's name, argv[argc] is NULL. With @argc 0 the
 *	program gets one argument, "program".
 *
 * Prints "program returned N" for a value other than 0. May sleep; one program at a time.
 *
 * Return: main()'s value or exit()'s argument; -EFAULT if the kernel killed the thread (see
 * program_was_killed()), -ENOENT if no program is linked, -ENOMEM without memory for the thread.
 */
int run_program(int argc, char **argv);

/**
 * struct program_entry - one of many programs linked into one kernel
 * @name: its argv[0]. @main: its main(), by a name of its own. @ctors, @dtors: its constructors and
 * destructors, NULL behind the last; NULL without any.
 */
struct program_entry {
	const char *name;
	int (*main)(int argc, char **argv);
	program_hook_t *ctors;
	program_hook_t *dtors;
};

/* The table that redzone_add_programs() makes; weak: absent in other kernels. */
extern const struct program_entry redzone_programs[] __weak;
extern const unsigned int redzone_nr_programs __weak;

/** have_programs() - Return: true if the kernel has a table of programs. */
static inline bool have_programs(void)
{
	return &redzone_nr_programs != NULL;
}

/**
 * run_programs() - run the table's programs one after the other, and print one KTAP result each
 * @argc, @argv: arguments of every program; argv[0] is overwritten with its name.
 *
 * Each runs in a thread of its own that ends with its first KASAN report, by an oops, or when
 * each.timeout_ms= have passed. Their memory is not given back. May sleep.
 *
 * Return: true if all of them ended by themselves with 0, without a report.
 */
bool run_programs(int argc, char **argv);

/** program_was_killed() - Return: true if the last run_program() ended because its thread was
 * killed (an oops), false if it returned a value of its own. */
bool program_was_killed(void);

/** program_flush() - write out a partial line of the program's output, so that what follows stands
 * behind it. Uninstrumented, takes no lock but the console's, any context: a report calls it first.
 */
void program_flush(void);

#endif
