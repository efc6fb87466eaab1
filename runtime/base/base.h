/* SPDX-License-Identifier: MIT */
/*
 * base.h - what every file of the runtime may use: the public headers, a few macros, and what is
 * switched on.
 *
 * Includes and calls go down only: abi/, report/, alloc/, track/, tags/, shadow/, base/, arch/. The few calls that go
 * up are in up.h. The runtime is never instrumented.
 */
#ifndef KASAN_BASE_H
#define KASAN_BASE_H

/* For <kasan/config.h>, so no file of the runtime includes a public header before this one. */
#define KASAN_RUNTIME_FILE 1

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kasan/stats.h>

#include "../arch/arch.h"

/* For processors without atomic instructions arm_abi.c has functions; Clang warns about each call. */
#if defined(__clang__) && defined(__arm__) && !defined(__ARM_FEATURE_LDREX)
#pragma clang diagnostic ignored "-Watomic-alignment"
#endif

/* The caller of a hook, where traces start. Use these only in functions that are kasan_noinline or inlined into one that
 * is: link-time optimisation inlines across files. */
#define KASAN_CALLER_IP() ((uintptr_t)__builtin_return_address(0))
/* Where frames do not form a chain: the caller's stack pointer. */
#define KASAN_CALLER_FP() KASAN_ARCH_CALLER_FP()

/* Does a chain of frame records lead from each function to its caller? If not, exidx.h or the port finds the caller. */
#ifdef KASAN_PORT_HAS_WALK
#define KASAN_FOLLOWS_FRAMES 0
#else
#define KASAN_FOLLOWS_FRAMES (!KASAN_ARCH_UNWINDS)
#endif

/* The compilers' ABI names are defined here but declared by no header. */
#define KASAN_ABI __attribute__((__used__, __noinline__))

/* A default, which the system's function of the same name replaces. */
#define KASAN_WEAK __attribute__((__weak__))

/* --- What is switched on: state.c --- */

/* Two things can be off. The hooks are off for good if kasan=off came before kasan_init(), or if the CPU has no memory
 * tags (kasan_on() in <kasan/core.h>). Reporting is off before kasan_init(), and silent while kasan=off holds. */
enum kasan_reporting {
	KASAN_NOT_YET, /* before kasan_init() */
	/* A reset handler may call memcpy() before .bss is cleared, so RAM must not hold these values by accident. Each
	 * fits the immediate operand of a compare instruction. */
	KASAN_LIVE = 0x00a50000,
	KASAN_SILENT = 0x00c30000, /* kasan=off, or the hooks are off */
};
extern unsigned int kasan_reporting;

/** kasan_starts_again() - is the state above left over from before a warm reset that did not clear RAM? True once .data
 *  has been loaded anew, and for the copy [@dst, @dst + @n) from @src that loads it; the state then becomes
 *  KASAN_NOT_YET. @src is NULL if memory is filled. */
bool kasan_starts_again(const void *dst, const void *src, size_t n);

/* Clear or copy a variable of the runtime. With = {0} or *to = *from the compilers may call memset() or memcpy(), which
 * are the checked ones. If a bug has poisoned the stack's shadow, that check would report, and the report would clear
 * the same variable. The suite freestanding-calls finds such places. */
#define kasan_clear(variable) ((void)__memset((variable), 0, sizeof(*(variable))))
#define kasan_copy(to, from) \
	((void)sizeof(*(to) = *(from)), (void)__memcpy((to), (from), sizeof(*(to))))

/** kasan_clear_fast() - kasan_clear() for hot paths: a few single stores, which no compiler turns into a call. */
#define kasan_clear_fast(variable)                                                               \
	do {                                                                                     \
		_Static_assert(sizeof(*(variable)) % sizeof(uintptr_t) == 0, "not whole words"); \
		kasan_clear_words((variable), sizeof(*(variable)) / sizeof(uintptr_t));          \
	} while (0)

static kasan_always_inline void kasan_clear_words(void *at, size_t count)
{
	volatile uintptr_t __attribute__((__may_alias__)) *const words = at;

	for (size_t i = 0; i < count; i++)
		words[i] = 0;
}

/** kasan_live() - kasan_enabled(), inline. */
static inline bool kasan_live(void)
{
	return __atomic_load_n(&kasan_reporting, __ATOMIC_RELAXED) == KASAN_LIVE;
}

/** kasan_silent() - true if nothing needs to be recorded. False before kasan_init(), because a later report may need
 *  it. */
static inline bool kasan_silent(void)
{
	return kasan_unlikely(__atomic_load_n(&kasan_reporting, __ATOMIC_RELAXED) == KASAN_SILENT);
}

void kasan_set_reporting(enum kasan_reporting reporting);

/** kasan_slab_set_flag() - set or clear one of the flags, when options are set. */
void kasan_slab_set_flag(unsigned int flag, bool on);

/** kasan_set_hooks_off() - set kasan_hooks_off and its flag. Before kasan_init(). */
void kasan_set_hooks_off(bool off);

/* --- Granules --- */

/** kasan_whole_granules() - shrink [*@addr, *@addr + *@size) to whole granules, because poison must not touch the
 *  others. Return: false if nothing is left. It does not compute the end, which is 0 for the last granule of the
 *  address space. */
static inline bool kasan_whole_granules(uintptr_t *addr, size_t *size)
{
	const uintptr_t start = (*addr + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;
	const size_t before = start - *addr;

	if (*size <= before)
		return false;
	*addr = start;
	*size = (*size - before) & ~(size_t)KASAN_GRANULE_MASK;
	return true;
}

/* --- Checks --- */

/** kasan_find_bad() - is some byte of the range inaccessible? @bad: if so, filled with the first such address, without
 *  a tag. @size > 0, and the range does not wrap around. Implemented in shadow_check.c, compact.c and tags_check.c. */
bool kasan_find_bad(uintptr_t addr, size_t size, uintptr_t *bad);

/** kasan_first_bad() - Return: the address of the first inaccessible byte in the range, 0 if there is none. The range
 *  does not wrap around. */
static inline uintptr_t kasan_first_bad(uintptr_t addr, size_t size)
{
	uintptr_t bad;

	return size && kasan_find_bad(addr, size, &bad) ? bad : 0;
}

/* probe.c: the address that kasan_check_offset() is about to touch, 0 if none. A check that finds it bad clears it
 * instead of reporting. */
extern uintptr_t kasan_probe_addr;

/** kasan_complain() - message.c: the sentences that refuse wrong numbers at boot and name the right ones
 *
 * Return: "<before><a><middle><b><after>" with both numbers in hex, in a static buffer that the next call overwrites. It
 * uses no printf, so that it works before anything else does.
 */
const char *kasan_complain(const char *before, uintptr_t a, const char *middle, uintptr_t b,
			   const char *after);

#endif /* KASAN_BASE_H */
