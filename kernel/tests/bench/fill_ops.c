// SPDX-License-Identifier: MIT
/*
 * fill_ops.c - the group "fill": what each instruction takes that stores memory tags, by the number of bytes.
 *
 * Every loop does four of its instructions in a turn. Bytes that are less than a block of the CPU are left to st2g,
 * or to stz2g. "runtime" and "runtime_zero" are the functions that choose: kasan_tags_fill() and its sibling.
 * Without hardware tags the group is empty.
 */
#include <kernel/kernel.h>
#include <kernel/slab.h>

#include "bench.h"

#ifdef CONFIG_KASAN_HW_TAGS
#include <kasan/tags_inline.h>

#define LARGEST 8192U
#define TAG	0xf4

static char *memory;
/* The range, its address with the tag and without; how many bytes an instruction takes. */
static uintptr_t tagged, bare;
static size_t bytes, multiple, zero;

static bool set_up(unsigned long size)
{
	memory = kmalloc(LARGEST, GFP_KERNEL);
	bare = (uintptr_t)kasan_reset_tag(memory);
	tagged = (uintptr_t)kasan_set_tag(memory, TAG);
	bytes = size;
	multiple = kasan_mte_multiple_size();
	zero = kasan_mte_zero_size();
	/* Where the CPU forbids dc gva, the figure is that of st2g. */
	if (!zero)
		zero = LARGEST * 2;
	return memory;
}

/* The free has to find the tag of the object. */
static void tear_down(void)
{
	kasan_tags_fill((uintptr_t)memory, LARGEST, kasan_get_tag(memory));
	kfree(memory);
}

/* The rest, less than 256 bytes. */
static __always_inline void small(uintptr_t at, uintptr_t end, bool clear)
{
	const size_t size = end - at;

#pragma GCC unroll 3
	for (unsigned int bit = 128; bit >= 32; bit /= 2) {
		if (!(size & bit))
			continue;
#pragma GCC unroll 4
		for (unsigned int i = 0; i < bit / 32; i++)
			at = clear ? kasan_mte_stz2g(at) : kasan_mte_st2g(at);
	}
	if (size & 16)
		clear ? kasan_mte_stzg(at) : kasan_mte_stg(at);
}

/* @AT: the address that @STORE, one instruction for @STEP bytes, writes. */
#define ONE(AT, STEP, STORE)    \
	do {                    \
		STORE;          \
		(AT) += (STEP); \
	} while (0)
#define FILL_LOOP(AT, END, STEP, STORE)             \
	do {                                        \
		const size_t step_ = (STEP);        \
                                                    \
		while ((END) - (AT) >= 4 * step_) { \
			ONE(AT, step_, STORE);      \
			ONE(AT, step_, STORE);      \
			ONE(AT, step_, STORE);      \
			ONE(AT, step_, STORE);      \
		}                                   \
		while ((END) - (AT) >= step_)       \
			ONE(AT, step_, STORE);      \
	} while (0)

static void with_st2g(void)
{
	uintptr_t at = tagged;
	const uintptr_t end = at + bytes;

	while (end - at >= 128)
		at = kasan_mte_st2g(kasan_mte_st2g(kasan_mte_st2g(kasan_mte_st2g(at))));
	small(at, end, false);
}

static void with_stz2g(void)
{
	uintptr_t at = tagged;
	const uintptr_t end = at + bytes;

	while (end - at >= 128)
		at = kasan_mte_stz2g(kasan_mte_stz2g(kasan_mte_stz2g(kasan_mte_stz2g(at))));
	small(at, end, true);
}

static void with_stgm(void)
{
	uintptr_t at = bare;
	const uintptr_t end = at + bytes, offset = tagged - bare;
	const uint64_t tags = (TAG & 15) * 0x1111111111111111UL;

	FILL_LOOP(at, end, multiple, kasan_mte_stgm(at, tags));
	small(at + offset, end + offset, false);
}

static void with_dc_gva(void)
{
	uintptr_t at = tagged;
	const uintptr_t end = at + bytes;

	FILL_LOOP(at, end, zero, kasan_mte_dc_gva(at));
	small(at, end, false);
}

static void with_dc_gzva(void)
{
	uintptr_t at = tagged;
	const uintptr_t end = at + bytes;

	FILL_LOOP(at, end, zero, kasan_mte_dc_gzva(at));
	small(at, end, true);
}

static void with_runtime(void)
{
	kasan_tags_fill(bare, bytes, TAG);
}

static void with_runtime_zero(void)
{
	kasan_tags_fill_zero(bare, bytes, TAG);
}

#define OP(NAME, SIZE)                                                                    \
	{"fill." #NAME "@" #SIZE, with_##NAME,		 .warm = 16,	  .rounds = 4096, \
	 .setup = set_up,	  .teardown = tear_down, .argument = SIZE}
#define OPS(NAME)                                                                              \
	OP(NAME, 16), OP(NAME, 32), OP(NAME, 64), OP(NAME, 128), OP(NAME, 256), OP(NAME, 512), \
		OP(NAME, 1024), OP(NAME, 2048), OP(NAME, 4096), OP(NAME, 8192)

const struct bench_op bench_fill_ops[] = {
	OPS(st2g),  OPS(stgm),	  OPS(dc_gva),	     OPS(runtime),
	OPS(stz2g), OPS(dc_gzva), OPS(runtime_zero), {},
};

#else
const struct bench_op bench_fill_ops[] = {{}};
#endif
