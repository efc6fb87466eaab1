// SPDX-License-Identifier: MIT
/*
 * deferred.c - traffic that others finish: RCU readers and writers, work items, timers.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/timer.h>
#include <kernel/workqueue.h>

#include "soak.h"

/* --- RCU ------------------------------------------------------------------------------------------- */

#define NODES 64U

/* A node for readers: its two words agree as long as readers may look at it. */
struct node {
	u64 value, inverse;
	struct rcu_head rcu;
};

static struct node *nodes[NODES];

static void free_node(struct rcu_head *rcu)
{
	struct node *node = container_of(rcu, struct node, rcu);

	/* A reader that still looks sees this, even without KASAN. */
	WRITE_ONCE(node->inverse, node->value);
	kfree(node);
}

static void read_step(struct soak_worker *w)
{
	u32 spin = soak_below(w, 400);
	struct node *node;

	rcu_read_lock();
	node = rcu_dereference(nodes[soak_below(w, NODES)]);
	for (u32 i = 0; node && i < spin; i++) {
		if (READ_ONCE(node->value) == ~READ_ONCE(node->inverse))
			continue;
		soak_fail("a reader saw a node that was freed");
		break;
	}
	rcu_read_unlock();
}

static void retire_node(struct soak_worker *w, struct node *node)
{
	if (!node)
		return;
	switch (soak_below(w, 40)) {
	case 0:
		synchronize_rcu();
		WRITE_ONCE(node->inverse, node->value);
		kfree(node);
		break;
	case 1 ... 15:
		kfree_rcu(node, rcu);
		break;
	default:
		call_rcu(&node->rcu, free_node);
		break;
	}
}

static void write_step(struct soak_worker *w)
{
	struct node *node = kmalloc(sizeof(*node), GFP_KERNEL);

	if (!node) {
		soak_no_memory();
		return;
	}
	node->value = prandom_u32_state(&w->rnd);
	node->inverse = ~node->value;
	retire_node(w, xchg(&nodes[soak_below(w, NODES)], node));
}

static void write_drain(struct soak_worker *w)
{
	for (unsigned int i = 0; i < NODES; i++)
		retire_node(w, xchg(&nodes[i], NULL));
}

/* --- Work ------------------------------------------------------------------------------------------ */

#define MAX_ITEMS 200

/* Frees itself. */
struct item {
	struct delayed_work dwork;
	u32 key;
	u8 bytes[72];
};

static struct workqueue_struct *queues[3];
static unsigned int items;

static void item_work(struct work_struct *work)
{
	struct item *item = container_of(to_delayed_work(work), struct item, dwork);
	void *p = kmalloc(item->key % 2000 + 1, GFP_KERNEL);

	soak_check(item->bytes, sizeof(item->bytes), item->key, "a work item");
	/* Other items get the pool's thread meanwhile. */
	if (!(item->key % 16))
		msleep(item->key % 5);
	kfree(p);
	kfree(item);
	__atomic_fetch_sub(&items, 1, __ATOMIC_RELEASE);
}

static bool work_setup(struct soak_worker *w)
{
	queues[0] = alloc_workqueue("soak", 0, 4);
	queues[1] = alloc_workqueue("soak_unbound", WQ_UNBOUND, 0);
	queues[2] = alloc_ordered_workqueue("soak_ordered", 0);
	return queues[0] && queues[1] && queues[2];
}

static void work_step(struct soak_worker *w)
{
	struct workqueue_struct *wq = queues[soak_below(w, ARRAY_SIZE(queues))];
	struct item *item;

	if (__atomic_load_n(&items, __ATOMIC_ACQUIRE) >= MAX_ITEMS || !soak_below(w, 100)) {
		flush_workqueue(wq);
		return;
	}
	item = kzalloc(sizeof(*item), GFP_KERNEL);
	if (!item) {
		soak_no_memory();
		return;
	}
	item->key = prandom_u32_state(&w->rnd);
	soak_fill(item->bytes, sizeof(item->bytes), item->key);
	INIT_DELAYED_WORK(&item->dwork, item_work);
	__atomic_fetch_add(&items, 1, __ATOMIC_RELAXED);
	if (soak_below(w, 3)) {
		queue_work(wq, &item->dwork.work);
		return;
	}
	queue_delayed_work(wq, &item->dwork, 1 + soak_below(w, 3));
}

static void work_drain(struct soak_worker *w)
{
	/* Timers of delayed ones end soon; each item then goes through a queue. */
	while (__atomic_load_n(&items, __ATOMIC_ACQUIRE))
		msleep(2);
	for (size_t i = 0; i < ARRAY_SIZE(queues); i++)
		flush_workqueue(queues[i]);
}

static void work_teardown(struct soak_worker *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(queues); i++)
		destroy_workqueue(queues[i]);
}

/* Delayed work that its owner moves and cancels. */
struct owned {
	struct delayed_work dwork;
	unsigned int runs;
};

static void owned_work(struct work_struct *work)
{
	struct owned *owned = container_of(to_delayed_work(work), struct owned, dwork);

	WRITE_ONCE(owned->runs, owned->runs + 1);
}

static void owned_drain(struct soak_worker *w)
{
	struct owned *owned = w->private;

	if (owned)
		cancel_delayed_work_sync(&owned->dwork);
	kfree(owned);
	w->private = NULL;
}

static void owned_step(struct soak_worker *w)
{
	struct owned *owned = w->private;

	if (!owned) {
		owned = kzalloc(sizeof(*owned), GFP_KERNEL);
		if (!owned) {
			soak_no_memory();
			return;
		}
		INIT_DELAYED_WORK(&owned->dwork, owned_work);
		w->private = owned;
	}
	switch (soak_below(w, 6)) {
	case 0:
		flush_delayed_work(&owned->dwork);
		break;
	case 1:
		cancel_delayed_work(&owned->dwork);
		break;
	case 2:
		owned_drain(w);
		break;
	case 3:
		mod_delayed_work(system_wq, &owned->dwork, soak_below(w, 3));
		break;
	default:
		queue_delayed_work(system_unbound_wq, &owned->dwork, soak_below(w, 2));
		break;
	}
}

/* --- Timers ---------------------------------------------------------------------------------------- */

#define TIMERS 16U

/* Allocates and frees in interrupts. */
struct alarm {
	struct timer_list timer;
	void *p;
	u32 size;
};

struct alarms {
	struct alarm *slot[TIMERS];
};

static void ring(struct timer_list *timer)
{
	struct alarm *alarm = from_timer(alarm, timer, timer);

	kfree(alarm->p);
	alarm->p = kmalloc(alarm->size, GFP_ATOMIC | __GFP_NOWARN);
	if (alarm->p)
		soak_fill(alarm->p, alarm->size, alarm->size);
}

static bool timers_setup(struct soak_worker *w)
{
	w->private = kzalloc(sizeof(struct alarms), GFP_KERNEL);
	return w->private;
}

static void put_alarm(struct alarms *alarms, unsigned int i)
{
	struct alarm *alarm = alarms->slot[i];

	del_timer_sync(&alarm->timer);
	if (alarm->p)
		soak_check(alarm->p, alarm->size, alarm->size, "a timer's object");
	kfree(alarm->p);
	kfree(alarm);
	alarms->slot[i] = NULL;
}

static void timers_step(struct soak_worker *w)
{
	struct alarms *alarms = w->private;
	unsigned int i = soak_below(w, TIMERS);
	struct alarm *alarm = alarms->slot[i];

	if (alarm && !soak_below(w, 3)) {
		put_alarm(alarms, i);
		return;
	}
	if (!alarm) {
		alarm = kzalloc(sizeof(*alarm), GFP_KERNEL);
		if (!alarm) {
			soak_no_memory();
			return;
		}
		alarm->size = 1 + soak_below(w, 600);
		timer_setup(&alarm->timer, ring, 0);
		alarms->slot[i] = alarm;
	}
	mod_timer(&alarm->timer, jiffies + soak_below(w, 5));
}

static void timers_drain(struct soak_worker *w)
{
	struct alarms *alarms = w->private;

	for (unsigned int i = 0; i < TIMERS; i++) {
		if (alarms->slot[i])
			put_alarm(alarms, i);
	}
}

static void free_private(struct soak_worker *w)
{
	kfree(w->private);
}

void soak_deferred_flush(void)
{
	flush_workqueue(system_wq);
	flush_workqueue(system_unbound_wq);
}

const struct soak_kind soak_deferred_kinds[] = {
	{.name = "read", .threads = 3, .step = read_step},
	{.name = "write", .threads = 2, .step = write_step, .drain = write_drain},
	{.name = "work",
	 .threads = 1,
	 .setup = work_setup,
	 .step = work_step,
	 .drain = work_drain,
	 .teardown = work_teardown},
	{.name = "owned", .threads = 2, .step = owned_step, .drain = owned_drain, .pause_ms = 15},
	{.name = "timers",
	 .threads = 1,
	 .setup = timers_setup,
	 .step = timers_step,
	 .drain = timers_drain,
	 .teardown = free_private,
	 .pause_ms = 2},
	{},
};
