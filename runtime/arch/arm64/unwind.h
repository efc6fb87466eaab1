/* SPDX-License-Identifier: MIT */
/*
 * arm64/unwind.h - AArch64 frame records.
 *
 * The procedure call standard fixes the record: x29 points to the pair {caller's x29, x30}. Clang and GCC
 * agree on it, whatever else the frame holds.
 */
#ifndef KASAN_ARM64_UNWIND_H
#define KASAN_ARM64_UNWIND_H

#define KASAN_FRAME_RECORD_LOW	0
#define KASAN_FRAME_RECORD_HIGH 16
#define KASAN_FRAME_ALIGN	8

static inline uintptr_t kasan_arch_frame_prev(uintptr_t fp)
{
	return ((const uintptr_t *)fp)[0];
}

static inline uintptr_t kasan_arch_frame_ra(uintptr_t fp)
{
	/*
	 * A saved x30 may be signed (-mbranch-protection=pac-ret). XPACLRI strips the signature
	 * from x30 and, being a hint, does nothing on processors without pointer authentication.
	 */
	register uintptr_t ra __asm__("x30") = ((const uintptr_t *)fp)[1];

	__asm__("hint #7" : "+r"(ra));
	return ra;
}

static inline void kasan_arch_relax(void)
{
	__asm__ volatile("yield" ::: "memory");
}

#endif /* KASAN_ARM64_UNWIND_H */
