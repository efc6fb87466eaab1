/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the processor's part of the runtime: frame records, the spin-wait hint, clearing memory.
 *
 * Each arch/<name>/unwind.h gives
 *
 * KASAN_FRAME_RECORD
 *	where the frame record lies, in words from the frame pointer: the caller's frame pointer, then the return address.
 * KASAN_FRAME_RA
 *	where the return address lies, if it does not follow.
 * KASAN_ARCH_CALLER_FP()
 *	the frame pointer of the function that this is in, if it is not __builtin_frame_address(0).
 * kasan_arch_relax()
 *	tells the CPU that this is a spin loop.
 * kasan_arch_call_on(top, function, argument)
 *	calls function(argument) on the stack that ends at @top, aligned to 16 bytes. Interrupts are off. The compiler
 *	does not see a call here, so the assembly names all registers that a function may change, including those of
 *	floating point.
 */
#ifndef KASAN_ARCH_H
#define KASAN_ARCH_H

#include <kasan/hook.h>

#define kasan_noinline __attribute__((__noinline__))
#define kasan_cold     __attribute__((__noinline__, __cold__))

#if defined(__aarch64__)
#include "arm64/unwind.h"
#include "arm64/zero.h"
#elif defined(__riscv)
#include "riscv/unwind.h"
#elif defined(__x86_64__)
#include "x86_64/unwind.h"
#elif defined(__arm__)
#include "arm/unwind.h"
#elif defined(__s390x__)
#include "s390/unwind.h"
#elif defined(__powerpc64__) && defined(_CALL_ELF) && _CALL_ELF == 2
#include "powerpc/unwind.h"
#elif defined(__loongarch64)
#include "loongarch/unwind.h"
#else
#error "KASAN: no runtime/arch/<name>/unwind.h for this processor"
#endif

/* An architecture whose frames do not form a chain defines KASAN_ARCH_UNWINDS and kasan_arch_here(): see
 * track/exidx.h. */
#ifndef KASAN_ARCH_UNWINDS
#define KASAN_ARCH_UNWINDS 0
#else
#define KASAN_FRAME_RECORD 0
#endif

#ifndef KASAN_FRAME_RA
#define KASAN_FRAME_RA (KASAN_FRAME_RECORD + 1)
#endif
#ifndef KASAN_ARCH_CALLER_FP
#define KASAN_ARCH_CALLER_FP() ((uintptr_t)__builtin_frame_address(0))
#endif

/* [fp + LOW, fp + HIGH) must lie inside the stack before the record is read. */
#define KASAN_FRAME_ALIGN sizeof(uintptr_t)
#if KASAN_FRAME_RA > KASAN_FRAME_RECORD
#define KASAN_FRAME_RECORD_LOW	(KASAN_FRAME_RECORD * (intptr_t)sizeof(uintptr_t))
#define KASAN_FRAME_RECORD_HIGH ((KASAN_FRAME_RA + 1) * (intptr_t)sizeof(uintptr_t))
#else
#define KASAN_FRAME_RECORD_LOW	(KASAN_FRAME_RA * (intptr_t)sizeof(uintptr_t))
#define KASAN_FRAME_RECORD_HIGH ((KASAN_FRAME_RECORD + 1) * (intptr_t)sizeof(uintptr_t))
#endif

/* Can a record be read that is not aligned? An architecture whose frame pointers are aligned in any chain that is not
 * broken may define it. */
#ifndef KASAN_ARCH_READS_UNALIGNED
#define KASAN_ARCH_READS_UNALIGNED 0
#endif
/* Do the records of functions that ask for KASAN_ARCH_CALLER_FP() always have their return address? */
#ifndef KASAN_ARCH_RECORDS_RA
#define KASAN_ARCH_RECORDS_RA 0
#endif

/** kasan_arch_frame_prev() - Return: the caller's frame pointer. kasan_arch_frame_raw_ra() - Return: the return address
 *  into the caller, as it lies in memory. */
static inline uintptr_t kasan_arch_frame_prev(uintptr_t fp)
{
	return KASAN_ARCH_UNWINDS ? 0 : ((const uintptr_t *)fp)[KASAN_FRAME_RECORD];
}

static inline uintptr_t kasan_arch_frame_raw_ra(uintptr_t fp)
{
	return KASAN_ARCH_UNWINDS ? 0 : ((const uintptr_t *)fp)[KASAN_FRAME_RA];
}

/*
 * An architecture whose return addresses may be signed in memory defines KASAN_ARCH_SIGNS_RA and
 *	kasan_arch_strip_ra(raw)  @raw without the signature
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

/* kasan_arch_is_address() - false: the CPU refuses every access at @addr, whatever the page tables hold. */
#ifndef KASAN_ARCH_HAS_NON_ADDRESSES
static inline bool kasan_arch_is_address(uintptr_t addr)
{
	(void)addr;
	return true;
}
#endif

/* Calls leave the return address in a register, even a call of something that is not code. */
#ifdef __x86_64__
#define KASAN_ARCH_HAS_LR 0
#else
#define KASAN_ARCH_HAS_LR 1
#endif

/*
 * An architecture that can tell return addresses from other words defines KASAN_ARCH_CHECKS_RA and
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

/* An architecture that can compare words in fewer instructions than its compilers defines KASAN_ARCH_HAS_SAME_4 and
 * these: are the four or eight words below @above, from the highest on, the same as those from @words on? */
#ifndef KASAN_ARCH_HAS_SAME_4
static kasan_always_inline bool kasan_arch_same_4(const uintptr_t *above, const uintptr_t *words)
{
	return !((above[-1] ^ words[0]) | (above[-2] ^ words[1]) | (above[-3] ^ words[2]) |
		 (above[-4] ^ words[3]));
}

static kasan_always_inline bool kasan_arch_same_8(const uintptr_t *above, const uintptr_t *words)
{
	return kasan_arch_same_4(above, words) && kasan_arch_same_4(above - 4, words + 4);
}
#endif

/*
 * An architecture that can follow frames in fewer instructions than its compilers defines KASAN_ARCH_HAS_SAME_CHAIN and
 *	kasan_arch_same_chain(fp, left, top, pcs, bytes)
 *		do the frames from *@fp on return to the addresses in the @bytes at @pcs, and does a good frame follow? *@fp is
 *		good and leaves *@left to @top, the highest good one (kasan_frame_left()); each caller's frame must leave less.
 *		If so, both are set for the frame after them
 */

/*
 * An architecture that can clear memory faster than by stores defines KASAN_ARCH_ZERO_BYTES, a power of two, and
 *	kasan_arch_can_zero()  may it be done on this CPU?
 *	kasan_arch_zero(p)     clear so many bytes at @p, which is aligned to them
 * Only shadow of the full layout is cleared: ordinary memory, with the MMU on.
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
