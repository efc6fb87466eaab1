/* SPDX-License-Identifier: MIT */
/*
 * kasan.h - what Linux's KASAN keeps to its own files and tests, over <kasan/kasan.h>.
 */
#ifndef LINUX_KUNIT_KASAN_H
#define LINUX_KUNIT_KASAN_H

#include <kernel/string.h>
#include <kernel/types.h>
#include <linux/kasan.h>

/* --- Test suites ----------------------------------------------------------------------------------- */

/* KUnit here leaves reports to the suites: no case fails by one unless it says so. */
static inline void kasan_kunit_test_suite_start(void)
{
}

static inline void kasan_kunit_test_suite_end(void)
{
}

/** kasan_save_enable_multi_shot() - report every bug. Return: for kasan_restore_multi_shot(). */
static inline bool kasan_save_enable_multi_shot(void)
{
	return kasan_save_multi_shot();
}

/* --- What the mode can do ---------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN_HW_TAGS

/** kasan_vmalloc_enabled() - Return: are vmalloc areas checked? */
static inline bool kasan_vmalloc_enabled(void)
{
	struct kasan_hw_options options;

	kasan_hw_options(&options);
	return options.enabled && options.vmalloc;
}

static inline enum kasan_hw_mode kasan_mode(void)
{
	struct kasan_hw_options options;

	kasan_hw_options(&options);
	return options.mode;
}

/** kasan_sync_fault_possible(), kasan_async_fault_possible() - Return: does a bad access report before it
 *  is carried out, or some time after? */
static inline bool kasan_sync_fault_possible(void)
{
	return kasan_mode() != KASAN_MODE_ASYNC;
}

static inline bool kasan_async_fault_possible(void)
{
	return kasan_mode() != KASAN_MODE_SYNC;
}

/** kasan_force_async_fault() - have accesses reported that were bad and are not reported yet. */
static inline void kasan_force_async_fault(void)
{
	kasan_check_async_faults();
}

#else

static inline bool kasan_vmalloc_enabled(void)
{
	return kasan_enabled();
}

/* Compiled code checks reads and writes. */
static inline bool kasan_write_only_enabled(void)
{
	return false;
}

/* Checks by compiled code come before the access. */
static inline bool kasan_sync_fault_possible(void)
{
	return true;
}

static inline bool kasan_async_fault_possible(void)
{
	return false;
}

static inline void kasan_force_async_fault(void)
{
}

#endif

/** kasan_enable_hw_tags() - checks go on after a report: they were never off. */
static inline void kasan_enable_hw_tags(void)
{
}

/* For kernels with Rust code alone. */
char kasan_test_rust_uaf(void);

/* --- Tags of pointers and memory --------------------------------------------------------------------- */

#ifndef CONFIG_KASAN_TAGS
#define KASAN_TAG_KERNEL 0xFF /* of a pointer that matches any memory */
#define KASAN_TAG_MIN	 0x00 /* lowest tag of an object */
#endif

/* Without tags every pointer is as if it had KASAN_TAG_KERNEL. */
static inline u8 get_tag(const void *ptr)
{
	return (u8)((uintptr_t)ptr >> 56);
}

static inline void *set_tag(const void *ptr, u8 tag)
{
	return (void *)(((uintptr_t)ptr & (UINTPTR_MAX >> 8)) | ((uintptr_t)tag << 56));
}

/** kasan_poison_init() - kasan_poison() with Linux's fourth argument. @init: clear the memory first. */
static inline void kasan_poison_init(void *addr, size_t size, u8 value, bool init)
{
	if (init)
		__memset(addr, 0, size);
	kasan_poison(addr, size, value);
}
#define kasan_poison kasan_poison_init

#endif
