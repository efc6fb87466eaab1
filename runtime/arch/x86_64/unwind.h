/* SPDX-License-Identifier: MIT */
/* x86_64/unwind.h - frame records of x86-64: with both compilers, "push %rbp; mov %rsp, %rbp" leaves the caller's %rbp
 * at the frame pointer and the return address right above it. */
#ifndef KASAN_X86_64_UNWIND_H
#define KASAN_X86_64_UNWIND_H

#define KASAN_FRAME_RECORD 0

/* Addresses are sign-extended from bit 56, or from bit 47 without 5-level page tables, which the runtime cannot know. An
 * access at any other one raises #GP or #SS, which do not tell the address. */
#define KASAN_ARCH_HAS_NON_ADDRESSES
static inline bool kasan_arch_is_address(uintptr_t addr)
{
	return (uintptr_t)((intptr_t)(addr << 7) >> 7) == addr;
}

static inline void kasan_arch_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

/* With AVX these are the lower halves of registers that are clobbered whole. */
#ifdef __SSE__
#define KASAN_ARCH_FP_CLOBBERS                                                                     \
	, "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
		"xmm11", "xmm12", "xmm13", "xmm14", "xmm15" KASAN_ARCH_AVX512_CLOBBERS
#else
#define KASAN_ARCH_FP_CLOBBERS
#endif
#ifdef __AVX512F__
#define KASAN_ARCH_AVX512_CLOBBERS                                                               \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",       \
		"xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", \
		"k4", "k5", "k6", "k7"
#else
#define KASAN_ARCH_AVX512_CLOBBERS
#endif

/* The old stack pointer is kept in a register that @function must preserve. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("r12") = top;

	/* 128 bytes below the old stack pointer may be in use, and stay as they are. */
	__asm__ volatile("mov %%rsp, %%r13\n\t"
			 "mov %[stack], %%rsp\n\t"
			 "call *%[function]\n\t"
			 "mov %%r13, %%rsp"
			 : "+D"(argument)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r13", "memory",
			   "cc" KASAN_ARCH_FP_CLOBBERS);
}

#endif /* KASAN_X86_64_UNWIND_H */
