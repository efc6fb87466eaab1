/* SPDX-License-Identifier: MIT */
/* kasan.h - KASAN's hot paths on this architecture. The rest is in <kernel/arch.h>. */
#ifndef ASM_KASAN_H
#define ASM_KASAN_H

#include <kasan/kasan.h>
#include <kernel/types.h>
#include <asm/memory.h>

#ifdef CONFIG_KASAN_SHADOW_OFFSET
/* kasan_blocks[]: bits beside a block's physical address. Neither: the shared page of what is accessible. */
#define KASAN_BLOCK_FREE 1UL /* the shared page of KASAN_PAGE_FREE */
#define KASAN_BLOCK_REAL 2UL /* its own memory */
/* Bytes of RAM that a block of 2 MiB describes: 16 MiB, with software tags 32 MiB. */
#define KASAN_BLOCK_SHIFT (21 + KASAN_SHADOW_SCALE_SHIFT)
extern u64 *kasan_blocks;
void __kasan_want_linear_shadow(unsigned long va);

/**
 * kasan_want_linear_shadow() - make sure that the shadow of @p, in the linear map, can be written
 *
 * For the page allocator, before a page that it hands out is unpoisoned. One call is enough for what lies
 * in the same block, so for each block of the allocator. Any context, any CPU; cannot fail.
 */
static inline void kasan_want_linear_shadow(const void *p)
{
	unsigned long at = kasan_untag_addr((unsigned long)p) - PAGE_OFFSET;
	const u64 *block = &kasan_blocks[at >> KASAN_BLOCK_SHIFT];

	if (unlikely(!(READ_ONCE(*block) & KASAN_BLOCK_REAL)))
		__kasan_want_linear_shadow((unsigned long)p);
}
#else
static inline void kasan_want_linear_shadow(const void *p)
{
}
#endif

#ifdef CONFIG_KASAN_HW_TAGS
/* Never changes after the first lines of the boot. */
extern bool mte_may_be_async;

/**
 * arch_check_async_faults() - report what the CPU found of late, in the modes async and asymm
 *
 * Called where a thread's time on the CPU ends, or an interrupt's: context switch, end of an interrupt, return
 * to user mode.
 */
static __always_inline void arch_check_async_faults(void)
{
	if (unlikely(mte_may_be_async))
		kasan_check_async_faults();
}

/**
 * arch_check_async_faults_in() - the same where a callback @func returns that others may wait for
 *
 * Whoever waits runs on at once, perhaps on another CPU, and the report would come after that; and a thread that
 * calls many would be named in the place of the one that is to blame.
 */
static __always_inline void arch_check_async_faults_in(const void *func)
{
	if (unlikely(mte_may_be_async))
		kasan_check_async_faults_at((unsigned long)func,
					    (unsigned long)__builtin_frame_address(0));
}
#else
static inline void arch_check_async_faults(void)
{
}

static inline void arch_check_async_faults_in(const void *func)
{
}
#endif

#endif
