/* SPDX-License-Identifier: MIT */
/*
 * x86_64/unwind.h - frame records of x86-64: "push %rbp; mov %rsp, %rbp" leaves the caller's %rbp
 * at the frame pointer and the return address right above it, with both compilers.
 */
#ifndef KASAN_X86_64_UNWIND_H
#define KASAN_X86_64_UNWIND_H

#define KASAN_FRAME_RECORD_LOW	0
#define KASAN_FRAME_RECORD_HIGH 16
#define KASAN_FRAME_ALIGN	8

static inline uintptr_t kasan_arch_frame_prev(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[0];
}

static inline uintptr_t kasan_arch_frame_raw_ra(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[1];
}

static inline void kasan_arch_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

#endif /* KASAN_X86_64_UNWIND_H */
