// SPDX-License-Identifier: MIT
/* program.c - the beginning and the end of a program that uses the large C library: what musl/start.c calls. */
#include <kernel/types.h>

#include "../ulib/ulib.h"
#include "libc.h"

void redzone_libc_begin(int *(*location)(void))
{
	libc_files_reset();
	libc_signals_reset();
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
	static char *none[] = {NULL};

	return none;
}
