/* SPDX-License-Identifier: MIT */
/* shadow.c - where the shadow of a Linux process lies. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#ifdef CONFIG_KASAN_SHADOW_FULL

/*
 * User space of x86_64 ends at 2^47, so its shadow is 2^44 bytes (16 TiB) of address space. NORESERVE
 * memory costs nothing until it is touched, and reads as zero: everything starts out accessible.
 */
#define USER_SPACE_END (1UL << 47)
#define SHADOW_SIZE    (USER_SPACE_END >> KASAN_SHADOW_SCALE_SHIFT)

/* Map the shadow at @want, or, if that is NULL, anywhere. */
static void *map_shadow(void *want)
{
	const int place = want ? MAP_FIXED_NOREPLACE : 0;
	void *got = mmap(want, SHADOW_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | place, -1, 0);

	if (got == MAP_FAILED)
		kasan_posix_die("cannot map the shadow: ", strerror(errno));
	/* Kernels before 4.17 take the flag for a hint. */
	if (want && got != want)
		kasan_posix_die("cannot map the shadow: ", "its address range is taken");
	/* Keep 16 TiB of zeroes out of core files. */
	madvise(got, SHADOW_SIZE, MADV_DONTDUMP);
	return got;
}

#if defined(CONFIG_KASAN_SHADOW_DYNAMIC)

void kasan_posix_reserve_shadow(void)
{
	const char *wrong = kasan_shadow_place((uintptr_t)map_shadow(NULL), KASAN_POSIX_LOW,
					       USER_SPACE_END - 1);

	if (wrong)
		kasan_posix_die("cannot place the shadow: ", wrong);
}

#elif defined(CONFIG_KASAN_SHADOW_PIECES)

/* Each has room for all addresses, so that a test can move the border. */
static uintptr_t lower, upper;
static uintptr_t border = USER_SPACE_END;

void kasan_posix_reserve_shadow(void)
{
	lower = (uintptr_t)map_shadow(NULL);
	upper = (uintptr_t)map_shadow(NULL);
}

void kasan_posix_split_shadow(uintptr_t at)
{
	border = at;
}

uintptr_t kasan_port_shadow(uintptr_t addr, uintptr_t *last)
{
	if (addr - KASAN_POSIX_LOW >= USER_SPACE_END - KASAN_POSIX_LOW) {
		*last = addr < KASAN_POSIX_LOW ? KASAN_POSIX_LOW - 1 : UINTPTR_MAX;
		return 0;
	}
	*last = addr < border ? border - 1 : USER_SPACE_END - 1;
	/* Programs that are compiled with checks run before the shadow is there. */
	if (!upper)
		return 0;
	return (addr >> KASAN_SHADOW_SCALE_SHIFT) + (addr < border ? lower : upper);
}

#else

/* The shadow lies where neither position-independent programs (0x55...), fixed ones (0x400000) nor
 * libraries and stacks (0x7f...) are placed. */
void kasan_posix_reserve_shadow(void)
{
	map_shadow((void *)CONFIG_KASAN_SHADOW_OFFSET);
}

#endif

#else

/* Windowed: the owner of watched memory gives kasan_window_add() the shadow for it. */
void kasan_posix_reserve_shadow(void)
{
}

#endif
