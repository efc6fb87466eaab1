/* SPDX-License-Identifier: MIT */
/* test_slab.c - hooks of slab allocators: layout, sizes, double and invalid frees, and reports that are whole even if
 * the objects' metadata is overwritten. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/alloc/meta.h"
#include "fake_slab.h"

/* Metadata must fit behind the object and inside the slot, for every size, alignment and flag. */
static void layout(void)
{
	for (uint32_t size = 1; size <= 9000; size += size < 300 ? 1 : 97)
		for (uint32_t align = 8; align <= 4096; align *= 2)
			for (uint32_t flags = 0; flags < 8; flags++) {
				struct kasan_cache c = {
					.name = "layout", .object_size = size, .flags = flags};
				uint32_t slot = kasan_cache_create(&c, align);
				uint32_t end = (size + 7) & ~7U;
				uint32_t alloc_end = c.alloc_meta_offset +
						     (uint32_t)sizeof(struct kasan_alloc_meta);
				uint32_t free_end = c.free_meta_offset +
						    (uint32_t)sizeof(struct kasan_free_meta);

				CHECK(slot == c.slot_size && slot % align == 0);
				CHECK(slot >= end + 16);
				CHECK(c.alloc_meta_offset >= end && alloc_end <= slot);
				CHECK(c.alloc_meta_offset % 8 == 0);
				if (c.free_meta_offset == KASAN_NO_FREE_META)
					continue;
				CHECK(free_end <= slot && c.free_meta_offset % 8 == 0);
				if (c.free_meta_offset < end)
					CHECK(free_end <= size &&
					      !(flags & KASAN_CACHE_NO_FREE_META_IN_OBJECT));
				else
					CHECK(free_end <= c.alloc_meta_offset ||
					      c.free_meta_offset >= alloc_end);
			}
}

static void exactly_the_asked_bytes(void)
{
	for (uint32_t object = 1; object <= 260; object += object < 140 ? 1 : 7) {
		struct fake_slab *slab = fake_slab_create("exact", object, 8, 0, 3);

		for (uint32_t size = 1; size <= object; size++) {
			char *p = fake_slab_alloc(slab, size);

			REQUIRE(p);
			CHECK_EQ(kasan_first_bad((uintptr_t)p, slab->slot_size),
				 (uintptr_t)p + size);
			for (uint32_t i = size; i < slab->slot_size; i++)
				CHECK(!kasan_byte_accessible(p + i));
			CHECK_EQ(kasan_object_size(&slab->cache, p), size);
			/* Memory before the first slot does not belong to the slab. */
			CHECK(p == slab->memory || !kasan_byte_accessible(p - 1));
			CHECK(fake_slab_free(slab, p) != KASAN_FREE_BAD);
			CHECK(!kasan_byte_accessible(p));
			kasan_cache_shrink(&slab->cache);
		}
	}
	fake_slab_forget();
}

/* A size class gives an object of its own size first, and learns then how much of it the user wants. */
static void resize_keeps_the_stack(void)
{
	struct fake_slab *slab = fake_slab_create("resize", 96, 8, KASAN_CACHE_KMALLOC, 2);

	for (size_t size = 1; size <= 96; size++) {
		char *p = fake_slab_alloc(slab, 96);
		const struct kasan_alloc_meta *meta = kasan_alloc_meta(&slab->cache, p);
		const uint32_t stack = meta->alloc.stack;

		CHECK(stack);
		CHECK(kasan_slab_resize(&slab->cache, p, size) == p);
		CHECK_EQ(kasan_object_size(&slab->cache, p), size);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 97), (uintptr_t)p + size);
		CHECK_EQ(kasan_meta_state(meta, p), KASAN_META_LIVE);
		CHECK_EQ(meta->alloc.stack, stack);
		CHECK(fake_slab_free(slab, p) != KASAN_FREE_BAD);
		kasan_cache_shrink(&slab->cache);
	}
	CHECK(!kasan_slab_resize(&slab->cache, NULL, 10));
}

static void realloc_in_place(void)
{
	struct fake_slab *slab = fake_slab_create("realloc", 96, 8, KASAN_CACHE_KMALLOC, 2);
	char *p = fake_slab_alloc(slab, 40);

	for (size_t size = 96; size >= 1; size--) {
		CHECK(kasan_slab_realloc(&slab->cache, p, size) == p);
		CHECK_EQ(kasan_object_size(&slab->cache, p), size);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 97), (uintptr_t)p + size);
	}
	CHECK(!kasan_slab_realloc(&slab->cache, NULL, 10));
	CHECK(!kasan_slab_alloc(&slab->cache, NULL, 10));
	fake_slab_free(slab, p);
}

static void constructors_may_enter(void)
{
	struct fake_slab *slab =
		fake_slab_create("ctor", 48, 8, KASAN_CACHE_NO_FREE_META_IN_OBJECT, 2);
	char *slot = slab->memory, *p;

	CHECK(!kasan_byte_accessible(slot));
	kasan_unpoison_object(&slab->cache, slot);
	CHECK_EQ(kasan_first_bad((uintptr_t)slot, 48), 0);
	memset(slot, 0x7e, 48);
	kasan_poison_object(&slab->cache, slot);
	CHECK(!kasan_byte_accessible(slot));
	/* The constructor's data is still there after an allocation and a free. */
	p = fake_slab_alloc(slab, 48);
	CHECK(p == slot);
	fake_slab_free(slab, p);
	for (int i = 0; i < 48; i++)
		CHECK(slot[i] == 0x7e);
}

static void double_free(void)
{
	struct fake_slab *slab = fake_slab_create("double", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 64);
	int freed;

	EXPECT_NO_REPORT(CHECK(fake_slab_free(slab, p) == KASAN_FREE_QUARANTINED));
	EXPECT_REPORT("double-free", CHECK(fake_slab_free(slab, p) == KASAN_FREE_BAD));
	CHECK(unit_last()->is_free);
	CHECK(unit_last()->addr == (uintptr_t)p);
	CHECK(unit_find(0, "Free of addr ") == 2);
	CHECK(unit_find(0, "Allocated by task ") > 0);
	freed = unit_find(0, "Freed by task ");
	CHECK(freed > 0);
	/* The same after the slot went back to the allocator. */
	kasan_cache_shrink(NULL);
	EXPECT_REPORT("double-free", CHECK(fake_slab_free(slab, p) == KASAN_FREE_BAD));
	/* The slot can be used again, once. */
	p = fake_slab_alloc(slab, 10);
	EXPECT_NO_REPORT(fake_slab_free(slab, p));
	CHECK_EQ(slab->free_count, 3);
}

/* Poison inside of an object says nothing about its life. It ends with it. */
static void poisoned_objects(void)
{
	static const uint8_t values[] = {KASAN_USER_POISON, 0x81, KASAN_PAGE_REDZONE};
	struct fake_slab *slab = fake_slab_create("poisoned", 64, 8, 0, 4);

	for (unsigned int i = 0; i < sizeof(values); i++) {
		for (size_t size = 8; size <= 64; size += 8) {
			char *p = fake_slab_alloc(slab, 64);
			uintptr_t a = (uintptr_t)p;

			kasan_poison(p, size, values[i]);
			unit_clear();
			CHECK(!kasan_check_read(p, 1));
			CHECK_EQ(unit_reports(), 1);
			if (size == 8 && !i)
				CHECK(unit_saw(" allocated 64-byte region [%016lx, %016lx)", a,
					       a + 64));
			EXPECT_NO_REPORT(CHECK(fake_slab_free(slab, p) == KASAN_FREE_QUARANTINED));
			kasan_poison(p, size, values[i]);
			/* Nobody may poison what is free, but it is still free. */
			unit_clear();
			CHECK(fake_slab_free(slab, p) == KASAN_FREE_BAD);
			CHECK_EQ(unit_reports(), 1);
			kasan_cache_shrink(NULL);
			p = fake_slab_alloc(slab, 64);
			CHECK_EQ(kasan_first_bad((uintptr_t)p, 64), 0);
			fake_slab_free(slab, p);
			kasan_cache_shrink(NULL);
		}
	}
}

static void invalid_free(void)
{
	struct fake_slab *slab = fake_slab_create("invalid", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 50);

	for (int off = 1; off < 60; off += 7)
		EXPECT_REPORT("invalid-free",
			      CHECK(fake_slab_free(slab, p + off) == KASAN_FREE_BAD));
	/* The object is still alive. */
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 50), 0);
	EXPECT_NO_REPORT(fake_slab_free(slab, p));
	/* The middle of an object that is freed already: this is not a second free, and not an object. */
	EXPECT_REPORT("invalid-free", CHECK(fake_slab_free(slab, p + 16) == KASAN_FREE_BAD));
	/* A slot that was never allocated. */
	EXPECT_REPORT("invalid-free", CHECK(fake_slab_free(slab, slab->memory + slab->slot_size) ==
					    KASAN_FREE_BAD));
	/* An address that no allocator knows. */
	EXPECT_REPORT("invalid-free", kasan_report_invalid_free(&p, (uintptr_t)invalid_free));
	CHECK(unit_last()->is_free);
	EXPECT_REPORT("double-free", kasan_report_double_free(&p, (uintptr_t)invalid_free));
	CHECK(unit_last()->is_free);
}

/* Only the start of an object that is live, whatever its size; never another pointer, or one that was overwritten. */
static void only_live_objects_are_live(void)
{
	for (uint32_t object = 8; object <= 260; object += object < 80 ? 1 : 15) {
		struct fake_slab *slab = fake_slab_create("live", object, 8, 0, 3);
		const struct kasan_cache *cache = &slab->cache;
		char *p = fake_slab_alloc(slab, object), *q = fake_slab_alloc(slab, object / 2 + 1);
		const char *end = slab->memory + 2 * slab->slot_size;

		REQUIRE(p && q);
		for (const char *at = slab->memory; at < end; at += KASAN_GRANULE_SIZE)
			CHECK(kasan_slab_is_live(cache, at) == (at == p || at == q));
		kasan_alloc_meta(cache, q)->size ^= 1;
		CHECK(!kasan_slab_is_live(cache, q));
		kasan_alloc_meta(cache, q)->size ^= 1;
		CHECK(kasan_slab_is_live(cache, q));
		CHECK(fake_slab_free(slab, p) != KASAN_FREE_BAD);
		CHECK(!kasan_slab_is_live(cache, p) && kasan_slab_is_live(cache, q));
		kasan_cache_shrink(&slab->cache);
		CHECK(!kasan_slab_is_live(cache, p));
	}
	fake_slab_forget();
}

static void *slot_of(struct kasan_cache *cache, void *object)
{
	return fake_slab_slot((struct fake_slab *)cache, object);
}

static __attribute__((noinline)) bool allocator_free(struct fake_slab *slab, void *object)
{
	const bool kept = kasan_slab_free_search(&slab->cache, object, slot_of);

	__asm__ volatile("");
	return kept;
}

static __attribute__((noinline)) bool user_free(struct fake_slab *slab, void *object)
{
	const bool kept = allocator_free(slab, object);

	__asm__ volatile("");
	return kept;
}

/* As kasan_slab_free(), for an allocator that does not know where the slot starts. */
static void free_without_the_slot(void)
{
	for (uint32_t object = 8; object <= 260; object += object < 80 ? 1 : 15) {
		struct fake_slab *slab = fake_slab_create("search", object, 8, 0, 3);
		char *p = fake_slab_alloc(slab, object), *q = fake_slab_alloc(slab, object / 2 + 1);
		char *const end = slab->memory + 2 * slab->slot_size;

		REQUIRE(p && q);
		for (char *at = slab->memory; at < end; at += KASAN_GRANULE_SIZE) {
			if (at == p || at == q)
				continue;
			EXPECT_REPORT("invalid-free", CHECK(user_free(slab, at)));
			CHECK(unit_find(0, "BUG: KASAN: invalid-free in user_free+0x") >= 0);
		}
		EXPECT_NO_REPORT(CHECK(user_free(slab, p)));
		EXPECT_REPORT("double-free", CHECK(user_free(slab, p)));
		CHECK(unit_find(0, "BUG: KASAN: double-free in user_free+0x") >= 0);
		/* Overwritten metadata alone does not make a free wrong. */
		kasan_alloc_meta(&slab->cache, q)->size ^= 1;
		EXPECT_NO_REPORT(CHECK(user_free(slab, q)));
		EXPECT_REPORT("double-free", CHECK(user_free(slab, q)));
		kasan_cache_shrink(&slab->cache);
		CHECK_EQ(slab->release_count, 2);
	}
	fake_slab_forget();
}

static void zero_sized_objects(void)
{
	struct fake_slab *slab = fake_slab_create("zero", 16, 8, 0, 2);
	char *p = fake_slab_alloc(slab, 0);

	CHECK(!kasan_byte_accessible(p));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p, 1));
	EXPECT_NO_REPORT(CHECK(fake_slab_free(slab, p) != KASAN_FREE_BAD));
	EXPECT_REPORT("double-free", fake_slab_free(slab, p));
}

/* Readers may look at a freed object of such a cache. So it is neither poisoned nor delayed, but a double free is still
 * found. */
static void typesafe_by_rcu(void)
{
	struct fake_slab *slab = fake_slab_create("rcu", 64, 8, KASAN_CACHE_NO_QUARANTINE, 2);
	char *p = fake_slab_alloc(slab, 64);

	memset(p, 0x33, 64);
	CHECK_EQ(fake_slab_free(slab, p), KASAN_FREE_NOW);
	EXPECT_NO_REPORT(kasan_check_read(p, 64));
	for (int i = 0; i < 64; i++)
		CHECK(p[i] == 0x33);
	EXPECT_REPORT("double-free", CHECK(fake_slab_free(slab, p) == KASAN_FREE_BAD));
}

/* --- The lines about the place: which side, how far, and of which object ---------------------- */

static void location_lines(void)
{
	struct fake_slab *slab = fake_slab_create("where", 64, 8, 0, 3);
	char *a = fake_slab_alloc(slab, 64), *p = fake_slab_alloc(slab, 40);
	uintptr_t start = (uintptr_t)p;

	CHECK(p > a);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 40, 1));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx", start));
	CHECK(unit_saw(" which belongs to the cache where of size 64"));
	CHECK(unit_saw("The buggy address is located 0 bytes to the right of"));
	CHECK(unit_saw(" allocated 40-byte region [%016lx, %016lx)", start, start + 40));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 45, 2));
	CHECK(unit_saw("The buggy address is located 5 bytes to the right of"));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p - 1, 1));
	CHECK(unit_saw("The buggy address is located 1 bytes to the left of"));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx", start));
	/* A range that starts inside the object and leaves it: the report shows the address of the access. */
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 30, 20));
	CHECK(unit_saw("Write of size 20 at addr %016lx by task %.15s/%u", start + 30,
		       program_invocation_short_name,
		       unit_find(0, "CPU: ") >= 0 ? (unsigned int)getpid() : 0));
	fake_slab_free(slab, p);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p + 20, 4));
	CHECK(unit_saw("The buggy address is located 20 bytes inside of"));
	CHECK(unit_saw(" freed 40-byte region [%016lx, %016lx)", start, start + 40));
}

static __attribute__((noinline)) void first_record(const void *p)
{
	kasan_record_aux_stack(p);
	__asm__ volatile("");
}

static __attribute__((noinline)) void second_record(const void *p)
{
	kasan_record_aux_stack(p);
	__asm__ volatile("");
}

static __attribute__((noinline)) void third_record(const void *p)
{
	kasan_record_aux_stack(p);
	__asm__ volatile("");
}

/* The last two stacks are kept, and the newest is printed first. */
static void last_two_aux_stacks(void)
{
	struct fake_slab *slab = fake_slab_create("aux", 64, 8, 0, 3);
	char *p = fake_slab_alloc(slab, 64);
	int last, second;

	first_record(p);
	second_record(p + 63);
	third_record(p + 1);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 64, 1));
	last = unit_find(0, "Last potentially related work creation:");
	second = unit_find(0, "Second to last potentially related work creation:");
	REQUIRE(last > 0 && second > last);
	CHECK(unit_find((size_t)last, " third_record+0x") == last + 1);
	CHECK(unit_find((size_t)second, " second_record+0x") == second + 1);
	CHECK(unit_find(0, " first_record+0x") < 0);
}

static void aux_stacks(void)
{
	struct fake_slab *slab = fake_slab_create("aux", 64, 8, 0, 3);
	char *p = fake_slab_alloc(slab, 64);
	int at;

	kasan_record_aux_stack(p + 10);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 64, 1));
	at = unit_find(0, "Last potentially related work creation:");
	CHECK(at > unit_find(0, "Allocated by task "));
	CHECK(unit_find((size_t)at, " aux_stacks+0x") == at + 1);
	/* An address that belongs to no object is ignored. */
	kasan_record_aux_stack(&p);
	kasan_record_aux_stack(NULL);
	/* A new owner of the slot has no such stack. */
	fake_slab_free(slab, p);
	kasan_cache_shrink(NULL);
	CHECK(fake_slab_alloc(slab, 64) == p);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 64, 1));
	CHECK(unit_find(0, "Last potentially related work creation:") < 0);
}

/* --- Corruption ------------------------------------------------------------------------------- */

/* Return: NULL if the captured lines are one complete report; else the part that is wrong. */
static const char *not_whole(void)
{
	size_t n = unit_lines();
	int state = unit_find(0, "Memory state around the buggy address:");

	if (n < 12 || strcmp(unit_line(0), unit_line(n - 1)))
		return "rulers";
	if (strspn(unit_line(0), "=") != 66 || strlen(unit_line(0)) != 66)
		return "ruler's width";
	if (strncmp(unit_line(1), "BUG: KASAN: ", 12))
		return "title";
	if (unit_find(0, "Call trace:") < 0)
		return "call trace";
	if (state < 0 || state + 7 != (int)n - 1)
		return "memory state";
	for (size_t i = 0; i < n; i++) {
		const char *line = unit_line(i);

		if (strlen(line) >= 255)
			return "line too long";
		for (; *line; line++)
			if (*line < ' ' || *line > '~')
				return "a character that is no text";
		/* Each heading is followed by at least one line of its section. */
		if (!strncmp(unit_line(i), "Allocated by task ", 18) ||
		    !strncmp(unit_line(i), "Freed by task ", 14) ||
		    !strcmp(unit_line(i), "Call trace:"))
			if (unit_line(i + 1)[0] != ' ')
				return "empty section";
	}
	return NULL;
}

/* The report is whole, whatever bytes an overflow or a use after free has written over the metadata. */
static void random_bytes_over_metadata(void)
{
	struct fake_slab *slabs[3] = {
		fake_slab_create("corrupt", 64, 8, 0, 4),
		fake_slab_create("corrupt-ctor", 64, 8, KASAN_CACHE_NO_FREE_META_IN_OBJECT, 4),
		fake_slab_create("corrupt-small", 8, 8, 0, 4),
	};

	for (int round = 0; round < 10000; round++) {
		struct fake_slab *slab = slabs[unit_below(3)];
		uint32_t object_size = slab->cache.object_size;
		char *p = fake_slab_alloc(slab, 1 + unit_below(object_size));
		bool freed = unit_below(2), ok = true;
		const char *wrong;
		char *from;
		size_t n;

		REQUIRE(p);
		if (freed)
			fake_slab_free(slab, p);
		/* Overwrite any part of the slot; but leave the bytes of a live object alone, because they belong to
		 * the user. */
		from = p + (freed ? unit_below(slab->slot_size)
				  : object_size + unit_below(slab->slot_size - object_size));
		n = 1 + unit_below((uint64_t)(p + slab->slot_size - from));
		for (size_t i = 0; i < n; i++)
			from[i] = (char)(unit_below(8) ? unit_random() : 0);
		unit_clear();
		switch (unit_below(3)) {
		case 0:
			kasan_check_write(p + slab->slot_size - 1 - unit_below(8), 1);
			break;
		case 1:
			kasan_check_read(p, slab->slot_size);
			break;
		default:
			if (freed)
				fake_slab_free(slab, p);
			else
				fake_slab_free(slab, p + 1);
			break;
		}
		wrong = unit_reports() == 1 ? not_whole() : "no single report";
		ok = CHECKF(!wrong, "round %d: %s", round, wrong);
		if (!ok) {
			unit_dump();
			break;
		}
		if (!freed)
			fake_slab_free(slab, p);
		kasan_cache_shrink(&slab->cache);
		/* A slot whose free was refused is lost to the allocator. So make the slab new. */
		for (char *slot = slab->memory; slot < slab->memory + 4 * slab->slot_size;
		     slot += slab->slot_size)
			kasan_init_slab_object(&slab->cache, slot);
		slab->free_count = 0;
		for (unsigned int i = 0; i < 4; i++)
			slab->free_list[slab->free_count++] = i;
		kasan_poison_slab(slab->memory, slab->memory_size);
	}
}

/* An overwritten size is not believed: the region line stays within the object. */
static void corrupt_size_is_not_printed(void)
{
	struct fake_slab *slab = fake_slab_create("size", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 30);

	kasan_alloc_meta(&slab->cache, p)->size = 0x41414141;
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 30, 1));
	for (size_t i = 0; i < unit_lines(); i++)
		CHECK(!strstr(unit_line(i), "1094795585"));
	CHECK_EQ(kasan_object_size(&slab->cache, p), 30);
	CHECK(!not_whole());
}

/* A garbage stack handle gives a whole report, without that stack. */
static void corrupt_stack_handle(void)
{
	struct fake_slab *slab = fake_slab_create("handle", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 64);

	kasan_alloc_meta(&slab->cache, p)->alloc.stack = 0xdeadbeef;
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 64, 1));
	CHECK(!not_whole());
	CHECK(unit_find(0, "The buggy address belongs to the object at ") > 0);
}

UNIT_MAIN(layout, exactly_the_asked_bytes, resize_keeps_the_stack, realloc_in_place,
	  constructors_may_enter, double_free, poisoned_objects, invalid_free,
	  only_live_objects_are_live, free_without_the_slot, zero_sized_objects, typesafe_by_rcu,
	  location_lines, aux_stacks, last_two_aux_stacks, random_bytes_over_metadata,
	  corrupt_size_is_not_printed, corrupt_stack_handle)
