/* SPDX-License-Identifier: MIT */
/*
 * powerpc/unwind.h - back chains of 64-bit PowerPC with the ELFv2 ABI, little-endian.
 *
 * The ABI has the caller's stack pointer in the lowest word of each frame, without any compiler option. A function saves
 * its return address, the link register, in word 2 of its caller's frame. Hence a function's frame pointer is its
 * caller's stack pointer. What the compilers call its frame address is its own stack pointer, which leads there.
 */
#ifndef KASAN_POWERPC_UNWIND_H
#define KASAN_POWERPC_UNWIND_H

#define KASAN_FRAME_RECORD     0
#define KASAN_FRAME_RA	       2
#define KASAN_ARCH_CALLER_FP() (*(const uintptr_t *)__builtin_frame_address(0))

/* A lower priority for this thread of the core (Power ISA, book II, program priority registers). */
static inline void kasan_arch_relax(void)
{
	__asm__ volatile("or 27, 27, 27" ::: "memory");
}

/* fr14 to fr31 are preserved, but with VSX each is one half of a register, whose other half is not. v20 to v31 are
 * preserved whole. */
#if defined(_SOFT_FLOAT) || defined(__NO_FPRS__)
#define KASAN_ARCH_FP_CLOBBERS
#else
#define KASAN_ARCH_FP_CLOBBERS                                                                  \
	, "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", \
		"fr12", "fr13" KASAN_ARCH_VSX_CLOBBERS KASAN_ARCH_VMX_CLOBBERS
#endif
#ifdef __VSX__
#define KASAN_ARCH_VSX_CLOBBERS                                                                   \
	, "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21", "fr22", "fr23", "fr24", \
		"fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31"
#else
#define KASAN_ARCH_VSX_CLOBBERS
#endif
#ifdef __ALTIVEC__
#define KASAN_ARCH_VMX_CLOBBERS                                                                   \
	, "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", \
		"v14", "v15", "v16", "v17", "v18", "v19"
#else
#define KASAN_ARCH_VMX_CLOBBERS
#endif

/* The old stack pointer is kept in a register that @function must preserve, and becomes the back chain of the first
 * frame: traces go on from there. The frame holds the TOC pointer, r2, which @function may change. r12 is the address
 * that a function is entered by: it computes its own TOC pointer from it. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("r24") = top;
	register void *r3 __asm__("r3") = argument;

	__asm__ volatile("mr 25, 1\n\t"
			 "mr 1, %[stack]\n\t"
			 "stdu 25, -32(1)\n\t"
			 "std 2, 24(1)\n\t"
			 "mr 12, %[function]\n\t"
			 "mtctr 12\n\t"
			 "bctrl\n\t"
			 "ld 2, 24(1)\n\t"
			 "mr 1, 25"
			 : "+r"(r3)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "r0", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r25",
			   "ctr", "lr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7",
			   "memory" KASAN_ARCH_FP_CLOBBERS);
}

#endif /* KASAN_POWERPC_UNWIND_H */
