/* SPDX-License-Identifier: MIT */
/*
 * scs.h - the shadow call stack: a second stack, for return addresses only. x18 points above its newest entry.
 *
 * The compiler stores each return address there too, and returns to that one. The stack grows up. Each lies at
 * the start of a slot of SCS_SIZE bytes, so its slot is found from any pointer into it; only as many pages of the
 * slot are mapped as the stack needs. Word 0 is not an entry: it is 0 on a task's stack; on a CPU's own stack it
 * is the pointer of the stack that was interrupted.
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
#define TASK_SCS_BASE 112

#if !defined(__ASSEMBLER__) && defined(CONFIG_SHADOW_CALL_STACK)

#include <kernel/types.h>

/* head.S: of the boot task, and the boot CPU's for faults until it has others. */
extern char boot_scs[], boot_scs_faults[];

/* Its name in messages. */
#define SCS_REG_NAME "x18"

/** scs_pointer() - Return: x18, the address above the newest entry. */
static __always_inline uintptr_t scs_pointer(void)
{
	uintptr_t top;

	__asm__ __volatile__("mov %0, x18" : "=r"(top));
	return top;
}

/** scs_set_pointer() - for tests: x18 becomes @top. */
static __always_inline void scs_set_pointer(uintptr_t top)
{
	__asm__ __volatile__("mov x18, %0" ::"r"(top) : "memory");
}

/* str x30, [x18], #8 and ldr x30, [x18, #-8]!: how a function starts and ends. */
#define SCS_PUSH_INSN 0xf800865eU
#define SCS_POP_INSN  0xf85f8e5eU

/** scs_strip() - Return: the entry @pc without a pointer authentication code. In addresses of the kernel's half
 *  the code lies where all bits are ones. */
static __always_inline uintptr_t scs_strip(uintptr_t pc)
{
	return pc & 1UL << 55 ? pc | ~0UL << VA_BITS : pc;
}

/** scs_base_of() - Return: address of the oldest entry of the stack with the pointer @top, which may be
 *  a full or an empty stack's. */
static __always_inline uintptr_t scs_base_of(uintptr_t top)
{
	return ((top - 1) & ~(SCS_SIZE - 1)) + sizeof(uintptr_t);
}

#endif
#endif /* ASM_SCS_H */
