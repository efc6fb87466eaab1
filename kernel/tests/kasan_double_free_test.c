// SPDX-License-Identifier: MIT
/*
 * kasan_double_free_test.c - several CPUs free the same object at the same time. One free must count, every
 * other must be reported as a double free, and the allocator must get the memory back once.
 *
 * All CPUs meet before each free, so that they reach it within a few instructions of each other. The second
 * CPU must notice the double free whatever state the first one has left the object in.
 */
#include <kernel/gfp.h>
#include <kernel/kernel.h>
#include <kernel/kasan_port.h>
#include <kernel/mempool.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN

/* With each of them all CPUs wait for each other, which on few CPUs of the host is most of what the suite costs. */
#define ROUNDS 20U
/* Objects that are allocated afterwards to examine the free lists: more than CPUs keep at hand. */
#define PROBES 400U

/* Frees one thing; several CPUs call it with the same argument. Return: true if the free counted; false if
 * not, or if that is not known. */
typedef bool (*free_fn)(struct kmem_cache *cache, void *object);

static struct {
	struct kmem_cache *cache;
	free_fn free;
	void *objects[ROUNDS];
	unsigned int cpus;
	/* Counts up to cpus times the number of meetings, so it is never reset. */
	unsigned int arrived;
	unsigned int counted;
	unsigned int double_frees, others;
} race;

static kasan_report_hook_fn saved_hook;
static bool saved_multi_shot;

static void count_report(const struct kasan_report_info *info)
{
	if (info->is_free && strcmp(info->bug_type, "double-free") == 0)
		__atomic_fetch_add(&race.double_frees, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&race.others, 1, __ATOMIC_RELAXED);
}

/* Thousands of reports would say the same. */
static bool print_nothing(const char *text)
{
	return false;
}

/* Return when all CPUs are here for the @n-th time. */
static void meet(unsigned int n)
{
	__atomic_fetch_add(&race.arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&race.arrived, __ATOMIC_ACQUIRE) < n * race.cpus)
		cpu_relax();
}

static void *new_object(struct kmem_cache *cache, size_t size)
{
	return cache ? kmem_cache_alloc(cache, GFP_KERNEL) : kmalloc(size, GFP_KERNEL);
}

static int racer(void *unused)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		meet(i + 1);
		if (race.free(race.cache, race.objects[i]))
			__atomic_fetch_add(&race.counted, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static void prepare_race(struct kmem_cache *cache, free_fn free)
{
	memset(&race, 0, sizeof(race));
	race.cache = cache;
	race.free = free;
	race.cpus = nr_cpu_ids;
}

/* All CPUs free each of race.objects[]. */
static void start_race(struct kunit *test)
{
	struct task *tasks[NR_CPUS];
	unsigned int i;

	for (i = 0; i < race.cpus; i++) {
		tasks[i] = kthread_create(racer, NULL, "free/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
		kthread_bind(tasks[i], i);
	}
	kasan_line_tap(print_nothing);
	for (i = 0; i < race.cpus; i++)
		wake_up_process(tasks[i]);
	for (i = 0; i < race.cpus; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	if (race.cache)
		rcu_barrier();
	kasan_line_tap(NULL);
}

/* All CPUs free each of ROUNDS objects of @size bytes, or of @cache. */
static void run_race(struct kunit *test, struct kmem_cache *cache, size_t size, free_fn free)
{
	prepare_race(cache, free);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		race.objects[i] = new_object(cache, size);
		KUNIT_ASSERT_NOT_NULL(test, race.objects[i]);
	}
	start_race(test);
}

static void expect_one_free_each(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, race.double_frees, ROUNDS * (race.cpus - 1));
	KUNIT_EXPECT_EQ(test, race.others, 0U);
}

/* No slot is free twice: every object that is handed out has memory of its own. */
static void expect_distinct_objects(struct kunit *test, struct kmem_cache *cache, size_t size)
{
	u32 **objects = kunit_kzalloc(test, PROBES * sizeof(*objects), GFP_KERNEL);
	unsigned int i, shared = 0;

	KUNIT_ASSERT_NOT_NULL(test, objects);
	/* Objects also leave the quarantine, if there is one. */
	kmem_cache_shrink_all();
	for (i = 0; i < PROBES; i++) {
		objects[i] = new_object(cache, size);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		*(volatile u32 *)kasan_reset_tag(objects[i]) = i;
	}
	for (i = 0; i < PROBES; i++) {
		shared += *(volatile u32 *)kasan_reset_tag(objects[i]) != i;
		if (cache)
			kmem_cache_free(cache, objects[i]);
		else
			kfree(objects[i]);
	}
	KUNIT_EXPECT_EQ(test, shared, 0U);
}

/* Destroying @cache finds no object left, so its slabs have counted their objects correctly. */
static void expect_nothing_left(struct kunit *test, struct kmem_cache *cache)
{
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_destroy(cache);
}

/* --- What is freed -------------------------------------------------------------------------------------- */

static bool by_kfree(struct kmem_cache *cache, void *object)
{
	kfree(object);
	return false;
}

static bool by_cache(struct kmem_cache *cache, void *object)
{
	kmem_cache_free(cache, object);
	return false;
}

static bool into_pool(struct kmem_cache *cache, void *object)
{
	return kasan_mempool_poison_object(object, 0);
}

static void constructor(void *object)
{
	memset(object, 0x5a, 64);
}

static void race_in_cache(struct kunit *test, unsigned int size, unsigned int flags,
			  void (*ctor)(void *))
{
	struct kmem_cache *cache = kmem_cache_create("double_free", size, 0, flags, ctor);

	KUNIT_ASSERT_NOT_NULL(test, cache);
	run_race(test, cache, 0, by_cache);
	expect_one_free_each(test);
	expect_distinct_objects(test, cache, 0);
	expect_nothing_left(test, cache);
}

static void slab_object(struct kunit *test)
{
	race_in_cache(test, 64, 0, NULL);
}

#ifdef CONFIG_KASAN_TAGS
/* Without traces the allocator tags objects itself, see <kasan/slab_inline.h>. */
static void slab_object_without_traces(struct kunit *test)
{
	const unsigned int before = kasan_tags_without_traces();

	race_in_cache(test, 64, 0, NULL);
	race_in_cache(test, 1000, 0, NULL);
	kasan_tags_with_traces(before);
}
#endif

/* A short granule keeps the object's tag in two places. */
static void object_below_a_granule(struct kunit *test)
{
	run_race(test, NULL, 5, by_kfree);
	expect_one_free_each(test);
	expect_distinct_objects(test, NULL, 5);
}

static void constructed_object(struct kunit *test)
{
	race_in_cache(test, 64, 0, constructor);
}

static void typesafe_object(struct kunit *test)
{
	race_in_cache(test, 64, SLAB_TYPESAFE_BY_RCU, NULL);
}

static void large_object(struct kunit *test)
{
	const size_t size = 3 * PAGE_SIZE - 100;
	unsigned long before;

	run_race(test, NULL, size, by_kfree);
	expect_one_free_each(test);
	before = nr_free_pages();
	expect_distinct_objects(test, NULL, size);
	/* Every page was freed exactly once, so the same pages come and go. */
	KUNIT_EXPECT_LE(test, before, nr_free_pages() + 64);
}

#ifdef CONFIG_KASAN_HW_TAGS
/* Its memory has the tags of free pages all the time: only the allocator knows that it is allocated. */
static void large_object_that_sampling_left_out(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.page_alloc.sample", "1000000000"), 0);
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.page_alloc.sample.order", "0"), 0);
	/* The first of each CPU gets tags. */
	run_race(test, NULL, 3 * PAGE_SIZE, by_kfree);
	kasan_option("kasan.page_alloc.sample.order", "3");
	kasan_option("kasan.page_alloc.sample", "1");
	expect_one_free_each(test);
	expect_distinct_objects(test, NULL, 3 * PAGE_SIZE);
}
#endif

/* Elements of pools stay allocated: the free that counts puts the element into the reserve of its pool. */
static void pool_elements(struct kunit *test)
{
	static const size_t sizes[] = {5, 64, 3 * PAGE_SIZE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		run_race(test, NULL, sizes[i], into_pool);
		expect_one_free_each(test);
		KUNIT_EXPECT_EQ(test, race.counted, ROUNDS);
		for (unsigned int n = 0; n < ROUNDS; n++)
			kfree(kasan_mempool_unpoison_object(race.objects[n], sizes[i]));
	}
}

struct pooled {
	mempool_t pool;
	struct page *page;
};

static bool into_page_pool(struct kmem_cache *cache, void *object)
{
	struct pooled *pooled = object;

	mempool_free(pooled->page, &pooled->pool);
	return false;
}

/* Each reserve has one place: the first free takes it, the others reach the page allocator, perhaps earlier. */
static void pooled_pages(struct kunit *test)
{
	struct pooled *pooled = kunit_kzalloc(test, ROUNDS * sizeof(*pooled), GFP_KERNEL);
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, pooled);
	prepare_race(NULL, into_page_pool);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, mempool_init_page_pool(&pooled[i].pool, 1, 0), 0);
		pooled[i].page = mempool_alloc_preallocated(&pooled[i].pool);
		race.objects[i] = &pooled[i];
	}
	start_race(test);
	expect_one_free_each(test);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		page = mempool_alloc_preallocated(&pooled[i].pool);
		if (page) {
			KUNIT_EXPECT_PTR_EQ(test, page, pooled[i].page);
			KUNIT_EXPECT_EQ(test, page_count(page), 1);
			__free_page(page);
		}
		mempool_exit(&pooled[i].pool);
	}
}

/* --- The suite ------------------------------------------------------------------------------------------- */

static int suite_init(struct kunit_suite *suite)
{
	saved_multi_shot = kasan_save_multi_shot();
	saved_hook = kasan_report_hook(count_report);
	return 0;
}

static void suite_exit(struct kunit_suite *suite)
{
	kasan_report_hook(saved_hook);
	kasan_restore_multi_shot(saved_multi_shot);
}

static int init(struct kunit *test)
{
	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	kunit_needs(test, nr_cpu_ids > 1, "more than one CPU");
	return 0;
}

static struct kunit_case kasan_double_free_test_cases[] = {
	KUNIT_CASE(slab_object),
#ifdef CONFIG_KASAN_TAGS
	KUNIT_CASE(slab_object_without_traces),
#endif
	KUNIT_CASE(object_below_a_granule),
	KUNIT_CASE(constructed_object),
	KUNIT_CASE(typesafe_object),
	KUNIT_CASE(large_object),
#ifdef CONFIG_KASAN_HW_TAGS
	KUNIT_CASE(large_object_that_sampling_left_out),
#endif
	KUNIT_CASE(pool_elements),
	KUNIT_CASE(pooled_pages),
	{},
};

KUNIT_SUITE(kasan_double_free, kasan_double_free_test_cases, .suite_init = suite_init,
	    .suite_exit = suite_exit, .init = init);

#endif /* CONFIG_KASAN */
