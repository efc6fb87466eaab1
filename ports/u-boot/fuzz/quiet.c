// SPDX-License-Identifier: MIT
/*
 * quiet.c - U-Boot's console, which would be most of the time that an input takes.
 */
#include <common.h>
#include <asm/global_data.h>

#include "target.h"

DECLARE_GLOBAL_DATA_PTR;

void fuzz_quiet(int quiet)
{
	if (quiet)
		gd->flags |= GD_FLG_DISABLE_CONSOLE;
	else
		gd->flags &= ~GD_FLG_DISABLE_CONSOLE;
}
