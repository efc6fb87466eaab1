// SPDX-License-Identifier: MIT
/* program.c - the beginning and the end of a program that uses the C library: what musl/start.c calls. */
#include <kernel/printk.h>
#include <kernel/types.h>

#include "../program/internal.h"
#include "libc.h"
#include "threads.h"

/* What a shell shows for a program that it could not start. */
#define NO_MEMORY_STATUS 126

static void roots(program_scan_fn scan)
{
	libc_memory_roots(scan);
	libc_threads_roots(scan);
}

static struct program_library library = {
	.is_member = libc_is_member,
	.stop_threads = libc_stop_threads,
	.say_missing = libc_say_missing,
	.save_files = libc_save_files,
	.roots = roots,
};

void redzone_libc_begin(int *(*location)(void))
{
	library.errno_location = location;
	program_use_library(&library);
	if (!libc_files_reset()) {
		pr_err("program: no memory for its files\n");
		program_exit(NO_MEMORY_STATUS);
	}
	libc_memory_reset();
	libc_signals_reset();
	libc_faults_reset();
	libc_threads_reset();
}

void redzone_libc_constructors(void)
{
	program_run_constructors();
}

void redzone_libc_destructors(void)
{
	program_run_destructors();
}

char **redzone_libc_environ(void)
{
	return program_environ();
}
