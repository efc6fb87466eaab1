// SPDX-License-Identifier: MIT
/*
 * loongarch.c - the shadow of loongarch's windows: each of them, and the virtually mapped area, has one of its own.
 */
#include <linux/kasan.h>
#include <linux/pgtable.h>

#include <asm/fixmap.h>

#include "redzone.h"

#include "internal.h"

struct window {
	unsigned long start, size, shadow;
};

/* Runs for every access. Fixed mappings are devices and page tables: Linux has one page of zeroes for them. */
uintptr_t kasan_port_shadow(uintptr_t addr, uintptr_t *last)
{
	const struct window windows[] = {
		{XKPRANGE_UC_START, XKPRANGE_UC_SIZE, XKPRANGE_UC_SHADOW_OFFSET},
		{XKPRANGE_CC_START, XKPRANGE_CC_SIZE, XKPRANGE_CC_SHADOW_OFFSET},
		{XKPRANGE_WC_START, XKPRANGE_WC_SIZE, XKPRANGE_WC_SHADOW_OFFSET},
		{XKVRANGE_VC_START, XKVRANGE_VC_SIZE, XKVRANGE_VC_SHADOW_OFFSET},
	};
	unsigned int i;

	*last = ULONG_MAX;
	if (!kasan_arch_is_ready())
		return 0;
	if (addr >= FIXADDR_START) {
		*last = addr | ((PAGE_SIZE << KASAN_SHADOW_SCALE_SHIFT) - 1);
		return (uintptr_t)kasan_early_shadow_page +
		       ((addr >> KASAN_SHADOW_SCALE_SHIFT) & ~PAGE_MASK);
	}
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		if (addr < windows[i].start) {
			*last = windows[i].start - 1;
			return 0;
		}
		if (addr - windows[i].start < windows[i].size) {
			*last = windows[i].start + windows[i].size - 1;
			return windows[i].shadow +
			       ((addr & XRANGE_SHADOW_MASK) >> KASAN_SHADOW_SCALE_SHIFT);
		}
	}
	*last = FIXADDR_START - 1;
	return 0;
}
