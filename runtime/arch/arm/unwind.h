/* SPDX-License-Identifier: MIT */
/*
 * arm/unwind.h - frame records of 32-bit Arm, where compilers differ.
 *
 * Clang points the frame pointer (r11, or r7 in Thumb code) to the pair {caller's fp, lr}. GCC in Arm state points r11
 * to the saved lr, with the caller's r11 one word below it. GCC in Thumb state keeps no chain that can be followed:
 * there the tables in .ARM.exidx say how to unwind (track/exidx.c). They also do for both compilers if the port has them.
 * Build the runtime with the compiler that builds the system, because it assumes the frames of its own compiler.
 */
#ifndef KASAN_ARM_UNWIND_H
#define KASAN_ARM_UNWIND_H

#if defined(KASAN_PORT_HAS_EXIDX) || (defined(__thumb__) && !defined(__clang__))
#define KASAN_ARCH_UNWINDS 1

/* The stack pointer of the caller at the call. Clang pushes the frame pointer and lr first. */
#ifdef __clang__
#define KASAN_ARCH_CALLER_FP() ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t))
#else
#define KASAN_ARCH_CALLER_FP() ((uintptr_t)__builtin_dwarf_cfa())
#endif

/* Fills @regs, a struct kasan_regs *, with the registers of the function that this is inlined into. */
#define kasan_arch_here(regs)                                                       \
	__asm__ volatile("mov %0, pc\n\tmov %1, sp\n\tmov %2, r7\n\tmov %3, r11"    \
			 : "=&l"((regs)->pc), "=&l"((regs)->sp), "=&l"((regs)->fp), \
			   "=&l"((regs)->r11))
#elif defined(__clang__)
#define KASAN_FRAME_RECORD 0
#else
#define KASAN_FRAME_RECORD (-1)
#endif

#if __ARM_ARCH_PROFILE == 'M'
#define KASAN_ARCH_CHECKS_RA 1

/* A return address in Thumb code is odd and follows a call: BL, or BLX with a register. @pc: may be read as code. */
static inline bool kasan_arch_is_return(uintptr_t pc)
{
	const uint16_t *const after = (const uint16_t *)(pc & ~(uintptr_t)1);

	if (!(pc & 1))
		return false;
	return (after[-1] & 0xff87) == 0x4780 ||
	       ((after[-2] & 0xf800) == 0xf000 && (after[-1] & 0xd000) == 0xd000);
}
#endif

static inline void kasan_arch_relax(void)
{
#if __ARM_ARCH >= 7
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Armv8-M compares the stack pointer with a limit, which belongs to the stack that is left. Return: the old limit. Does
 * nothing without privileges, or on processors without limits. */
static inline uintptr_t kasan_arm_limit(uintptr_t limit)
{
	uintptr_t old = 0;

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
	uintptr_t control, exception;

	__asm__ volatile("mrs %0, control\n\tmrs %1, ipsr" : "=r"(control), "=r"(exception));
	if (control & 2 && !exception)
		__asm__ volatile("mrs %0, psplim\n\tmsr psplim, %1"
				 : "=&r"(old)
				 : "r"(limit)
				 : "memory");
	else
		__asm__ volatile("mrs %0, msplim\n\tmsr msplim, %1"
				 : "=&r"(old)
				 : "r"(limit)
				 : "memory");
#else
	(void)limit;
#endif
	return old;
}

#if defined(__thumb__) || __ARM_ARCH >= 5
#define KASAN_ARM_CALL "blx %[function]"
#else
#define KASAN_ARM_CALL "mov lr, pc\n\tbx %[function]"
#endif

#ifdef __ARM_FP
#define KASAN_ARCH_FP_CLOBBERS                                                                    \
	, "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", \
		"s14", "s15" KASAN_ARCH_NEON_CLOBBERS
#else
#define KASAN_ARCH_FP_CLOBBERS
#endif
#ifdef __ARM_NEON
#define KASAN_ARCH_NEON_CLOBBERS                                                              \
	, "d16", "d17", "d18", "d19", "d20", "d21", "d22", "d23", "d24", "d25", "d26", "d27", \
		"d28", "d29", "d30", "d31"
#else
#define KASAN_ARCH_NEON_CLOBBERS
#endif

/* The old stack pointer is kept in a register that @function must preserve. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("r4") = top;
	register void *r0 __asm__("r0") = argument;
	const uintptr_t limit = kasan_arm_limit(0);

	__asm__ volatile("mov r5, sp\n\t"
			 "mov sp, %[stack]\n\t" KASAN_ARM_CALL "\n\t"
			 "mov sp, r5"
			 : "+r"(r0)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "r1", "r2", "r3", "r5", "r12", "lr", "memory",
			   "cc" KASAN_ARCH_FP_CLOBBERS);
	kasan_arm_limit(limit);
}

#endif /* KASAN_ARM_UNWIND_H */
