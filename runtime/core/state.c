/* SPDX-License-Identifier: MIT */
/*
 * state.c - the two states of the runtime, see internal.h.
 */
#include "internal.h"

bool kasan_hooks_off;
unsigned int kasan_reporting;

void kasan_set_reporting(enum kasan_reporting reporting)
{
	__atomic_store_n(&kasan_reporting, reporting, __ATOMIC_RELEASE);
}

bool kasan_enabled(void)
{
	return kasan_live();
}
