/* SPDX-License-Identifier: MIT */
/*
 * arm_abi.c - functions that compilers call by themselves on 32-bit Arm and that a system without a C library lacks.
 *
 * All are weak, so the system's own take precedence. The atomic operations serve processors without instructions for
 * them (Cortex-M0, M0+, M1), where it is enough that nothing interrupts. A system with several such CPUs, like the
 * RP2040, must supply its own. The names are those of GCC, Clang and libatomic, so the system's own code uses these
 * functions too.
 */
#include "base.h"

#ifdef __arm__

#define ARM_ABI __attribute__((__weak__, __used__))

/* --- Memory --- */

/* For structures that are copied or cleared. Like those operations, they are not checked. */

void __aeabi_memcpy(void *dst, const void *src, size_t n);
void __aeabi_memcpy4(void *dst, const void *src, size_t n);
void __aeabi_memcpy8(void *dst, const void *src, size_t n);
void __aeabi_memmove(void *dst, const void *src, size_t n);
void __aeabi_memmove4(void *dst, const void *src, size_t n);
void __aeabi_memmove8(void *dst, const void *src, size_t n);
void __aeabi_memset(void *dst, size_t n, int c);
void __aeabi_memset4(void *dst, size_t n, int c);
void __aeabi_memset8(void *dst, size_t n, int c);
void __aeabi_memclr(void *dst, size_t n);
void __aeabi_memclr4(void *dst, size_t n);
void __aeabi_memclr8(void *dst, size_t n);

#define DEFINE_MEMORY(suffix)                                                      \
	ARM_ABI void __aeabi_memcpy##suffix(void *dst, const void *src, size_t n)  \
	{                                                                          \
		__memcpy(dst, src, n);                                             \
	}                                                                          \
	ARM_ABI void __aeabi_memmove##suffix(void *dst, const void *src, size_t n) \
	{                                                                          \
		__memmove(dst, src, n);                                            \
	}                                                                          \
	ARM_ABI void __aeabi_memset##suffix(void *dst, size_t n, int c)            \
	{                                                                          \
		__memset(dst, c, n);                                               \
	}                                                                          \
	ARM_ABI void __aeabi_memclr##suffix(void *dst, size_t n)                   \
	{                                                                          \
		__memset(dst, 0, n);                                               \
	}

DEFINE_MEMORY()
DEFINE_MEMORY(4)
DEFINE_MEMORY(8)

/* --- Atomic operations, by the port's interrupt state --- */

#if !defined(__ARM_FEATURE_LDREX) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
	!defined(KASAN_PORT_HAS_ATOMICS)

#if CONFIG_KASAN_NR_CPUS > 1
#error "KASAN: processors without atomic instructions, and CONFIG_KASAN_NR_CPUS above 1: supply __atomic_compare_exchange_4() and its relatives, which exclude the other CPUs, and define KASAN_PORT_HAS_ATOMICS"
#endif

/* The compilers know these names as built-in functions with other prototypes, hence the detour through assembler
 * names. */
#define ATOMIC(type, size, name, ...) \
	ARM_ABI type atomic_##name##_##size(__VA_ARGS__) __asm__("__atomic_" #name "_" #size)

#define DEFINE_UPDATE(type, size, name, expression)                                   \
	ATOMIC(type, size, name, volatile type *at, type value, int order);           \
	ARM_ABI type atomic_##name##_##size(volatile type *at, type value, int order) \
	{                                                                             \
		const unsigned long irq = kasan_port_irq_save();                      \
		const type old = *at;                                                 \
                                                                                      \
		(void)order;                                                          \
		*at = (type)(expression);                                             \
		kasan_port_irq_restore(irq);                                          \
		return old;                                                           \
	}

#define DEFINE_ATOMICS(type, size)                                                           \
	ATOMIC(type, size, load, const volatile type *at, int order);                        \
	ARM_ABI type atomic_load_##size(const volatile type *at, int order)                  \
	{                                                                                    \
		(void)order;                                                                 \
		return *at;                                                                  \
	}                                                                                    \
	ATOMIC(void, size, store, volatile type *at, type value, int order);                 \
	ARM_ABI void atomic_store_##size(volatile type *at, type value, int order)           \
	{                                                                                    \
		(void)order;                                                                 \
		*at = value;                                                                 \
	}                                                                                    \
	ATOMIC(_Bool, size, compare_exchange, volatile type *at, type *expected, type value, \
	       int order, int failed);                                                       \
	ARM_ABI _Bool atomic_compare_exchange_##size(volatile type *at, type *expected,      \
						     type value, int order, int failed)      \
	{                                                                                    \
		const unsigned long irq = kasan_port_irq_save();                             \
		const type old = *at;                                                        \
		const _Bool same = old == *expected;                                         \
                                                                                             \
		(void)order;                                                                 \
		(void)failed;                                                                \
		if (same)                                                                    \
			*at = value;                                                         \
		else                                                                         \
			*expected = old;                                                     \
		kasan_port_irq_restore(irq);                                                 \
		return same;                                                                 \
	}                                                                                    \
	DEFINE_UPDATE(type, size, exchange, value)                                           \
	DEFINE_UPDATE(type, size, fetch_add, old + value)                                    \
	DEFINE_UPDATE(type, size, fetch_sub, old - value)                                    \
	DEFINE_UPDATE(type, size, fetch_and, old &value)                                     \
	DEFINE_UPDATE(type, size, fetch_or, old | value)                                     \
	DEFINE_UPDATE(type, size, fetch_xor, old ^ value)

DEFINE_ATOMICS(uint8_t, 1)
DEFINE_ATOMICS(uint16_t, 2)
DEFINE_ATOMICS(uint32_t, 4)

#endif
#endif /* __arm__ */
