/* SPDX-License-Identifier: MIT */
/*
 * riscv/unwind.h - frame records of RISC-V with 32 and with 64 bits.
 *
 * s0 holds the value that sp had on entry; the record lies below it: one word below s0 the return address, two words
 * below it the caller's s0. Both compilers do so in every function that calls another, and only such functions are in
 * the middle of a trace.
 */
#ifndef KASAN_RISCV_UNWIND_H
#define KASAN_RISCV_UNWIND_H

#define KASAN_FRAME_RECORD_LOW	(-2 * (int)sizeof(uintptr_t))
#define KASAN_FRAME_RECORD_HIGH 0
#define KASAN_FRAME_ALIGN	sizeof(uintptr_t)

static inline uintptr_t kasan_arch_frame_prev(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[-2];
}

static inline uintptr_t kasan_arch_frame_raw_ra(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[-1];
}

static inline void kasan_arch_relax(void)
{
	/* PAUSE (Zihintpause): a FENCE that orders nothing, so it is legal on processors without
	 * it. */
	__asm__ volatile(".4byte 0x0100000f" ::: "memory");
}

/* The old stack pointer is kept in a register that @function must preserve. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("s2") = top;
	register void *a0 __asm__("a0") = argument;

	__asm__ volatile("mv s3, sp\n\t"
			 "mv sp, %[stack]\n\t"
			 "jalr %[function]\n\t"
			 "mv sp, s3"
			 : "+r"(a0)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "ra", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3",
			   "t4", "t5", "t6", "s3", "memory");
}

#endif /* KASAN_RISCV_UNWIND_H */
