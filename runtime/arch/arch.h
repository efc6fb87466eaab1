/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the processor's part of the runtime: frame records, the spin-wait hint, clearing memory.
 *
 * Each arch/<name>/unwind.h gives
 *
 * KASAN_FRAME_RECORD_LOW, KASAN_FRAME_RECORD_HIGH
 *	bytes from the frame pointer to the lowest byte of its record and to the first byte behind it.
 *	[fp + LOW, fp + HIGH) must lie inside the stack before the record is read.
 * KASAN_FRAME_ALIGN
 *	alignment of every frame pointer, in bytes.
 * kasan_arch_frame_prev(fp)
 *	the caller's frame pointer.
 * kasan_arch_frame_raw_ra(fp)
 *	the return address into the caller, as it lies in memory.
 * kasan_arch_relax()
 *	tells the CPU that this is a spin loop.
 * kasan_arch_call_on(top, function, argument)
 *	calls function(argument) on the stack that ends at @top, aligned to 16 bytes. Interrupts are off. It is no call
 *	for the compiler, so all registers are named that a function may change, those of floating point included.
 */
#ifndef KASAN_ARCH_H
#define KASAN_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)
#include "arm64/unwind.h"
#include "arm64/zero.h"
#elif defined(__riscv)
#include "riscv/unwind.h"
#elif defined(__x86_64__)
#include "x86_64/unwind.h"
#elif defined(__arm__)
#include "arm/unwind.h"
#else
#error "KASAN: no runtime/arch/<name>/unwind.h for this processor"
#endif

/*
 * An arch whose return addresses may carry a signature in memory gives, under KASAN_ARCH_SIGNS_RA,
 *	kasan_arch_strip_ra(raw)  @raw without it
 */
#ifndef KASAN_ARCH_SIGNS_RA
#define KASAN_ARCH_SIGNS_RA 0
static inline uintptr_t kasan_arch_strip_ra(uintptr_t raw)
{
	return raw;
}
#endif

/** kasan_arch_frame_ra() - Return: the return address into the caller, without pointer authentication. */
static inline uintptr_t kasan_arch_frame_ra(uintptr_t fp)
{
	return kasan_arch_strip_ra(kasan_arch_frame_raw_ra(fp));
}

/* An arch where frames are no chain gives, under KASAN_ARCH_UNWINDS, kasan_arch_here(): see track/exidx.h. */
#ifndef KASAN_ARCH_UNWINDS
#define KASAN_ARCH_UNWINDS 0
#endif

/* The CPU's calls leave the return address in a register, so a call of what is no code leaves it there. */
#ifdef __x86_64__
#define KASAN_ARCH_HAS_LR 0
#else
#define KASAN_ARCH_HAS_LR 1
#endif

/*
 * An arch that can tell return addresses from other words gives, under KASAN_ARCH_CHECKS_RA,
 *	kasan_arch_is_return(pc)  does a call come before @pc? The bytes before @pc may be read.
 */
#ifndef KASAN_ARCH_CHECKS_RA
#define KASAN_ARCH_CHECKS_RA 0
static inline bool kasan_arch_is_return(uintptr_t pc)
{
	(void)pc;
	return true;
}
#endif

/*
 * An arch that can compare words in fewer instructions than its compilers gives, with KASAN_ARCH_HAS_SAME_4, the same as
 * these: are the four or eight words below @above, from the highest on, the same as those from @words on?
 */
#ifndef KASAN_ARCH_HAS_SAME_4
static inline __attribute__((always_inline)) bool kasan_arch_same_4(const uintptr_t *above,
								    const uintptr_t *words)
{
	return !((above[-1] ^ words[0]) | (above[-2] ^ words[1]) | (above[-3] ^ words[2]) |
		 (above[-4] ^ words[3]));
}

static inline __attribute__((always_inline)) bool kasan_arch_same_8(const uintptr_t *above,
								    const uintptr_t *words)
{
	return kasan_arch_same_4(above, words) && kasan_arch_same_4(above - 4, words + 4);
}
#endif

/*
 * An arch that can clear memory faster than by stores gives, under KASAN_ARCH_ZERO_BYTES, a power of two,
 *	kasan_arch_can_zero()  may it be done on this CPU?
 *	kasan_arch_zero(p)     clear so many bytes at @p, which is aligned to them
 * It is used on shadow of the full layout only: ordinary memory, with the MMU on.
 */
#ifndef KASAN_ARCH_ZERO_BYTES
#define KASAN_ARCH_ZERO_BYTES 64
static inline bool kasan_arch_can_zero(void)
{
	return false;
}

static inline void kasan_arch_zero(void *p)
{
	(void)p;
}
#endif

#endif /* KASAN_ARCH_H */
