// SPDX-License-Identifier: MIT
/*
 * kasan_test_rcu.c - bugs with objects that wait in RCU or in a workqueue, and with caches whose objects
 * outlive their free by a grace period.
 */
#include <kernel/kernel.h>
#include <kernel/page.h>
#include <kernel/rcupdate.h>
#include <kernel/slab.h>
#include <kernel/workqueue.h>

#include "kasan_test.h"

static struct rcu_object {
	int i;
	struct rcu_head rcu;
} *global_rcu_ptr;

static void rcu_uaf_reclaim(struct rcu_head *head)
{
	struct rcu_object *object = container_of(head, struct rcu_object, rcu);

	kfree(object);
	HIDE_VAR(object);
	KASAN_TEST_BUG(READ_ACCESS(object->i));
}

void rcu_uaf(struct kunit *test)
{
	struct rcu_object *object = kmalloc(sizeof(*object), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	rcu_assign_pointer(global_rcu_ptr, object);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 4,
				  call_rcu(&global_rcu_ptr->rcu, rcu_uaf_reclaim);
				  rcu_barrier());
}

void kfree_rcu_uaf(struct kunit *test)
{
	struct rcu_object *object = kmalloc(sizeof(*object), GFP_KERNEL);
	int value;

	KUNIT_ASSERT_NOT_NULL(test, object);
	object->i = 42;
	rcu_read_lock();
	kfree_rcu(object, rcu);
	HIDE_VAR(object);
	/* Legal: this reader was there first. */
	value = READ_ONCE(object->i);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, value, 42);
	rcu_barrier();
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 4, READ_ACCESS(object->i));
}

/* An object of whole pages remembers the stacks of its queuing like a slab object; report-extras reads the
 * report. */
void kfree_rcu_large_uaf(struct kunit *test)
{
	struct {
		struct rcu_head rcu;
		char rest[KMALLOC_MAX_CACHE_SIZE + 800];
	} *object = kmalloc(sizeof(*object), GFP_KERNEL);
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, object);
	page = virt_to_page(object);
	KUNIT_EXPECT_EQ(test, page->large.aux_stack[0], 0);
	kfree_rcu(object, rcu);
	HIDE_VAR(object);
	KUNIT_EXPECT_NE(test, page->large.aux_stack[0], 0);
	KUNIT_EXPECT_EQ(test, page->large.aux_stack[1], 0);
	rcu_barrier();
	KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(object->rest[7]));
}

static void workqueue_uaf_work(struct work_struct *work)
{
	kfree(work);
}

void workqueue_uaf(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_workqueue("kasan_workqueue_test", 0, 0);
	struct work_struct *work = kmalloc(sizeof(*work), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	KUNIT_ASSERT_NOT_NULL(test, work);
	INIT_WORK(work, workqueue_uaf_work);
	queue_work(wq, work);
	destroy_workqueue(wq);
	HIDE_VAR(work);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, sizeof(work->func),
			 READ_ACCESS(work->func));
}

/* Two creations of work, by different functions. That the report has both is for kasan_text_test.c to see. */
struct both {
	struct rcu_head rcu;
	struct work_struct work;
};

static void both_work(struct work_struct *work)
{
	kfree(container_of(work, struct both, work));
}

static void both_rcu(struct rcu_head *head)
{
	queue_work(system_wq, &container_of(head, struct both, rcu)->work);
}

void rcu_then_workqueue_uaf(struct kunit *test)
{
	struct both *both = kmalloc(sizeof(*both), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, both);
	INIT_WORK(&both->work, both_work);
	call_rcu(&both->rcu, both_rcu);
	rcu_barrier();
	flush_workqueue(system_wq);
	HIDE_VAR(both);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 8, READ_ACCESS(both->work.func));
}

/* --- Type-safe caches ------------------------------------------------------------------------------------ */

static void destroy_cache(void *cache)
{
	kmem_cache_destroy(cache);
}

static struct kmem_cache *create_typesafe(struct kunit *test, void (*ctor)(void *))
{
	struct kmem_cache *cache =
		kmem_cache_create("test_cache", 200, 0, SLAB_TYPESAFE_BY_RCU, ctor);

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_cache, cache), 0);
	return cache;
}

void kmem_cache_rcu_uaf(struct kunit *test)
{
	struct kmem_cache *cache = create_typesafe(test, NULL);
	char *p = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	*p = 1;
	rcu_read_lock();
	kmem_cache_free(cache, p);
	/* Legal until the reader has left. */
	READ_ACCESS(*p);
	rcu_read_unlock();
	rcu_barrier();
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(*p));
}

void kmem_cache_rcu_double_free(struct kunit *test)
{
	struct kmem_cache *cache = create_typesafe(test, NULL);
	char *p = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	/* Seen while the shadow still says that the object is accessible, and after. */
	kmem_cache_free(cache, p);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kmem_cache_free(cache, p));
	rcu_barrier();
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kmem_cache_free(cache, p));
}

/* Crossed frees: each function gets an object of the other one's allocator. */
void kmem_cache_wrong_free(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("test_cache", 200, 0, 0, NULL);
	char *p;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_cache, cache), 0);
	/* kfree() of a cache's object is legal. */
	p = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	kfree(p);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(p[199]));
	/* kmem_cache_free() must refuse memory that belongs to no cache. */
	p = kmalloc(3 * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kmem_cache_free(cache, p));
	WRITE_ACCESS(p[0], 1);
	kfree(p);
}
