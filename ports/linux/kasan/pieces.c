// SPDX-License-Identifier: MIT
/*
 * pieces.c - where the shadow lies on loongarch64, whose windows onto memory each have a piece of it.
 *
 * The window is in the upper 16 bits of an address. Linux has mapped the pieces one after the other: <asm/kasan.h>.
 */
#include <linux/kasan.h>
#include <linux/mm.h>

#include <asm/fixmap.h>

#include "redzone.h"

uintptr_t kasan_port_shadow(uintptr_t addr, uintptr_t *last)
{
	const unsigned long inside = (1UL << XRANGE_SHIFT) - 1;
	unsigned long offset;

	*last = addr | inside;
	if (!kasan_arch_is_ready())
		return 0;
	switch (addr >> XRANGE_SHIFT) {
	case XKPRANGE_CC_SEG:
		offset = XKPRANGE_CC_SHADOW_OFFSET;
		break;
	case XKPRANGE_UC_SEG:
		offset = XKPRANGE_UC_SHADOW_OFFSET;
		break;
	case XKPRANGE_WC_SEG:
		offset = XKPRANGE_WC_SHADOW_OFFSET;
		break;
	case XKVRANGE_VC_SEG:
		if (addr >= FIXADDR_START) {
			/* One page of zeros describes all of it. */
			*last = addr | ((PAGE_SIZE << KASAN_SHADOW_SCALE_SHIFT) - 1);
			return (uintptr_t)kasan_early_shadow_page +
			       (addr >> KASAN_SHADOW_SCALE_SHIFT) % PAGE_SIZE;
		}
		/* The shadow itself comes next, and has none. */
		*last = addr < KASAN_SHADOW_START ? KASAN_SHADOW_START - 1 : FIXADDR_START - 1;
		if (addr >= KASAN_SHADOW_START)
			return 0;
		offset = XKVRANGE_VC_SHADOW_OFFSET;
		break;
	default:
		return 0;
	}
	/* A CPU may have fewer bits of address than a window has room for. */
	if (addr & inside & ~XRANGE_SHADOW_MASK && addr >> XRANGE_SHIFT != XKVRANGE_VC_SEG)
		return 0;
	return ((addr & XRANGE_SHADOW_MASK) >> KASAN_SHADOW_SCALE_SHIFT) + offset;
}
