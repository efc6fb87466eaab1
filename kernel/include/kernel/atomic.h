/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - atomic counters and exchange.
 *
 * As in Linux: operations that return a value are fully ordered, those that return nothing are not ordered.
 * Operands have 1, 2, 4 or 8 bytes and are naturally aligned.
 */
#ifndef KERNEL_ATOMIC_H
#define KERNEL_ATOMIC_H

#include <kasan/kasan.h>
#include <kernel/types.h>
#include <asm/barrier.h>

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

typedef atomic64_t atomic_long_t;

#define ATOMIC_INIT(i)	 {(i)}
#define ATOMIC64_INIT(i) {(i)}

/* The store has release order and a barrier after it: no access moves across in either direction. */
#define __full(ptr, op)                      \
	({                                   \
		__typeof__(*(ptr)) __r = op; \
		smp_mb();                    \
		__r;                         \
	})

/** xchg() - store @v. Return: the old value of *@ptr. */
#define xchg(ptr, v) __full(ptr, __atomic_exchange_n(ptr, v, __ATOMIC_RELEASE))

/* GCC turns this builtin into an internal function that its checks by tags ignore. */
#if defined(__SANITIZE_HWADDRESS__) && !defined(__clang__)
#define check_cmpxchg(ptr) ((void)kasan_check_write((ptr), sizeof(*(ptr))))
#elif defined(CONFIG_KASAN_HW_TAGS) && defined(CMPXCHG_IS_A_WRITE)
/* For files that ask for it: with an instruction of its own, compare and exchange counts as a write whatever it
 * finds. A pair of exclusive accesses that finds another value writes nothing. */
#define check_cmpxchg(ptr) \
	((void)(kasan_write_only_enabled() && kasan_check_write((ptr), sizeof(*(ptr)))))
#else
#define check_cmpxchg(ptr) ((void)0)
#endif

/** try_cmpxchg() - store @new if *@ptr is *@old, else copy *@ptr to *@old. Return: true if stored.
 *
 * Plain C reads and writes *@old: GCC checks the builtin's access to *@ptr, but not to *@old. */
#define try_cmpxchg(ptr, old, new)                                                              \
	({                                                                                      \
		__typeof__(old) __old = (old);                                                  \
		__typeof__(*__old) __found = *__old;                                            \
		bool __ok;                                                                      \
                                                                                                \
		check_cmpxchg(ptr);                                                             \
		__ok = __atomic_compare_exchange_n(ptr, &__found, new, false, __ATOMIC_RELEASE, \
						   __ATOMIC_RELAXED);                           \
                                                                                                \
		if (!__ok)                                                                      \
			*__old = __found;                                                       \
		smp_mb();                                                                       \
		__ok;                                                                           \
	})

/** cmpxchg() - store @new if *@ptr is @old. Return: the old value of *@ptr. */
#define cmpxchg(ptr, old, new)                         \
	({                                             \
		__typeof__(*(ptr)) __expected = (old); \
		try_cmpxchg(ptr, &__expected, new);    \
		__expected;                            \
	})

/* One set of functions per width: atomic_*() on atomic_t, atomic64_*() on atomic64_t. */
#define ATOMIC_FUNCTIONS(prefix, name_t, int_t)                                                    \
	static inline int_t prefix##_read(const name_t *v)                                         \
	{                                                                                          \
		return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);                             \
	}                                                                                          \
	static inline void prefix##_set(name_t *v, int_t i)                                        \
	{                                                                                          \
		__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);                                \
	}                                                                                          \
	static inline int_t prefix##_read_acquire(const name_t *v)                                 \
	{                                                                                          \
		return __atomic_load_n(&v->counter, __ATOMIC_ACQUIRE);                             \
	}                                                                                          \
	static inline void prefix##_set_release(name_t *v, int_t i)                                \
	{                                                                                          \
		__atomic_store_n(&v->counter, i, __ATOMIC_RELEASE);                                \
	}                                                                                          \
	static inline void prefix##_add(int_t i, name_t *v)                                        \
	{                                                                                          \
		__atomic_fetch_add(&v->counter, i, __ATOMIC_RELAXED);                              \
	}                                                                                          \
	static inline void prefix##_sub(int_t i, name_t *v)                                        \
	{                                                                                          \
		__atomic_fetch_sub(&v->counter, i, __ATOMIC_RELAXED);                              \
	}                                                                                          \
	static inline void prefix##_or(int_t i, name_t *v)                                         \
	{                                                                                          \
		__atomic_fetch_or(&v->counter, i, __ATOMIC_RELAXED);                               \
	}                                                                                          \
	static inline void prefix##_and(int_t i, name_t *v)                                        \
	{                                                                                          \
		__atomic_fetch_and(&v->counter, i, __ATOMIC_RELAXED);                              \
	}                                                                                          \
	static inline void prefix##_xor(int_t i, name_t *v)                                        \
	{                                                                                          \
		__atomic_fetch_xor(&v->counter, i, __ATOMIC_RELAXED);                              \
	}                                                                                          \
	static inline void prefix##_andnot(int_t i, name_t *v)                                     \
	{                                                                                          \
		prefix##_and(~i, v);                                                               \
	}                                                                                          \
	static inline void prefix##_inc(name_t *v)                                                 \
	{                                                                                          \
		prefix##_add(1, v);                                                                \
	}                                                                                          \
	static inline void prefix##_dec(name_t *v)                                                 \
	{                                                                                          \
		prefix##_sub(1, v);                                                                \
	}                                                                                          \
	static inline int_t prefix##_add_return(int_t i, name_t *v)                                \
	{                                                                                          \
		return __full(&v->counter, __atomic_add_fetch(&v->counter, i, __ATOMIC_RELEASE));  \
	}                                                                                          \
	static inline int_t prefix##_sub_return(int_t i, name_t *v)                                \
	{                                                                                          \
		return __full(&v->counter, __atomic_sub_fetch(&v->counter, i, __ATOMIC_RELEASE));  \
	}                                                                                          \
	static inline int_t prefix##_fetch_add(int_t i, name_t *v)                                 \
	{                                                                                          \
		return __full(&v->counter, __atomic_fetch_add(&v->counter, i, __ATOMIC_RELEASE));  \
	}                                                                                          \
	static inline int_t prefix##_fetch_sub(int_t i, name_t *v)                                 \
	{                                                                                          \
		return __full(&v->counter, __atomic_fetch_sub(&v->counter, i, __ATOMIC_RELEASE));  \
	}                                                                                          \
	static inline int_t prefix##_fetch_or(int_t i, name_t *v)                                  \
	{                                                                                          \
		return __full(&v->counter, __atomic_fetch_or(&v->counter, i, __ATOMIC_RELEASE));   \
	}                                                                                          \
	static inline int_t prefix##_fetch_and(int_t i, name_t *v)                                 \
	{                                                                                          \
		return __full(&v->counter, __atomic_fetch_and(&v->counter, i, __ATOMIC_RELEASE));  \
	}                                                                                          \
	static inline int_t prefix##_fetch_xor(int_t i, name_t *v)                                 \
	{                                                                                          \
		return __full(&v->counter, __atomic_fetch_xor(&v->counter, i, __ATOMIC_RELEASE));  \
	}                                                                                          \
	static inline int_t prefix##_inc_return(name_t *v)                                         \
	{                                                                                          \
		return prefix##_add_return(1, v);                                                  \
	}                                                                                          \
	static inline int_t prefix##_dec_return(name_t *v)                                         \
	{                                                                                          \
		return prefix##_sub_return(1, v);                                                  \
	}                                                                                          \
	static inline bool prefix##_dec_and_test(name_t *v)                                        \
	{                                                                                          \
		return prefix##_sub_return(1, v) == 0;                                             \
	}                                                                                          \
	static inline bool prefix##_inc_and_test(name_t *v)                                        \
	{                                                                                          \
		return prefix##_add_return(1, v) == 0;                                             \
	}                                                                                          \
	static inline bool prefix##_sub_and_test(int_t i, name_t *v)                               \
	{                                                                                          \
		return prefix##_sub_return(i, v) == 0;                                             \
	}                                                                                          \
	static inline bool prefix##_add_negative(int_t i, name_t *v)                               \
	{                                                                                          \
		return prefix##_add_return(i, v) < 0;                                              \
	}                                                                                          \
	static inline int_t prefix##_xchg(name_t *v, int_t i)                                      \
	{                                                                                          \
		return __full(&v->counter, __atomic_exchange_n(&v->counter, i, __ATOMIC_RELEASE)); \
	}                                                                                          \
	static inline int_t prefix##_cmpxchg(name_t *v, int_t old, int_t i)                        \
	{                                                                                          \
		try_cmpxchg(&v->counter, &old, i);                                                 \
		return old;                                                                        \
	}                                                                                          \
	static inline bool prefix##_try_cmpxchg(name_t *v, int_t *old, int_t i)                    \
	{                                                                                          \
		return try_cmpxchg(&v->counter, old, i);                                           \
	}                                                                                          \
	/* Add @i unless the value is @u. Return: the old value. */                                \
	static inline int_t prefix##_fetch_add_unless(name_t *v, int_t i, int_t u)                 \
	{                                                                                          \
		int_t old = prefix##_read(v);                                                      \
                                                                                                   \
		while (old != u && !prefix##_try_cmpxchg(v, &old, old + i))                        \
			;                                                                          \
		return old;                                                                        \
	}                                                                                          \
	static inline bool prefix##_add_unless(name_t *v, int_t i, int_t u)                        \
	{                                                                                          \
		return prefix##_fetch_add_unless(v, i, u) != u;                                    \
	}                                                                                          \
	static inline bool prefix##_inc_not_zero(name_t *v)                                        \
	{                                                                                          \
		return prefix##_fetch_add_unless(v, 1, 0) != 0;                                    \
	}                                                                                          \
	/* Change by one unless the value is below, or above, 0. Return: true if changed. */       \
	static inline bool prefix##_inc_unless_negative(name_t *v)                                 \
	{                                                                                          \
		int_t old = prefix##_read(v);                                                      \
                                                                                                   \
		while (old >= 0 && !prefix##_try_cmpxchg(v, &old, old + 1))                        \
			;                                                                          \
		return old >= 0;                                                                   \
	}                                                                                          \
	static inline bool prefix##_dec_unless_positive(name_t *v)                                 \
	{                                                                                          \
		int_t old = prefix##_read(v);                                                      \
                                                                                                   \
		while (old <= 0 && !prefix##_try_cmpxchg(v, &old, old - 1))                        \
			;                                                                          \
		return old <= 0;                                                                   \
	}                                                                                          \
	/* Subtract one unless the result is negative. Return: the result, stored or not. */       \
	static inline int_t prefix##_dec_if_positive(name_t *v)                                    \
	{                                                                                          \
		int_t old = prefix##_read(v);                                                      \
                                                                                                   \
		while (old > 0 && !prefix##_try_cmpxchg(v, &old, old - 1))                         \
			;                                                                          \
		return old - 1;                                                                    \
	}

ATOMIC_FUNCTIONS(atomic, atomic_t, int)
ATOMIC_FUNCTIONS(atomic64, atomic64_t, s64)
ATOMIC_FUNCTIONS(atomic_long, atomic_long_t, long)

#undef ATOMIC_FUNCTIONS

#endif
