// SPDX-License-Identifier: MIT
/*
 * kasan_slack_test.c - kasan.slack=check: a write into the unused bytes of an object's last granule is reported at
 * the object's free, at krealloc() or in a walk, and nothing else is.
 *
 * Cases of kmalloc() need the parameter at boot (`./redzone test hw-tags` boots them). The others make a cache of
 * their own with it.
 */
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

#define GRANULE KASAN_GRANULE_SIZE
#define OVERRUN "slab-out-of-bounds"

static const size_t class_edges[] = {8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192};

static unsigned int booted_with_slack;

static void needs_boot(struct kunit *test)
{
	kunit_needs(test, booted_with_slack, "kasan.slack=check");
}

static size_t unused_of(size_t size)
{
	return ALIGN(size, GRANULE) - size;
}

/* A cache whose slack is checked, also if kmalloc()'s is not. */
static struct kmem_cache *checked_cache(struct kunit *test, unsigned int size, unsigned int flags,
					void (*ctor)(void *))
{
	struct kmem_cache *cache;

	KUNIT_ASSERT_EQ(test, kasan_option("kasan.slack", "check"), 0);
	cache = kmem_cache_create("slack", size, 0, flags, ctor);
	kasan_option("kasan.slack", booted_with_slack ? "check" : "off");
	KUNIT_ASSERT_NOT_NULL(test, cache);
	return cache;
}

/* Write a byte that is not the one that is there, at @offset. */
static void overwrite(void *object, size_t offset)
{
	u8 *p = object;

	HIDE_VAR(p);
	KASAN_TEST_BUG(WRITE_ACCESS(p[offset], p[offset] ^ 0x55));
}

/* @object, of @size bytes, was overwritten at @offset: @expression reports just that. */
#define EXPECT_FOUND(test, object, offset, ...)                                        \
	do {                                                                           \
		const void *object_ = (object);                                        \
		KUNIT_EXPECT_KASAN_REPORT(test, OVERRUN, KASAN_WRITE, 1, __VA_ARGS__); \
		KUNIT_EXPECT_PTR_EQ(test, kasan_expect_last()->addr,                   \
				    (uintptr_t)object_ + (offset));                    \
	} while (0)

/* --- Every byte ---------------------------------------------------------------------------------------- */

static void each_byte_of(struct kunit *test, size_t size)
{
	char *p;

	for (size_t offset = size; offset < ALIGN(size, GRANULE); offset++) {
		p = kmalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, p);
		memset(p, 0x33, size);
		overwrite(p, offset);
		EXPECT_FOUND(test, p, offset, kfree(p));
	}
}

static void sizes_to_64(struct kunit *test)
{
	needs_boot(test);
	for (size_t size = 1; size <= 64; size++)
		each_byte_of(test, size);
}

static void class_ends(struct kunit *test)
{
	needs_boot(test);
	for (size_t i = 0; i < ARRAY_SIZE(class_edges); i++) {
		each_byte_of(test, class_edges[i] - 1);
		each_byte_of(test, class_edges[i]);
		each_byte_of(test, class_edges[i] + 1);
	}
}

/* Pages of their own: the size is not in the tags. */
static void large_objects(struct kunit *test)
{
	char *p, *q;

	needs_boot(test);
	each_byte_of(test, 3 * PAGE_SIZE - 3);
	each_byte_of(test, 20001);
	p = kmalloc(20001, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	overwrite(p, 20005);
	EXPECT_FOUND(test, p, 20005, q = krealloc(p, 20003, GFP_KERNEL));
	KUNIT_ASSERT_PTR_EQ(test, q, p);
	memset(q, 1, 20003);
	overwrite(q, 20003);
	EXPECT_FOUND(test, q, 20003, KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(NULL), 1));
	kfree(q);
}

/* --- Legal code ---------------------------------------------------------------------------------------- */

static void use_all(struct kunit *test, size_t size)
{
	char *p = kmalloc(size, GFP_KERNEL), *q;

	KUNIT_ASSERT_NOT_NULL(test, p);
	memset(p, 0xff, size);
	KUNIT_EXPECT_EQ(test, kmalloc_usable_size(p), size);
	/* Up and down, in place and moved, with a size that ends at a granule in between. */
	for (size_t step = 0; step < 40; step += 3) {
		q = krealloc(p, size + step, step % 2 ? GFP_KERNEL : GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, q);
		KUNIT_EXPECT_EQ(test, (u8)q[0], 0xff);
		memset(q, 0xff, size + step);
		p = q;
	}
	p = krealloc(p, 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	kfree_sensitive(p);
	p = kzalloc(size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	for (size_t i = 0; i < size; i++)
		KUNIT_ASSERT_EQ(test, p[i], 0);
	memset(p, 0, size);
	kfree_sensitive(p);
	/* A caller that rounds the size up has the whole of it. */
	p = kmalloc(kmalloc_size_roundup(size), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	memset(p, 0xee, ksize(p));
	kfree(p);
}

static void legal_code_is_silent(struct kunit *test)
{
	needs_boot(test);
	for (size_t size = 1; size <= 64; size++)
		use_all(test, size);
	for (size_t i = 0; i < ARRAY_SIZE(class_edges); i++) {
		use_all(test, class_edges[i] - 1);
		use_all(test, class_edges[i] + 1);
	}
	use_all(test, 20001);
	KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(NULL), 0);
}

/* Reads of unused bytes are not seen, so the case can look at them. */
static void pattern_depends_on_the_address(struct kunit *test)
{
	unsigned int same = 0;
	u8 *p, *q;

	needs_boot(test);
	p = kmalloc(3, GFP_KERNEL);
	q = kmalloc(3, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_NOT_NULL(test, q);
	HIDE_VAR(p);
	HIDE_VAR(q);
	for (size_t i = 3; i < GRANULE; i++) {
		same += p[i] == q[i];
		/* The end of a string is the most frequent overflow: it is never the pattern's byte. */
		KUNIT_EXPECT_NE(test, p[i], 0);
		KUNIT_EXPECT_NE(test, q[i], 0);
	}
	KUNIT_EXPECT_LE(test, same, 3U);
	kfree(p);
	kfree(q);
}

/* --- krealloc() and walks ------------------------------------------------------------------------------ */

static void krealloc_finds_it(struct kunit *test)
{
	char *p, *q;

	needs_boot(test);
	p = kmalloc(20, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	overwrite(p, 31);
	EXPECT_FOUND(test, p, 31, q = krealloc(p, 25, GFP_KERNEL));
	KUNIT_ASSERT_PTR_EQ(test, q, p);
	KUNIT_EXPECT_EQ(test, kmalloc_usable_size(q), 25);
	/* The pattern is that of the new size: bytes up to 25 are the user's now. */
	memset(q, 7, 25);
	KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(NULL), 0);
	overwrite(q, 25);
	/* It moves: the old object is freed. */
	EXPECT_FOUND(test, q, 25, p = krealloc(q, 100, GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, p);
	kfree(p);
}

static void a_walk_finds_it_once(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 40, 0, NULL);
	struct kmem_cache *other = checked_cache(test, 40, 0, NULL);
	char *p = kmem_cache_alloc(cache, GFP_KERNEL), *q = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(cache), 0);
	overwrite(p, 44);
	KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(other), 0);
	EXPECT_FOUND(test, p, 44, KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(cache), 1));
	KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(cache), 0);
	KUNIT_EXPECT_EQ(test, kmem_cache_check_slack(NULL), 0);
	kmem_cache_free(cache, p);
	overwrite(q, 40);
	EXPECT_FOUND(test, q, 40, kmem_cache_free(cache, q));
	kmem_cache_destroy(cache);
	kmem_cache_destroy(other);
}

/* --- Kinds of caches ----------------------------------------------------------------------------------- */

static void construct(void *object)
{
	memset(object, 0x11, 41);
}

static void constructed_objects(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 41, 0, construct);

	for (unsigned int i = 0; i < 3; i++) {
		char *p = kmem_cache_alloc(cache, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_EQ(test, p[40], 0x11);
		if (i == 1) {
			overwrite(p, 47);
			EXPECT_FOUND(test, p, 47, kmem_cache_free(cache, p));
		} else {
			kmem_cache_free(cache, p);
		}
	}
	kmem_cache_destroy(cache);
}

static void typesafe_objects(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 41, SLAB_TYPESAFE_BY_RCU, NULL);
	char *p = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	kmem_cache_free(cache, p);
	rcu_barrier();
	p = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	overwrite(p, 41);
	EXPECT_FOUND(test, p, 41, kmem_cache_free(cache, p));
	rcu_barrier();
	kmem_cache_destroy(cache);
}

static void bulk_free(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 30, 0, NULL);
	void *objects[8];

	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, 8, objects), 8);
	overwrite(objects[5], 30);
	EXPECT_FOUND(test, objects[5], 30, kmem_cache_free_bulk(cache, 8, objects));
	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, 8, objects), 8);
	kmem_cache_free_bulk(cache, 8, objects);
	kmem_cache_destroy(cache);
}

static void pool_elements(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 30, 0, NULL);
	mempool_t *pool = mempool_create(2, mempool_alloc_slab, mempool_free_slab, cache);
	char *p;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	/* Into the reserve and out again. */
	for (unsigned int i = 0; i < 2; i++) {
		p = mempool_alloc_preallocated(pool);
		KUNIT_ASSERT_NOT_NULL(test, p);
		memset(p, 5, 30);
		if (i) {
			overwrite(p, 31);
			EXPECT_FOUND(test, p, 31, mempool_free(p, pool));
		} else {
			mempool_free(p, pool);
		}
	}
	mempool_destroy(pool);
	kmem_cache_destroy(cache);
}

/* A second free finds no slack: it is a double free, and only that. */
static void double_frees_stay_what_they_are(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 30, 0, NULL);
	char *p = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	kmem_cache_free(cache, p);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kmem_cache_free(cache, p));
	kmem_cache_destroy(cache);
}

/* --- A thousand --------------------------------------------------------------------------------------- */

#define OVERFLOWS 1000U

/* Write @count random bytes at @p. Return: true if they are what was there. Unused without its bug. */
static __attribute__((unused)) bool spill(struct rnd_state *rnd, u8 *p, size_t count)
{
	bool same = true;
	u8 byte;

	HIDE_VAR(p);
	for (size_t i = 0; i < count; i++) {
		byte = (u8)(prandom_u32_state(rnd) >> 8);
		same &= p[i] == byte;
		WRITE_ACCESS(p[i], byte);
	}
	return same;
}

static bool print_nothing(const char *text)
{
	return false;
}

static void random_overflows(struct kunit *test)
{
	unsigned int found = 0, invisible = 0, ones = 0;
	struct rnd_state rnd;

	needs_boot(test);
	prandom_seed_state(&rnd, 4);
	kasan_expect_begin();
	kasan_line_tap(print_nothing);
	for (unsigned int n = 0; n < OVERFLOWS;) {
		const size_t size = 1 + prandom_u32_state(&rnd) % 300, unused = unused_of(size);
		unsigned int before = kasan_expect_count();
		size_t count;
		u8 *p;

		if (!unused)
			continue;
		n++;
		p = kmalloc(size, GFP_KERNEL);
		if (!p)
			break;
		/* Half of them by one byte, as in life. */
		count = prandom_u32_state(&rnd) % 2 ? 1 : 1 + prandom_u32_state(&rnd) % unused;
		ones += count == 1;
		KASAN_TEST_BUG(invisible += spill(&rnd, p + size, count));
		kfree(p);
		found += kasan_expect_count() - before;
	}
	kasan_line_tap(NULL);
	_KUNIT_SAVE_LOC(test);
	kasan_expect_end(test, KUNIT_CURRENT_LOC, "overflows", OVERRUN, KASAN_WRITE, KASAN_ANY_SIZE,
			 false);
	kunit_info(test, "%u of %u overflows found, %u by one byte; %u wrote what was there", found,
		   OVERFLOWS, ones, invisible);
	KUNIT_EXPECT_EQ(test, found, OVERFLOWS - invisible);
	/* One in 255 of those by one byte; 1 in 10,000 sequences would have more than this. */
	KUNIT_EXPECT_LE(test, invisible, 12U);
}

/* --- Several CPUs -------------------------------------------------------------------------------------- */

#define ROUNDS 2000U

static unsigned int finished;

static int traffic(void *data)
{
	struct kmem_cache *cache = data;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		char *p = kmem_cache_alloc(cache, GFP_KERNEL);

		if (p)
			memset(p, (int)i, 29);
		kmem_cache_free(cache, p);
	}
	__atomic_fetch_add(&finished, 1, __ATOMIC_RELEASE);
	return 0;
}

/* Objects begin and end their lives while a walk looks at them: none is mistaken for an overwritten one. */
static void walks_during_traffic(struct kunit *test)
{
	struct kmem_cache *cache = checked_cache(test, 29, 0, NULL);
	struct task *tasks[NR_CPUS];
	unsigned int i, walks = 0;
	size_t wrong = 0;

	finished = 0;
	for (i = 0; i < nr_cpu_ids; i++) {
		tasks[i] = kthread_create(traffic, cache, "slack/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
		kthread_bind(tasks[i], i);
		wake_up_process(tasks[i]);
	}
	do {
		wrong += kmem_cache_check_slack(cache);
		walks++;
		cond_resched();
	} while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) < nr_cpu_ids);
	for (i = 0; i < nr_cpu_ids; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	kunit_info(test, "%u walks", walks);
	kmem_cache_destroy(cache);
}

static int suite_init(struct kunit_suite *suite)
{
	kasan_option_number("kasan.slack", &booted_with_slack);
	return kasan_test_suite_init(suite);
}

KUNIT_CASES(kasan_slack_test_cases, KUNIT_CASE(sizes_to_64), KUNIT_CASE(class_ends),
	    KUNIT_CASE(large_objects), KUNIT_CASE(legal_code_is_silent),
	    KUNIT_CASE(pattern_depends_on_the_address), KUNIT_CASE(krealloc_finds_it),
	    KUNIT_CASE(a_walk_finds_it_once), KUNIT_CASE(constructed_objects),
	    KUNIT_CASE(typesafe_objects), KUNIT_CASE(bulk_free), KUNIT_CASE(pool_elements),
	    KUNIT_CASE(double_frees_stay_what_they_are), KUNIT_CASE(random_overflows),
	    KUNIT_CASE(walks_during_traffic));

KUNIT_SUITE(kasan_slack, kasan_slack_test_cases, .suite_init = suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = kasan_bug_test_init,
	    .exit = kasan_test_exit);
