/* SPDX-License-Identifier: MIT */
/*
 * io.h - device register access. The plain forms are ordered against normal memory, as drivers that hand
 * buffers to a device expect; the _relaxed forms are not. They are inline assembly, so that the compiler
 * does not check the access.
 */
#ifndef ASM_IO_H
#define ASM_IO_H

#include <kernel/types.h>
#include <asm/barrier.h>

static inline u8 readb_relaxed(const volatile void *addr)
{
	u64 val;

	__asm__ __volatile__("lbu %0, 0(%1)" : "=r"(val) : "r"(addr));
	return (u8)val;
}

static inline u16 readw_relaxed(const volatile void *addr)
{
	u64 val;

	__asm__ __volatile__("lhu %0, 0(%1)" : "=r"(val) : "r"(addr));
	return (u16)val;
}

static inline u32 readl_relaxed(const volatile void *addr)
{
	u64 val;

	__asm__ __volatile__("lwu %0, 0(%1)" : "=r"(val) : "r"(addr));
	return (u32)val;
}

static inline u64 readq_relaxed(const volatile void *addr)
{
	u64 val;

	__asm__ __volatile__("ld %0, 0(%1)" : "=r"(val) : "r"(addr));
	return val;
}

static inline void writeb_relaxed(u8 val, volatile void *addr)
{
	__asm__ __volatile__("sb %0, 0(%1)" ::"r"((u64)val), "r"(addr));
}

static inline void writew_relaxed(u16 val, volatile void *addr)
{
	__asm__ __volatile__("sh %0, 0(%1)" ::"r"((u64)val), "r"(addr));
}

static inline void writel_relaxed(u32 val, volatile void *addr)
{
	__asm__ __volatile__("sw %0, 0(%1)" ::"r"((u64)val), "r"(addr));
}

static inline void writeq_relaxed(u64 val, volatile void *addr)
{
	__asm__ __volatile__("sd %0, 0(%1)" ::"r"(val), "r"(addr));
}

static inline u32 readl(const volatile void *addr)
{
	u32 val = readl_relaxed(addr);

	fence(i, r);
	return val;
}

static inline void writel(u32 val, volatile void *addr)
{
	fence(w, o);
	writel_relaxed(val, addr);
}

#endif
