/* SPDX-License-Identifier: MIT */
/* arm64/unwind.h - AArch64 frame records. The procedure call standard fixes them, and Clang and GCC follow it, whatever
 * else the frame holds: x29 points to the pair {caller's x29, x30}. */
#ifndef KASAN_ARM64_UNWIND_H
#define KASAN_ARM64_UNWIND_H

#include <kasan/types.h>

#define KASAN_FRAME_RECORD    0
#define KASAN_ARCH_RECORDS_RA 1
/* With -mstrict-align memory may be of the kind that faults. */
#ifdef __ARM_FEATURE_UNALIGNED
#define KASAN_ARCH_READS_UNALIGNED 1
#endif

/* A saved x30 may be signed (-mbranch-protection=pac-ret). */
#define KASAN_ARCH_SIGNS_RA 1
static inline uintptr_t kasan_arch_strip_ra(uintptr_t raw)
{
	/* XPACLRI strips the signature from x30 and, being a hint, does nothing on processors without pointer
	 * authentication. */
	register uintptr_t ra __asm__("x30") = raw;

	__asm__("hint #7" : "+r"(ra));
	return ra;
}

/* Loads in pairs, and one branch for all, where a compiler would branch after each word. Volatile, or GCC 12 would drop
 * it, because nothing reads the outputs. */
#define KASAN_ARCH_HAS_SAME_4
#define KASAN_LOAD_2(offset_above, offset_words)               \
	"ldp	%[b], %[a], [%[above], #" offset_above "]\n\t" \
	"ldp	%[c], %[d], [%[words], #" offset_words "]\n\t"
#define KASAN_ALSO_SAME_2             \
	"ccmp	%[a], %[c], #0, eq\n\t" \
	"ccmp	%[b], %[d], #0, eq\n\t"
#define KASAN_SAME_4             \
	KASAN_LOAD_2("-16", "0") \
	"cmp	%[a], %[c]\n\t"     \
	"ccmp	%[b], %[d], #0, eq\n\t" KASAN_LOAD_2("-32", "16") KASAN_ALSO_SAME_2
#define KASAN_SAME_8                                                                       \
	KASAN_SAME_4 KASAN_LOAD_2("-48", "32") KASAN_ALSO_SAME_2 KASAN_LOAD_2("-64", "48") \
		KASAN_ALSO_SAME_2
#define KASAN_SAME(test)                                                               \
	uintptr_t a, b, c, d;                                                          \
                                                                                       \
	__asm__ volatile goto(test "b.ne	%l[differ]"                                   \
			      : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d) \
			      : [above] "r"(above), [words] "r"(words)                 \
			      : "cc", "memory"                                         \
			      : differ);                                               \
	return true;                                                                   \
differ:                                                                                \
	return false

static kasan_always_inline bool kasan_arch_same_4(const uintptr_t *above, const uintptr_t *words)
{
	KASAN_SAME(KASAN_SAME_4);
}

static kasan_always_inline bool kasan_arch_same_8(const uintptr_t *above, const uintptr_t *words)
{
	KASAN_SAME(KASAN_SAME_8);
}

/* Six instructions a frame, four frames at a time. A frame is read only after it was found to lie in the stack. Loads of
 * return addresses in pairs, and no copies between registers: compilers take eight or nine. */
#if KASAN_ARCH_READS_UNALIGNED
#define KASAN_ARCH_HAS_SAME_CHAIN
#define KASAN_CHAIN_STEP(pc, left, before)      \
	"ldp	%[at], %[ra], [%[at]]\n\t"         \
	"sub	%[" left "], %[top], %[at]\n\t" \
	"cmp	%[" left "], %[" before "]\n\t" \
	"ccmp	%[ra], %[" pc "], #0, lo\n\t"   \
	"b.ne	%l[differ]\n\t"
#define KASAN_CHAIN_FIRST KASAN_CHAIN_STEP("one", "next", "room")
#define KASAN_CHAIN_1 \
	"ldr	%[one], [%[pcs]], #8\n\t" KASAN_CHAIN_FIRST "mov	%[room], %[next]\n\t"
#define KASAN_CHAIN_2                                                                  \
	"ldp	%[one], %[two], [%[pcs]], #16\n\t" KASAN_CHAIN_FIRST KASAN_CHAIN_STEP( \
		"two", "room", "next")
/* An odd one, two, and the others. */
#define KASAN_CHAIN                                               \
	"tbz	%[bytes], #3, 1f\n\t" KASAN_CHAIN_1 "\n1:\n\t"    \
	"tbz	%[bytes], #4, 2f\n\t" KASAN_CHAIN_2 "\n2:\n\t"    \
	"lsr	%[bytes], %[bytes], #5\n\t"                          \
	"cbz	%[bytes], 4f\n3:\n\t" KASAN_CHAIN_2 KASAN_CHAIN_2 \
	"sub	%[bytes], %[bytes], #1\n\t"                          \
	"cbnz	%[bytes], 3b\n4:"

static kasan_always_inline bool kasan_arch_same_chain(uintptr_t *fp, uintptr_t *left, uintptr_t top,
						      const uintptr_t *pcs, size_t bytes)
{
	uintptr_t at = *fp, room = *left, ra, one, two, next;

	__asm__ volatile goto(
		KASAN_CHAIN
		: [at] "+&r"(at), [room] "+&r"(room), [pcs] "+&r"(pcs), [bytes] "+&r"(bytes),
		  [ra] "=&r"(ra), [one] "=&r"(one), [two] "=&r"(two), [next] "=&r"(next)
		: [top] "r"(top)
		: "cc", "memory"
		: differ);
	*fp = at;
	*left = room;
	return true;
differ:
	return false;
}
#endif

static inline void kasan_arch_relax(void)
{
	__asm__ volatile("yield" ::: "memory");
}

/* Without v8 to v15, whose lower halves @function preserves: the compiler would save them, which a system may forbid
 * here. Their upper halves hold nothing across calls. */
#ifdef __ARM_FP
#define KASAN_ARCH_FP_CLOBBERS                                                               \
	, "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", \
		"v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",        \
		"v31" KASAN_ARCH_SVE_CLOBBERS
#else
#define KASAN_ARCH_FP_CLOBBERS
#endif
#ifdef __ARM_FEATURE_SVE
#define KASAN_ARCH_SVE_CLOBBERS                                                                   \
	, "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", \
		"p14", "p15"
#else
#define KASAN_ARCH_SVE_CLOBBERS
#endif

/* The old stack pointer is kept in a register that @function must preserve. So is x18, which some systems reserve;
 * elsewhere it is any register, but a clobber of a reserved one is a warning. */
static inline void kasan_arch_call_on(uintptr_t top, void (*function)(void *), void *argument)
{
	register uintptr_t stack __asm__("x19") = top;
	register void *x0 __asm__("x0") = argument;

	__asm__ volatile("mov x20, sp\n\t"
			 "mov x21, x18\n\t"
			 "mov sp, %[stack]\n\t"
			 "blr %[function]\n\t"
			 "mov x18, x21\n\t"
			 "mov sp, x20"
			 : "+r"(x0)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x20", "x21", "x30", "memory",
			   "cc" KASAN_ARCH_FP_CLOBBERS);
}

#endif /* KASAN_ARM64_UNWIND_H */
