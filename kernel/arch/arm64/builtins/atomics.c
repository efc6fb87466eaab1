/* SPDX-License-Identifier: MIT */
/*
 * atomics.c - what GCC calls for atomic operations when it compiles for Linux: __aarch64_ldadd4_acq() and its relatives.
 * Code that is compiled here has its own instructions instead; objects and archives that come with a program may call these.
 */
#include <stdbool.h>
#include <stdint.h>

#define DEFINE_SWAP(bytes, type, order, how)                                               \
	type __aarch64_swp##bytes##_##order(type value, type *at);                         \
	type __aarch64_swp##bytes##_##order(type value, type *at)                          \
	{                                                                                  \
		return __atomic_exchange_n(at, value, how);                                \
	}                                                                                  \
	type __aarch64_cas##bytes##_##order(type old, type value, type *at);               \
	type __aarch64_cas##bytes##_##order(type old, type value, type *at)                \
	{                                                                                  \
		__atomic_compare_exchange_n(at, &old, value, false, how,                   \
					    (how) == __ATOMIC_RELEASE	? __ATOMIC_RELAXED \
					    : (how) == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE \
									: (how));          \
		return old;                                                                \
	}

#define DEFINE_CHANGE(name, function, bytes, type, order, how)        \
	type __aarch64_##name##bytes##_##order(type value, type *at); \
	type __aarch64_##name##bytes##_##order(type value, type *at)  \
	{                                                             \
		return __atomic_fetch_##function;                     \
	}

#define DEFINE_ALL(bytes, type, order, how)                                       \
	DEFINE_SWAP(bytes, type, order, how)                                      \
	DEFINE_CHANGE(ldadd, add(at, value, how), bytes, type, order, how)        \
	DEFINE_CHANGE(ldclr, and(at, (type)~value, how), bytes, type, order, how) \
	DEFINE_CHANGE(ldset, or (at, value, how), bytes, type, order, how)        \
	DEFINE_CHANGE(ldeor, xor(at, value, how), bytes, type, order, how)

/* _sync is for GCC's older __sync functions, which are full barriers. */
#define DEFINE_ORDERS(bytes, type)                         \
	DEFINE_ALL(bytes, type, relax, __ATOMIC_RELAXED)   \
	DEFINE_ALL(bytes, type, acq, __ATOMIC_ACQUIRE)     \
	DEFINE_ALL(bytes, type, rel, __ATOMIC_RELEASE)     \
	DEFINE_ALL(bytes, type, acq_rel, __ATOMIC_ACQ_REL) \
	DEFINE_ALL(bytes, type, sync, __ATOMIC_SEQ_CST)

DEFINE_ORDERS(1, uint8_t)
DEFINE_ORDERS(2, uint16_t)
DEFINE_ORDERS(4, uint32_t)
DEFINE_ORDERS(8, uint64_t)
