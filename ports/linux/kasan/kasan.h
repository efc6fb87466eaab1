/* SPDX-License-Identifier: MIT */
/* kasan.h - what Linux's own files in this folder, init.c and the tests, include: names that they use. */
#ifndef MM_KASAN_KASAN_H
#define MM_KASAN_KASAN_H

#include <linux/kasan.h>
#include <linux/kasan-tags.h>

#if defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_SW_TAGS)
#define KASAN_GRANULE_SIZE (1UL << KASAN_SHADOW_SCALE_SHIFT)
#else
#ifndef KASAN_GRANULE_SIZE
#include <asm/mte-kasan.h>
#define KASAN_GRANULE_SIZE MTE_GRANULE_SIZE
#endif
#endif
#define KASAN_GRANULE_MASK (KASAN_GRANULE_SIZE - 1)
/* Memory whose shadow is one page. */
#define KASAN_MEMORY_PER_SHADOW_PAGE (KASAN_GRANULE_SIZE << PAGE_SHIFT)

#ifdef arch_kasan_set_tag
#define set_tag(addr, tag) ((void *)arch_kasan_set_tag((addr), (tag)))
#define get_tag(addr)	   arch_kasan_get_tag(addr)
#else
static inline void *set_tag(const void *addr, u8 tag)
{
	return (void *)addr;
}
static inline u8 get_tag(const void *addr)
{
	return 0;
}
#endif

#ifdef CONFIG_KASAN_HW_TAGS
bool kasan_vmalloc_enabled(void);
bool kasan_sync_fault_possible(void);
bool kasan_async_fault_possible(void);
bool kasan_write_only_enabled(void);
void kasan_force_async_fault(void);
void kasan_enable_hw_tags(void);
#else
static inline bool kasan_vmalloc_enabled(void)
{
	return IS_ENABLED(CONFIG_KASAN_VMALLOC);
}
static inline bool kasan_sync_fault_possible(void)
{
	return true;
}
static inline bool kasan_async_fault_possible(void)
{
	return false;
}
static inline bool kasan_write_only_enabled(void)
{
	return false;
}
static inline void kasan_force_async_fault(void)
{
}
static inline void kasan_enable_hw_tags(void)
{
}
#endif

/* test.c */
bool kasan_save_enable_multi_shot(void);
void kasan_restore_multi_shot(bool enabled);
void kasan_kunit_test_suite_start(void);
void kasan_kunit_test_suite_end(void);
void kasan_poison(const void *addr, size_t size, u8 value, bool init);
/* Of kasan_test_rust.rs; only kernels with Rust have it. */
char kasan_test_rust_uaf(void);

#endif
