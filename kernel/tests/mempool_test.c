// SPDX-License-Identifier: MIT
/* mempool_test.c - memory pools that are used as they should be, and caches that free by RCU. */
#include <kernel/atomic.h>
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/random.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>

#include "kasan_test.h"

/* An allocator that fails on request. */
struct meagre {
	bool empty;
	int live;
};

static void *meagre_alloc(gfp_t gfp, void *data)
{
	struct meagre *meagre = data;

	if (meagre->empty)
		return NULL;
	meagre->live++;
	return kmalloc(32, gfp);
}

static void meagre_free(void *element, void *data)
{
	((struct meagre *)data)->live--;
	kfree(element);
}

static void reserve(struct kunit *test)
{
	struct meagre meagre = {0};
	mempool_t *pool = mempool_create(3, meagre_alloc, meagre_free, &meagre);
	void *p[4];

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_EXPECT_TRUE(test, mempool_is_saturated(pool));
	KUNIT_EXPECT_EQ(test, meagre.live, 3);
	p[3] = mempool_alloc(pool, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, meagre.live, 4);
	meagre.empty = true;
	for (int i = 0; i < 3; i++) {
		p[i] = mempool_alloc(pool, GFP_NOWAIT);
		KUNIT_EXPECT_NOT_NULL(test, p[i]);
	}
	KUNIT_EXPECT_NULL(test, mempool_alloc(pool, GFP_NOWAIT));
	KUNIT_EXPECT_NULL(test, mempool_alloc_preallocated(pool));
	for (int i = 0; i < 4; i++)
		mempool_free(p[i], pool);
	/* The reserve is full again, the fourth went back. */
	KUNIT_EXPECT_TRUE(test, mempool_is_saturated(pool));
	KUNIT_EXPECT_EQ(test, meagre.live, 3);
	mempool_free(NULL, pool);
	meagre.empty = false;
	KUNIT_EXPECT_EQ(test, mempool_resize(pool, 6), 0);
	KUNIT_EXPECT_EQ(test, meagre.live, 6);
	KUNIT_EXPECT_EQ(test, mempool_resize(pool, 2), 0);
	KUNIT_EXPECT_EQ(test, meagre.live, 2);
	mempool_destroy(pool);
	KUNIT_EXPECT_EQ(test, meagre.live, 0);
	mempool_destroy(NULL);
}

struct waiting {
	mempool_t *pool;
	void *element;
};

static int wait_for_element(void *arg)
{
	struct waiting *waiting = arg;

	waiting->element = mempool_alloc(waiting->pool, GFP_KERNEL);
	return 0;
}

static void waits(struct kunit *test)
{
	struct meagre meagre = {0};
	mempool_t *pool = mempool_create(1, meagre_alloc, meagre_free, &meagre);
	struct waiting *waiting = kunit_kzalloc(test, sizeof(*waiting), GFP_KERNEL);
	struct task *task;
	void *only;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_ASSERT_NOT_NULL(test, waiting);
	meagre.empty = true;
	only = mempool_alloc(pool, GFP_KERNEL);
	waiting->pool = pool;
	task = kthread_run(wait_for_element, waiting, "mempool_wait");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	msleep(30);
	mempool_free(only, pool);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	KUNIT_EXPECT_PTR_EQ(test, waiting->element, only);
	mempool_free(waiting->element, pool);
	mempool_destroy(pool);
}

static int use_pool(void *arg)
{
	mempool_t *pool = arg;

	for (int i = 0; i < 2000; i++) {
		u8 *p = i % 3 ? mempool_alloc_preallocated(pool) : mempool_alloc(pool, GFP_KERNEL);

		if (!p)
			continue;
		memset(p, i, 64);
		if (i % 7 == 0)
			cond_resched();
		if (p[63] != (u8)i)
			return -1;
		mempool_free(p, pool);
	}
	return 0;
}

static void many_users(struct kunit *test)
{
	mempool_t *pool = mempool_create_kmalloc_pool(4, 64);
	struct task *tasks[8];

	KUNIT_ASSERT_NOT_NULL(test, pool);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(use_pool, pool, "mempool/%zu", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_TRUE(test, mempool_is_saturated(pool));
	mempool_destroy(pool);
}

/* --- SLAB_TYPESAFE_BY_RCU ------------------------------------------------------------------------------- */

#define TYPE_MARK 0x7479706573616665ULL

struct typed {
	u64 mark; /* set by the constructor, never changed */
	u64 key;
	u8 rest[200];
};

static void construct_typed(void *object)
{
	((struct typed *)object)->mark = TYPE_MARK;
}

struct typesafe {
	struct kmem_cache *cache;
	struct typed *slots[16];
	volatile bool stop;
	atomic_t errors;
	atomic_long_t reads;
};

static int typesafe_reader(void *arg)
{
	struct typesafe *shared = arg;

	while (!shared->stop) {
		for (size_t i = 0; i < ARRAY_SIZE(shared->slots); i++) {
			const struct typed *typed;

			rcu_read_lock();
			typed = rcu_dereference(shared->slots[i]);
			/* The object may be freed and used again by now, but it still has this type. */
			for (int n = 0; typed && n < 20; n++) {
				if (READ_ONCE(typed->mark) != TYPE_MARK)
					atomic_inc(&shared->errors);
			}
			rcu_read_unlock();
			atomic_long_inc(&shared->reads);
		}
	}
	return 0;
}

static int typesafe_writer(void *arg)
{
	struct typesafe *shared = arg;

	for (int i = 0; i < 600 && !shared->stop; i++) {
		struct typed *typed = kmem_cache_alloc(shared->cache, GFP_KERNEL), *old;

		if (!typed)
			continue;
		typed->key = (u64)i;
		memset(typed->rest, i, sizeof(typed->rest));
		old = xchg(&shared->slots[get_random_u32() % ARRAY_SIZE(shared->slots)], typed);
		if (old)
			kmem_cache_free(shared->cache, old);
		if (i % 100 == 0)
			kmem_cache_shrink(shared->cache);
		if (i % 256 == 0)
			rcu_barrier();
	}
	return 0;
}

static void typesafe_by_rcu(struct kunit *test)
{
	struct typesafe *shared = kunit_kzalloc(test, sizeof(*shared), GFP_KERNEL);
	struct task *readers[3], *writers[2];

	KUNIT_ASSERT_NOT_NULL(test, shared);
	shared->cache = kmem_cache_create("typed", sizeof(struct typed), 0, SLAB_TYPESAFE_BY_RCU,
					  construct_typed);
	KUNIT_ASSERT_NOT_NULL(test, shared->cache);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		readers[i] = kthread_run(typesafe_reader, shared, "typed_reader");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, readers[i]);
	}
	/* On a busy host the writers could be done before a reader's CPU ever runs. */
	while (!atomic_long_read(&shared->reads))
		msleep(10);
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		writers[i] = kthread_run(typesafe_writer, shared, "typed_writer");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writers[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(writers[i]), 0);
	shared->stop = true;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(readers[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(shared->slots); i++)
		kmem_cache_free(shared->cache, shared->slots[i]);
	KUNIT_EXPECT_EQ(test, atomic_read(&shared->errors), 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&shared->reads), 0);
	kmem_cache_destroy(shared->cache);
}

/* A type-safe cache keeps its pages as long as a reader may look, and no longer. */
static void typesafe_slabs_are_freed(struct kunit *test)
{
	struct kmem_cache *cache =
		kmem_cache_create("typed", 1000, 0, SLAB_TYPESAFE_BY_RCU, construct_typed);
	struct typed **objects = kunit_kzalloc(test, 400 * sizeof(*objects), GFP_KERNEL);
	struct slabinfo info;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_NOT_NULL(test, objects);
	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, 400, (void **)objects), 400);
	rcu_read_lock();
	kmem_cache_free_bulk(cache, 400, (void **)objects);
	for (int i = 0; i < 400; i++)
		KUNIT_EXPECT_EQ(test, READ_ONCE(objects[i]->mark), TYPE_MARK);
	rcu_read_unlock();
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_info(cache, &info);
	KUNIT_EXPECT_EQ(test, info.slabs, 0);
	kmem_cache_destroy(cache);
}

KASAN_SUITE(mempool, KUNIT_CASE(reserve), KUNIT_CASE(waits), KUNIT_CASE(many_users),
	    KUNIT_CASE(typesafe_by_rcu), KUNIT_CASE(typesafe_slabs_are_freed));
