/* SPDX-License-Identifier: MIT */
/*
 * state.c - the two states of the runtime, see internal.h.
 */
#include "internal.h"

bool kasan_hooks_off;
unsigned int kasan_slab_flags = KASAN_SLAB_TRACES;
unsigned int kasan_reporting;

void kasan_slab_set_flag(unsigned int flag, bool on)
{
	if (on)
		__atomic_fetch_or(&kasan_slab_flags, flag, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&kasan_slab_flags, ~flag, __ATOMIC_RELAXED);
}

void kasan_set_hooks_off(bool off)
{
	kasan_hooks_off = off;
	kasan_slab_set_flag(KASAN_SLAB_OFF, off);
}

void kasan_set_reporting(enum kasan_reporting reporting)
{
	__atomic_store_n(&kasan_reporting, reporting, __ATOMIC_RELEASE);
}

bool kasan_enabled(void)
{
	return kasan_live();
}
