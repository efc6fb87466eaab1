/* SPDX-License-Identifier: MIT */
/* state.c - the two states of the runtime, see base.h. */
#include "base.h"

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

/* In .data. The image holds FRESH; the first change of the state overwrites it, so a running system never has it
 * here. */
#define FRESH	0x46726573U
#define STARTED 0x53746172U
static volatile unsigned int image_mark = FRESH;

bool kasan_starts_again(const void *dst, const void *src, size_t n)
{
	const uintptr_t before = (uintptr_t)&image_mark - (uintptr_t)dst;
	unsigned int loaded = image_mark;

	/* If this is the copy that loads .data, its source holds the image's mark at the same place. */
	if (loaded != FRESH && src && n >= sizeof(loaded) && before <= n - sizeof(loaded) &&
	    kasan_port_readable((const char *)src + before, sizeof(loaded)))
		__memcpy(&loaded, (const char *)src + before, sizeof(loaded));
	if (loaded != FRESH)
		return false;
	__atomic_store_n(&kasan_reporting, KASAN_NOT_YET, __ATOMIC_RELAXED);
	return true;
}

void kasan_set_reporting(enum kasan_reporting reporting)
{
	image_mark = STARTED;
	__atomic_store_n(&kasan_reporting, reporting, __ATOMIC_RELEASE);
}

bool kasan_enabled(void)
{
	return kasan_live();
}
