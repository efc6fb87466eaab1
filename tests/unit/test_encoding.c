/* SPDX-License-Identifier: MIT */
/*
 * test_encoding.c - compares shadow memory with the oracle: poison, unpoison, poison_tail and every check, for all
 * small offsets and sizes and for random large ones.
 *
 * Built once for each shadow layout: the runtime that is linked decides how addresses are translated.
 */
#include <string.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "oracle.h"

#define SMALL 256

static struct oracle make_oracle(size_t size)
{
	static bool bits[1 << 20];
	struct oracle o = {(uintptr_t)unit_watched(size), size, bits};

	memset(bits, true, size);
	return o;
}

static void all_poisoned(struct oracle *o, uint8_t value)
{
	kasan_poison((void *)o->base, o->size, value);
	oracle_set(o, o->base, o->size, false);
}

/* Check every range [start, start + len) that starts in the first SMALL bytes, with len up to 64. */
static void compare_small(const struct oracle *o)
{
	uintptr_t next_bad[SMALL + 64 + 1];

	/* Asking the oracle about each range would be slow; one pass from the end gives all its answers. */
	next_bad[SMALL + 64] = UINTPTR_MAX;
	for (size_t i = SMALL + 64; i-- > 0;)
		next_bad[i] = o->accessible[i] ? next_bad[i + 1] : o->base + i;
	for (size_t start = 0; start < SMALL; start++)
		for (size_t len = 1; len <= 64; len++) {
			uintptr_t want =
				next_bad[start] < o->base + start + len ? next_bad[start] : 0;
			uintptr_t got = kasan_first_bad(o->base + start, len);

			if (got != want)
				CHECKF(false, "[+%zu, %zu bytes): first bad +%td, should be +%td",
				       start, len, got ? (ptrdiff_t)(got - o->base) : -1,
				       want ? (ptrdiff_t)(want - o->base) : -1);
		}
}

static void unpoison_all_offsets_and_sizes(void)
{
	struct oracle o = make_oracle(4096);

	for (size_t offset = 0; offset < 64; offset += 8)
		for (size_t size = 1; size <= 64; size++) {
			all_poisoned(&o, KASAN_SLAB_REDZONE);
			kasan_unpoison((void *)(o.base + 64 + offset), size);
			oracle_unpoison(&o, o.base + 64 + offset, size);
			compare_small(&o);
		}
}

static void poison_all_offsets_and_sizes(void)
{
	struct oracle o = make_oracle(4096);

	for (size_t offset = 0; offset < 64; offset += 8)
		for (size_t size = 8; size <= 64; size += 8) {
			kasan_unpoison((void *)o.base, o.size);
			oracle_unpoison(&o, o.base, o.size);
			kasan_poison((void *)(o.base + 64 + offset), size, KASAN_SLAB_FREE);
			oracle_set(&o, o.base + 64 + offset, size, false);
			compare_small(&o);
			for (size_t i = 0; i < size; i += 8)
				CHECK_EQ(*kasan_shadow_of((void *)(o.base + 64 + offset + i)),
					 KASAN_SLAB_FREE);
		}
}

static void poison_tail_all_sizes(void)
{
	struct oracle o = make_oracle(4096);

	for (int before = 0; before < 2; before++)
		for (size_t span = 8; span <= 72; span += 8)
			for (size_t size = 0; size <= span; size++) {
				/* "stay (or become) accessible": whatever state they were in before. */
				all_poisoned(&o, KASAN_SLAB_REDZONE);
				if (before) {
					kasan_unpoison((void *)(o.base + 64), span);
					oracle_unpoison(&o, o.base + 64, span);
				}
				kasan_poison_tail((void *)(o.base + 64), size, span,
						  KASAN_PAGE_REDZONE);
				oracle_set(&o, o.base + 64, span, false);
				oracle_set(&o, o.base + 64, size, true);
				compare_small(&o);
				if (size + 8 <= span)
					CHECK_EQ(*kasan_shadow_of((void *)(o.base + 64 + span - 8)),
						 KASAN_PAGE_REDZONE);
			}
}

static void random_large_ranges(void)
{
	struct oracle o = make_oracle(1 << 20);

	for (int round = 0; round < 400; round++) {
		uintptr_t addr = o.base + unit_below(o.size / 8 - 1) * 8;
		size_t room = o.base + o.size - addr;
		size_t size = 1 + unit_below(room > 100000 ? 100000 : room);
		size_t span = (size + 7) & ~7UL;

		switch (unit_below(3)) {
		case 0:
			kasan_poison((void *)addr, span, KASAN_PAGE_FREE);
			oracle_set(&o, addr, span, false);
			break;
		case 1:
			kasan_unpoison((void *)addr, size);
			oracle_unpoison(&o, addr, size);
			break;
		default: {
			size_t kept = unit_below(span + 1);

			kasan_poison_tail((void *)addr, kept, span, KASAN_SLAB_REDZONE);
			oracle_set(&o, addr, span, false);
			oracle_set(&o, addr, kept, true);
			break;
		}
		}
		for (int i = 0; i < 200; i++) {
			uintptr_t from = o.base + unit_below(o.size);
			size_t left = o.base + o.size - from;
			size_t limit = i & 1 ? 4096 : left;
			size_t len = 1 + unit_below(left < limit ? left : limit);

			CHECK_EQ(kasan_first_bad(from, len), oracle_first_bad(&o, from, len));
		}
	}
}

/* One bad granule in good memory is found at every distance from the start. */
static void single_bad_granule(void)
{
	struct oracle o = make_oracle(64 * 1024);

	for (size_t at = 0; at < 2048; at += 8) {
		kasan_unpoison((void *)o.base, o.size);
		kasan_poison((void *)(o.base + at), 8, KASAN_GLOBAL_REDZONE);
		CHECK_EQ(kasan_first_bad(o.base, o.size), o.base + at);
		if (at) {
			CHECK_EQ(kasan_first_bad(o.base, at), 0);
			CHECK_EQ(kasan_first_bad(o.base, at + 1), o.base + at);
			CHECK_EQ(kasan_first_bad(o.base + at % 61, at - at % 61 + 1), o.base + at);
		}
		CHECK_EQ(kasan_first_bad(o.base + at + 8, o.size - at - 8), 0);
		CHECK_EQ(kasan_first_bad(o.base + at + 7, 1), o.base + at + 7);
	}
}

/* A good granule in bad memory is found by a check of that granule alone. */
static void single_good_granule(void)
{
	struct oracle o = make_oracle(64 * 1024);

	for (size_t at = 8; at < 2048; at += 8) {
		kasan_poison((void *)o.base, o.size, KASAN_GLOBAL_REDZONE);
		kasan_unpoison((void *)(o.base + at), 8);
		CHECK_EQ(kasan_first_bad(o.base + at, 8), 0);
		CHECK_EQ(kasan_first_bad(o.base + at - 1, 9), o.base + at - 1);
		CHECK_EQ(kasan_first_bad(o.base + at, 9), o.base + at + 8);
		CHECK_EQ(kasan_first_bad(o.base, o.size), o.base);
	}
	kasan_unpoison((void *)o.base, o.size);
}

/* The rest of the shadow must not change, because it belongs to other objects. */
static void neighbours_are_untouched(void)
{
	struct oracle o = make_oracle(4096);
	uint8_t *shadow = kasan_shadow_of((void *)o.base);

	for (size_t size = 1; size <= 200; size++) {
		size_t granules = (size + 7) / 8;

		memset(shadow, 0xf2, 64);
		kasan_unpoison((void *)(o.base + 64), size);
		CHECK_EQ(shadow[7], 0xf2);
		CHECK_EQ(shadow[8 + granules], 0xf2);
		memset(shadow, 0, 64);
		kasan_poison((void *)(o.base + 64), granules * 8, KASAN_SLAB_FREE);
		CHECK_EQ(shadow[7], 0);
		CHECK_EQ(shadow[8 + granules], 0);
		memset(shadow, 0xf2, 64);
		kasan_poison_tail((void *)(o.base + 64), size, granules * 8, KASAN_SLAB_REDZONE);
		CHECK_EQ(shadow[7], 0xf2);
		CHECK_EQ(shadow[8 + granules], 0xf2);
	}
}

/* --- The same questions through the compiler's ABI -------------------------------------------- */

/* Set the shadow of three granules to every combination that matters; then try every access to them. */
static void every_access_function(void)
{
	static const uint8_t values[] = {0, 1, 3, 4, 5, 7, KASAN_SLAB_FREE};
	struct oracle o = make_oracle(4096);
	uint8_t *shadow = kasan_shadow_of((void *)(o.base + 64));
	unsigned long asked = 0;

	for (unsigned int combo = 0; combo < 7 * 7 * 7; combo++) {
		for (unsigned int g = 0; g < 3; g++) {
			uint8_t v = values[(g == 0 ? combo : g == 1 ? combo / 7 : combo / 49) % 7];

			shadow[g] = v;
			oracle_set(&o, o.base + 64 + g * 8, 8, v == 0);
			if (v > 0 && v < 8)
				oracle_set(&o, o.base + 64 + g * 8, v, true);
		}
		for (const struct access_fn *fn = access_fns; fn->name; fn++)
			for (size_t offset = 0; offset < 8; offset++) {
				uintptr_t addr = o.base + 64 + offset;
				bool bad = oracle_first_bad(&o, addr, fn->size) != 0;

				/* Try all good accesses, but only one in four bad ones, because reports are slow. */
				if (bad && unit_below(4))
					continue;
				unit_clear();
				fn->call(addr);
				asked++;
				if (unit_reports() != bad)
					CHECKF(false,
					       "%s(+%zu), shadow %02x %02x %02x: %u report(s)",
					       fn->name, offset, shadow[0], shadow[1], shadow[2],
					       unit_reports());
				if (bad && unit_reports()) {
					CHECK_EQ(unit_last()->addr, addr);
					CHECK_EQ(unit_last()->size, fn->size);
					CHECKF(unit_last()->is_write == fn->is_write,
					       "%s: direction", fn->name);
				}
			}
	}
	CHECK(asked > 10000);
	kasan_unpoison((void *)o.base, o.size);
}

/* __asan_loadN() and __asan_storeN() with every size 1..64 at every offset. */
static void sized_access_functions(void)
{
	struct oracle o = make_oracle(4096);

	for (size_t size = 1; size <= 64; size++) {
		all_poisoned(&o, KASAN_SLAB_REDZONE);
		kasan_unpoison((void *)(o.base + 64), size);
		oracle_unpoison(&o, o.base + 64, size);
		for (size_t offset = 0; offset < 80; offset += 1 + unit_below(3))
			for (size_t len = 1; len <= 64; len += 1 + unit_below(5)) {
				uintptr_t addr = o.base + 56 + offset;
				bool bad = oracle_first_bad(&o, addr, len) != 0;

				if (bad && unit_below(8))
					continue;
				unit_clear();
				__asan_loadN_noabort(addr, len);
				CHECK_EQ(unit_reports(), bad);
				unit_clear();
				__asan_storeN_noabort(addr, len);
				CHECK_EQ(unit_reports(), bad);
				CHECK(!bad || unit_last()->is_write);
				CHECK(!bad || unit_last()->size == len);
			}
	}
	/* No byte is touched, so nothing can be wrong. */
	EXPECT_NO_REPORT(__asan_loadN_noabort(o.base, 0); __asan_storeN_noabort(o.base, 0));
}

static void explicit_checks(void)
{
	struct oracle o = make_oracle(4096);

	all_poisoned(&o, KASAN_SLAB_REDZONE);
	kasan_unpoison((void *)(o.base + 64), 13);
	oracle_unpoison(&o, o.base + 64, 13);
	for (size_t at = 48; at < 96; at++) {
		const void *p = (void *)(o.base + at);
		bool good = o.accessible[at];

		CHECK_EQ(kasan_byte_accessible(p), good);
		unit_clear();
		CHECK_EQ(kasan_check_byte(p), good);
		CHECK_EQ(unit_reports(), !good);
		for (size_t len = 1; len < 20; len++) {
			good = !oracle_first_bad(&o, o.base + at, len);
			unit_clear();
			CHECK_EQ(kasan_check_read(p, len), good);
			CHECK_EQ(unit_reports(), !good);
			CHECK(good || !unit_last()->is_write);
			unit_clear();
			CHECK_EQ(kasan_check_write(p, len), good);
			CHECK_EQ(unit_reports(), !good);
			CHECK(good || unit_last()->is_write);
		}
		CHECK(kasan_check_read(p, 0));
		CHECK(kasan_check_write(p, 0));
	}
}

UNIT_MAIN(unpoison_all_offsets_and_sizes, poison_all_offsets_and_sizes, poison_tail_all_sizes,
	  random_large_ranges, single_bad_granule, single_good_granule, neighbours_are_untouched,
	  every_access_function, sized_access_functions, explicit_checks)
