/* SPDX-License-Identifier: MIT */
/*
 * s390/unwind.h - back chains of s390x, 64 bits, big-endian.
 *
 * No register points to a chain of frames. With -mbackchain, which the runtime and the system must be compiled with, the
 * lowest word of each frame holds the caller's stack pointer. A function saves its registers in its caller's frame: r6
 * to r15 from word 6 on, so its return address, r14, is word 14. Hence a function's frame pointer is its caller's stack
 * pointer. Both compilers return the address of its back chain for __builtin_frame_address(0).
 *
 * -mpacked-stack, as Linux has it, puts the registers from word 9 on, and the back chain after them. Compilers do not
 * tell: define CONFIG_KASAN_PACKED_STACK=1.
 */
#ifndef KASAN_S390_UNWIND_H
#define KASAN_S390_UNWIND_H

#ifdef CONFIG_KASAN_PACKED_STACK
#define KASAN_FRAME_RECORD 19
#define KASAN_FRAME_RA	   17
#define KASAN_S390_CHAIN   "152"
#else
#define KASAN_FRAME_RECORD 0
#define KASAN_FRAME_RA	   14
#define KASAN_S390_CHAIN   "0"
#endif
#define KASAN_ARCH_CALLER_FP() ((uintptr_t)__builtin_frame_address(0) - KASAN_FRAME_RECORD * 8)

/* There is no instruction for it. */
static inline void kasan_arch_relax(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Without f8 to f15, which @function preserves; each is the left half of a vector register, whose other half it does not
 * preserve. Naming the vector register would make the compiler save the other one too. */
#ifdef __VX__
#define KASAN_ARCH_FP_CLOBBERS                                                                    \
	, "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", \
		"f14", "f15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",      \
		"v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define KASAN_ARCH_FP_CLOBBERS , "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"
#endif

/* The old stack pointer is kept in a register that @function must preserve, and becomes the back chain of the first
 * frame: traces go on from there. 160 bytes are the area in which @function saves its registers. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("r8") = top - 160;
	register void *r2 __asm__("r2") = argument;

	__asm__ volatile("lgr %%r9, %%r15\n\t"
			 "lgr %%r15, %[stack]\n\t"
			 "stg %%r9, " KASAN_S390_CHAIN "(%%r15)\n\t"
			 "basr %%r14, %[function]\n\t"
			 "lgr %%r15, %%r9"
			 : "+d"(r2)
			 : [stack] "d"(stack), [function] "a"(function)
			 : "r0", "r1", "r3", "r4", "r5", "r9", "r14", "memory",
			   "cc" KASAN_ARCH_FP_CLOBBERS);
}

#endif /* KASAN_S390_UNWIND_H */
