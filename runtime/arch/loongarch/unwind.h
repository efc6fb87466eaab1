/* SPDX-License-Identifier: MIT */
/*
 * loongarch/unwind.h - frame records of 64-bit LoongArch.
 *
 * With frame pointers, fp ($r22) holds the value that sp had on entry, and the record lies below it: the return address
 * one word below, the caller's fp two words below. Both compilers do so in every function that calls another.
 */
#ifndef KASAN_LOONGARCH_UNWIND_H
#define KASAN_LOONGARCH_UNWIND_H

#define KASAN_FRAME_RECORD (-2)

/* There is no instruction for it. */
static inline void kasan_arch_relax(void)
{
	__asm__ volatile("" ::: "memory");
}

/* fs0 to fs7 are preserved. */
#ifdef __loongarch_soft_float
#define KASAN_ARCH_FP_CLOBBERS
#else
#define KASAN_ARCH_FP_CLOBBERS                                                                  \
	, "$f0", "$f1", "$f2", "$f3", "$f4", "$f5", "$f6", "$f7", "$f8", "$f9", "$f10", "$f11", \
		"$f12", "$f13", "$f14", "$f15", "$f16", "$f17", "$f18", "$f19", "$f20", "$f21", \
		"$f22", "$f23" KASAN_ARCH_LSX_CLOBBERS
#endif
/* With vectors each is a part of a register, whose other parts are not preserved. */
#ifdef __loongarch_sx
#define KASAN_ARCH_LSX_CLOBBERS , "$f24", "$f25", "$f26", "$f27", "$f28", "$f29", "$f30", "$f31"
#else
#define KASAN_ARCH_LSX_CLOBBERS
#endif

/* The old stack pointer is kept in a register that @function must preserve. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("$r24") = top;
	register void *a0 __asm__("$r4") = argument;

	__asm__ volatile("move $r25, $sp\n\t"
			 "move $sp, %[stack]\n\t"
			 "jirl $ra, %[function], 0\n\t"
			 "move $sp, $r25"
			 : "+r"(a0)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "$r1", "$r5", "$r6", "$r7", "$r8", "$r9", "$r10", "$r11", "$r12", "$r13",
			   "$r14", "$r15", "$r16", "$r17", "$r18", "$r19", "$r20", "$r25",
			   "memory" KASAN_ARCH_FP_CLOBBERS);
}

#endif /* KASAN_LOONGARCH_UNWIND_H */
