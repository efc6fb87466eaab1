// SPDX-License-Identifier: MIT
/*
 * leaks.c - objects of a program that outlive a part of its run, for the fuzzer's --leaks, and those that nothing points
 * to at its end, for the --leaks of `./redzone run`.
 *
 * Counting costs a few instructions for each malloc() and free(). Only a part that left more objects than it found runs
 * once more with a list, which has the trace of each object: so a table that is made once is not a leak.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/preempt.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/sort.h>
#include <kernel/spinlock.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>

#include "internal.h"
#include "reach.h"

#define BUCKETS 1024
#define TRACE	16

/** struct object - a live object of the list. @number: counts allocations. @pid: of the task. @pcs: @count return addresses. */
struct object {
	struct object *next;
	const void *ptr;
	size_t size;
	unsigned long number;
	int pid;
	unsigned int count;
	uintptr_t pcs[TRACE];
};

static struct object *objects[BUCKETS];
static unsigned long nr_allocations;
static size_t nr_listed;
static DEFINE_SPINLOCK(objects_lock);
static long live;

static void count_object(void *ptr, size_t size, bool allocated)
{
	__atomic_fetch_add(&live, allocated ? 1 : -1, __ATOMIC_RELAXED);
}

void program_objects_count(void)
{
	__atomic_store_n(&live, 0, __ATOMIC_RELAXED);
	WRITE_ONCE(program_heap_watch, count_object);
}

long program_objects_counted(void)
{
	WRITE_ONCE(program_heap_watch, NULL);
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

/* --- The list --- */

static struct object **bucket_of(const void *ptr)
{
	return &objects[((uintptr_t)ptr >> 4 ^ (uintptr_t)ptr >> 14) % BUCKETS];
}

static void list_object(void *ptr, size_t size, bool allocated)
{
	struct object *object, **link;
	unsigned long flags;

	count_object(ptr, size, allocated);
	if (allocated) {
		object = kmalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);
		/* Without memory one leak less is found. */
		if (!object)
			return;
		object->ptr = ptr;
		object->size = size;
		object->pid = current->pid;
		object->count = (unsigned int)stack_trace_save(object->pcs, TRACE, NULL);
		spin_lock_irqsave(&objects_lock, flags);
		object->number = nr_allocations++;
		nr_listed++;
		object->next = *bucket_of(ptr);
		*bucket_of(ptr) = object;
		spin_unlock_irqrestore(&objects_lock, flags);
		return;
	}
	spin_lock_irqsave(&objects_lock, flags);
	for (link = bucket_of(ptr); (object = *link); link = &object->next) {
		if (object->ptr != ptr)
			continue;
		*link = object->next;
		nr_listed--;
		break;
	}
	spin_unlock_irqrestore(&objects_lock, flags);
	/* NULL: it is older than the list. */
	kfree(object);
}

/* Forget all of the list. */
static void empty_list(void)
{
	struct object *object, *next;

	for (size_t i = 0; i < BUCKETS; i++) {
		for (object = objects[i]; object; object = next) {
			next = object->next;
			kfree(object);
		}
		objects[i] = NULL;
	}
	nr_listed = 0;
}

void redzone_leaks_begin(void)
{
	__atomic_store_n(&live, 0, __ATOMIC_RELAXED);
	WRITE_ONCE(program_heap_watch, list_object);
}

/* Return: does the function at @pc allocate for its caller, or belong to this file? @own: filled. */
static bool is_library(uintptr_t pc, bool *own)
{
	static const char *const names[] = {
		"list_object",	 "malloc",   "calloc",	       "realloc", "reallocarray",
		"aligned_alloc", "memalign", "posix_memalign", "strdup",  "strndup"};
	const char *name;

	*own = false;
	/* A return address may lie after a function that ends with the call. */
	if (!kallsyms_lookup(pc - 1, &name, NULL, NULL))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*own = i == 0;
		return true;
	}
	return false;
}

/* Return: the function of the program that allocated @object; NULL if that is not known. */
static const char *name_of(const struct object *object)
{
	const char *name;
	size_t i = 0;
	bool own;

	while (i < object->count && is_library(object->pcs[i], &own))
		i++;
	return i < object->count && kallsyms_lookup(object->pcs[i] - 1, &name, NULL, NULL) ? name
											   : NULL;
}

/**
 * struct leak - what one report is about
 * @what: it, in words. @first: the oldest object. @count, @bytes: of all that the report is about.
 * @more, @more_bytes: objects that only those lead to; 0: none.
 */
struct leak {
	const char *what;
	const struct object *first;
	unsigned long count, bytes, more, more_bytes;
};

static void print_leak(const struct leak *leak)
{
	const struct object *first = leak->first;
	const char *name = name_of(first);
	size_t shown = 0;
	bool own;

	for (size_t i = 0; i < first->count && is_library(first->pcs[i], &own); i++)
		if (own)
			shown = i + 1;
	printk("==================================================================\n");
	if (name)
		printk("BUG: memory leak in %s\n", name);
	else
		printk("BUG: memory leak\n");
	printk("Objects that %s: %lu, of %lu bytes in all\n", leak->what, leak->count, leak->bytes);
	if (leak->more)
		printk("Objects that only lost ones point to: %lu, of %lu bytes in all\n",
		       leak->more, leak->more_bytes);
	printk("The first has %lu bytes at %016lx\n", (unsigned long)first->size,
	       (unsigned long)first->ptr);
	printk("\n");
	printk("Allocated by task %d:\n", first->pid);
	for (size_t i = shown; i < first->count; i++)
		printk(" %pB\n", (void *)first->pcs[i]);
	printk("==================================================================\n");
}

unsigned long redzone_leaks_end(unsigned long *bytes)
{
	struct object *object, *first = NULL;
	unsigned long count = 0;
	size_t total = 0;

	WRITE_ONCE(program_heap_watch, NULL);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (object = objects[i]; object; object = object->next) {
			count++;
			total += object->size;
			if (!first || object->number < first->number)
				first = object;
		}
	}
	/* As many older objects were freed: an object has only taken another one's place. */
	if (__atomic_load_n(&live, __ATOMIC_RELAXED) <= 0)
		count = total = 0;
	if (count)
		print_leak(&(struct leak){.what = "the input left over",
					  .first = first,
					  .count = count,
					  .bytes = total});
	empty_list();
	*bytes = total;
	return count;
}

/* --- What is lost at the end --- */

static bool wanted;
core_param("program.leaks", wanted, bool, "on|off",
	   "at the end of a program, report objects that nothing points to");

/* Each report is one stack. The command stops the machine after 20 reports. */
#define LEAKS_MAX 16

static struct program_leaks leaks;
/* Programs that have lost something. */
static unsigned int nr_leaking;
/* The CPUs that wait for the search to end. */
static unsigned int parked;
static bool searching;
static int begun;

static void park(void *unused)
{
	__atomic_fetch_add(&parked, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&searching, __ATOMIC_ACQUIRE))
		cpu_relax();
	__atomic_fetch_sub(&parked, 1, __ATOMIC_RELEASE);
}

/* No other thread runs from here on. Preemption is off. */
static void stop_others(void)
{
	__atomic_store_n(&searching, true, __ATOMIC_RELEASE);
	smp_call_function_many(park, NULL, false);
	while (__atomic_load_n(&parked, __ATOMIC_ACQUIRE) < num_online_cpus() - 1)
		cpu_relax();
}

static void let_go_on(void)
{
	__atomic_store_n(&searching, false, __ATOMIC_RELEASE);
	/* The next search counts them anew. */
	while (__atomic_load_n(&parked, __ATOMIC_ACQUIRE))
		cpu_relax();
}

/* Fill @found, which has room for @room objects. Return: how many. */
static size_t collect(struct reach_object *found, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct object *object = objects[i]; object && count < room;
		     object = object->next)
			found[count++] = (struct reach_object){
				.start = (uintptr_t)kasan_reset_tag(object->ptr),
				.size = object->size,
				.what = object};
	return count;
}

/* Everything by which the program's code could find an object. @frame: of the caller of program_leaks_end(). */
static void reach_from_roots(const void *frame)
{
	const char *stack = current->stack;

	reach_from(__data_start, (size_t)(_end - __data_start));
	reach_from(frame, (size_t)(stack + current->stack_size - (const char *)frame));
	/* The program ends in a handler that has a stack of its own. */
	if (current->other_stack)
		reach_from(current->other_stack, current->other_size);
	reach_from(program_environ(), program_environ_size());
	program_library_roots(reach_from);
}

static int by_trace(const void *a, const void *b)
{
	const struct reach_object *x = a, *y = b;
	const struct object *p = x->what, *q = y->what;
	int order;

	/* Objects that are not lost come last. */
	if (x->state != y->state)
		return x->state == REACH_LOST ? -1 : y->state == REACH_LOST ? 1 : 0;
	if (p->count != q->count)
		return p->count < q->count ? -1 : 1;
	order = memcmp(p->pcs, q->pcs, p->count * sizeof(p->pcs[0]));
	if (order)
		return order;
	return p->number < q->number ? -1 : p->number > q->number;
}

static bool same_trace(const struct object *p, const struct object *q)
{
	return p->count == q->count && !memcmp(p->pcs, q->pcs, p->count * sizeof(p->pcs[0]));
}

/* Fill @found with one leak for each trace, the largest first, and the totals. Return: how many leaks there are; those
 * beyond LEAKS_MAX are left out. */
static size_t group(struct reach_object *lost, size_t count, struct leak *found)
{
	size_t groups = 0, i, next;

	sort(lost, count, sizeof(*lost), by_trace, NULL);
	for (i = 0; i < count && lost[i].state == REACH_LOST; i = next) {
		struct leak leak = {.what = "nothing points to", .first = lost[i].what};
		size_t place;

		for (next = i; next < count && lost[next].state == REACH_LOST &&
			       same_trace(lost[next].what, leak.first);
		     next++) {
			leak.count++;
			leak.bytes += lost[next].size;
		}
		leaks.count += leak.count;
		leaks.bytes += leak.bytes;
		place = min(groups++, (size_t)LEAKS_MAX);
		while (place && found[place - 1].bytes < leak.bytes) {
			if (place < LEAKS_MAX)
				found[place] = found[place - 1];
			place--;
		}
		if (place < LEAKS_MAX)
			found[place] = leak;
	}
	return groups;
}

static void report_leaks(struct reach_object *lost, size_t count)
{
	static struct leak found[LEAKS_MAX];
	unsigned long more = 0, more_bytes = 0;
	size_t groups = group(lost, count, found);

	for (size_t i = 0; i < count; i++) {
		if (lost[i].state != REACH_INDIRECT)
			continue;
		more++;
		more_bytes += lost[i].size;
	}
	for (size_t i = 0; i < min(groups, (size_t)LEAKS_MAX); i++) {
		found[i].more = i ? 0 : more;
		found[i].more_bytes = more_bytes;
		print_leak(&found[i]);
	}
	leaks.where = groups ? name_of(found[0].first) : NULL;
	nr_leaking += groups != 0;
	leaks.count += more;
	leaks.bytes += more_bytes;
	if (groups)
		printk("program: leaks: %lu objects of %lu bytes, from %zu places\n", leaks.count,
		       leaks.bytes, groups);
	else
		printk("program: leaks: none\n");
}

void program_leaks_begin(void)
{
	leaks = (struct program_leaks){0};
	begun = 0;
	if (!wanted)
		return;
	empty_list();
	redzone_leaks_begin();
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
}

void program_leaks_end(const void *frame)
{
	const unsigned int kept = current->kflags & PF_NO_KILL;
	struct reach_object *found;
	size_t room, count;

	if (!__atomic_exchange_n(&begun, 0, __ATOMIC_ACQ_REL))
		return;
	/* Not in the middle of this. */
	current->kflags |= PF_NO_KILL;
	/* Other threads may allocate until they stop. */
	room = READ_ONCE(nr_listed) * 2 + 64;
	found = reach_alloc(room);
	if (!found) {
		printk("program: leaks: no memory to look for them\n");
	} else {
		preempt_disable();
		stop_others();
		WRITE_ONCE(program_heap_watch, NULL);
		count = collect(found, room);
		reach_begin(found, count);
		reach_from_roots(frame);
		reach_end();
		let_go_on();
		preempt_enable();
		report_leaks(found, count);
		reach_free(found);
	}
	WRITE_ONCE(program_heap_watch, NULL);
	if (!kept)
		current->kflags &= ~PF_NO_KILL;
}

unsigned int program_leaks_seen(void)
{
	return nr_leaking;
}

const struct program_leaks *program_leaks(void)
{
	return &leaks;
}
