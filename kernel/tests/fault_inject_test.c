// SPDX-License-Identifier: MIT
/*
 * fault_inject_test.c - lets the allocators fail at every place that allocates, one place after the other.
 *
 * Each case has a piece of work that allocates in many places and gives everything back. The work is repeated:
 * first its first allocation fails, then its second, until none fails. Each time the work must return an error
 * or succeed without the memory, no report may come, and objects and pages are counted: none may be lost.
 */
#include <kernel/completion.h>
#include <kernel/fault_inject.h>
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/percpu.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/workqueue.h>

#include "fault_walk.h"
#include "kasan_test.h"
#include "module_sample.h"

/* --- Objects --------------------------------------------------------------------------------------- */

static int objects_work(void)
{
	static const size_t sizes[] = {1, 8, 64, 192, 1000, 4096, 8192, 8193, 40000};
	void *p[ARRAY_SIZE(sizes)] = {0}, *more;
	char *s = NULL, *copy = NULL;
	int err = -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		p[i] = kmalloc(sizes[i], i % 2 ? GFP_KERNEL : GFP_ATOMIC | __GFP_ZERO);
		if (!p[i])
			goto out;
		memset(p[i], 1, sizes[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		more = krealloc(p[i], sizes[i] * 3, GFP_KERNEL);
		if (!more) {
			/* The old object is unchanged. */
			if (memchr_inv(p[i], 1, sizes[i]))
				err = -EIO;
			goto out;
		}
		p[i] = more;
	}
	s = kstrdup("every site", GFP_KERNEL);
	copy = s ? kmemdup(s, strlen(s) + 1, GFP_KERNEL) : NULL;
	if (copy && !strcmp(copy, "every site"))
		err = 0;
out:
	kfree(copy);
	kfree(s);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		kfree(p[i]);
	return err;
}

static void objects(struct kunit *test)
{
	/* The number of places in the source; Clang unrolls the loops and has more. */
	fault_walk_own(test, objects_work, 7);
}

static void construct(void *object)
{
	memset(object, 0x77, 100);
}

static int cache_of(unsigned int size, unsigned int flags, void (*ctor)(void *))
{
	struct kmem_cache *cache = kmem_cache_create("fault_inject", size, 0, flags, ctor);
	void *one = NULL, *many[40];
	int err = -ENOMEM;

	if (!cache)
		return -ENOMEM;
	one = kmem_cache_alloc(cache, GFP_KERNEL);
	if (!one)
		goto out;
	if (ctor && memchr_inv(one, 0x77, 100)) {
		err = -EIO;
		goto out;
	}
	if (kmem_cache_alloc_bulk(cache, GFP_KERNEL, ARRAY_SIZE(many), many) != ARRAY_SIZE(many))
		goto out;
	kmem_cache_free_bulk(cache, ARRAY_SIZE(many), many);
	err = 0;
out:
	kmem_cache_free(cache, one);
	kmem_cache_destroy(cache);
	return err;
}

static int caches_work(void)
{
	int err = cache_of(100, 0, NULL);

	err = err ?: cache_of(100, SLAB_HWCACHE_ALIGN, construct);
	err = err ?: cache_of(3000, 0, NULL);
	return err;
}

static void caches(struct kunit *test)
{
	fault_walk_own(test, caches_work, 6);
}

static int typesafe_work(void)
{
	return cache_of(100, SLAB_TYPESAFE_BY_RCU, construct);
}

/* Freeing such an object needs memory, and must succeed without it. */
static void typesafe_caches(struct kunit *test)
{
	fault_walk_own(test, typesafe_work, 4);
}

/* --- Pages, areas, stacks ---------------------------------------------------------------------------- */

static int pages_work(void)
{
	struct page *pages[8] = {0};
	unsigned long addr;
	int err = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(pages) && !err; i++) {
		pages[i] = alloc_pages(i % 2 ? GFP_KERNEL : GFP_NOWAIT, i / 2);
		err = pages[i] ? 0 : -ENOMEM;
	}
	addr = __get_free_pages(GFP_KERNEL, 1);
	if (!addr)
		err = -ENOMEM;
	free_pages(addr, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++) {
		if (pages[i])
			__free_pages(pages[i], i / 2);
	}
	return err;
}

static int percpu_work(void)
{
	PER_CPU_POINTER(u64, copies) = alloc_percpu(copies);

	if (!copies)
		return -ENOMEM;
	free_percpu(copies);
	return 0;
}

static void percpu(struct kunit *test)
{
	fault_walk_own(test, percpu_work, 1);
}

static void pages(struct kunit *test)
{
	fault_walk_own(test, pages_work, 1);
}

static int areas_work(void)
{
	void *small = vmalloc(100), *cleared = vzalloc(70000);
	void *large = __vmalloc(3UL << 20, GFP_KERNEL | __GFP_NOWARN);
	void *aligned = __vmalloc_align(PAGE_SIZE, 1UL << 16, GFP_KERNEL | __GFP_NOWARN);
	void *either = kvmalloc(6UL << 20, GFP_KERNEL | __GFP_NOWARN);
	int err = small && cleared && large && aligned && either ? 0 : -ENOMEM;

	if (cleared && memchr_inv(cleared, 0, 70000))
		err = -EIO;
	vfree(small);
	vfree(cleared);
	vfree(large);
	vfree(aligned);
	kvfree(either);
	return err;
}

/* The objects first, then some of the pages: there are thousands of one kind. */
static void areas(struct kunit *test)
{
	fault_walk(test, areas_work, FAULT_SLAB | FAULT_RUNTIME, current, 1);
}

static int small_areas_work(void)
{
	void *one = vrealloc(NULL, 1, GFP_KERNEL | __GFP_NOWARN), *some = vmalloc(9 * PAGE_SIZE);
	void *more = vrealloc(one, 2 * PAGE_SIZE, GFP_KERNEL | __GFP_NOWARN);
	int err = more && some ? 0 : -ENOMEM;

	vfree(more ?: one);
	vfree(some);
	return err;
}

static void area_pages(struct kunit *test)
{
	fault_walk_own(test, small_areas_work, 3);
}

static int second_ways_work(void)
{
	void *either = kvmalloc(3 * PAGE_SIZE, GFP_KERNEL | __GFP_NOWARN);
	int err = either ? 0 : -ENOMEM;

	kvfree(either);
	/* Slabs of several pages, and of one where there are no several. */
	return err ?: cache_of(3000, 0, NULL);
}

/* The second way is closed as well. */
static void second_ways(struct kunit *test)
{
	fault_walk_onwards(test, second_ways_work, 6);
}

/* More areas at once than there are spare descriptors on all CPUs. */
#define AREAS 48

static int many_areas_work(void)
{
	void *areas[AREAS];
	int err = 0;

	for (unsigned int i = 0; i < AREAS; i++) {
		areas[i] = __vmalloc(1, GFP_KERNEL | __GFP_NOWARN);
		if (!areas[i])
			err = -ENOMEM;
	}
	for (unsigned int i = 0; i < AREAS; i++)
		vfree(areas[i]);
	return err;
}

/* Objects alone: the pages of such areas are walked above. */
static void descriptors_of_areas(struct kunit *test)
{
	fault_walk(test, many_areas_work, FAULT_SLAB, current, 2);
}

/* An area at addresses where nothing ever was: page tables and shadow are made, and stay. */
static int far_area_work(void)
{
	/* Each alignment leads farther away, and starts again at the end of the address space. */
	static unsigned int run;
	void *p = __vmalloc_align(PAGE_SIZE, 1UL << (33 + run++ % 11), GFP_KERNEL | __GFP_NOWARN);

	vfree(p);
	return p ? 0 : -ENOMEM;
}

static void far_areas(struct kunit *test)
{
	fault_walk_own(test, far_area_work, 1);
}

static int nothing(void *arg)
{
	return 17;
}

static int thread_of(size_t stack)
{
	struct task *task = kthread_create_sized(nothing, NULL, stack, "fault_inject");
	int value;

	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	wake_up_process(task);
	value = kthread_join(task);
	return value == 17 ? 0 : -EIO;
}

static int threads_work(void)
{
	int err;

	/* First drop the stacks that are kept for the next thread. */
	vmalloc_purge();
	err = thread_of(THREAD_SIZE);
	return err ?: thread_of(256UL << 10);
}

static void threads(struct kunit *test)
{
	fault_walk_own(test, threads_work, 3);
}

/* --- Pools, RCU, workqueues -------------------------------------------------------------------------- */

static int pool_of(mempool_t *pool, bool resize)
{
	void *elements[6] = {0};
	int err = 0;

	if (!pool)
		return -ENOMEM;
	if (resize)
		err = mempool_resize(pool, 6);
	/* The pool promises that this many elements can always be allocated. */
	for (int i = 0; i < 4; i++) {
		elements[i] = mempool_alloc(pool, GFP_NOWAIT);
		if (!elements[i])
			err = -EIO;
	}
	for (int i = 0; i < 4; i++)
		mempool_free(elements[i], pool);
	mempool_destroy(pool);
	return err;
}

static int pools_work(void)
{
	struct kmem_cache *cache;
	int err = pool_of(mempool_create_kmalloc_pool(4, 100), true);

	err = err ?: pool_of(mempool_create_page_pool(4, 1), false);
	if (err)
		return err;
	cache = kmem_cache_create("fault_inject_pool", 300, 0, 0, NULL);
	if (!cache)
		return -ENOMEM;
	err = pool_of(mempool_create_slab_pool(4, cache), true);
	kmem_cache_destroy(cache);
	return err;
}

static void pools(struct kunit *test)
{
	fault_walk_own(test, pools_work, 8);
}

struct rcu_object {
	struct rcu_head head;
	char payload[50];
};

static int rcu_work(void)
{
	struct rcu_object *objects[8];
	int err = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = kmalloc(sizeof(*objects[i]), GFP_KERNEL);
		if (!objects[i])
			err = -ENOMEM;
		else if (i % 4 == 0)
			kfree_rcu_mightsleep(objects[i]);
		else
			kfree_rcu(objects[i], head);
	}
	rcu_barrier();
	return err;
}

static void rcu(struct kunit *test)
{
	fault_walk_own(test, rcu_work, 1);
}

/* Each item waits for the item queued behind it, so each needs a worker. */
struct item {
	struct work_struct work;
	struct item *waits_for;
	struct completion done;
};

static void run_item(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	if (item->waits_for)
		wait_for_completion(&item->waits_for->done);
	complete(&item->done);
}

static int queue_items(unsigned int flags)
{
	struct workqueue_struct *wq = alloc_workqueue("fault_inject", flags, 0);
	struct item items[6];

	if (!wq)
		return -ENOMEM;
	for (unsigned int i = 0; i < ARRAY_SIZE(items); i++) {
		items[i].waits_for = i + 1 < ARRAY_SIZE(items) ? &items[i + 1] : NULL;
		init_completion(&items[i].done);
		INIT_WORK_ONSTACK(&items[i].work, run_item);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(items); i++) {
		if (flags & WQ_UNBOUND)
			queue_work(wq, &items[i].work);
		else
			queue_work_on(0, wq, &items[i].work);
	}
	wait_for_completion(&items[0].done);
	destroy_workqueue(wq);
	return 0;
}

static int workqueue_work(void)
{
	return queue_items(0);
}

static int unbound_work(void)
{
	return queue_items(WQ_UNBOUND);
}

static void workqueues(struct kunit *test)
{
	fault_walk_own(test, workqueue_work, 1);
}

/* The same with the allocations of the threads that create workers, and of all others. A worker that cannot be
 * created now must be created later, or the items would wait for ever. */
static void workers(struct kunit *test)
{
	fault_walk(test, workqueue_work, FAULT_ALL, NULL, 1);
	fault_walk(test, unbound_work, FAULT_ALL, NULL, 1);
}

/* --- Modules ------------------------------------------------------------------------------------------- */

static int module_work(void)
{
	struct module *module;
	int err = load_module("module_sample.ko", module_sample_start,
			      (size_t)(module_sample_end - module_sample_start), 0, &module, NULL);

	return err ?: unload_module("module_sample");
}

static void modules(struct kunit *test)
{
	fault_walk_own(test, module_work, 6);
}

static int module_user_work(void)
{
	struct module *module;
	int err;

	err = load_module("module_sample.ko", module_sample_start,
			  (size_t)(module_sample_end - module_sample_start), 0, &module, NULL);
	if (err)
		return err;
	err = load_module("module_user.ko", module_user_start,
			  (size_t)(module_user_end - module_user_start), 0, &module, NULL);
	if (!err && unload_module("module_sample") != -EBUSY)
		return -EIO;
	if (!err && unload_module("module_user"))
		return -EIO;
	/* A module that could not be loaded uses nothing. */
	return unload_module("module_sample") ? -EIO : err;
}

/* A module that uses another. */
static void users_of_modules(struct kunit *test)
{
	fault_walk_own(test, module_user_work, 7);
}

/* --- The runtime's own memory ----------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN

static void *spell(unsigned int value, unsigned int bits);

static noinline void *spell_one(unsigned int value, unsigned int bits)
{
	void *p = spell(value >> 1, bits - 1);

	barrier();
	return p;
}

static noinline void *spell_zero(unsigned int value, unsigned int bits)
{
	void *p = spell(value >> 1, bits - 1);

	barrier();
	return p;
}

/* An object whose allocation has a stack of its own for each value. */
static noinline void *spell(unsigned int value, unsigned int bits)
{
	void *p;

	if (!bits)
		p = kmalloc(40, GFP_KERNEL);
	else
		p = value & 1 ? spell_one(value, bits) : spell_zero(value, bits);
	barrier();
	return p;
}

static unsigned int next_word;

static int stacks_work(void)
{
	int err = 0;

	/* Enough traces for some blocks of the depot, and enough frees for queues of the quarantine. */
	for (int i = 0; i < 400; i++) {
		void *p = spell(next_word++, 14);

		if (!p)
			err = -ENOMEM;
		kfree(p);
	}
	return err;
}

static void use_after_free(char *freed)
{
	HIDE_VAR(freed);
	KASAN_TEST_BUG(READ_ACCESS(freed[10]));
}

/* Without memory for its tables the runtime keeps fewer stacks and objects, and goes on. Later objects have
 * stacks again, and bugs are found all the time. */
static void runtime_tables(struct kunit *test)
{
	uintptr_t site[FAULT_SITE_DEPTH];
	unsigned long failures = 0, seen;
	char *p;

	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	for (unsigned long nth = 1; nth <= 12; nth++) {
		fault_inject_nth(FAULT_RUNTIME, nth, 1, NULL);
		for (int i = 0; i < 8 && failures < nth; i++)
			KUNIT_EXPECT_EQ(test, stacks_work(), 0);
		seen = fault_inject_stop(site);
		failures += seen >= nth;
		if (seen >= nth)
			fault_print_site(test, site);
		p = spell(next_word++, 14);
		KUNIT_ASSERT_NOT_NULL(test, p);
		kfree(p);
		KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1,
					  use_after_free(p));
	}
	KUNIT_EXPECT_GE(test, failures, 1);
	kunit_info(test, "%lu failures", failures);
}

#endif

static struct kunit_case fault_inject_test_cases[] = {
	KUNIT_CASE(objects),
	KUNIT_CASE(caches),
	KUNIT_CASE(typesafe_caches),
	KUNIT_CASE(percpu),
	KUNIT_CASE(pages),
	KUNIT_CASE(areas),
	KUNIT_CASE(area_pages),
	KUNIT_CASE(second_ways),
	KUNIT_CASE(descriptors_of_areas),
	KUNIT_CASE(far_areas),
	KUNIT_CASE(threads),
	KUNIT_CASE(pools),
	KUNIT_CASE(rcu),
	KUNIT_CASE(workqueues),
	KUNIT_CASE(workers),
	KUNIT_CASE(modules),
	KUNIT_CASE(users_of_modules),
#ifdef CONFIG_KASAN
	KUNIT_CASE(runtime_tables),
#endif
	{},
};

KUNIT_SUITE(fault_inject, fault_inject_test_cases, KASAN_SUITE_INIT);
