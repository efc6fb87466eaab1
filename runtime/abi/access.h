/* SPDX-License-Identifier: MIT */
/*
 * access.h - the functions that outline instrumentation calls before every access, for both families of names:
 * PREFIX{load,store}{1,2,4,8,16,N} and the same with _noabort.
 *
 * The compilers define this list. The plain names belong to code built without recovery (Clang: -mllvm -asan-recover=0,
 * GCC: -fno-sanitize-recover=kernel-address), where the system stops after the report.
 *
 * A file that includes this supplies the mode's fast path: ok(addr, size), inlined, true if the access is certainly
 * right. The slow path is a cold call, which checks again and may report.
 */
#ifndef KASAN_ABI_ACCESS_H
#define KASAN_ABI_ACCESS_H

#include "../base/up.h"
#include "../report/check.h"

/* In a section of its own, because the port must know where a shadow load may fault. */
#ifdef CONFIG_KASAN_SHADOW_FAULTS
#define KASAN_ACCESS_ABI KASAN_ABI __attribute__((__section__(".text.kasan_access")))
#else
#define KASAN_ACCESS_ABI KASAN_ABI
#endif

/* Return: true if a report was printed. */
static kasan_always_inline bool kasan_check_slow(uintptr_t addr, size_t size, bool is_write,
						 uintptr_t ip, uintptr_t own_ip, uintptr_t own_fp)
{
	uintptr_t bad;

	if (kasan_likely(addr + size - 1 >= addr && !kasan_find_bad(addr, size, &bad)))
		return false;
	return kasan_report_access(addr, size, is_write, ip, kasan_abi_frame(ip, own_ip, own_fp));
}

/*
 * The slow call comes last, so the fast path needs no stack frame. GCC for Arm pushes the link register nevertheless if the
 * function asks for its return address, and if the call may not become a jump. So there the jump is to a few instructions
 * that take the link register as it is; kasan_abi_frame() expects such jumps. Thumb-1 has none that reach far enough.
 */
#if defined(__arm__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
	(defined(__thumb2__) || !defined(__thumb__))
#define KASAN_SLOW_JUMP(slow, name, size, is_write)                                             \
	__attribute__((__naked__, __noinline__, __noclone__)) static void name(                 \
		__attribute__((__unused__)) uintptr_t addr)                                     \
	{                                                                                       \
		__asm__("mov r3, lr\n\tmovs r2, %0\n\tmovs r1, %1\n\tb " #slow ::"i"(is_write), \
			"i"(size));                                                             \
	}
#define KASAN_SLOW_CALL(slow, name, addr, size, is_write) name(addr)
#define KASAN_FAST_ABI					  KASAN_ACCESS_ABI __attribute__((__optimize__("optimize-sibling-calls")))
#define KASAN_SLOW_ABI					  __attribute__((__used__, __noclone__))
#else
#define KASAN_SLOW_JUMP(slow, name, size, is_write)
#define KASAN_SLOW_CALL(slow, name, addr, size, is_write) \
	slow(addr, size, is_write, KASAN_CALLER_IP())
#define KASAN_FAST_ABI KASAN_ACCESS_ABI
#define KASAN_SLOW_ABI
#endif

KASAN_SLOW_ABI static kasan_noinline void kasan_access_slow(uintptr_t addr, size_t size,
							    bool is_write, uintptr_t ip)
{
	kasan_check_slow(addr, size, is_write, ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

KASAN_SLOW_ABI static kasan_noinline void kasan_access_slow_abort(uintptr_t addr, size_t size,
								  bool is_write, uintptr_t ip)
{
	if (kasan_check_slow(addr, size, is_write, ip, KASAN_CALLER_IP(), KASAN_CALLER_FP()))
		kasan_end_system(KASAN_ABORT_WHY);
}

static kasan_noinline void kasan_range_slow(uintptr_t addr, size_t size, bool is_write,
					    uintptr_t ip)
{
	kasan_check_range(addr, size, is_write, ip,
			  kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP()));
}

#define KASAN_DEFINE_CHECK(name, size, is_write, ok, slow)                        \
	KASAN_SLOW_JUMP(slow, name##_slow, size, is_write)                        \
	void name(uintptr_t addr);                                                \
	KASAN_FAST_ABI void name(uintptr_t addr)                                  \
	{                                                                         \
		if (kasan_unlikely(!ok(addr, size)))                              \
			KASAN_SLOW_CALL(slow, name##_slow, addr, size, is_write); \
	}

#define KASAN_DEFINE_ACCESS(prefix, name, size, is_write, ok)                                   \
	KASAN_DEFINE_CHECK(prefix##name##size##_noabort, size, is_write, ok, kasan_access_slow) \
	KASAN_DEFINE_CHECK(prefix##name##size, size, is_write, ok, kasan_access_slow_abort)

/* Accesses of other sizes (structure copies, bit fields, vectors) and accesses that may be unaligned: those of a few
 * bytes above all, such as the words of memcmp(). */
#define KASAN_DEFINE_ACCESS_N(prefix, name, is_write)                               \
	void prefix##name##N_noabort(uintptr_t addr, size_t size);                  \
	KASAN_ABI void prefix##name##N_noabort(uintptr_t addr, size_t size)         \
	{                                                                           \
		if (kasan_unlikely(!kasan_word_ok(addr, size)))                     \
			kasan_range_slow(addr, size, is_write, KASAN_CALLER_IP());  \
	}                                                                           \
	void prefix##name##N(uintptr_t addr, size_t size);                          \
	KASAN_ABI void prefix##name##N(uintptr_t addr, size_t size)                 \
	{                                                                           \
		if (!kasan_check_operation(addr, size, is_write, KASAN_CALLER_IP(), \
					   KASAN_CALLER_FP()))                      \
			kasan_end_system(KASAN_ABORT_WHY);                          \
	}

#define KASAN_DEFINE_ACCESSES(prefix, name, is_write, ok)   \
	KASAN_DEFINE_ACCESS(prefix, name, 1, is_write, ok)  \
	KASAN_DEFINE_ACCESS(prefix, name, 2, is_write, ok)  \
	KASAN_DEFINE_ACCESS(prefix, name, 4, is_write, ok)  \
	KASAN_DEFINE_ACCESS(prefix, name, 8, is_write, ok)  \
	KASAN_DEFINE_ACCESS(prefix, name, 16, is_write, ok) \
	KASAN_DEFINE_ACCESS_N(prefix, name, is_write)

#endif /* KASAN_ABI_ACCESS_H */
