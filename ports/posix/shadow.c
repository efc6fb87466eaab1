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
 * The shadow lies where neither position-independent programs (0x55...), fixed ones (0x400000) nor
 * libraries and stacks (0x7f...) are placed.
 */
#define USER_SPACE_END (1UL << 47)
#define SHADOW_SIZE    (USER_SPACE_END >> KASAN_SHADOW_SCALE_SHIFT)

void kasan_posix_reserve_shadow(void)
{
	void *want = (void *)CONFIG_KASAN_SHADOW_OFFSET;
	void *got = mmap(want, SHADOW_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED)
		kasan_posix_die("cannot map the shadow: ", strerror(errno));
	/* Kernels before 4.17 take the flag for a hint. */
	if (got != want)
		kasan_posix_die("cannot map the shadow: ", "its address range is taken");
	/* Keep 16 TiB of zeroes out of core files. */
	madvise(got, SHADOW_SIZE, MADV_DONTDUMP);
}

#else

/* Windowed: the owner of watched memory gives kasan_window_add() the shadow for it. */
void kasan_posix_reserve_shadow(void)
{
}

#endif
