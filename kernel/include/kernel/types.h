/* SPDX-License-Identifier: MIT */
/* types.h - fixed-width types, compiler attributes, and small macros for general use. */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if !__STDC_HOSTED__ && !defined(_LIBC_LIMITS_H_)
#define _LIBC_LIMITS_H_ 1 /* or GCC's <limits.h> includes a C library's */
#endif
#include <limits.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef uint64_t phys_addr_t;
typedef unsigned int gfp_t;
typedef long ssize_t;
typedef int pid_t;

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define noinline	__attribute__((noinline))
#define __always_inline inline __attribute__((always_inline))
#define __printf(a, b)	__attribute__((format(printf, a, b)))
#define __packed	__attribute__((packed))
#define __aligned(n)	__attribute__((aligned(n)))
#define __section(s)	__attribute__((section(s)))
#define __used		__attribute__((used))
#define __unused	__attribute__((unused))
#define __weak		__attribute__((weak))
#define __must_check	__attribute__((warn_unused_result))
#define __malloc	__attribute__((malloc))
/* A pointer into the address space of the running program. Only for readers of the code. */
#define __user
/* For code that runs before there is shadow, or inside a report. */
#ifdef CONFIG_KASAN_SW_TAGS
#ifdef __clang__
#define __no_sanitize_address __attribute__((no_sanitize("hwaddress")))
#else
#define __no_sanitize_address __attribute__((no_sanitize("kernel-hwaddress")))
#endif
#else
#define __no_sanitize_address __attribute__((no_sanitize_address))
#endif

#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))
#define BIT(n)				(1UL << (n))
#define ALIGN(x, a)			(((x) + ((__typeof__(x))(a) - 1)) & ~((__typeof__(x))(a) - 1))
#define ALIGN_DOWN(x, a)		((x) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a)		(((x) & ((__typeof__(x))(a) - 1)) == 0)
#define DIV_ROUND_UP(n, d)		(((n) + (d) - 1) / (d))
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define min(a, b)                        \
	({                               \
		__typeof__(a) __a = (a); \
		__typeof__(b) __b = (b); \
		__a < __b ? __a : __b;   \
	})
#define max(a, b)                        \
	({                               \
		__typeof__(a) __a = (a); \
		__typeof__(b) __b = (b); \
		__a > __b ? __a : __b;   \
	})
#define READ_ONCE(x)	 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define barrier()	 __asm__ __volatile__("" ::: "memory")
/* Makes the compiler forget the value of @var; HIDE_VAR() also makes it forget memory. */
#define OPTIMIZER_HIDE_VAR(var) __asm__("" : "+r"(var))
#define HIDE_VAR(var)		__asm__ __volatile__("" : "+r"(var) : : "memory")

#define PAGE_SHIFT    CONFIG_PAGE_SHIFT
#define PAGE_SIZE     (1UL << PAGE_SHIFT)
#define PAGE_MASK     (~(PAGE_SIZE - 1))
#define PAGE_ALIGN(x) ALIGN((x), PAGE_SIZE)

#define NR_CPUS CONFIG_NR_CPUS

/* Errors are small negative numbers, also inside pointers. */
#define MAX_ERRNO 4095
static inline void *ERR_PTR(long error)
{
	return (void *)error;
}
static inline long PTR_ERR(const void *ptr)
{
	return (long)ptr;
}
static inline bool IS_ERR(const void *ptr)
{
	return (unsigned long)ptr >= (unsigned long)-MAX_ERRNO;
}

#endif
