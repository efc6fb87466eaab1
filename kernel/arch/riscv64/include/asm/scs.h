/* SPDX-License-Identifier: MIT */
/*
 * scs.h - the shadow call stack: a second stack, for return addresses only. gp points above its newest entry.
 *
 * The compiler stores each return address there too, and returns to that one. The stack grows up. Each lies at
 * the start of a slot of SCS_SIZE bytes, so its slot is found from any pointer into it; only as many pages of the
 * slot are mapped as the stack needs. Word 0 is not an entry: it is 0 on a task's stack; on a CPU's own stack it
 * is the pointer of the stack that was interrupted.
 *
 * A function raises gp, and then stores: an interrupt may come in between, and find an old entry below gp.
 */
#ifndef ASM_SCS_H
#define ASM_SCS_H

#include <asm/memory.h>

/* 8191 calls: enough for programs with 1 MiB of stack. */
#define SCS_SHIFT 16

#ifdef __ASSEMBLER__
#define SCS_SIZE (1 << SCS_SHIFT)
#else
#define SCS_SIZE (1UL << SCS_SHIFT)
#endif

/* The boot task's: it holds a call for each 16 bytes of boot_stack, more than fit there. */
#define BOOT_SCS_SIZE (BOOT_STACK_SIZE / 2)

/* Offset of context.scs_base in struct task, for assembly. traps.c asserts it. */
#define TASK_SCS_BASE 192

#if !defined(__ASSEMBLER__) && defined(CONFIG_SHADOW_CALL_STACK)

#include <kernel/types.h>

/* head.S: of the boot task, and the boot CPU's for faults until it has others. */
extern char boot_scs[], boot_scs_faults[];

/* Its name in messages. */
#define SCS_REG_NAME "gp"

/** scs_pointer() - Return: gp, the address above the newest entry. */
static __always_inline uintptr_t scs_pointer(void)
{
	uintptr_t top;

	__asm__ __volatile__("mv %0, gp" : "=r"(top));
	return top;
}

/** scs_set_pointer() - for tests: gp becomes @top. */
static __always_inline void scs_set_pointer(uintptr_t top)
{
	__asm__ __volatile__("mv gp, %0" ::"r"(top) : "memory");
}

/* "sd ra, -8(gp)" stores an entry, after gp was raised; "addi gp, gp, -8" takes one back, in either length. */
#define SCS_STORE_INSN 0xfe11bc23U
#define SCS_POP_INSN   0xff818193U
#define SCS_C_POP_INSN 0x11e1U

/** scs_strip() - Return: the entry @pc. No CPU signs return addresses. */
static __always_inline uintptr_t scs_strip(uintptr_t pc)
{
	return pc;
}

/** scs_base_of() - Return: address of the oldest entry of the stack with the pointer @top, which may be
 *  a full or an empty stack's. */
static __always_inline uintptr_t scs_base_of(uintptr_t top)
{
	return ((top - 1) & ~(SCS_SIZE - 1)) + sizeof(uintptr_t);
}

#endif
#endif /* ASM_SCS_H */
