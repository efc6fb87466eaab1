// SPDX-License-Identifier: MIT
/*
 * module_soak.c - the module that the soak test loads and unloads: it makes a little traffic of its own,
 * and has functions with a bug each that are called when one is planted.
 */
#include <kernel/module.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/workqueue.h>

#include "soak.h"

struct record {
	struct list_head link;
	u32 value;
};

static LIST_HEAD(records);
static struct kmem_cache *cache;
static char table[20];
static u64 sums[5] = {1, 2, 3, 4, 5};

static void count_work(struct work_struct *work);
static DECLARE_WORK(work, count_work);
static unsigned int worked;

static void count_work(struct work_struct *unused)
{
	worked++;
}

/* Return: the sum of the values stored so far; 0: no memory. */
u32 soak_module_step(u32 value);
u32 soak_module_step(u32 value)
{
	struct record *record = kmem_cache_alloc(cache, GFP_KERNEL);
	u32 sum = 0;

	if (!record)
		return 0;
	record->value = value;
	list_add(&record->link, &records);
	sums[value % ARRAY_SIZE(sums)] += value;
	list_for_each_entry (record, &records, link)
		sum += record->value;
	schedule_work(&work);
	return sum;
}

/* The bugs. Return: false if there was no memory for one. */
bool soak_bug_module_global(void);
bool soak_bug_module_slab(void);
bool soak_bug_module_stack(void);

noinline bool soak_bug_module_global(void)
{
	char *p = table;
	size_t size = sizeof(table);

	HIDE_VAR(p);
	HIDE_VAR(size);
	SOAK_READ(p[size]);
	return true;
}

noinline bool soak_bug_module_slab(void)
{
	char *p = kmalloc(100, GFP_KERNEL);
	size_t size = 100;

	if (!p)
		return false;
	HIDE_VAR(p);
	HIDE_VAR(size);
	SOAK_WRITE(p[SOAK_END(size)], 1);
	kfree(p);
	return true;
}

noinline bool soak_bug_module_stack(void)
{
	char array[12];
	char *p = array;
	size_t size = sizeof(array);

	HIDE_VAR(p);
	HIDE_VAR(size);
	if (!soak_stack_tag_is_seen(p))
		return false;
	SOAK_READ(p[SOAK_STACK_END(size)]);
	return true;
}

static int soak_init(void)
{
	cache = KMEM_CACHE(record, 0);
	return cache ? 0 : -ENOMEM;
}

static void soak_exit(void)
{
	struct record *record, *next;

	cancel_work_sync(&work);
	list_for_each_entry_safe (record, next, &records, link)
		kmem_cache_free(cache, record);
	kmem_cache_destroy(cache);
}

module_init(soak_init);
module_exit(soak_exit);
MODULE_LICENSE("MIT");
MODULE_DESCRIPTION("traffic and bugs of the soak test");
