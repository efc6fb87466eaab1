/* SPDX-License-Identifier: MIT */
/* program.h - the kernel's interface to the ordinary C program that is linked into it. */
#ifndef KERNEL_PROGRAM_H
#define KERNEL_PROGRAM_H

#include <kernel/types.h>

struct task;

/** struct libc_stack - what sigaltstack() sets: Linux's stack_t, which a struct libc_ucontext has too */
struct libc_stack {
	void *sp;
	int flags;
	size_t size;
};

/** redzone_program_main() - the first function of the program's C library, which calls main(). Weak: NULL in a
 *  kernel without a program. */
int redzone_program_main(int argc, char **argv) __weak;

/** program_stack_size - bytes of a program's stack, from program.stack=. */
extern size_t program_stack_size;

/** program_hook_t - a constructor or destructor of a program, as an entry of their arrays */
typedef void (*const program_hook_t)(void);

/* Constructors and destructors that tools/build-scripts/constructors.py has taken out of the program's .init_array and
 * .fini_array, in the order of the calls, with NULL after the last. Weak: absent if there are none. */
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
 * program_was_killed()), -ENOENT if no program is linked, -ENOMEM if there is no memory for the thread.
 */
int run_program(int argc, char **argv);

/**
 * struct program_entry - one of many programs linked into one kernel
 * @name: its argv[0]. @main: the first function of its C library, which has a name of its own. @ctors, @dtors: its
 *	constructors and destructors, with NULL after the last; NULL if there are none. @on_error: its __asan_on_error(), or
 *	NULL.
 */
struct program_entry {
	const char *name;
	int (*main)(int argc, char **argv);
	program_hook_t *ctors;
	program_hook_t *dtors;
	void (*on_error)(void);
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
 * run_programs() - run the table's programs one after the other, and print a KTAP result for each
 * @argc, @argv: arguments of every program; argv[0] is overwritten with its name.
 *
 * Each runs in a thread of its own, which ends with its first KASAN report, with an oops, or after
 * each.timeout_ms= milliseconds. Their memory is not freed. May sleep.
 *
 * Return: true if every program returned 0 without a report.
 */
bool run_programs(int argc, char **argv);

/** program_no_memory() - the program asked for @size bytes that could not be had: the first time, print that the machine
 *  is too small. */
void program_no_memory(size_t size);

/** program_thread_died() - a thread ends because of an oops, by its first report, or because it is killed: if it is one of
 *  the program's, but not the first, the program ends. One of a program that hangs says where it is. Called by that
 *  thread, of whatever kind. */
void program_thread_died(void);

/** program_join_module() - wait for @task, which starts or ends the module @name, as run_program() waits for a program. If it
 *  takes longer than program.timeout_ms=, print that; if it runs, print its trace and end it. May sleep. Gives up the reference
 *  to @task. Return: true if it came to an end of its own; else it may still be there. */
bool program_join_module(struct task *task, const char *name);

/** program_was_killed() - Return: true if the last run_program() ended because its thread was killed (an
 *  oops), false if the program returned. */
bool program_was_killed(void);

/* --- Faults that a program may handle: libc/fault.c --- */

struct pt_regs;

/** enum program_fault_kind - why the CPU could not execute an instruction of the program */
enum program_fault_kind {
	PROGRAM_FAULT_UNMAPPED,	 /* nothing is at the address */
	PROGRAM_FAULT_PROTECTED, /* what is there must not be accessed like that */
	PROGRAM_FAULT_ALIGNMENT,
	PROGRAM_FAULT_BUS,
	PROGRAM_FAULT_UNDEFINED, /* no such instruction */
	PROGRAM_FAULT_TRAP,	 /* an instruction that asks for it */
	PROGRAM_FAULT_STACK,	 /* no room left on the stack */
};

/**
 * program_fault() - run the program's handler for a fault of the calling thread
 * @regs: the interrupted context, which the handler may change.
 * @addr: that could not be accessed, or of the instruction.
 *
 * Called with interrupts on and no lock held, on the stack of the thread. May not return: a handler may use longjmp(). Weak:
 * absent in kernels without a program.
 *
 * Return: false if there is no handler; true: the thread goes on with @regs.
 */
bool program_fault(struct pt_regs *regs, enum program_fault_kind kind, unsigned long addr) __weak;

/** program_has_stack_handler() - Return: true if the calling thread has a handler for PROGRAM_FAULT_STACK on another stack. Any
 *  context. Weak. */
bool program_has_stack_handler(void) __weak;

/** program_closed_page() - Return: true if the program has taken away its own right to access memory at @addr. The same
 *  context. Weak. */
bool program_closed_page(unsigned long addr) __weak;

/* --- What <kasan/asan_interface.h> calls: sanitizer/callbacks.c --- */

/** redzone_on_error_program() - the program's __asan_on_error(), under the name that tools/build-scripts/constructors.py
 *  gives it. Weak: absent if there is none. */
void redzone_on_error_program(void) __weak;

/** program_on_error - what __asan_on_error() calls; NULL: nothing. */
extern void (*program_on_error)(void);

/** program_start_callbacks() - a new program begins: it has no callbacks but @on_error, its __asan_on_error(), or NULL. */
void program_start_callbacks(void (*on_error)(void));

/* --- Objects that outlive a part of the program: program/leaks.c --- */

/** program_leaks_seen() - Return: programs that have ended with objects that nothing points to, with program.leaks=. */
unsigned int program_leaks_seen(void);

/** program_heap_watch - called for each object that the program allocates, before it gets it, and for each pointer that
 *  it frees, before that is checked. @size: bytes asked for, 0 for a free. NULL: none. */
extern void (*program_heap_watch)(void *ptr, size_t size, bool allocated);

/** program_objects_count() - count objects from now on. program_objects_counted() - stop. Return: how many more the
 *  program allocated than it freed since then. Both: task context. */
void program_objects_count(void);
long program_objects_counted(void);

/** redzone_leaks_begin() - list the program's objects from now on, each with its trace. For kernel/tests/fuzz/harness.c
 *  and the fuzzer's port. Task context. */
void redzone_leaks_begin(void);

/** redzone_leaks_end() - stop, and report the oldest object of the list that is still allocated, if there is one.
 *  @bytes: filled with the size of all of them. Return: their number. */
unsigned long redzone_leaks_end(unsigned long *bytes);

#endif
