// SPDX-License-Identifier: MIT
/*
 * bugs.c - the planted bugs. Each is committed by a function soak_bug_NAME(), so its report's call trace
 * names it, and must be reported exactly once, as TYPE.
 *
 * Freed memory must not be allocated again before the bug touches it. The code in between is short and not
 * preempted, or no other user can get the memory (a pool's reserve, a CPU's own pages). The quarantine
 * covers the rest: passing through it takes far longer than running a callback. The tag-based modes have no
 * quarantine and no redzones, so there the bugs in memory that may have another owner only read. A pointer's last
 * tag is never that of the next owner, so these modes see the read in any case.
 */
#include <kernel/completion.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/timer.h>
#include <kernel/workqueue.h>

#include "soak.h"

#define PLANTERS 2U
/* On average half of that lies between two bugs of a planter. */
#define PAUSE_MS 1600U
/* A bug that a mode may miss is planted so often at once, so that the share of missed ones means something. */
#define CHANCES 16U

/* The traces that a report has besides that of the access, as console.py names them. */
#define ALLOCATED "allocated"
#define FREED	  "allocated,freed"
#define NONE	  "none"

/* The object's metadata keeps the queuing task, and tags do without metadata. */
#ifdef CONFIG_KASAN_TAGS
#define TAGS 1
#define WORK FREED
#else
#define TAGS 0
#define WORK FREED ",work"
#endif
/* Which variables have redzones or tags. Clang tags no alloca. */
#if defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_TAGGED_GLOBALS)
#define GLOBALS_SEEN 1
#else
#define GLOBALS_SEEN 0
#endif
#ifdef CONFIG_KASAN_GENERIC
#define ALLOCA_SEEN 1
#else
#define ALLOCA_SEEN 0
#endif
#if defined(CONFIG_KASAN) && CONFIG_KASAN_STACK
#define STACK_SEEN 1
#else
#define STACK_SEEN 0
#endif
/* A guard page has no hardware tag: the access faults, and ends its thread. */
#ifdef CONFIG_KASAN_HW_TAGS
#define GUARD_SEEN 0
#else
#define GUARD_SEEN 1
#endif
/* An access before an area may be far from any other. */
#define GUARD_TYPE (TAGS ? "vmalloc-out-of-bounds,invalid-access" : "vmalloc-out-of-bounds")
/* The types of a bug on the stack. Tags cannot tell these from each other in every frame. */
#define STACK_TYPE (TAGS ? "stack-out-of-bounds,invalid-access" : "stack-out-of-bounds")
#define SCOPE_TYPE (TAGS ? "use-after-scope,stack-out-of-bounds,invalid-access" : "use-after-scope")

/* The data of one planter. */
struct planter {
	mempool_t *pool;
	struct kmem_cache *cache;
};

/* --- Slab objects ------------------------------------------------------------------------------------ */

static noinline void *soak_object(size_t size)
{
	void *p = kmalloc(size, GFP_KERNEL);

	if (!p)
		soak_no_memory();
	HIDE_VAR(p);
	return p;
}

static size_t object_size(struct soak_worker *w)
{
	return 9 + soak_below(w, 1000);
}

/* With tags another object may lie right behind this one: it must stay whole. */
static __always_inline void touch_behind(char *p, size_t size)
{
	size_t end = SOAK_END(size);

	if (TAGS && end >= kmalloc_usable_size(p))
		SOAK_READ(p[end]);
	else
		SOAK_WRITE(p[end], 1);
}

/* The same for an object that was freed. */
static __always_inline void touch_freed(char *p)
{
	if (TAGS)
		SOAK_READ(*p);
	else
		SOAK_WRITE(*p, 1);
}

static noinline bool soak_bug_slab_right(struct soak_worker *w)
{
	size_t size = object_size(w);
	char *p = soak_object(size);

	if (!p)
		return false;
	touch_behind(p, size);
	kfree(p);
	return true;
}

static noinline bool soak_bug_slab_left(struct soak_worker *w)
{
	char *p = soak_object(object_size(w));

	if (!p)
		return false;
	SOAK_READ(p[-1]);
	kfree(p);
	return true;
}

static noinline bool soak_bug_slab_memset(struct soak_worker *w)
{
	size_t size = object_size(w);
	char *p = soak_object(size);

	if (!p)
		return false;
	size = SOAK_END(size) + 1;
	HIDE_VAR(size);
	memset(p, 0, size);
	kfree(p);
	return true;
}

static noinline bool soak_bug_negative_size(struct soak_worker *w)
{
	char *p = soak_object(object_size(w));
	volatile size_t size = (size_t)-2;

	if (!p)
		return false;
	memset(p, 0, size);
	kfree(p);
	return true;
}

static noinline bool soak_bug_large_right(struct soak_worker *w)
{
	size_t size = KMALLOC_MAX_CACHE_SIZE + object_size(w);
	char *p = soak_object(size);

	if (!p)
		return false;
	SOAK_READ(p[SOAK_END(size)]);
	kfree(p);
	return true;
}

static noinline bool soak_bug_uaf(struct soak_worker *w)
{
	char *p = soak_object(object_size(w));

	if (!p)
		return false;
	preempt_disable();
	kfree(p);
	touch_freed(p + 8);
	preempt_enable();
	return true;
}

static noinline bool soak_bug_krealloc_uaf(struct soak_worker *w)
{
	char *p = soak_object(40), *moved;

	if (!p)
		return false;
	preempt_disable();
	moved = krealloc(p, 3000, GFP_ATOMIC);
	if (moved)
		SOAK_READ(p[3]);
	preempt_enable();
	kfree(moved ? moved : p);
	return moved;
}

static noinline bool soak_bug_double_free(struct soak_worker *w)
{
	char *p = soak_object(object_size(w));

	if (!p)
		return false;
	preempt_disable();
	kfree(p);
	kfree(p);
	preempt_enable();
	return true;
}

static noinline bool soak_bug_invalid_free(struct soak_worker *w)
{
	char *p = soak_object(object_size(w));

	if (!p)
		return false;
	kfree(p + 8);
	kfree(p);
	return true;
}

static noinline bool soak_bug_cache_uaf(struct soak_worker *w)
{
	struct planter *planter = w->private;
	char *p = kmem_cache_alloc(planter->cache, GFP_KERNEL);

	if (!p)
		return false;
	HIDE_VAR(p);
	preempt_disable();
	kmem_cache_free(planter->cache, p);
	SOAK_READ(p[20]);
	preempt_enable();
	return true;
}

static noinline bool soak_bug_bulk_double_free(struct soak_worker *w)
{
	struct planter *planter = w->private;
	void *objects[2];

	objects[0] = kmem_cache_alloc(planter->cache, GFP_KERNEL);
	objects[1] = objects[0];
	if (!objects[0])
		return false;
	preempt_disable();
	kmem_cache_free_bulk(planter->cache, 2, objects);
	preempt_enable();
	return true;
}

static noinline bool soak_bug_pool_uaf(struct soak_worker *w)
{
	struct planter *planter = w->private;
	char *p = mempool_alloc_preallocated(planter->pool);

	HIDE_VAR(p);
	mempool_free(p, planter->pool);
	SOAK_READ(p[5]);
	return true;
}

static noinline bool soak_bug_pool_double_free(struct soak_worker *w)
{
	struct planter *planter = w->private;
	char *a = mempool_alloc_preallocated(planter->pool);
	char *b = mempool_alloc_preallocated(planter->pool);

	/* With the other one missing the reserve is not full, so it is the pool that notices. */
	mempool_free(a, planter->pool);
	mempool_free(a, planter->pool);
	mempool_free(b, planter->pool);
	return true;
}

/* --- Objects that others free ------------------------------------------------------------------------ */

struct handed_over {
	struct rcu_head rcu;
	struct work_struct work;
	struct completion *done;
	u32 value;
};

static struct handed_over *new_handed_over(struct completion *done)
{
	struct handed_over *object = soak_object(sizeof(*object));

	if (object) {
		init_completion(done);
		object->done = done;
	}
	return object;
}

static noinline void soak_bug_rcu_uaf(struct rcu_head *rcu)
{
	struct handed_over *object = container_of(rcu, struct handed_over, rcu);
	struct completion *done = object->done;

	HIDE_VAR(object);
	kfree(object);
	SOAK_READ(object->value);
	complete(done);
}

static bool plant_rcu_uaf(struct soak_worker *w)
{
	struct completion done;
	struct handed_over *object = new_handed_over(&done);

	if (!object)
		return false;
	call_rcu(&object->rcu, soak_bug_rcu_uaf);
	wait_for_completion(&done);
	return true;
}

static noinline void soak_bug_work_uaf(struct work_struct *work)
{
	struct handed_over *object = container_of(work, struct handed_over, work);
	struct completion *done = object->done;

	HIDE_VAR(object);
	preempt_disable();
	kfree(object);
	SOAK_READ(object->value);
	preempt_enable();
	complete(done);
}

static bool plant_work_uaf(struct soak_worker *w)
{
	struct completion done;
	struct handed_over *object = new_handed_over(&done);

	if (!object)
		return false;
	INIT_WORK(&object->work, soak_bug_work_uaf);
	queue_work(soak_below(w, 2) ? system_wq : system_unbound_wq, &object->work);
	wait_for_completion(&done);
	return true;
}

/* In an interrupt. */
struct alarm {
	struct timer_list timer;
	struct completion done;
	char *p;
	size_t size;
};

static noinline void soak_bug_timer_right(struct timer_list *timer)
{
	struct alarm *alarm = from_timer(alarm, timer, timer);

	touch_behind(alarm->p, alarm->size);
	complete(&alarm->done);
}

static bool plant_timer_right(struct soak_worker *w)
{
	struct alarm alarm = {.size = object_size(w)};

	alarm.p = soak_object(alarm.size);
	if (!alarm.p)
		return false;
	init_completion(&alarm.done);
	timer_setup_on_stack(&alarm.timer, soak_bug_timer_right, 0);
	mod_timer(&alarm.timer, jiffies + soak_below(w, 4));
	wait_for_completion(&alarm.done);
	del_timer_sync(&alarm.timer);
	kfree(alarm.p);
	return true;
}

/* --- Pages and areas --------------------------------------------------------------------------------- */

static noinline bool soak_bug_page_uaf(struct soak_worker *w)
{
	unsigned long flags;
	char *p;

	/* Only this CPU takes its own free pages. */
	local_irq_save(flags);
	p = (char *)__get_free_page(GFP_ATOMIC);
	HIDE_VAR(p);
	if (p) {
		free_page((unsigned long)p);
		SOAK_READ(p[100]);
	}
	local_irq_restore(flags);
	return p;
}

static noinline bool soak_bug_vmalloc_right(struct soak_worker *w)
{
	/* Not so close to the end that the access is in the guard page. */
	size_t size = 1 + soak_below(w, PAGE_SIZE - SOAK_END(1));
	char *p = vmalloc(size);

	HIDE_VAR(p);
	if (p)
		SOAK_READ(p[SOAK_END(size)]);
	vfree(p);
	return p;
}

/* For guard pages: memset() checks first, and then writes nothing. */
static noinline bool soak_bug_vmalloc_guard(struct soak_worker *w)
{
	size_t size = PAGE_SIZE << soak_below(w, 3);
	char *p = vmalloc(size);

	HIDE_VAR(p);
	if (p)
		memset(p + size - 8, 0, 24);
	vfree(p);
	return p;
}

static noinline bool soak_bug_vmalloc_left(struct soak_worker *w)
{
	char *p = vmalloc(PAGE_SIZE);

	HIDE_VAR(p);
	if (p)
		memset(p - 16, 0, 16);
	vfree(p);
	return p;
}

/* --- Variables --------------------------------------------------------------------------------------- */

static char global_array[30];

static noinline bool soak_bug_global_right(struct soak_worker *w)
{
	char *p = global_array;
	size_t size = sizeof(global_array);

	HIDE_VAR(p);
	HIDE_VAR(size);
	SOAK_READ(p[size]);
	return true;
}

static noinline bool soak_bug_stack_right(struct soak_worker *w)
{
	char array[10];
	char *p = array;
	size_t size = sizeof(array);

	HIDE_VAR(p);
	HIDE_VAR(size);
	if (!soak_stack_tag_is_seen(p))
		return false;
	/* With hardware tags the rest of the frame lies there. */
	if (TAGS)
		SOAK_READ(p[SOAK_STACK_END(size)]);
	else
		SOAK_WRITE(p[size], 0);
	return true;
}

static noinline bool soak_bug_alloca_left(struct soak_worker *w)
{
	volatile size_t size = 1 + soak_below(w, 100);
	char *p = __builtin_alloca(size);

	HIDE_VAR(p);
	SOAK_READ(p[-1]);
	return true;
}

static noinline bool soak_bug_after_scope(struct soak_worker *w)
{
	volatile int *stale;

	/* A plain block: software tags do not end the life of a variable that may end in several places. */
	{
		volatile int local[4];
		volatile int *p = local;

		HIDE_VAR(p);
		p[2] = 1;
		stale = p;
	}
	HIDE_VAR(stale);
	if (!soak_stack_tag_is_seen((const void *)stale))
		return false;
	(void)stale[2];
	return true;
}

/* --- Pointers to nothing: the thread does not survive that --------------------------------------------- */

static unsigned int lost_threads;

unsigned int soak_threads_to_lose(void)
{
	return lost_threads;
}

static noinline int soak_bug_null(void *offset)
{
	HIDE_VAR(offset);
	SOAK_READ(*(char *)offset);
	return 0;
}

static bool plant_null(struct soak_worker *w)
{
	void *offset = (void *)(uintptr_t)soak_below(w, 500);
	struct task *task = kthread_run(soak_bug_null, offset, "soak_null");

	if (IS_ERR(task))
		return false;
	__atomic_fetch_add(&lost_threads, 1, __ATOMIC_RELAXED);
	if (kthread_join(task) != -EFAULT)
		soak_fail("a thread survived a null pointer");
	return true;
}

/* --- Modules ------------------------------------------------------------------------------------------- */

static bool plant_module_global(struct soak_worker *w)
{
	return soak_module_bug(w, "soak_bug_module_global");
}

static bool plant_module_slab(struct soak_worker *w)
{
	return soak_module_bug(w, "soak_bug_module_slab");
}

static bool plant_module_stack(struct soak_worker *w)
{
	return soak_module_bug(w, "soak_bug_module_stack");
}

/* --- Planting -------------------------------------------------------------------------------------------- */

static const struct soak_bug bugs[] = {
	{"slab_right", "slab-out-of-bounds", ALLOCATED, .plant = soak_bug_slab_right},
	{"slab_left", "slab-out-of-bounds", NONE, .plant = soak_bug_slab_left},
	{"slab_memset", "slab-out-of-bounds", ALLOCATED, .plant = soak_bug_slab_memset},
	{"negative_size", "out-of-bounds", ALLOCATED, .plant = soak_bug_negative_size},
	{"large_right", "slab-out-of-bounds", ALLOCATED, .plant = soak_bug_large_right},
	{"uaf", "slab-use-after-free", FREED, .plant = soak_bug_uaf},
	{"krealloc_uaf", "slab-use-after-free", FREED, .plant = soak_bug_krealloc_uaf},
	{"double_free", "double-free", FREED, .plant = soak_bug_double_free},
	{"invalid_free", "invalid-free", ALLOCATED, .plant = soak_bug_invalid_free},
	{"cache_uaf", "slab-use-after-free", FREED, .plant = soak_bug_cache_uaf},
	{"bulk_double_free", "double-free", FREED, .plant = soak_bug_bulk_double_free},
	{"pool_uaf", "slab-use-after-free", FREED, .plant = soak_bug_pool_uaf},
	{"pool_double_free", "double-free", FREED, .plant = soak_bug_pool_double_free},
	{"rcu_uaf", "slab-use-after-free", WORK, .plant = plant_rcu_uaf},
	{"work_uaf", "slab-use-after-free", WORK, .plant = plant_work_uaf},
	{"timer_right", "slab-out-of-bounds", ALLOCATED, .plant = plant_timer_right},
	{"page_uaf", "use-after-free", NONE, .plant = soak_bug_page_uaf},
	{"vmalloc_right", "vmalloc-out-of-bounds", NONE, .plant = soak_bug_vmalloc_right},
	{"vmalloc_guard", GUARD_TYPE, NONE, .plant = soak_bug_vmalloc_guard, .unseen = !GUARD_SEEN},
	{"vmalloc_left", GUARD_TYPE, NONE, .plant = soak_bug_vmalloc_left, .unseen = !GUARD_SEEN},
	{"global_right", "global-out-of-bounds", NONE, .plant = soak_bug_global_right,
	 .unseen = !GLOBALS_SEEN},
	{"stack_right", STACK_TYPE, NONE, .plant = soak_bug_stack_right, .unseen = !STACK_SEEN},
	{"alloca_left", "alloca-out-of-bounds", NONE, .plant = soak_bug_alloca_left,
	 .unseen = !ALLOCA_SEEN},
	{"after_scope", SCOPE_TYPE, NONE, .plant = soak_bug_after_scope, .unseen = !STACK_SEEN},
	{"null", "null-ptr-deref", NONE, .plant = plant_null},
	{"module_global", "global-out-of-bounds", NONE, .plant = plant_module_global,
	 .unseen = !GLOBALS_SEEN},
	{"module_slab", "slab-out-of-bounds", ALLOCATED, .plant = plant_module_slab},
	{"module_stack", STACK_TYPE, NONE, .plant = plant_module_stack, .unseen = !STACK_SEEN},
#ifdef CONFIG_KASAN_TAGS
	{"slab_old", "slab-use-after-free", FREED, .plant = soak_bug_slab_old, SOAK_SLAB_OLD_ODDS},
	{"stack_return", SCOPE_TYPE, NONE, .plant = plant_stack_return, .unseen = !STACK_SEEN,
	 SOAK_STACK_RETURN_ODDS},
#endif
};

static unsigned int planted[ARRAY_SIZE(bugs)];

static bool planter_setup(struct soak_worker *w)
{
	struct planter *planter = kzalloc(sizeof(*planter), GFP_KERNEL);

	w->private = planter;
	if (!planter)
		return false;
	planter->pool = mempool_create_kmalloc_pool(4, 120);
	planter->cache = kmem_cache_create("soak_planted", 150, 0, 0, NULL);
	return planter->pool && planter->cache;
}

/* Software tags of a stack variable follow from its address, so the address is another one each time. */
static noinline bool plant_somewhere(struct soak_worker *w, const struct soak_bug *bug)
{
	char *space = __builtin_alloca(16 * (1 + soak_below(w, 16)));

	HIDE_VAR(space);
	SOAK_WRITE(space[0], 0);
	return bug->plant(w);
}

/* @must: try again if the bug could not be committed. */
static void plant(struct soak_worker *w, size_t i, bool must)
{
	unsigned int wanted = bugs[i].missed_most ? CHANCES : 1;

	for (unsigned int tries = must ? 4 * CHANCES : wanted; tries && wanted; tries--) {
		if (!plant_somewhere(w, &bugs[i]))
			continue;
		__atomic_fetch_add(&planted[i], 1, __ATOMIC_RELAXED);
		wanted--;
	}
}

static void planter_step(struct soak_worker *w)
{
	/* All kinds once, shared among the planters; then random kinds from time to time. */
	size_t first = w->steps * PLANTERS + w->nth;
	size_t i = first < ARRAY_SIZE(bugs) ? first : soak_below(w, ARRAY_SIZE(bugs));

	if (bugs[i].unseen)
		return;
	plant(w, i, first < ARRAY_SIZE(bugs));
	if (first >= ARRAY_SIZE(bugs))
		msleep(soak_below(w, PAUSE_MS));
}

bool soak_all_planted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!bugs[i].unseen && !__atomic_load_n(&planted[i], __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

static void planter_teardown(struct soak_worker *w)
{
	struct planter *planter = w->private;

	mempool_destroy(planter->pool);
	kmem_cache_destroy(planter->cache);
	kfree(planter);
}

void soak_print_planted(void)
{
	char odds[32];

	for (size_t i = 0; i < ARRAY_SIZE(bugs); i++) {
		const struct soak_bug *bug = &bugs[i];

		if (bug->unseen)
			continue;
		odds[0] = 0;
		if (bug->missed_most)
			snprintf(odds, sizeof(odds), " missed=1/%u..1/%u", bug->missed_least,
				 bug->missed_most);
		pr_info("soak: planted %s %s %s %u%s\n", bug->name, bug->type, bug->traces,
			READ_ONCE(planted[i]), odds);
	}
}

const struct soak_kind soak_bug_kinds[] = {
	{.name = "planter",
	 .threads = PLANTERS,
	 .setup = planter_setup,
	 .step = planter_step,
	 .teardown = planter_teardown,
	 .plants = true},
	{},
};
