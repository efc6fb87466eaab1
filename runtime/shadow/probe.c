/* SPDX-License-Identifier: MIT */
/*
 * probe.c - does compiled code look for shadow where the runtime keeps it?
 *
 * The offset is stated twice, for the runtime and for the compiler. If the two differ, nothing breaks at first: inline
 * checks read some other memory, and every function with an array poisons it. So kasan_check_offset(), which is
 * compiled into the system's instrumented code, offers an object of its stack frame, and this file looks at what became
 * of it.
 */
#include "shadow.h"

#if defined(CONFIG_KASAN_GENERIC) && !defined(CONFIG_KASAN_SHADOW_COMPACT) && \
	CONFIG_KASAN_START_CHECKS

#if defined(CONFIG_KASAN_SHADOW_FULL) && !defined(CONFIG_KASAN_SHADOW_DYNAMIC)
#define TO_SET "CONFIG_KASAN_SHADOW_OFFSET and the compiler's shadow offset differ: set both to "
#else
#define TO_SET "the compiler's shadow offset is wrong: set it (and CONFIG_KASAN_SHADOW_OFFSET) to "
#endif

uintptr_t kasan_probe_addr;

static uintptr_t offset_for(uintptr_t addr, const uint8_t *shadow)
{
	return (uintptr_t)shadow - (addr >> KASAN_SHADOW_SCALE_SHIFT);
}

/* Compiled code did not find the shadow of @addr, which lies at @shadow. @what, @found: the place it looked at. All
 * code has one offset, so if @addr lies outside of the first window, the window is wrong and not the compiler. */
static const char *wrong_offset(uintptr_t addr, const uint8_t *shadow, const char *what,
				uintptr_t found, const char *after)
{
#ifdef CONFIG_KASAN_SHADOW_WINDOWED
	const struct kasan_window *window = kasan_window_of(addr);

	if (window && window->offset != kasan_windows[0].offset)
		return kasan_complain(
			"the stack is in the window at ", window->start,
			", whose shadow has another offset than the first window's: put it at ",
			(window->start >> KASAN_SHADOW_SCALE_SHIFT) + kasan_windows[0].offset, "");
#endif
	return kasan_complain(TO_SET, offset_for(addr, shadow), what, found, after);
}

const char *kasan_probe_begin(const volatile void *object, size_t size, bool has_redzones)
{
	const uintptr_t addr = (uintptr_t)object;
	uint8_t *shadow, *after;

	if (!kasan_shadow_at(addr, &shadow) || !kasan_shadow_at(addr + size, &after))
		return kasan_complain("the stack at ", addr,
				      " has no shadow: a window must cover it, up to ", addr + size,
				      " at least");
	if (has_redzones && (*shadow || (*after != KASAN_STACK_MID && *after != KASAN_STACK_RIGHT)))
		return wrong_offset(addr, shadow, "; stack poison was not found at ",
				    (uintptr_t)after, "");
	kasan_poison((const void *)addr, KASAN_GRANULE_SIZE, KASAN_STACK_MID);
	__atomic_store_n(&kasan_probe_addr, addr, __ATOMIC_RELAXED);
	return NULL;
}

const char *kasan_probe_end(const volatile void *object)
{
	const uintptr_t addr = (uintptr_t)object;
	const bool missed = __atomic_exchange_n(&kasan_probe_addr, 0, __ATOMIC_RELAXED) != 0;
	uint8_t *shadow;

	if (!kasan_shadow_at(addr, &shadow))
		return NULL;
	kasan_unpoison((const void *)addr, KASAN_GRANULE_SIZE);
	if (!missed)
		return NULL;
	return wrong_offset(addr, shadow, "; a check of poisoned memory at ", addr, " saw nothing");
}

#elif defined(CONFIG_KASAN_GENERIC)

/* Nothing to compare: compiled code does not use a compact shadow, or the checks are left out. */
#if CONFIG_KASAN_START_CHECKS
uintptr_t kasan_probe_addr;
#endif

const char *kasan_probe_begin(const volatile void *object, size_t size, bool has_redzones)
{
	(void)object;
	(void)size;
	(void)has_redzones;
	return NULL;
}

const char *kasan_probe_end(const volatile void *object)
{
	(void)object;
	return NULL;
}

#endif /* CONFIG_KASAN_GENERIC */
