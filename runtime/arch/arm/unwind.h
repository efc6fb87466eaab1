/* SPDX-License-Identifier: MIT */
/*
 * arm/unwind.h - frame records of 32-bit Arm, where the compilers differ.
 *
 * Clang points the frame pointer (r11, or r7 in Thumb code) to the pair {caller's fp, lr}. GCC in
 * Arm state points r11 to the saved lr, with the caller's r11 one word below it. GCC in Thumb state
 * keeps no chain that can be followed: there every record looks wrong, and traces end at their
 * first entry. Build the runtime with the compiler that builds the system: it assumes the frames of its own
 * compiler.
 */
#ifndef KASAN_ARM_UNWIND_H
#define KASAN_ARM_UNWIND_H

#define KASAN_FRAME_ALIGN 4

#ifdef __clang__
#define KASAN_FRAME_RECORD_LOW	0
#define KASAN_FRAME_RECORD_HIGH 8

static inline uintptr_t kasan_arch_frame_prev(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[0];
}

static inline uintptr_t kasan_arch_frame_raw_ra(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[1];
}
#else
#define KASAN_FRAME_RECORD_LOW	(-4)
#define KASAN_FRAME_RECORD_HIGH 4

static inline uintptr_t kasan_arch_frame_prev(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[-1];
}

static inline uintptr_t kasan_arch_frame_raw_ra(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[0];
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

#endif /* KASAN_ARM_UNWIND_H */
