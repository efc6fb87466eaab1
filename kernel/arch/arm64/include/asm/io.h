/* SPDX-License-Identifier: MIT */
/*
 * io.h - device register access. The plain forms are ordered against normal memory, as drivers that hand
 * buffers to a device expect; the _relaxed forms are not. They are inline assembly, so that the compiler
 * neither checks the access nor chooses an addressing form that an emulator or hypervisor cannot decode.
 */
#ifndef ASM_IO_H
#define ASM_IO_H

#include <kernel/types.h>
#include <asm/barrier.h>

static inline u8 readb_relaxed(const volatile void *addr)
{
	u32 val;

	__asm__ __volatile__("ldrb %w0, [%1]" : "=r"(val) : "r"(addr));
	return (u8)val;
}

static inline u16 readw_relaxed(const volatile void *addr)
{
	u32 val;

	__asm__ __volatile__("ldrh %w0, [%1]" : "=r"(val) : "r"(addr));
	return (u16)val;
}

static inline u32 readl_relaxed(const volatile void *addr)
{
	u32 val;

	__asm__ __volatile__("ldr %w0, [%1]" : "=r"(val) : "r"(addr));
	return val;
}

static inline u64 readq_relaxed(const volatile void *addr)
{
	u64 val;

	__asm__ __volatile__("ldr %0, [%1]" : "=r"(val) : "r"(addr));
	return val;
}

static inline void writeb_relaxed(u8 val, volatile void *addr)
{
	__asm__ __volatile__("strb %w0, [%1]" ::"rZ"(val), "r"(addr));
}

static inline void writew_relaxed(u16 val, volatile void *addr)
{
	__asm__ __volatile__("strh %w0, [%1]" ::"rZ"(val), "r"(addr));
}

static inline void writel_relaxed(u32 val, volatile void *addr)
{
	__asm__ __volatile__("str %w0, [%1]" ::"rZ"(val), "r"(addr));
}

static inline void writeq_relaxed(u64 val, volatile void *addr)
{
	__asm__ __volatile__("str %x0, [%1]" ::"rZ"(val), "r"(addr));
}

static inline u32 readl(const volatile void *addr)
{
	u32 val = readl_relaxed(addr);

	dmb(oshld);
	return val;
}

static inline void writel(u32 val, volatile void *addr)
{
	dmb(oshst);
	writel_relaxed(val, addr);
}

#endif
