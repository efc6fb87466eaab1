/* SPDX-License-Identifier: MIT */
/*
 * test_tags.c - the software tag-based mode over plain shadow: memory tags, policy, short granules, the pointers that
 * hooks return, the ABI's checks, and reports that infer the bug.
 *
 * The host's CPU does not ignore the top byte of an address, so pointers with a tag are never dereferenced. The tests
 * call the checks as compiled code would.
 */
#include <string.h>

#include "../../runtime/track/ring.h"
#include "unit.h"

#define GRANULE 16
#define SLOTS	64

void __hwasan_load1_noabort(uintptr_t addr);
void __hwasan_load2_noabort(uintptr_t addr);
void __hwasan_load4_noabort(uintptr_t addr);
void __hwasan_load8_noabort(uintptr_t addr);
void __hwasan_load16_noabort(uintptr_t addr);
void __hwasan_store8_noabort(uintptr_t addr);
void __hwasan_loadN_noabort(uintptr_t addr, size_t size);
void __hwasan_storeN_noabort(uintptr_t addr, size_t size);
void __hwasan_tag_memory(uintptr_t addr, uint8_t tag, size_t size);
uint8_t __hwasan_generate_tag(void);
void *__hwasan_memcpy(void *dst, const void *src, size_t n);

static uint8_t state_of(const void *p)
{
	uint8_t state = 0xAA;

	CHECK(kasan_memory_state(p, &state));
	return state;
}

/* Return: the tag of the object whose first granule is at @p. A short granule has it in its last byte. */
static uint8_t owner_of(const char *p)
{
	uint8_t state = state_of(p);

	return state < GRANULE ? *(const uint8_t *)(p + GRANULE - 1) : state;
}

/* --- A slab as allocators use it: a free slot keeps the tag of its last user ------------------ */

static struct slab {
	struct kasan_cache cache;
	char *memory;
	void *free[SLOTS];
	unsigned int nr;
	size_t slot;
} slab;

static bool find_object(const void *addr, struct kasan_object *obj)
{
	const char *p = kasan_reset_tag(addr);

	if (p < slab.memory || p >= slab.memory + SLOTS * slab.slot)
		return false;
	obj->kind = KASAN_OBJECT_SLAB;
	obj->cache = &slab.cache;
	obj->start = slab.memory + (size_t)(p - slab.memory) / slab.slot * slab.slot;
	return true;
}

static void make_slab(uint32_t size, uint32_t flags)
{
	slab.cache = (struct kasan_cache){.name = "tagged", .object_size = size, .flags = flags};
	slab.slot = kasan_cache_create(&slab.cache, 8);
	slab.memory = unit_arena((SLOTS * slab.slot + 8191) & ~4095UL);
	/* Stay away from the page's ends, where other rules hold. */
	slab.memory += 1024;
	kasan_poison_slab(slab.memory, SLOTS * slab.slot);
	slab.nr = 0;
	for (size_t i = 0; i < SLOTS; i++)
		slab.free[slab.nr++] = kasan_init_slab_slot(
			&slab.cache, slab.memory + (SLOTS - 1 - i) * slab.slot);
	kasan_posix_hooks.find_object = find_object;
}

static char *take(size_t size)
{
	return kasan_slab_alloc(&slab.cache, slab.free[--slab.nr], size);
}

static enum kasan_free_verdict give(char *object)
{
	struct kasan_object found = {0};
	enum kasan_free_verdict verdict;

	REQUIRE(find_object(object, &found));
	verdict = kasan_slab_free(&slab.cache, object, found.start, 0);
	if (verdict == KASAN_FREE_NOW)
		slab.free[slab.nr++] = object;
	return verdict;
}

/* --- Tags of memory --------------------------------------------------------------------------- */

static void fill_writes_its_granules(void)
{
	char *p = unit_arena(4096);

	for (size_t start = 0; start < 40; start++) {
		for (size_t count = 0; start + count <= 64; count++) {
			__hwasan_tag_memory((uintptr_t)p, 0x11, 64 * GRANULE);
			__hwasan_tag_memory((uintptr_t)p + start * GRANULE, 0x22, count * GRANULE);
			for (size_t i = 0; i < 64; i++)
				CHECK_EQ(state_of(p + i * GRANULE),
					 i >= start && i < start + count ? 0x22 : 0x11);
		}
	}
}

static void pointers(void)
{
	char *p = unit_arena(4096);
	char *tagged = kasan_set_tag(p, 0x37);

	CHECK_EQ(kasan_get_tag(tagged), 0x37);
	CHECK(kasan_reset_tag(tagged) == p);
	CHECK(kasan_reset_tag(NULL) == NULL);
	/* An address in the upper half stays there, whatever the tag. */
	CHECK(kasan_untag_addr(0x37ff000000000010UL) == 0xffff000000000010UL);
	CHECK(kasan_tag_addr(0xffff000000000010UL, 0x37) == 0x37ff000000000010UL);
	kasan_unpoison(tagged, 64);
	CHECK(kasan_byte_accessible(tagged + 63));
	CHECK(!kasan_byte_accessible(tagged + 64));
	CHECK(!kasan_byte_accessible(kasan_set_tag(p, 0x38)));
	CHECK(kasan_byte_accessible(kasan_set_tag(p, KASAN_TAG_KERNEL)));
	kasan_poison(tagged, 64, KASAN_TAG_INVALID);
	CHECK(!kasan_byte_accessible(tagged));
	CHECK(kasan_byte_accessible(kasan_set_tag(p, KASAN_TAG_KERNEL)));
}

/* --- Policy ----------------------------------------------------------------------------------- */

static void neighbours_differ(void)
{
	static const uint32_t sizes[] = {1, 16, 24, 48, 96, 112, 192, 500};
	char *objects[SLOTS];
	unsigned int seen[256];

	memset(seen, 0, sizeof(seen));
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		make_slab(sizes[s], 0);
		for (unsigned int round = 0; round < 200; round++) {
			for (size_t i = 0; i < SLOTS; i++) {
				objects[i] = take(sizes[s]);
				seen[kasan_get_tag(objects[i])]++;
			}
			/* In the first round the slots are taken from the lowest up. */
			for (size_t i = 0; i < SLOTS; i++) {
				char *at = slab.memory + i * slab.slot;

				if (i)
					CHECK(owner_of(at) != owner_of(at - slab.slot));
			}
			for (size_t i = 0; i < SLOTS; i++)
				CHECK_EQ(give(objects[i]), KASAN_FREE_NOW);
		}
	}
	for (unsigned int tag = 0; tag < 256; tag++)
		CHECKF((seen[tag] != 0) == (tag >= KASAN_TAG_MIN && tag <= KASAN_TAG_MAX),
		       "tag %02x was given out %u times", tag, seen[tag]);
}

static unsigned int same_tags(unsigned int rounds)
{
	unsigned int same = 0;

	make_slab(64, 0);
	for (unsigned int i = 0; i < rounds; i++) {
		char *first = take(64), *second;

		give(first);
		second = take(64);
		REQUIRE(kasan_reset_tag(first) == kasan_reset_tag(second));
		same += first == second;
		give(second);
	}
	return same;
}

static void reuse_changes_the_tag(void)
{
	CHECK_EQ(same_tags(10000), 0);
	/* With random tags one in 238 stays the same: 42 of 10,000, plus or minus six standard deviations. */
	CHECK_EQ(kasan_option("kasan.tag_policy", "random"), 0);
	CHECKF(same_tags(10000) - 4 < 78, "%u of 10,000 got their last tag again",
	       same_tags(10000));
	CHECK_EQ(kasan_option("kasan.tag_policy", "adjacent"), 0);
	CHECK_EQ(kasan_option("kasan.tag_policy", "odd"), KASAN_OPTION_INVALID);
}

/* The tag of pages differs from those of their neighbours, and from their last one. */
static void pages_differ(void)
{
	char *pages = unit_arena(8 * 4096);
	char *a = pages + 4096, *b = pages + 2 * 4096, *c = pages + 3 * 4096;

	kasan_free_pages(pages, 8 * 4096);
	for (unsigned int i = 0; i < 3000; i++) {
		char *last_b = b;

		a = kasan_alloc_pages(a, 4096);
		c = kasan_alloc_pages(c, 4096);
		b = kasan_alloc_pages(b, 4096);
		CHECK(kasan_get_tag(b) != kasan_get_tag(a));
		CHECK(kasan_get_tag(b) != kasan_get_tag(c));
		CHECK(b != last_b);
		CHECK(kasan_byte_accessible(b) && !kasan_byte_accessible(b + 4096));
		kasan_free_pages(a, 4096);
		kasan_free_pages(b, 4096);
		kasan_free_pages(c, 4096);
		CHECK(!kasan_byte_accessible(b));
	}
}

static void constructed_objects_keep_theirs(void)
{
	char *first, *second;

	make_slab(64, KASAN_CACHE_NO_FREE_META_IN_OBJECT);
	first = take(64);
	CHECK(kasan_get_tag(first) >= KASAN_TAG_MIN);
	give(first);
	CHECK(!kasan_byte_accessible(first));
	second = take(64);
	CHECK(first == second);
	CHECK(kasan_byte_accessible(second));
}

/* --- Short granules --------------------------------------------------------------------------- */

static void short_granules(void)
{
	make_slab(80, 0);
	for (size_t size = 0; size <= 80; size++) {
		char *p = take(size);

		for (size_t start = 0; start <= 80; start++) {
			CHECK_EQ(kasan_byte_accessible(p + start), start < size);
			kasan_disable_current();
			for (size_t n = 1; start + n <= 96; n++)
				CHECKF(kasan_check_read(p + start, n) == (start + n <= size),
				       "[%zu, +%zu) of %zu", start, n, size);
			kasan_enable_current();
		}
		CHECK_EQ(kasan_object_size(&slab.cache, p), size);
		CHECK_EQ(give(p), KASAN_FREE_NOW);
	}
}

/* An object of which its user has poisoned a part: if it is the start its owner is not known any more, but it is alive. */
static void poisoned_objects(void)
{
	char *p;

	make_slab(64, 0);
	for (size_t size = 33; size <= 64; size++) {
		for (unsigned int from = 0; from < 2; from++) {
			p = take(size);
			CHECK_EQ(kasan_object_size(&slab.cache, p), size);
			kasan_poison((char *)kasan_reset_tag(p) + from * GRANULE, GRANULE,
				     KASAN_USER_POISON);
			CHECK_EQ(kasan_object_size(&slab.cache, p), size);
			CHECK_EQ(give(p), KASAN_FREE_NOW);
		}
	}
	p = take(64);
	kasan_poison(kasan_reset_tag(p), 32, KASAN_USER_POISON);
	EXPECT_REPORT("use-after-poison", kasan_check_read(p, 1));
	EXPECT_NO_REPORT(CHECK_EQ(give(p), KASAN_FREE_NOW));
	EXPECT_REPORT("double-free", CHECK_EQ(give(p), KASAN_FREE_BAD));
	kasan_poison_slab(slab.memory, slab.slot);
	EXPECT_REPORT("double-free", CHECK_EQ(give(p), KASAN_FREE_BAD));
}

/* The same for allocations that are whole pages. */
static void poisoned_pages(void)
{
	char *base = (char *)unit_arena(4 * 4096) + 4096, *p;

	p = kasan_alloc_pages(base, 4096);
	CHECK(kasan_kmalloc_large(p, 4000, 4096, NULL) == p);
	kasan_poison(base, 64, KASAN_USER_POISON);
	EXPECT_REPORT("invalid-free",
		      CHECK_EQ(kasan_kfree_large(p + 64, base, NULL, 0), KASAN_FREE_BAD));
	EXPECT_NO_REPORT(CHECK_EQ(kasan_kfree_large(p, base, NULL, 0), KASAN_FREE_NOW));
	EXPECT_REPORT("double-free", CHECK_EQ(kasan_kfree_large(p, base, NULL, 0), KASAN_FREE_BAD));
}

/* The last byte of a short granule holds the tag. An object can still be freed if that byte is overwritten. */
static void overwritten_short_granule(void)
{
	char *p;

	make_slab(16, 0);
	p = take(13);
	*((char *)kasan_reset_tag(p) + 15) = 0x5a;
	CHECK(!kasan_byte_accessible(p));
	EXPECT_NO_REPORT(CHECK_EQ(give(p), KASAN_FREE_NOW));
	EXPECT_REPORT("double-free", CHECK_EQ(give(p), KASAN_FREE_BAD));
}

static void realloc_in_place(void)
{
	char *p;

	make_slab(96, 0);
	p = take(50);
	CHECK(kasan_slab_realloc(&slab.cache, p, 96) == p);
	CHECK(kasan_byte_accessible(p + 95));
	CHECK(kasan_slab_realloc(&slab.cache, p, 20) == p);
	CHECK(kasan_byte_accessible(p + 19));
	for (size_t i = 20; i < 96; i++)
		CHECK(!kasan_byte_accessible(p + i));
	give(p);
}

/* A size class gives an object of its own size first, and learns then how much of it the user wants. */
static void resize_keeps_the_record(void)
{
	struct kasan_ring_record record;
	size_t place;

	make_slab(96, 0);
	for (size_t size = 1; size <= 96; size++) {
		const uint64_t mark = kasan_ring_mark();
		char *p = take(96);

		CHECK(kasan_slab_resize(&slab.cache, p, size) == p);
		CHECK_EQ(kasan_object_size(&slab.cache, p), size);
		kasan_ring_each (&place, &record, KASAN_RING_NOW)
			CHECK(record.order.stamp <= mark || record.size == size);
		give(p);
	}
}

/* --- The compilers' checks -------------------------------------------------------------------- */

static void fixed_size_checks(void)
{
	static const struct {
		size_t size;
		void (*check)(uintptr_t addr);
	} checks[] = {
		{1, __hwasan_load1_noabort},   {2, __hwasan_load2_noabort},
		{4, __hwasan_load4_noabort},   {8, __hwasan_load8_noabort},
		{16, __hwasan_load16_noabort},
	};

	make_slab(64, 0);
	for (size_t object = 1; object <= 64; object++) {
		char *p = take(object);

		for (size_t c = 0; c < sizeof(checks) / sizeof(checks[0]); c++) {
			for (size_t at = 0; at + checks[c].size <= 80; at++) {
				/* Good accesses have any alignment, and reach up to the last byte. */
				if (at + checks[c].size <= object)
					EXPECT_NO_REPORT(checks[c].check((uintptr_t)p + at));
				else
					EXPECT_REPORT("slab-out-of-bounds",
						      checks[c].check((uintptr_t)p + at));
			}
		}
		give(p);
	}
}

/* __hwasan_loadN() and __hwasan_storeN(): few bytes take a path of their own. */
static void sized_checks(void)
{
	make_slab(64, 0);
	for (size_t object = 1; object <= 64; object += 1 + unit_below(8)) {
		char *p = take(object);

		for (size_t size = 0; size <= 40; size += 1 + unit_below(3)) {
			for (size_t at = 0; at + size <= 80; at++) {
				const uintptr_t addr = (uintptr_t)p + at;
				const bool bad = size && at + size > object;

				/* A pointer with this tag may access all memory. */
				unit_clear();
				__hwasan_loadN_noabort(
					(uintptr_t)kasan_set_tag(p + at, KASAN_TAG_KERNEL), size);
				CHECK_EQ(unit_reports(), 0);
				/* A report takes long. The first bad byte is always tried. */
				if (bad && at + size != object + 1 && unit_below(64))
					continue;
				__hwasan_loadN_noabort(addr, size);
				CHECK_EQ(unit_reports(), bad);
				CHECK(!bad || !unit_last()->is_write);
				unit_clear();
				__hwasan_storeN_noabort(addr, size);
				CHECK_EQ(unit_reports(), bad);
				CHECK(!bad || (unit_last()->is_write && unit_last()->size == size));
			}
		}
		give(p);
	}
	unit_clear();
	__hwasan_loadN_noabort((uintptr_t)kasan_set_tag((void *)~(uintptr_t)7, 0x37), 16);
	CHECK_EQ(unit_reports(), 1);
}

static void other_checks(void)
{
	char *p, *q, bytes[64];

	make_slab(64, 0);
	p = take(40);
	q = take(64);
	EXPECT_NO_REPORT(__hwasan_storeN_noabort((uintptr_t)p, 40));
	EXPECT_REPORT("slab-out-of-bounds", __hwasan_storeN_noabort((uintptr_t)p + 1, 40));
	CHECK_EQ(unit_last()->size, 40);
	CHECK(unit_last()->is_write);
	CHECK_EQ(unit_last()->addr, (uintptr_t)p + 1);
	/* A bad copy does not take place: this CPU could not even use the pointer. */
	EXPECT_REPORT("slab-out-of-bounds", __hwasan_memcpy(bytes, p, 41));
	EXPECT_REPORT("out-of-bounds", __hwasan_memcpy(bytes, p, (size_t)-2));
	/* A pointer with the tag KASAN_TAG_KERNEL may access any memory. */
	EXPECT_NO_REPORT(
		__hwasan_store8_noabort((uintptr_t)kasan_set_tag(p, KASAN_TAG_KERNEL) + 60));
	give(q);
	EXPECT_REPORT("slab-use-after-free", __hwasan_store8_noabort((uintptr_t)q));
	EXPECT_REPORT("null-ptr-deref", __hwasan_store8_noabort(8));
	give(p);
}

/* --- Reports ---------------------------------------------------------------------------------- */

static void report_text(void)
{
	char *p, *plain;

	make_slab(64, 0);
	p = take(44);
	plain = kasan_reset_tag(p);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 44, 2));
	CHECK(unit_find(0, "Write of size 2 at addr ") >= 0);
	CHECK(unit_saw("Pointer tag: [%02x], memory tag: [0c]", kasan_get_tag(p)));
	CHECK(unit_find(0, "Allocated by task ") >= 0);
	CHECK(unit_saw("The buggy address belongs to the object at %016lx", (unsigned long)plain));
	CHECK(unit_saw("The buggy address is located 0 bytes to the right of"));
	CHECK(unit_saw(" allocated 44-byte region [%016lx, %016lx)", (unsigned long)plain,
		       (unsigned long)plain + 44));
	/* Beyond the neighbour's start, the tag still shows that this object was overrun. */
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 70, 1));
	CHECK(unit_saw("The buggy address is located 26 bytes to the right of"));
	give(p);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p + 9, 4));
	CHECK(unit_saw("Pointer tag: [%02x], memory tag: [fe]", kasan_get_tag(p)));
	CHECK(unit_find(0, "Freed by task ") > unit_find(0, "Allocated by task "));
	CHECK(unit_saw("The buggy address is located 9 bytes inside of"));
	EXPECT_REPORT("double-free", CHECK_EQ(give(p), KASAN_FREE_BAD));
	p = take(64);
	EXPECT_REPORT("invalid-free", CHECK_EQ(give(p + 16), KASAN_FREE_BAD));
	give(p);
}

/* The report does not guess about objects that are not in the ring. */
static void invalid_access(void)
{
	char *p, *forged;

	make_slab(64, 0);
	p = take(64);
	forged = kasan_set_tag(p, kasan_get_tag(p) ^ 2);
	EXPECT_REPORT("invalid-access", kasan_check_read(forged, 1));
	CHECK_EQ(unit_find(0, "Allocated by task "), -1);
	give(p);
	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	make_slab(64, 0);
	p = take(64);
	give(p);
	EXPECT_REPORT("invalid-access", kasan_check_read(p, 1));
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
	/* The free was long ago: the ring cannot hold all events since. */
	p = take(64);
	give(p);
	for (unsigned int i = 0; i < 20000; i++)
		give(take(32));
	make_slab(64, 0);
	EXPECT_REPORT("invalid-access", kasan_check_read(p, 1));
}

/* The slot is used again. The report shows the history of the stale pointer's tag, not of the new owner. */
static void reused_object(void)
{
	char *stale, *now;

	make_slab(64, 0);
	stale = take(64);
	give(stale);
	now = take(30);
	REQUIRE(kasan_reset_tag(stale) == kasan_reset_tag(now));
	EXPECT_REPORT("slab-use-after-free", kasan_check_write(stale, 8));
	CHECK(unit_saw("Pointer tag: [%02x], memory tag: [%02x]", kasan_get_tag(stale),
		       kasan_get_tag(now)));
	CHECK(unit_find(0, "Freed by task ") >= 0);
	EXPECT_NO_REPORT(kasan_check_write(now, 30));
	EXPECT_REPORT("double-free",
		      kasan_slab_free(&slab.cache, stale, kasan_reset_tag(stale), 0));
	give(now);
}

/* A live object and a former owner of the free slot after it have the same tag: the report names the later owner. */
static void same_tag_on_both_sides(void)
{
	char *live, *gone;

	CHECK_EQ(kasan_option("kasan.tag_policy", "random"), 0);
	make_slab(64, 0);
	live = take(64);
	gone = take(64);
	REQUIRE(kasan_reset_tag(gone) == (char *)kasan_reset_tag(live) + slab.slot);
	give(gone);
	do {
		give(live);
		live = take(64);
	} while (kasan_get_tag(live) != kasan_get_tag(gone));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(live + slab.slot, 1));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx",
		       (unsigned long)kasan_reset_tag(live)));
	do {
		gone = take(64);
		give(gone);
	} while (kasan_get_tag(live) != kasan_get_tag(gone));
	EXPECT_REPORT("slab-use-after-free", kasan_check_write(gone, 1));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx",
		       (unsigned long)kasan_reset_tag(gone)));
	give(live);
	CHECK_EQ(kasan_option("kasan.tag_policy", "adjacent"), 0);
}

/* While a report waits, the slot behind its object gets owners with the same tag, and the object itself goes. */
static char *overrun;

static bool reuse_neighbour(const struct kasan_report_info *info)
{
	char *gone;

	(void)info;
	do {
		gone = take(64);
		give(gone);
	} while (kasan_get_tag(gone) != kasan_get_tag(overrun));
	return true;
}

static void owners_since_the_bug(void)
{
	CHECK_EQ(kasan_option("kasan.tag_policy", "random"), 0);
	make_slab(64, 0);
	overrun = take(64);
	while (kasan_byte_accessible(overrun + slab.slot)) {
		give(take(64));
	}
	CHECK(!kasan_report_filter(reuse_neighbour));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(overrun + slab.slot, 1));
	CHECK(kasan_report_filter(NULL) == reuse_neighbour);
	CHECK(unit_saw("The buggy address belongs to the object at %016lx",
		       (unsigned long)kasan_reset_tag(overrun)));
	give(overrun);
	CHECK_EQ(kasan_option("kasan.tag_policy", "adjacent"), 0);
}

/* Freed pages lie behind the last slot. An object that was in them long ago had the tag of the slot's. */
static void former_owner_of_free_pages(void)
{
	const struct kasan_track track = {0};
	char *last = NULL, *behind;

	make_slab(64, 0);
	for (size_t i = 0; i < SLOTS; i++)
		last = take(64);
	behind = last + slab.slot;
	REQUIRE((char *)kasan_reset_tag(behind) == slab.memory + SLOTS * slab.slot);
	kasan_poison(kasan_reset_tag(behind), 64, KASAN_TAG_INVALID);
	kasan_ring_record(behind, 64, false, &track);
	kasan_ring_record(behind, 64, true, &track);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(behind, 1));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx",
		       (unsigned long)kasan_reset_tag(last)));
}

/* --- Frames that are left by exceptions and longjmp() --- */

typedef int (*personality)(int version, int actions, uint64_t type, void *exception, void *context);
int __hwasan_personality_wrapper(int version, int actions, uint64_t type, void *exception,
				 void *context, personality real, uintptr_t (*get_gr)(void *, int),
				 uintptr_t (*get_cfa)(void *));
void __hwasan_handle_longjmp(uintptr_t sp);
void __hwasan_handle_vfork(uintptr_t sp);

static int handles(int version, int actions, uint64_t type, void *exception, void *context)
{
	return version + actions + (int)type + (exception != context);
}

static uintptr_t frame_end(void *frame, int number)
{
#ifdef __riscv
	CHECK_EQ(number, 8); /* s0 */
#else
	CHECK_EQ(number, 6); /* rbp */
#endif
	return (uintptr_t)frame + 128;
}

static uintptr_t frame_start(void *frame)
{
	return (uintptr_t)frame + 32;
}

static size_t tagged(const char *frame)
{
	size_t count = 0;
	uint8_t state;

	for (size_t at = 0; at < 256; at += GRANULE)
		count += kasan_memory_state(frame + at, &state) && state == 0x3c;
	return count;
}

static void frames_without_epilogues(void)
{
	char *const frame = unit_arena(4096);
	char local[1];

	kasan_poison(frame, 256, 0x3c);
	/* In the search for a handler, and in a frame that handles the exception, the variables are still alive. */
	CHECK_EQ(__hwasan_personality_wrapper(1, 1, 6, NULL, frame, NULL, frame_end, frame_start),
		 8);
	CHECK_EQ(tagged(frame), 16);
	CHECK_EQ(
		__hwasan_personality_wrapper(1, 2, 3, NULL, frame, handles, frame_end, frame_start),
		7);
	CHECK_EQ(tagged(frame), 16);
	CHECK_EQ(
		__hwasan_personality_wrapper(1, 2, 4, NULL, frame, handles, frame_end, frame_start),
		8);
	CHECK_EQ(tagged(frame), 10);
	kasan_poison(frame, 256, 0x3c);
	CHECK_EQ(__hwasan_personality_wrapper(1, 2, 4, NULL, frame, NULL, frame_end, frame_start),
		 8);
	CHECK_EQ(tagged(frame), 10);
	/* Not on this stack: nothing is known of it. */
	__hwasan_handle_longjmp((uintptr_t)frame + 4096);
	__hwasan_handle_vfork((uintptr_t)frame + 4096);
	CHECK_EQ(tagged(frame), 10);
	/* Below this frame is what dead ones have left. */
	kasan_poison((char *)((uintptr_t)local & ~(uintptr_t)15) - 8192, 256, 0x3c);
	CHECK_EQ(tagged((char *)((uintptr_t)local & ~(uintptr_t)15) - 8192), 16);
	__hwasan_handle_longjmp((uintptr_t)local);
	CHECK_EQ(tagged((char *)((uintptr_t)local & ~(uintptr_t)15) - 8192), 0);
}

/* Variables that ask one after the other get tags of which each differs from the last, and none if there are no tags. */
static void tags_of_variables(void)
{
	static unsigned int seen[256];
	unsigned int different = 0, same = 0;
	uint8_t last = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		const uint8_t tag = __hwasan_generate_tag();

		CHECK(tag >= KASAN_TAG_MIN && tag <= KASAN_TAG_MAX);
		same += tag == last;
		different += !seen[tag]++;
		last = tag;
	}
	CHECK_EQ(same, 0);
	CHECK_EQ(different, KASAN_TAG_MAX - KASAN_TAG_MIN + 1);
	CHECK_EQ(kasan_option("kasan.tag_policy", "random"), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		const uint8_t tag = __hwasan_generate_tag();

		same += tag == last;
		last = tag;
	}
	CHECKF(same - 30 < 120, "%u of 20,000 got the tag of the one before", same);
	CHECK_EQ(kasan_option("kasan.tag_policy", "adjacent"), 0);
	kasan_hooks_off = true;
	CHECK_EQ(__hwasan_generate_tag(), KASAN_TAG_KERNEL);
	kasan_hooks_off = false;
}

UNIT_MAIN(fill_writes_its_granules, pointers, neighbours_differ, reuse_changes_the_tag,
	  pages_differ, constructed_objects_keep_theirs, short_granules, poisoned_objects,
	  poisoned_pages, overwritten_short_granule, realloc_in_place, resize_keeps_the_record,
	  fixed_size_checks, sized_checks, other_checks, report_text, invalid_access, reused_object,
	  same_tag_on_both_sides, owners_since_the_bug, former_owner_of_free_pages,
	  frames_without_epilogues, tags_of_variables)
