/* SPDX-License-Identifier: MIT */
/*
 * access.h - the entry points that outline instrumentation calls before every access, for both families
 * of names: PREFIX{load,store}{1,2,4,8,16,N} and the same with _noabort.
 *
 * The compilers decided on this list, so it stands here once. The plain names belong to code built without
 * recovery (Clang: -mllvm -asan-recover=0, GCC: -fno-sanitize-recover=kernel-address): after their report the
 * system stops.
 *
 * A file that includes this gives the mode's three parts, all of them (addr, size) and more:
 *   ok          the fast path, inlined: true if the access is certainly right
 *   slow        the cold call behind it, which looks again and may report
 *   slow_abort  the same for code built without recovery
 */
#ifndef KASAN_ABI_ACCESS_H
#define KASAN_ABI_ACCESS_H

/* A section of its own: the port must know where a shadow load may fault. */
#ifdef CONFIG_KASAN_SHADOW_FAULTS
#define KASAN_ACCESS_ABI KASAN_ABI __attribute__((__section__(".text.kasan_access")))
#else
#define KASAN_ACCESS_ABI KASAN_ABI
#endif

#define KASAN_ABORT_WHY "KASAN: bad access in code built without recovery"

/* The slow call is the last thing a function does, so the fast path needs no stack frame. */
#define KASAN_DEFINE_ACCESS(prefix, name, size, is_write, ok, slow, slow_abort) \
	void prefix##name##size##_noabort(uintptr_t addr);                      \
	KASAN_ACCESS_ABI void prefix##name##size##_noabort(uintptr_t addr)      \
	{                                                                       \
		if (kasan_unlikely(!ok(addr, size)))                            \
			slow(addr, size, is_write, KASAN_CALLER_IP());          \
	}                                                                       \
	void prefix##name##size(uintptr_t addr);                                \
	KASAN_ACCESS_ABI void prefix##name##size(uintptr_t addr)                \
	{                                                                       \
		if (kasan_unlikely(!ok(addr, size)))                            \
			slow_abort(addr, size, is_write, KASAN_CALLER_IP());    \
	}

/* Accesses of other sizes: structure copies, bit fields, vectors, and what is not known to be aligned. */
#define KASAN_DEFINE_ACCESS_N(prefix, name, is_write)                                          \
	void prefix##name##N_noabort(uintptr_t addr, size_t size);                             \
	KASAN_ABI void prefix##name##N_noabort(uintptr_t addr, size_t size)                    \
	{                                                                                      \
		kasan_check_range(addr, size, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
	}                                                                                      \
	void prefix##name##N(uintptr_t addr, size_t size);                                     \
	KASAN_ABI void prefix##name##N(uintptr_t addr, size_t size)                            \
	{                                                                                      \
		if (!kasan_check_operation(addr, size, is_write, KASAN_CALLER_IP(),            \
					   KASAN_CALLER_FP()))                                 \
			kasan_port_panic(KASAN_ABORT_WHY);                                     \
	}

#define KASAN_DEFINE_ACCESSES(prefix, name, is_write, ok, slow, slow_abort)   \
	KASAN_DEFINE_ACCESS(prefix, name, 1, is_write, ok, slow, slow_abort)  \
	KASAN_DEFINE_ACCESS(prefix, name, 2, is_write, ok, slow, slow_abort)  \
	KASAN_DEFINE_ACCESS(prefix, name, 4, is_write, ok, slow, slow_abort)  \
	KASAN_DEFINE_ACCESS(prefix, name, 8, is_write, ok, slow, slow_abort)  \
	KASAN_DEFINE_ACCESS(prefix, name, 16, is_write, ok, slow, slow_abort) \
	KASAN_DEFINE_ACCESS_N(prefix, name, is_write)

#endif /* KASAN_ABI_ACCESS_H */
