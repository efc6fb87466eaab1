/* SPDX-License-Identifier: MIT */
/* kasan.h - KASAN's hot paths on this architecture. <kernel/arch.h> has the rest. */
#ifndef ASM_KASAN_H
#define ASM_KASAN_H

#include <kasan/kasan.h>
#include <kernel/types.h>
#include <asm/memory.h>

#ifdef CONFIG_KASAN_SHADOW_OFFSET
/* kasan_blocks[]: bits beside a block's physical address. If neither is set, the block is the shared page
 * KASAN_SHADOW_OPEN. */
#define KASAN_BLOCK_FREE 1UL /* the shared page of KASAN_PAGE_FREE */
#define KASAN_BLOCK_REAL 2UL /* its own memory */
/* Bytes of RAM that a block of 2 MiB of shadow describes: 16 MiB, with software tags 32 MiB. */
#define KASAN_BLOCK_SHIFT (21 + KASAN_SHADOW_SCALE_SHIFT)
extern u64 *kasan_blocks;
void __kasan_want_linear_shadow(unsigned long va);

/**
 * kasan_want_linear_shadow() - make the shadow of @p, an address in the linear map, writable
 *
 * The page allocator calls it before it unpoisons a page. One call serves all memory of the same shadow
 * block, so one call is enough for each block of the allocator. Any context, any CPU; cannot fail.
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
/* Does not change after early boot. */
extern bool mte_may_be_async;

/**
 * arch_check_async_faults() - report bad accesses that the CPU has noted, in the modes async and asymm
 *
 * Called where a thread or an interrupt leaves the CPU: context switch, end of an interrupt, return to user mode.
 */
static __always_inline void arch_check_async_faults(void)
{
	if (unlikely(mte_may_be_async))
		kasan_check_async_faults();
}

/**
 * arch_check_async_faults_in() - the same after a callback @func, which others may wait for
 *
 * Without it the report would come after a waiter has continued, perhaps on another CPU, and would blame
 * the thread that calls many callbacks, not the one callback.
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
