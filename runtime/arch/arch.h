/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the processor's part of the runtime: frame records and the spin-wait hint.
 *
 * Each arch/<name>/unwind.h gives
 *	KASAN_FRAME_RECORD_LOW, KASAN_FRAME_RECORD_HIGH
 *		bytes from the frame pointer to the lowest byte of its record and to the first byte
 *behind it. [fp + LOW, fp + HIGH) must lie inside the stack before the record is read.
 *	KASAN_FRAME_ALIGN
 *		alignment of every frame pointer, in bytes.
 *	kasan_arch_frame_prev(fp)  the caller's frame pointer
 *	kasan_arch_frame_ra(fp)    the return address into the caller, without pointer
 *authentication kasan_arch_relax()         tells the CPU that this is a spin loop
 */
#ifndef KASAN_ARCH_H
#define KASAN_ARCH_H

#include <stdint.h>

#if defined(__aarch64__)
#include "arm64/unwind.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "riscv64/unwind.h"
#elif defined(__x86_64__)
#include "x86_64/unwind.h"
#elif defined(__arm__)
#include "arm/unwind.h"
#else
#error "KASAN: no runtime/arch/<name>/unwind.h for this processor"
#endif

#endif /* KASAN_ARCH_H */
