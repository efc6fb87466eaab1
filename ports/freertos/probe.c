/* SPDX-License-Identifier: MIT */
/*
 * probe.c - the one file of this port that is compiled with checks: it looks whether checked code works.
 */
#include <kasan/kasan.h>

#include "internal.h"

/* The compiler puts a redzone behind it, and a constructor poisons that. */
static volatile char variable[3];

const char *freertos_probe(void)
{
	const char *wrong = kasan_check_offset();

	if (wrong)
		return wrong;
	variable[0] = 1;
	if (kasan_byte_accessible((const char *)variable + sizeof(variable)))
		return "global variables are not checked, because constructors have not run: the "
		       "linker script must "
		       "keep .init_array, and the start file must call its functions "
		       "(__libc_init_array())";
	return NULL;
}
