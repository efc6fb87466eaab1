// SPDX-License-Identifier: MIT
/*
 * leaks.c - objects of a program that outlive a part of its run, for the fuzzer's --leaks.
 *
 * Counting costs a few instructions for each malloc() and free(). Only a part that left more objects than it found runs
 * once more with a list, which has the trace of each object: so a table that is made once is not a leak.
 */
#include <kernel/arch.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>

#define BUCKETS 1024
#define TRACE	16

/** struct object - a live object of the list. @number: counts allocations. @pcs: @count return addresses. */
struct object {
	struct object *next;
	const void *ptr;
	size_t size;
	unsigned long number;
	size_t count;
	uintptr_t pcs[TRACE];
};

static struct object *objects[BUCKETS];
static unsigned long nr_allocations;
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
		object->count = stack_trace_save(object->pcs, TRACE, NULL);
		spin_lock_irqsave(&objects_lock, flags);
		object->number = nr_allocations++;
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
		break;
	}
	spin_unlock_irqrestore(&objects_lock, flags);
	/* NULL: it is older than the list. */
	kfree(object);
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

/* Print where the oldest object that is left over comes from. @count, @bytes: of all of them. */
static void print_leak(const struct object *first, unsigned long count, size_t bytes)
{
	size_t user = 0, shown = 0;
	const char *name = NULL;
	bool own;

	while (user < first->count && is_library(first->pcs[user], &own)) {
		if (own)
			shown = user + 1;
		user++;
	}
	printk("==================================================================\n");
	if (user < first->count && kallsyms_lookup(first->pcs[user] - 1, &name, NULL, NULL))
		printk("BUG: memory leak in %s\n", name);
	else
		printk("BUG: memory leak\n");
	printk("Objects that the input left over: %lu, of %lu bytes in all\n", count,
	       (unsigned long)bytes);
	printk("The first has %lu bytes at %016lx\n", (unsigned long)first->size,
	       (unsigned long)first->ptr);
	printk("\n");
	printk("Allocated by task %d:\n", current->pid);
	for (size_t i = shown; i < first->count; i++)
		printk(" %pB\n", (void *)first->pcs[i]);
	printk("==================================================================\n");
}

unsigned long redzone_leaks_end(unsigned long *bytes)
{
	struct object *object, *next, *first = NULL;
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
		print_leak(first, count, total);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (object = objects[i]; object; object = next) {
			next = object->next;
			kfree(object);
		}
		objects[i] = NULL;
	}
	*bytes = total;
	return count;
}
