/* SPDX-License-Identifier: MIT */
/* riscv.h - HARTS=n: firmware in machine mode on several harts of QEMU's virt board, loaded anywhere (PIE=1). */
#ifndef RISCV_H
#define RISCV_H

/** STACK_GUARD_SIZE - below each hart's stack: what physical memory protection refuses. A power of two. */
#define STACK_GUARD_SIZE 4096
/** HART_STACK - bytes of a hart's stack, its guard included; as in riscv.lds. */
#define HART_STACK 0x5000
/** TRAP_STACK - bytes for handlers: a stack that has overflowed cannot be used. */
#define TRAP_STACK 4096

/* Offsets in struct hart for riscv_start.S, in words. */
#define HART_NUMBER	 0
#define HART_TRAP_TOP	 1
#define HART_INTERRUPTED 2
#define HART_RESUME	 3
#define HART_WORDS	 8

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct hart - mscratch points to it. @number: from 0 on, in the order in which harts arrived, whatever their ids.
 *  @trap_top: end of its stack for handlers. @interrupted: for the vector. @resume: stack pointer to go on with after a
 *  fault. @low, @high: its stack. @cause: of the last trap from user mode. */
struct hart {
	uintptr_t number, trap_top, interrupted, resume;
	uintptr_t low, high, cause, spare;
};

/** struct hart_regs - what the vector saves: x0 (unused) to x31. */
struct hart_regs {
	uintptr_t x[32];
};

/** hart_now() - Return: the hart that runs this. */
static inline struct hart *hart_now(void)
{
	struct hart *hart;

	__asm__ volatile("csrr %0, mscratch" : "=r"(hart));
	return hart;
}

/** hart_run() - call @code; go on here if a fault ends it. */
void hart_run(void (*code)(void));

/** hart_run_user() - call @code in user mode, which ends with the first trap. Return: its cause. */
uintptr_t hart_run_user(void (*code)(void));

/** harts_go() - let all other harts call @code, once. Return: how many there are. */
unsigned int harts_go(void (*code)(void));

/** harts_wait() - until they have returned from it. */
void harts_wait(void);

/** board_print() - print the line @text; reports of other harts are not mixed with it. */
void board_print(const char *text);

/** early_cookie - what the machine passed in a1 at reset: the device tree. */
extern uintptr_t early_tree;
#endif

#endif /* RISCV_H */
