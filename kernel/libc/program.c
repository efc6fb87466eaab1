// SPDX-License-Identifier: MIT
/* program.c - the beginning and the end of a program that uses the large C library: what musl/start.c calls. */
#include <kernel/printk.h>
#include <kernel/types.h>

#include "../ulib/ulib.h"
#include "libc.h"
#include "threads.h"

/* What a shell shows for a program that it could not start. */
#define NO_MEMORY_STATUS 126

void redzone_libc_begin(int *(*location)(void))
{
	if (!libc_files_reset()) {
		pr_err("program: no memory for its files\n");
		ulib_end_program(NO_MEMORY_STATUS);
	}
	libc_memory_reset();
	libc_signals_reset();
	libc_faults_reset();
	libc_threads_reset();
	ulib_use_errno(location);
}

void redzone_libc_constructors(void)
{
	ulib_run_constructors();
}

void redzone_libc_destructors(void)
{
	ulib_run_destructors();
}

char **redzone_libc_environ(void)
{
	return ulib_environ();
}
