/* SPDX-License-Identifier: MIT */
/*
 * riscv/unwind.h - frame records of RISC-V, 32 and 64 bits.
 *
 * s0 holds the value that sp had on entry, and the record lies below it: the return address one word below, the
 * caller's s0 two words below. Both compilers do so in every function that calls another, and only such functions are
 * in the middle of a trace.
 */
#ifndef KASAN_RISCV_UNWIND_H
#define KASAN_RISCV_UNWIND_H

#define KASAN_FRAME_RECORD (-2)

/* -mno-strict-align: the system's CPUs take unaligned accesses. */
#ifdef __riscv_misaligned_fast
#define KASAN_ARCH_READS_UNALIGNED 1
#endif

static inline void kasan_arch_relax(void)
{
	/* PAUSE (Zihintpause) is a FENCE that orders nothing, so it is legal on processors without it. */
	__asm__ volatile(".4byte 0x0100000f" ::: "memory");
}

/* Those that @function need not preserve. The compiler would save the others, which a system may forbid here. */
#ifdef __riscv_flen
#define KASAN_ARCH_FP_CLOBBERS                                                                  \
	, "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", \
		"fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6",                                \
		"fa7" KASAN_ARCH_FS_CLOBBERS KASAN_ARCH_V_CLOBBERS
#else
#define KASAN_ARCH_FP_CLOBBERS
#endif
#ifdef __riscv_float_abi_soft
#define KASAN_ARCH_FS_CLOBBERS \
	, "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11"
#else
#define KASAN_ARCH_FS_CLOBBERS
#endif
#ifdef __riscv_vector
#define KASAN_ARCH_V_CLOBBERS                                                                     \
	, "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", \
		"v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",      \
		"v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define KASAN_ARCH_V_CLOBBERS
#endif

/* The old stack pointer is kept in a register that @function must preserve. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("s2") = top;
	register void *a0 __asm__("a0") = argument;

	__asm__ volatile("mv s3, sp\n\t"
			 "mv sp, %[stack]\n\t"
			 "jalr %[function]\n\t"
			 "mv sp, s3"
			 : "+r"(a0)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "ra", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3",
			   "t4", "t5", "t6", "s3", "memory" KASAN_ARCH_FP_CLOBBERS);
}

#endif /* KASAN_RISCV_UNWIND_H */
