/* SPDX-License-Identifier: MIT */
/*
 * asan_access.c - what outline instrumentation calls before every access:
 * __asan_{load,store}{1,2,4,8,16,N} and the same with _noabort.
 *
 * The plain names belong to code built without recovery (Clang: -mllvm -asan-recover=0, GCC:
 * -fno-sanitize-recover=kernel-address): after their report the system stops.
 *
 * The fixed sizes are the hottest code of the runtime. Each is the inline check of core/shadow.h
 * and a cold call, so that the fast path needs no stack frame.
 */
#include "../core/shadow.h"

/* A section of its own: the port must know where a shadow load may fault. */
#ifdef CONFIG_KASAN_SHADOW_FAULTS
#define KASAN_ACCESS_ABI KASAN_ABI __attribute__((__section__(".text.kasan_access")))
#else
#define KASAN_ACCESS_ABI KASAN_ABI
#endif

#define ABORT_WHY "KASAN: bad access in code built without recovery"

#define DEFINE_ACCESS(name, size, is_write)                                               \
	void __asan_##name##size##_noabort(uintptr_t addr);                               \
	KASAN_ACCESS_ABI void __asan_##name##size##_noabort(uintptr_t addr)               \
	{                                                                                 \
		if (kasan_unlikely(!kasan_access_ok(addr, size)))                         \
			kasan_access_slow(addr, size, is_write, KASAN_CALLER_IP());       \
	}                                                                                 \
	void __asan_##name##size(uintptr_t addr);                                         \
	KASAN_ACCESS_ABI void __asan_##name##size(uintptr_t addr)                         \
	{                                                                                 \
		if (kasan_unlikely(!kasan_access_ok(addr, size)))                         \
			kasan_access_slow_abort(addr, size, is_write, KASAN_CALLER_IP()); \
	}

DEFINE_ACCESS(load, 1, false)
DEFINE_ACCESS(load, 2, false)
DEFINE_ACCESS(load, 4, false)
DEFINE_ACCESS(load, 8, false)
DEFINE_ACCESS(load, 16, false)
DEFINE_ACCESS(store, 1, true)
DEFINE_ACCESS(store, 2, true)
DEFINE_ACCESS(store, 4, true)
DEFINE_ACCESS(store, 8, true)
DEFINE_ACCESS(store, 16, true)

/* Accesses of other sizes: structure copies, bit fields, vectors. */
#define DEFINE_ACCESS_N(name, is_write)                                                        \
	void __asan_##name##N_noabort(uintptr_t addr, size_t size);                            \
	KASAN_ABI void __asan_##name##N_noabort(uintptr_t addr, size_t size)                   \
	{                                                                                      \
		kasan_check_range(addr, size, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
	}                                                                                      \
	void __asan_##name##N(uintptr_t addr, size_t size);                                    \
	KASAN_ABI void __asan_##name##N(uintptr_t addr, size_t size)                           \
	{                                                                                      \
		if (!kasan_check_operation(addr, size, is_write, KASAN_CALLER_IP(),            \
					   KASAN_CALLER_FP()))                                 \
			kasan_port_panic(ABORT_WHY);                                           \
	}

DEFINE_ACCESS_N(load, false)
DEFINE_ACCESS_N(store, true)
