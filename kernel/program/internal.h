/* SPDX-License-Identifier: MIT */
/*
 * internal.h - how a program runs: shared by the files of this folder and by the C library's side of the kernel,
 * kernel/libc, which stands above it and registers itself with program_use_library().
 */
#ifndef PROGRAM_INTERNAL_H
#define PROGRAM_INTERNAL_H

#include <kernel/types.h>

/* --- host.c: standard streams and environment ------------------------------------------------- */

/** program_output() - print @size bytes. Bytes of one call stay together. */
void program_output(const char *text, size_t size);

/** program_hides() - Return: true if programs do not see the file @name of the boot image. */
bool program_hides(const char *name);
/** program_setting() - Return: the @size bytes of the hidden file @name; NULL if there is none. */
const char *program_setting(const char *name, size_t *size);
/** program_setting_of() - the same for the hidden file "<name>.<number>". @name: at most 12 characters. */
const char *program_setting_of(const char *name, unsigned int number, size_t *size);
/** program_environ_choose() - the next program is this one of many, which may have an environment of its own. @number: from 1. */
void program_environ_choose(unsigned int number);
/** program_environ_begin() - a new program's environment, all as the host gave it. May sleep. Return: false if there is
 *  no memory. */
bool program_environ_begin(void);
/** program_environ() - Return: the program's environment, with NULL after the last. program_environ_size() - Return: its
 *  bytes. */
char **program_environ(void);
size_t program_environ_size(void);
/** program_input_is_terminal() - Return: true if somebody types it; false if it is a pipe, a file, or empty. */
bool program_input_is_terminal(void);
/** program_input() - read standard input. Sleeps until there is something. Return: bytes, 0 at its end; -1 on an
 *  error. */
long program_input(void *buf, size_t size);
/** program_input_reset() - let standard input begin anew. */
void program_input_reset(void);

/* --- program.c -------------------------------------------------------------------------------- */

/** program_exit() - end the program's thread with @status. */
_Noreturn void program_exit(int status);

/** program_errno() - Return: the calling thread's errno, which the allocation functions set. */
int *program_errno(void);

/** program_run_constructors() - call the constructors of the running program that were not called yet. */
void program_run_constructors(void);

/** program_run_destructors() - call the remaining destructors of the running program. */
void program_run_destructors(void);

typedef void (*program_scan_fn)(const void *start, size_t size);

/**
 * struct program_library - what the C library of the running program does for it
 * @errno_location: of the calling thread.
 * @is_member: is the caller one of the program's threads, but not the first?
 * @stop_threads: end all of those, and return when they are gone. May sleep; not called by a thread of the program.
 * @say_missing: the program has ended: print what it wanted in vain.
 * @save_files: the program has ended: give the host the files that it wants. May sleep.
 * @roots: call @scan for all memory by which the program's threads, but for the caller, find objects, apart from variables.
 *	No other thread runs meanwhile. May not sleep.
 */
struct program_library {
	int *(*errno_location)(void);
	bool (*is_member)(void);
	void (*stop_threads)(void);
	void (*say_missing)(void);
	void (*save_files)(void);
	void (*roots)(program_scan_fn scan);
};

/** program_library_roots() - @roots of the running program's library. */
void program_library_roots(program_scan_fn scan);

/** program_use_library() - the running program's library is ready. @library: stays valid. */
void program_use_library(const struct program_library *library);

/* --- leaks.c --- */

/** struct program_leaks - what the last program has lost. @where: the function that lost most; NULL: nothing is lost, or
 *  it has no name. */
struct program_leaks {
	unsigned long count, bytes;
	const char *where;
};
const struct program_leaks *program_leaks(void);

/** program_leaks_begin() - a program begins, which the calling thread will run. program_leaks_end() - it ends by itself, in
 *  the calling thread: if program.leaks= says so, report what nothing points to. @frame: the thread's stack from there on
 *  is the program's. Both may sleep. */
void program_leaks_begin(void);
void program_leaks_end(const void *frame);

struct program_entry;

/** enum program_end - how a program of many came to its end */
enum program_end {
	PROGRAM_RETURNED,  /* from main(), or by exit() */
	PROGRAM_KILLED,	   /* by its first report or an oops */
	PROGRAM_TIMEOUT,   /* it was still running */
	PROGRAM_NO_THREAD, /* it did not begin: no memory */
};

/** program_run_one() - run one program of many. @argv must stay as it is for ever. @status: filled with the
 *  exit value, or the error of PROGRAM_NO_THREAD. May sleep; one at a time. */
enum program_end program_run_one(const struct program_entry *entry, int argc, char **argv,
				 unsigned int timeout_ms, int *status);

#endif
