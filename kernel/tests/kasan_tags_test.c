// SPDX-License-Identifier: MIT
/*
 * kasan_tags_test.c - the tag-based modes through their public interface: the tags of pointers and memory, the
 * promises of the tag policies and what they leave to chance, short granules, and the stack ring.
 *
 * No case touches memory through a wrong pointer: kasan_byte_accessible() gives the result of a check.
 */
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/printk.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>
#include <kasan/tags_inline.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN_TAGS

#ifdef CONFIG_KASAN_HW_TAGS
#define IS_HW_TAGS true
#else
#define IS_HW_TAGS false
#endif

#define ROUNDS	  10000U
#define TAG_COUNT (KASAN_TAG_MAX - KASAN_TAG_MIN + 1U)

static const size_t sizes[] = {16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048};

/* The policy of kasan.tag_policy= before the case changed it. */
static void set_policy(struct kunit *test, const char *policy)
{
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.tag_policy", policy), 0);
}

static int restore_policy(void)
{
	return kasan_option("kasan.tag_policy", "adjacent");
}

/* --- The 20,000 ---------------------------------------------------------------------------------------- */

/* A pointer runs one granule over the end of its object. Return: how often a check sees it. */
static unsigned int linear_overflows(struct kunit *test)
{
	unsigned int caught = 0, n = 0;

	while (n < ROUNDS) {
		/* A few objects of a size, so that most have a live neighbour. */
		const size_t size = sizes[n % ARRAY_SIZE(sizes)];
		char *objects[16];
		size_t i;

		for (i = 0; i < ARRAY_SIZE(objects); i++) {
			objects[i] = kmalloc(size, GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		}
		for (i = 0; i < ARRAY_SIZE(objects) && n < ROUNDS; i++, n++) {
			KUNIT_ASSERT_TRUE(test, kasan_byte_accessible(objects[i] + size - 1));
			caught += !kasan_byte_accessible(objects[i] + size);
		}
		for (i = 0; i < ARRAY_SIZE(objects); i++)
			kfree(objects[i]);
	}
	return caught;
}

/* An object is freed, its slot is handed out again, and the stale pointer is used. */
static unsigned int immediate_reuses(struct kunit *test)
{
	unsigned int caught = 0, n;

	for (n = 0; n < ROUNDS;) {
		const size_t size = sizes[n % ARRAY_SIZE(sizes)];
		char *stale = kmalloc(size, GFP_KERNEL), *other;

		KUNIT_ASSERT_NOT_NULL(test, stale);
		kfree(stale);
		other = kmalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, other);
		/* Sometimes an interrupt or another CPU has taken the slot in between. */
		if (kasan_reset_tag(other) == kasan_reset_tag(stale)) {
			caught += !kasan_byte_accessible(stale);
			n++;
		}
		kfree(other);
	}
	return caught;
}

static void adjacent_policy_is_certain(struct kunit *test)
{
	unsigned int overflows, reuses;

	set_policy(test, "adjacent");
	overflows = linear_overflows(test);
	reuses = immediate_reuses(test);
	kunit_info(test, "adjacent: %u of %u linear overflows, %u of %u reuses caught", overflows,
		   ROUNDS, reuses, ROUNDS);
	KUNIT_EXPECT_EQ(test, overflows, ROUNDS);
	KUNIT_EXPECT_EQ(test, reuses, ROUNDS);
}

/* Two lives of slots of @cache: each object differs from what lies beside it and from its slot's last owner, and its
 * life begins and ends in all of its bytes. So few slots that no slab is freed in between: the last owner of memory
 * that was pages meanwhile is not known. */
static void two_lives(struct kunit *test, struct kmem_cache *cache, size_t size)
{
	static char *first[16], *second[16];
	unsigned int same = 0, i, j;

	for (i = 0; i < ARRAY_SIZE(first); i++) {
		first[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, first[i]);
	}
	for (i = 0; i < ARRAY_SIZE(first); i++) {
		KUNIT_EXPECT_GE(test, kasan_get_tag(first[i]), KASAN_TAG_MIN);
		KUNIT_EXPECT_LE(test, kasan_get_tag(first[i]), KASAN_TAG_MAX);
		for (j = 0; j < size; j += 16)
			KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(first[i] + j));
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(first[i] + size));
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(first[i] - 1));
	}
	for (i = 0; i < ARRAY_SIZE(first); i++) {
		kmem_cache_free(cache, first[i]);
		for (j = 0; j < size; j += 16)
			KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(first[i] + j));
	}
	for (i = 0; i < ARRAY_SIZE(second); i++) {
		second[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, second[i]);
	}
	for (i = 0; i < ARRAY_SIZE(second); i++) {
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(second[i] + size));
		for (j = 0; j < ARRAY_SIZE(first); j++) {
			if (kasan_reset_tag(first[j]) != kasan_reset_tag(second[i]))
				continue;
			same++;
			KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(first[j]));
		}
	}
	for (i = 0; i < ARRAY_SIZE(second); i++)
		kmem_cache_free(cache, second[i]);
	/* The task may have moved to a CPU that has other slots at hand, but not each time. */
	kunit_info(test, "%lu bytes: %u of %lu slots again", (unsigned long)size, same,
		   (unsigned long)ARRAY_SIZE(first));
}

/* Without traces the allocator tags objects itself, see <kasan/slab_inline.h>. */
static void tagged_by_the_allocator(struct kunit *test)
{
	static const size_t of_cache[] = {16,  32,  48,	 64,  80,   112,  128,	144,  240,  256,
					  272, 496, 512, 528, 1024, 1040, 2048, 4080, 4096, 8192};

	for (size_t i = 0; i < ARRAY_SIZE(of_cache); i++) {
		const unsigned int before = kasan_tags_without_traces();
		struct kmem_cache *cache =
			kmem_cache_create("tagged", (unsigned int)of_cache[i], 0, 0, NULL);

		if (cache) {
			two_lives(test, cache, of_cache[i]);
			kmem_cache_destroy(cache);
		}
		kasan_tags_with_traces(before);
		KUNIT_EXPECT_NOT_NULL(test, cache);
	}
}

/* The object at @p has @size bytes now, and is where it was. */
static void expect_resized(struct kunit *test, char *p, size_t size, size_t span)
{
	const size_t end = ALIGN(size, KASAN_GRANULE_SIZE);

	KUNIT_EXPECT_PTR_EQ(test, krealloc(p, size, GFP_KERNEL), (void *)p);
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(p));
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(p + size - 1));
	if (end < span)
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + end));
}

static void resized_by_the_allocator(struct kunit *test)
{
	static const size_t spans[] = {16, 64, 256, 496, 512, 2048};

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
		const size_t span = spans[i];
		const unsigned int before = kasan_tags_without_traces();
		struct kmem_cache *cache =
			kmem_cache_create("resized", (unsigned int)span, 0, 0, NULL);
		char *p = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;

		if (p) {
			memset(p, 0x5a, span);
			for (size_t size = span; size; size -= 8)
				expect_resized(test, p, size, span);
			for (size_t size = 16; size <= span; size += 16)
				expect_resized(test, p, size, span);
			KUNIT_EXPECT_EQ(test, p[0], 0x5a);
			kmem_cache_free(cache, p);
		}
		kmem_cache_destroy(cache);
		kasan_tags_with_traces(before);
		KUNIT_EXPECT_TRUE(test, p);
	}
}

static void random_policy_has_its_rate(struct kunit *test)
{
	/* One in TAG_COUNT is missed where both tags are drawn at random. */
	const unsigned int expected = ROUNDS - ROUNDS / TAG_COUNT;
	unsigned int overflows, reuses;

	set_policy(test, "random");
	overflows = linear_overflows(test);
	reuses = immediate_reuses(test);
	restore_policy();
	kunit_info(test, "random: %u of %u linear overflows, %u of %u reuses caught; expected %u",
		   overflows, ROUNDS, reuses, ROUNDS, expected);
	/* Six standard deviations: the square root of ROUNDS / TAG_COUNT is below 27 for any mode. */
	KUNIT_EXPECT_GE(test, reuses, expected - 6 * 27);
	KUNIT_EXPECT_GE(test, overflows, expected - 6 * 27);
	KUNIT_EXPECT_LT(test, reuses, ROUNDS);
}

/* --- Tags ---------------------------------------------------------------------------------------------- */

static void pointers_have_tags(struct kunit *test)
{
	struct page *page = alloc_pages(GFP_KERNEL, 1);
	void *object = kmalloc(100, GFP_KERNEL), *large = kmalloc(3 * PAGE_SIZE, GFP_KERNEL);
	void *area = vmalloc(PAGE_SIZE);
	void *pointers[4];
	u8 state;

	KUNIT_ASSERT_NOT_NULL(test, page);
	pointers[0] = object;
	pointers[1] = large;
	pointers[2] = area;
	pointers[3] = page_address(page);
	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
		if (pointers[i] == area && !kasan_get_tag(area))
			continue;
		KUNIT_ASSERT_NOT_NULL(test, pointers[i]);
		KUNIT_EXPECT_GE(test, kasan_get_tag(pointers[i]), KASAN_TAG_MIN);
		KUNIT_EXPECT_LE(test, kasan_get_tag(pointers[i]), KASAN_TAG_MAX);
		KUNIT_ASSERT_TRUE(test, kasan_memory_state(pointers[i], &state));
		KUNIT_EXPECT_EQ(test, state, kasan_get_tag(pointers[i]));
		KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(pointers[i]));
		KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(kasan_reset_tag(pointers[i])));
		KUNIT_EXPECT_FALSE(test,
				   kasan_byte_accessible(kasan_set_tag(pointers[i], state ^ 1)));
	}
	kfree(object);
	kfree(large);
	vfree(area);
	__free_pages(page, 1);
	/* Unused memory matches only pointers without a tag. */
	KUNIT_ASSERT_TRUE(test, kasan_memory_state(pointers[3], &state));
	KUNIT_EXPECT_EQ(test, state, KASAN_TAG_INVALID);
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(pointers[3]));
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(kasan_reset_tag(pointers[3])));
}

/* The kernel computes with addresses, so it removes tags from pointers there. */
#define BLOCKS 64U

struct blocks {
	struct page *page[BLOCKS];
	u8 tag[BLOCKS];
};

static unsigned int order_of(unsigned int block)
{
	return block % 3;
}

/* Allocate block @i of @now. Return: the tag of pointers to its last life, if it was one of @before. Interrupts are
 * off, so that nobody takes a page of this CPU in between and gives it another tag. */
static u8 take_block(struct blocks *now, unsigned int i, const struct blocks *before)
{
	u8 last[BLOCKS], found = KASAN_TAG_KERNEL;
	unsigned long flags;
	unsigned int k;

	local_irq_save(flags);
	for (k = 0; k < BLOCKS; k++)
		last[k] = before->page[k] ? page_kasan_tag(before->page[k]) : KASAN_TAG_KERNEL;
	now->page[i] = alloc_pages(GFP_ATOMIC, order_of(i));
	local_irq_restore(flags);
	for (k = 0; k < BLOCKS; k++) {
		if (before->page[k] == now->page[i])
			found = last[k];
	}
	now->tag[i] = now->page[i] ? page_kasan_tag(now->page[i]) : 0;
	return found;
}

/* Return: do the blocks @i and @k of @blocks lie beside each other? */
static bool are_beside(const struct blocks *blocks, unsigned int i, unsigned int k)
{
	const struct page *a = blocks->page[i], *b = blocks->page[k];

	return a + (1U << order_of(i)) == b || b + (1U << order_of(k)) == a;
}

/* Blocks of pages lie beside each other, and come back again and again. */
static void pages_differ_from_their_neighbours(struct kunit *test)
{
	static struct blocks rows[2];
	unsigned int reused = 0, beside = 0;

	memset(rows, 0, sizeof(rows));
	for (unsigned int round = 0; round < 16; round++) {
		struct blocks *now = &rows[round & 1];

		for (unsigned int i = 0; i < BLOCKS; i++) {
			const u8 last = take_block(now, i, &rows[!(round & 1)]);
			const u8 tag = now->tag[i];
			uintptr_t at;

			KUNIT_ASSERT_NOT_NULL(test, now->page[i]);
			at = (uintptr_t)page_to_virt(now->page[i]);
			KUNIT_EXPECT_GE(test, tag, KASAN_TAG_MIN);
			KUNIT_EXPECT_LE(test, tag, KASAN_TAG_MAX);
			KUNIT_EXPECT_EQ(test, kasan_tags_owner(at), tag);
			KUNIT_EXPECT_EQ(test, kasan_tags_owner(at + (PAGE_SIZE << order_of(i)) - 1),
					tag);
			KUNIT_EXPECT_NE(test, tag, last);
			reused += last != KASAN_TAG_KERNEL;
			for (unsigned int k = 0; k < i; k++) {
				if (!are_beside(now, i, k))
					continue;
				KUNIT_EXPECT_NE(test, tag, now->tag[k]);
				beside++;
			}
		}
		for (unsigned int i = 0; i < BLOCKS; i++)
			__free_pages(now->page[i], order_of(i));
	}
	kunit_info(test, "%u blocks, %u of them reused at once, %u pairs of neighbours",
		   16 * BLOCKS, reused, beside);
}

static void tags_are_no_address(struct kunit *test)
{
	char *object = kmalloc(100, GFP_KERNEL), *area = vmalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_EXPECT_EQ(test, __pa(object), __pa(kasan_reset_tag(object)));
	KUNIT_EXPECT_PTR_EQ(test, virt_to_page(object), virt_to_page(kasan_reset_tag(object)));
	KUNIT_EXPECT_TRUE(test, is_linear_address(object));
	KUNIT_EXPECT_TRUE(test, virt_addr_valid(object));
	KUNIT_EXPECT_FALSE(test, is_vmalloc_addr(object));
	KUNIT_EXPECT_FALSE(test, is_kernel_image(object));
	KUNIT_EXPECT_TRUE(test, is_vmalloc_addr(area));
	KUNIT_EXPECT_PTR_EQ(test, vmalloc_to_page(area), vmalloc_to_page(kasan_reset_tag(area)));
	KUNIT_EXPECT_PTR_EQ(test, find_vm_area(area), find_vm_area(kasan_reset_tag(area)));
	kfree(object);
	vfree(area);
}

/* Null pointers and user addresses are not changed. */
static void untagging(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kasan_untag_addr(0), 0UL);
	KUNIT_EXPECT_EQ(test, kasan_untag_addr(0x42UL << 56 | 0x1234), 0x1234UL);
	KUNIT_EXPECT_EQ(test, kasan_untag_addr(0x42ff000000001234UL), 0xffff000000001234UL);
	KUNIT_EXPECT_EQ(test, kasan_addr_tag(0x42ff000000001234UL), 0x42);
	KUNIT_EXPECT_EQ(test, kasan_tag_addr(0xffff000000001234UL, 0x17), 0x17ff000000001234UL);
}

static int *constructed_self;

static void construct(void *object)
{
	*(void **)object = object;
	constructed_self = object;
}

/* Objects with a constructor may point to themselves: their tag stays for as long as the slab does. */
static void constructed_objects_keep_their_tag(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("tags_ctor", 64, 0, 0, construct);
	void **object;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	for (int i = 0; i < 50; i++) {
		object = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, object);
		KUNIT_EXPECT_NE(test, kasan_get_tag(object), KASAN_TAG_KERNEL);
		KUNIT_EXPECT_PTR_EQ(test, *object, object);
		kmem_cache_free(cache, object);
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(object));
	}
	kmem_cache_destroy(cache);
}

static void object_sizes(struct kunit *test)
{
	for (size_t size = 1; size <= 8192; size += 1 + size / 3) {
		char *ptr = kmalloc(size, GFP_KERNEL);
		struct kasan_object object;
		size_t known = size;

		KUNIT_ASSERT_NOT_NULL(test, ptr);
		KUNIT_ASSERT_TRUE(test, kasan_port_find_object(ptr + size - 1, &object));
		/* Whole granules, but no more than the size class: the smallest has 8 bytes. */
		if (IS_HW_TAGS && ALIGN(size, KASAN_GRANULE_SIZE) <= object.cache->object_size)
			known = ALIGN(size, KASAN_GRANULE_SIZE);
		else if (IS_HW_TAGS)
			known = object.cache->object_size;
		KUNIT_EXPECT_PTR_EQ(test, object.start, kasan_reset_tag(ptr));
		KUNIT_EXPECT_EQ(test, kasan_object_size(object.cache, ptr), known);
		kfree(ptr);
	}
}

/* Whoever frees part of a page frees all of it. */
static void sizes_that_are_no_pages(struct kunit *test)
{
	char *p = (char *)__get_free_pages(GFP_KERNEL, 2);

	KUNIT_ASSERT_NOT_NULL(test, p);
	kasan_free_pages(p, PAGE_SIZE + 5 * KASAN_GRANULE_SIZE);
	for (int page = 0; page < 4; page++) {
		KUNIT_EXPECT_EQ(test, kasan_byte_accessible(p + page * PAGE_SIZE), page >= 2);
		KUNIT_EXPECT_EQ(test, kasan_byte_accessible(p + (page + 1) * PAGE_SIZE - 1),
				page >= 2);
	}
	kasan_unpoison(p, 4 * PAGE_SIZE);
	free_pages((unsigned long)p, 2);
}

/* --- Short granules (software tags) ---------------------------------------------------------------------- */

static void short_granules(struct kunit *test)
{
	kunit_needs(test, !IS_HW_TAGS, "CONFIG_KASAN_SW_TAGS=y");
	for (size_t size = 1; size <= 64; size++) {
		char *ptr = kmalloc(size, GFP_KERNEL);
		u8 state;

		KUNIT_ASSERT_NOT_NULL(test, ptr);
		/* To the end of the granule behind: one more may by chance have the same tag. */
		for (size_t i = 0; i < ALIGN(size, KASAN_GRANULE_SIZE) + KASAN_GRANULE_SIZE; i++)
			KUNIT_EXPECT_EQ_MSG(test, kasan_byte_accessible(ptr + i), i < size,
					    "byte %zu of %zu", i, size);
		/* The last granule says how much of it is the object's, and keeps the tag in its last byte. */
		if (size % KASAN_GRANULE_SIZE) {
			size_t last = size & ~(KASAN_GRANULE_SIZE - 1);

			KUNIT_ASSERT_TRUE(test, kasan_memory_state(ptr + last, &state));
			KUNIT_EXPECT_EQ(test, state, size % KASAN_GRANULE_SIZE);
			KUNIT_EXPECT_EQ(test, *((volatile u8 *)kasan_reset_tag(ptr) + last + 15),
					kasan_get_tag(ptr));
		}
		kfree(ptr);
	}
}

/* Ranges that end in, cross and start in a short granule. */
static void short_granule_ranges(struct kunit *test)
{
	char *ptr = kmalloc(45, GFP_KERNEL);

	kunit_needs(test, !IS_HW_TAGS, "CONFIG_KASAN_SW_TAGS=y");
	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kasan_disable_current();
	for (size_t start = 0; start < 45; start++)
		for (size_t size = 1; start + size <= 50; size++)
			KUNIT_EXPECT_EQ_MSG(test, kasan_check_read(ptr + start, size),
					    start + size <= 45, "[%zu, +%zu)", start, size);
	kasan_enable_current();
	kfree(ptr);
}

/* --- What the ring knows ------------------------------------------------------------------------------- */

static void types_are_inferred(struct kunit *test)
{
	char *ptr = kmalloc(64, GFP_KERNEL), *below = kmalloc(64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	KUNIT_ASSERT_NOT_NULL(test, below);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, kasan_check_read(ptr + 64, 1));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, kasan_check_read(ptr - 1, 1));
	kfree(ptr);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, kasan_check_read(ptr, 1));
	/* A pointer with a tag that was never given out. */
	KASAN_EXPECT_BUG(test, "invalid-access", KASAN_READ, 1,
			 kasan_check_read(kasan_set_tag(below, KASAN_TAG_MIN - 1), 1));
	kfree(below);
}

KASAN_BUG_SUITE(kasan_tags, KUNIT_CASE(adjacent_policy_is_certain),
		KUNIT_CASE(tagged_by_the_allocator), KUNIT_CASE(resized_by_the_allocator),
		KUNIT_CASE(random_policy_has_its_rate), KUNIT_CASE(pointers_have_tags),
		KUNIT_CASE(pages_differ_from_their_neighbours), KUNIT_CASE(tags_are_no_address),
		KUNIT_CASE(untagging), KUNIT_CASE(constructed_objects_keep_their_tag),
		KUNIT_CASE(object_sizes), KUNIT_CASE(sizes_that_are_no_pages),
		KUNIT_CASE(short_granules), KUNIT_CASE(short_granule_ranges),
		KUNIT_CASE(types_are_inferred));

#endif /* CONFIG_KASAN_TAGS */
