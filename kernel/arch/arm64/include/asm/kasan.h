/* SPDX-License-Identifier: MIT */
/* kasan.h - where shadow memory comes from on this architecture. See also <asm/memory.h>. */
#ifndef ASM_KASAN_H
#define ASM_KASAN_H

#include <kernel/types.h>

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/** kasan_early_init() - map all shadow read-only to one zero page and the image's shadow to
 *  itself. Before any instrumented code; called by early_init(). */
void kasan_early_init(void);

/** kasan_shadow_init() - real shadow for all RAM in the linear map. After setup_arch(). */
void kasan_shadow_init(void);

/**
 * kasan_map_shadow() - give [@va, @va + @size) real shadow, zeroed where it is new
 *
 * Any context, any CPU. Shadow that is real already stays as it is, contents included. Never
 * undone.
 * Return: false if there is no memory; what was mapped so far stays.
 */
bool kasan_map_shadow(unsigned long va, size_t size);

/** kasan_shadow_is_real() - Return: true if the shadow of @va can be written. */
bool kasan_shadow_is_real(unsigned long va);

/** kasan_shadow_spurious_fault() - did a fault at shadow address @far meet a page table that
 *  another CPU was changing? Return: true: try the access again. */
bool kasan_shadow_spurious_fault(unsigned long far);

#else
static inline void kasan_early_init(void)
{
}
static inline void kasan_shadow_init(void)
{
}
static inline bool kasan_map_shadow(unsigned long va, size_t size)
{
	return true;
}
static inline bool kasan_shadow_is_real(unsigned long va)
{
	return false;
}
static inline bool kasan_shadow_spurious_fault(unsigned long far)
{
	return false;
}
#endif
#endif
