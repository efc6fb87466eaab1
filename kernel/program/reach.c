// SPDX-License-Identifier: MIT
/*
 * reach.c - which objects of a program can still be reached, from memory that its code can see.
 *
 * Memory is copied page by page with the functions for addresses that may be wrong: stacks have pages that are not
 * mapped, and programs unmap some of theirs. The copy also looks past poison.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/sort.h>
#include <kernel/uaccess.h>

#include "reach.h"

#define WORDS (PAGE_SIZE / sizeof(uintptr_t))

/**
 * struct search - the search that runs. It lies in memory of its own, because what it knows would be pointers to objects.
 * @objects, @count: sorted by address. @low, @high: of all, because most words are none of theirs.
 * @waiting: objects that are reached, and whose contents were not looked at yet. @state: that they get.
 * @words: a copy of memory that is looked at.
 */
static struct search {
	struct reach_object *objects;
	size_t count;
	uintptr_t low, high;
	struct reach_object *waiting;
	u8 state; /* enum reach_state */
	uintptr_t words[WORDS];
} *search;

static int by_start(const void *a, const void *b)
{
	const struct reach_object *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* An object of no bytes has an address too. */
static size_t span(const struct reach_object *object)
{
	return object->size ? object->size : 1;
}

void reach_begin(struct reach_object *objects, size_t count)
{
	sort(objects, count, sizeof(*objects), by_start, NULL);
	search->objects = objects;
	search->count = count;
	search->waiting = NULL;
	search->low = count ? objects[0].start : 0;
	search->high = count ? objects[count - 1].start + span(&objects[count - 1]) : 0;
}

/* Return: the object that @word points into; NULL if there is none. */
static struct reach_object *find(uintptr_t word)
{
	const uintptr_t addr = kasan_untag_addr(word);
	size_t first = 0, end = search->count;

	if (addr - search->low >= search->high - search->low)
		return NULL;
	/* The last object that starts at @addr or before is at @first. */
	while (end - first > 1) {
		const size_t middle = first + (end - first) / 2;

		if (search->objects[middle].start <= addr)
			first = middle;
		else
			end = middle;
	}
	return addr - search->objects[first].start < span(&search->objects[first])
		       ? &search->objects[first]
		       : NULL;
}

typedef void (*visit_fn)(struct reach_object *to, const struct reach_object *from);

/* Call @visit for each object that a word of these bytes points to. @from: that they belong to. */
static void look_at(const void *start, size_t size, visit_fn visit, const struct reach_object *from)
{
	uintptr_t at = (uintptr_t)kasan_reset_tag(start), end = at + size;

	at = ALIGN(at, sizeof(uintptr_t));
	while (at < end && end - at >= sizeof(uintptr_t)) {
		const size_t bytes =
			min(PAGE_SIZE - at % PAGE_SIZE, end - at) & ~(sizeof(uintptr_t) - 1);

		if (!copy_from_kernel_nofault(search->words, (const void *)at, bytes)) {
			for (size_t i = 0; i < bytes / sizeof(uintptr_t); i++) {
				struct reach_object *to = find(search->words[i]);

				if (to)
					visit(to, from);
			}
		}
		at += bytes;
	}
}

/* --- Roots --- */

static void reach(struct reach_object *to, const struct reach_object *from)
{
	if (to == from || to->state != REACH_LOST)
		return;
	to->state = search->state;
	to->next = search->waiting;
	search->waiting = to;
}

/* Follow what waits, and what that leads to. */
static void follow(void)
{
	struct reach_object *object;

	while ((object = search->waiting)) {
		search->waiting = object->next;
		look_at((const void *)object->start, object->size, reach, object);
	}
}

void reach_from(const void *start, size_t size)
{
	search->state = REACH_FOUND;
	look_at(start, size, reach, NULL);
	follow();
}

/* --- Lost objects that point to each other --- */

static void point(struct reach_object *to, const struct reach_object *from)
{
	if (to != from)
		to->pointed = true;
}

static void follow_lost(struct reach_object *object)
{
	look_at((const void *)object->start, object->size, reach, object);
	follow();
	/* A ring leads back. */
	object->state = REACH_LOST;
}

void reach_end(void)
{
	struct reach_object *const first = search->objects, *const end = first + search->count;
	struct reach_object *object;

	search->state = REACH_INDIRECT;
	for (object = first; object < end; object++)
		if (object->state == REACH_LOST)
			look_at((const void *)object->start, object->size, point, object);
	for (object = first; object < end; object++)
		if (object->state == REACH_LOST && !object->pointed)
			follow_lost(object);
	/* The others form rings. */
	for (object = first; object < end; object++)
		if (object->state == REACH_LOST && object->pointed)
			follow_lost(object);
}

/* --- Memory for the search --- */

struct reach_object *reach_alloc(size_t room)
{
	struct reach_object *objects = kvmalloc(room * sizeof(*objects), GFP_KERNEL | __GFP_NOWARN);

	search = kvmalloc(sizeof(*search), GFP_KERNEL | __GFP_NOWARN);
	if (objects && search)
		return objects;
	reach_free(objects);
	return NULL;
}

void reach_free(struct reach_object *objects)
{
	kvfree(objects);
	kvfree(search);
	search = NULL;
}
