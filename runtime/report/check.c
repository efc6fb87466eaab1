/* SPDX-License-Identifier: MIT */
/* check.c - checks of ranges in all modes, with reports. The mode decides which ranges are bad: kasan_find_bad(). */
#include "check.h"

#include "../base/up.h"
#include "../shadow/shadow.h"

/* Does the range wrap around, or is its size a negative number? */
static inline bool range_is_absurd(uintptr_t addr, size_t size)
{
	return addr + size - 1 < addr || size > (size_t)PTRDIFF_MAX;
}

/* Report a bad range. Return: should it pass nevertheless? */
static bool report_range(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
#ifdef CONFIG_KASAN_TAGS
	/* With kasan=off no memory was tagged. */
	if (!kasan_on())
		return true;
#endif
	kasan_report_access(addr, size, is_write, ip, fp);
	return false;
}

/* Not inline, because a caller would then save registers for the report before it looks. */
kasan_noinline bool kasan_check_range(uintptr_t addr, size_t size, bool is_write, uintptr_t ip,
				      uintptr_t fp)
{
	uintptr_t bad;

	/* As kasan_find_bad() does, but in line. */
#if defined(CONFIG_KASAN_GENERIC) && !defined(__OPTIMIZE_SIZE__)
	if (kasan_likely(kasan_range_ok(addr, size)))
		return true;
#endif
	/* Nothing is accessed, so any pointer is good: memcpy(NULL, NULL, 0) is common and harmless. */
	if (kasan_unlikely(!size))
		return true;
	if (kasan_likely(!range_is_absurd(addr, size) && !kasan_find_bad(addr, size, &bad)))
		return true;
#ifdef CONFIG_KASAN_HW_TAGS
	/* An explicit check must not find more than the CPU would at the access. */
	if (!is_write && kasan_write_only_enabled() && !range_is_absurd(addr, size))
		return true;
#endif
	return report_range(addr, size, is_write, ip, fp);
}

bool kasan_check_operation(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
	uintptr_t bad;

	if (kasan_unlikely(!size))
		return true;
	if (kasan_unlikely(range_is_absurd(addr, size))) {
		kasan_report_access(addr, size, is_write, ip, fp);
		return false;
	}
	if (kasan_likely(!kasan_find_bad(addr, size, &bad)))
		return true;
	return !kasan_report_access(addr, size, is_write, ip, fp);
}

/* Compilers should turn its call into a jump, so that the hook needs no stack frame. */
static kasan_noinline bool check_slow(uintptr_t addr, size_t size, bool is_write, uintptr_t ip)
{
	return kasan_check_range(addr, size, is_write, ip,
				 kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP()));
}

kasan_noinline bool kasan_check_read(const volatile void *addr, size_t size)
{
	if (kasan_word_ok((uintptr_t)addr, size))
		return true;
	return check_slow((uintptr_t)addr, size, false, KASAN_CALLER_IP());
}

kasan_noinline bool kasan_check_write(const volatile void *addr, size_t size)
{
	if (kasan_word_ok((uintptr_t)addr, size))
		return true;
	return check_slow((uintptr_t)addr, size, true, KASAN_CALLER_IP());
}

kasan_noinline bool kasan_check_access_for(const volatile void *addr, size_t size, bool is_write,
					   uintptr_t ip)
{
	if (kasan_word_ok((uintptr_t)addr, size))
		return true;
	return kasan_check_range((uintptr_t)addr, size, is_write, ip, KASAN_CALLER_FP());
}

#ifdef CONFIG_KASAN_OVERLAP
bool kasan_report_overlap(uintptr_t dst, uintptr_t src, size_t size, uintptr_t ip, uintptr_t fp)
{
	return kasan_opt_overlap &&
	       kasan_report_call("memcpy-param-overlap", dst, size, NULL, src, ip, fp);
}

kasan_noinline bool kasan_check_overlap(const void *dst, const void *src, size_t size)
{
	if (!size || kasan_ranges_apart((uintptr_t)dst, (uintptr_t)src, size))
		return true;
	return !kasan_report_overlap((uintptr_t)dst, (uintptr_t)src, size, KASAN_CALLER_IP(),
				     KASAN_CALLER_FP());
}
#endif

static bool check_byte(const void *addr, uintptr_t ip, uintptr_t fp)
{
	uintptr_t bad;

	/* The question is about an object and not about an access, so kasan.write_only= does not matter. */
	if (kasan_likely(!kasan_find_bad((uintptr_t)addr, 1, &bad)))
		return true;
	return report_range((uintptr_t)addr, 1, false, ip, fp);
}

kasan_noinline bool kasan_check_byte(const void *addr)
{
	return check_byte(addr, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

kasan_noinline bool kasan_check_byte_for(const void *addr, uintptr_t ip)
{
	return check_byte(addr, ip, KASAN_CALLER_FP());
}

bool kasan_byte_accessible(const void *addr)
{
	uintptr_t bad;

	return !kasan_find_bad((uintptr_t)addr, 1, &bad);
}

bool kasan_has_shadow(uintptr_t addr)
{
	uint8_t state;

	return kasan_memory_state((const void *)addr, &state);
}

KASAN_WEAK bool kasan_port_readable(const void *addr, size_t size)
{
	const uintptr_t first = kasan_untag_addr((uintptr_t)addr);

	if (!size)
		return true;
	if (first + (size - 1) < first)
		return false;
#ifdef CONFIG_KASAN_SHADOW_WINDOWED
	/* Names and descriptions lie in read-only memory that seldom has a window. Without an MMU hardly any address is
	 * unreadable, so only addresses near null are taken for garbage. */
	if (first >= (CONFIG_KASAN_NULL_CHECK ? CONFIG_KASAN_NULL_CHECK : CONFIG_KASAN_NULL_LIMIT))
		return kasan_arch_is_address(first);
#endif
	return kasan_has_shadow(first) && kasan_has_shadow(first + (size - 1));
}
