/* SPDX-License-Identifier: MIT */
/*
 * rt_work.c - work for `./redzone bench rt`: everything that is known to keep interrupts off for long, while the
 * tracer of <kernel/irqsoff.h> records. Instrumented. Kernels without the tracer have nothing to say here.
 *
 * The worst cases of KASAN's runtime are among it: a large object that pushes many small ones out of a full
 * quarantine, thousands of new stack traces, a cache that is emptied while the quarantine is full.
 */
#include <kasan/kasan.h>
#include <kernel/irqsoff.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/timer.h>
#include <kernel/vmalloc.h>
#include <kernel/workqueue.h>

#include "bench.h"

#ifdef CONFIG_IRQSOFF

/* Rounds of each kind of work. */
#define TRACES	 16384U
#define OBJECTS	 4096U
#define ROUNDS	 256U
#define PROGRAMS 32U

/* --- KASAN's runtime ------------------------------------------------------------------------------- */

static void *must(void *p)
{
	if (unlikely(!p))
		bench_fail("the work of bench rt");
	return p;
}

/* Each number is another path through these two functions, and so another stack trace of an allocation. */
static noinline void descend_even(unsigned int number, unsigned int left);

static noinline void descend_odd(unsigned int number, unsigned int left)
{
	if (!left)
		kfree(must(kmalloc(32, GFP_KERNEL)));
	else if (number & 1)
		descend_odd(number >> 1, left - 1);
	else
		descend_even(number >> 1, left - 1);
	barrier();
}

static noinline void descend_even(unsigned int number, unsigned int left)
{
	if (!left)
		kfree(must(kmalloc(48, GFP_KERNEL)));
	else if (number & 1)
		descend_odd(number >> 1, left - 1);
	else
		descend_even(number >> 1, left - 1);
	barrier();
}

static void new_traces(void)
{
	for (unsigned int i = 0; i < TRACES; i++)
		descend_even(i, 14);
}

/* Small objects fill the quarantine of a machine with 512 MiB, then large ones take their place. */
static void full_quarantine(void)
{
	const size_t size = 16UL << 20;
	unsigned int i;

	for (i = 0; i < size / 64; i++)
		kfree(must(kmalloc(64, GFP_KERNEL)));
	for (i = 0; i < 64; i++)
		kfree(must(kmalloc(4096, GFP_KERNEL)));
	for (i = 0; i < 64; i++)
		kfree(must(kmalloc(8192, GFP_KERNEL)));
	for (i = 0; i < 64; i++)
		kfree(must(kmalloc(200000, GFP_KERNEL)));
}

static void caches(void)
{
	struct kmem_cache *cache = must(kmem_cache_create("bench_rt", 96, 0, 0, NULL));
	void **objects = must(vmalloc(OBJECTS * sizeof(void *)));
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		objects[i] = must(kmem_cache_alloc(cache, GFP_KERNEL));
	for (i = 0; i < OBJECTS; i++)
		kmem_cache_free(cache, objects[i]);
	kmem_cache_shrink(cache);
	kmem_cache_destroy(cache);
	vfree(objects);
#ifdef CONFIG_KASAN_GENERIC
	/* As an unloaded module without globals: the whole registry is searched. */
	kasan_unload_globals(NULL, 0);
#endif
}

/* --- The kernel ------------------------------------------------------------------------------------ */

static void pages(void)
{
	for (unsigned int order = 0; order < 9; order++) {
		for (unsigned int i = 0; i < 8; i++)
			free_pages((unsigned long)must((void *)__get_free_pages(
					   GFP_KERNEL | __GFP_ZERO, order)),
				   order);
	}
}

static void areas(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		vfree(must(vmalloc((i + 1) * 4096UL)));
	vmalloc_purge();
}

struct node {
	struct rcu_head rcu;
	struct work_struct work;
	struct timer_list timer;
};

static void free_work(struct work_struct *work)
{
	kfree_rcu(container_of(work, struct node, work), rcu);
}

static void expire(struct timer_list *timer)
{
	schedule_work(&container_of(timer, struct node, timer)->work);
}

/* Each node's timer queues its work, and that leaves it to RCU. */
static void deferred(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct node *node = must(kzalloc(sizeof(*node), GFP_KERNEL));

		INIT_WORK(&node->work, free_work);
		timer_setup(&node->timer, expire, 0);
		mod_timer(&node->timer, jiffies + 1 + i % 4);
	}
	msleep(100);
	flush_workqueue(system_wq);
	rcu_barrier();
}

static int nothing(void *unused)
{
	return 0;
}

static void threads(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct task *task = kthread_run(nothing, NULL, "bench_rt/%u", i);

		if (IS_ERR(task))
			bench_fail("a thread");
		kthread_join(task);
	}
}

static void processes(void)
{
	bench_programs(PROGRAMS);
	(void)bench_calls("getpid", 1000);
	(void)bench_calls("pipe", 100);
}

static void mix(void)
{
	(void)bench_mix(2);
}

/* --- The figures ----------------------------------------------------------------------------------- */

#define SHOWN 16U

static void print_records(const char *what, const struct irqsoff_record *records, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		pr_info("irqsoff: %s %lu %lu 0x%lx 0x%lx\n", what,
			(unsigned long)records[i].longest, records[i].times, records[i].from,
			records[i].to);
}

bool bench_rt(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} works[] = {
		{"traces", new_traces}, {"quarantine", full_quarantine},
		{"caches", caches},	{"pages", pages},
		{"areas", areas},	{"deferred", deferred},
		{"threads", threads},	{"processes", processes},
		{"mix", mix},
	};
	static struct irqsoff_record records[SHOWN];
	char what[32];

	for (unsigned int i = 0; i < ARRAY_SIZE(works); i++) {
		irqsoff_start();
		works[i].run();
		irqsoff_stop();
		snprintf(what, sizeof(what), "%s.off", works[i].name);
		print_records(what, records, irqsoff_places(records, SHOWN));
		snprintf(what, sizeof(what), "%s.lock", works[i].name);
		print_records(what, records, irqsoff_locks(records, SHOWN));
		if (irqsoff_lost())
			pr_warn("irqsoff: %s: %lu periods were not recorded\n", works[i].name,
				irqsoff_lost());
	}
	return true;
}

#else

bool bench_rt(void)
{
	return false;
}

#endif
