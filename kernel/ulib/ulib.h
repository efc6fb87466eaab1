/* SPDX-License-Identifier: MIT */
/*
 * ulib.h - declarations shared by the C library's own files.
 *
 * Two kinds of file live here and do not mix: ordinary C (format.c, scan.c, string.c ...) includes
 * only the library's headers, and the few that reach the kernel (malloc.c, program.c, host.c,
 * image_file.c) include the kernel's. Both declare an snprintf(), with different formats.
 */
#ifndef ULIB_H
#define ULIB_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* --- format.c --------------------------------------------------------------------------------- */

/** struct ulib_sink - where formatted characters go; @count: characters so far. */
struct ulib_sink {
	void (*put)(struct ulib_sink *sink, char c);
	size_t count;
};

/**
 * ulib_format() - format into @sink
 * @name: function to name in the message if the format is refused.
 *
 * Return: characters produced, at most INT_MAX; -1 with errno set if @fmt asks for what the kernel
 * does not have (nothing is then produced).
 */
int ulib_format(struct ulib_sink *sink, const char *name, const char *fmt, va_list args);

/* --- errno.c ---------------------------------------------------------------------------------- */

/** ulib_use_errno() - from now on errno is what @location() points at: that of another library. NULL: its own. */
void ulib_use_errno(int *(*location)(void));

/* --- image_file.c: files of the boot image ---------------------------------------------------- */

/** ulib_image_file() - find @path. @data, @size: filled. Return: false if there is none. */
bool ulib_image_file(const char *path, const unsigned char **data, size_t *size);

/* --- host.c: standard streams and environment ------------------------------------------------- */

/** ulib_output() - print @size bytes. Bytes of one call stay together. */
void ulib_output(const char *text, size_t size);

/** ulib_is_private() - Return: true if programs do not see the file @name of the boot image. */
bool ulib_is_private(const char *name);
/** ulib_host_setting() - Return: the @size bytes of the private file @name; NULL if there is none. */
const char *ulib_host_setting(const char *name, size_t *size);
/** ulib_environ_begin() - a new program's environment, all as the host gave it. May sleep. Return: false if there is
 *  no memory. */
bool ulib_environ_begin(void);
/** ulib_environ() - Return: the program's environment, with NULL behind the last. */
char **ulib_environ(void);
/** ulib_has_host_input() - Return: true if the host has standard input, false if it is empty. */
bool ulib_has_host_input(void);
/** ulib_host_input() - read standard input. Sleeps until there is something. Return: bytes, 0 at its end; -1 on an
 *  error. */
long ulib_host_input(void *buf, size_t size);
/** ulib_host_input_reset() - let standard input begin anew. */
void ulib_host_input_reset(void);

/* --- program.c -------------------------------------------------------------------------------- */

/** ulib_end_program() - end the program's thread with @status, without running atexit(). */
_Noreturn void ulib_end_program(int status);

struct program_entry;

/** enum ulib_end - how a program of many came to its end */
enum ulib_end {
	ULIB_RETURNED,	/* from main(), or by exit() */
	ULIB_KILLED,	/* by its first report or an oops */
	ULIB_TIMEOUT,	/* it was still running */
	ULIB_NO_THREAD, /* it did not begin: no memory */
};

/**
 * struct ulib_threads - what a library with threads tells about them
 * @is_member: is the caller one of the running program's threads, but not the first? @stop: end all of those, and return
 *	when they are gone. May sleep; not called by a thread of the program.
 */
struct ulib_threads {
	bool (*is_member)(void);
	void (*stop)(void);
};

/** ulib_use_threads() - the running program may have more than one thread. @threads: stays valid. */
void ulib_use_threads(const struct ulib_threads *threads);

/** ulib_run_constructors() - call the constructors of the running program that were not called yet. */
void ulib_run_constructors(void);

/** ulib_run_destructors() - call the remaining destructors of the running program. */
void ulib_run_destructors(void);

/** ulib_run_one() - run one program of many. @argv must stay as it is for ever. @status: filled with the
 *  exit value, or the error of ULIB_NO_THREAD. May sleep; one at a time. */
enum ulib_end ulib_run_one(const struct program_entry *entry, int argc, char **argv,
			   unsigned int timeout_ms, int *status);

/* --- stdio.c ---------------------------------------------------------------------------------- */

/** ulib_reset_streams() - stdin, stdout and stderr as they were at first. Nothing may be using them. */
void ulib_reset_streams(void);

/* --- stdlib.c --------------------------------------------------------------------------------- */

/** ulib_run_atexit() - call what atexit() registered, last first, each once; then the
 *  destructors. */
void ulib_run_atexit(void);
/** ulib_reset() - undo an earlier program's changes: atexit functions, rand() state, errno, the state of the
 *  standard streams. */
void ulib_reset(void);

#endif
