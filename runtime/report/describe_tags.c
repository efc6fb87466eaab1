/* SPDX-License-Identifier: MIT */
/*
 * describe_tags.c - reports of the tag modes: the kind of bug, and the owner of the memory.
 *
 * A mismatch of tags only says that the pointer does not belong to the memory. The stack ring has the object that it
 * did belong to, with the pointer's tag, and that object's later history. Without a record there the bug is called
 * invalid-access, which is true of every bug.
 */
#include "captured.h"

#include "../alloc/meta.h"
#include "../tags/tags.h"
#include "../track/ring.h"

#ifdef CONFIG_KASAN_TAGS

/* An overrun is attributed to an object at most this many slots, or bytes, away. Further off, the same tag is more
 * likely a coincidence. */
#define NEAR_SLOTS 2
#define NEAR_BYTES 256

/**
 * struct candidate - the object that a pointer was made for, from the ring
 * @start: its address; 0: not found. @size: bytes asked for.
 * @freed: it was freed, and @free is the track of the free.
 * @order: of the record that decided.
 */
struct candidate {
	uintptr_t start;
	size_t size;
	struct kasan_ring_order order;
	bool freed, has_alloc;
	struct kasan_track alloc, free;
};

static size_t distance_to(uintptr_t addr, uintptr_t start, size_t size)
{
	if (addr < start)
		return start - addr;
	return addr < start + size ? 0 : addr - (start + size) + 1;
}

/* Searches of the ring leave out what is newer than @newest, the time of the bug: a report may have waited for another
 * CPU's, and memory found new owners meanwhile. */

/* Find the newest record of the object at @start whose pointers had @tag (KASAN_TAG_KERNEL: any). @before: only an older
 * record than that free; NULL: any. */
static bool find_last(struct kasan_ring_record *found, uint64_t newest, uintptr_t start,
		      uint8_t tag, const struct kasan_ring_order *before)
{
	struct kasan_ring_record record;
	/* A life ends with its free, and begins with an allocation before it. */
	const bool free_first = !before;
	bool any = false;
	size_t place;

	kasan_ring_each (&place, &record, newest) {
		if (kasan_untag_addr(record.ptr) != start ||
		    (tag != KASAN_TAG_KERNEL && kasan_addr_tag(record.ptr) != tag) ||
		    (before && !kasan_ring_newer(before, &record.order, true)) ||
		    (any && !kasan_ring_newer(&record.order, &found->order, free_first)))
			continue;
		kasan_copy(found, &record);
		any = true;
	}
	return any;
}

/* Find the records of the object at @start whose pointers had @tag (KASAN_TAG_KERNEL: any). */
static bool find_history(struct candidate *found, uint64_t newest, uintptr_t start, uint8_t tag)
{
	struct kasan_ring_record record;

	__memset(found, 0, sizeof(*found));
	if (!find_last(&record, newest, start, tag, NULL))
		return false;
	kasan_copy(&found->order, &record.order);
	found->start = start;
	found->size = record.size;
	if (record.order.is_free) {
		found->freed = true;
		kasan_copy(&found->free, &record.track);
		/* The free before the allocation belongs to another life. */
		if (!find_last(&record, newest, start, kasan_addr_tag(record.ptr), &found->order) ||
		    record.order.is_free)
			return true;
		found->size = record.size;
	}
	kasan_copy(&found->alloc, &record.track);
	found->has_alloc = true;
	return true;
}

/* Find the live object nearest to @addr whose pointers have @tag, at most @limit bytes away. */
static bool find_nearest(struct candidate *found, uint64_t newest, uintptr_t addr, uint8_t tag,
			 size_t limit)
{
	struct kasan_ring_record record;
	size_t best = limit + 1, place;

	__memset(found, 0, sizeof(*found));
	kasan_ring_each (&place, &record, newest) {
		const uintptr_t start = kasan_untag_addr(record.ptr);
		size_t distance;

		if (record.order.is_free || kasan_addr_tag(record.ptr) != tag)
			continue;
		distance = distance_to(addr, start, record.size);
		/* Only a live object's memory still has the tag. */
		if (distance > best || kasan_tags_owner(start) != tag ||
		    (distance == best &&
		     !(found->start && kasan_ring_newer(&record.order, &found->order, true))))
			continue;
		best = distance;
		kasan_copy(&found->order, &record.order);
		found->start = start;
		found->size = record.size;
		kasan_copy(&found->alloc, &record.track);
		found->has_alloc = true;
	}
	return found->start != 0;
}

static void fill_owner(struct kasan_owner *owner, const struct candidate *candidate)
{
	owner->start = candidate->start;
	owner->size = candidate->size;
	owner->state = candidate->freed ? KASAN_OWNER_FREED : KASAN_OWNER_LIVE;
	owner->alloc = candidate->alloc;
	owner->has_alloc = candidate->has_alloc;
	owner->free = candidate->free;
	owner->has_free = candidate->freed;
}

/* Find the object at @addr by the youngest record with @tag (KASAN_TAG_KERNEL: any), and its history. */
static bool find_covering(struct candidate *found, uint64_t newest, uintptr_t addr, uint8_t tag)
{
	struct kasan_ring_order last = {0};
	struct kasan_ring_record record;
	uintptr_t ptr = 0;
	size_t place;

	kasan_ring_each (&place, &record, newest) {
		if ((tag != KASAN_TAG_KERNEL && kasan_addr_tag(record.ptr) != tag) ||
		    addr - kasan_untag_addr(record.ptr) >= (record.size ? record.size : 1) ||
		    (ptr && !kasan_ring_newer(&record.order, &last, true)))
			continue;
		kasan_copy(&last, &record.order);
		ptr = record.ptr;
	}
	return ptr && find_history(found, newest, kasan_untag_addr(ptr), kasan_addr_tag(ptr));
}

/* Find the cache or heap of the object at @start. */
static bool fill_allocator(struct kasan_owner *owner, uintptr_t start)
{
	struct kasan_heap_chunk chunk;
	struct kasan_object object;
	const char *name = NULL;

	kasan_clear(&object);
	if (kasan_find_object((const void *)start, &object) && object.kind == KASAN_OBJECT_SLAB &&
	    object.cache) {
		owner->kind = KASAN_OBJECT_SLAB;
		owner->slot_size = object.cache->slot_size;
		owner->cache_size = object.cache->object_size;
		/* A free is recorded with the cache's size, which is all that is left once its allocation is no longer
		 * in the ring. */
		if (owner->size > object.cache->object_size)
			owner->size = object.cache->object_size;
		kasan_owner_name(owner, object.cache->name, "?");
		return true;
	}
	if (kasan_heap_lookup(start, &chunk) && chunk.start == start)
		name = chunk.heap->name;
	else if (!kasan_heap_name_at(start, &name))
		return false;
	owner->kind = KASAN_OBJECT_HEAP;
	owner->cache_size = owner->size;
	kasan_owner_name(owner, name, "heap");
	return true;
}

/* Describe @candidate. Return: false if its memory no longer belongs to an allocator of objects. */
static bool describe_candidate(struct kasan_owner *owner, const struct candidate *candidate)
{
	fill_owner(owner, candidate);
	if (fill_allocator(owner, candidate->start))
		return true;
	__memset(owner, 0, sizeof(*owner));
	return false;
}

/* Describe the object that the pointer was made for, in the slot at @slot (0: the address is in none) or nearby. */
static bool describe_by_ring(struct kasan_report *report, uintptr_t slot, size_t slot_size)
{
	struct kasan_owner *owner = &report->owner;
	const uint8_t tag = kasan_addr_tag(report->pointer);
	const uint64_t newest = report->newest_record;
	const size_t near = slot_size * NEAR_SLOTS;
	const bool may_be_near =
		tag != KASAN_TAG_KERNEL && !report->is_free && !report->slack.found;
	struct candidate own, next, *found = NULL;
	const char *heap;

	/* A heap's chunks are not slots, even if they come from a slab allocator. */
	if (slot && !kasan_heap_name_at(report->addr, &heap)
		    ? find_history(&own, newest, slot, tag)
		    : find_covering(&own, newest, report->addr, tag))
		found = &own;
	/* A former owner of the slot had the pointer's tag, and so has the live object beside it. The younger one is
	 * meant: a slot that has been free for long also belonged to other caches, whose tags prove nothing. */
	if (found && own.freed && may_be_near &&
	    find_nearest(&next, newest, report->addr, tag, slot_size) &&
	    kasan_ring_newer(&next.order, &own.order, true))
		found = &next;
	if (found && describe_candidate(owner, found))
		return true;
	/* There was no object, or one whose pages have been freed since, which says nothing about today's pointers. */
	return may_be_near && found != &next &&
	       find_nearest(&next, newest, report->addr, tag,
			    near > NEAR_BYTES ? near : NEAR_BYTES) &&
	       describe_candidate(owner, &next);
}

/* A heap's header may know an object that the ring has forgotten. It is the pointer's only if the tags are equal. */
static bool describe_by_header(struct kasan_report *report)
{
	const uint8_t tag = kasan_addr_tag(report->pointer);
	struct kasan_heap_chunk chunk;

	if (!kasan_heap_lookup(report->addr, &chunk))
		return false;
	kasan_owner_heap(&report->owner, &chunk);
	if (tag != chunk.tag)
		report->owner.has_alloc = report->owner.has_free = false;
	return true;
}

/* The pointer's object is not known, so describe the owner of the memory. */
static void describe_slot(struct kasan_owner *owner, const struct kasan_object *object)
{
	const struct kasan_cache *cache = object->cache;
	const uintptr_t slot = kasan_untag_addr((uintptr_t)object->start);

	owner->kind = KASAN_OBJECT_SLAB;
	owner->start = slot;
	owner->slot_size = cache->slot_size;
	owner->cache_size = owner->size = cache->object_size;
	owner->state = KASAN_OWNER_UNKNOWN;
	if (kasan_tags_owner(slot) != KASAN_TAG_INVALID) {
		owner->state = KASAN_OWNER_LIVE;
		owner->size = kasan_size_by_tags((const void *)slot, cache->object_size);
	}
	kasan_owner_name(owner, cache->name, "?");
}

/* Is the page at @addr free, and did it belong to pointers with @tag? */
static bool was_page_of(uintptr_t addr, uint8_t tag)
{
	uint8_t last;

	return kasan_tags_owner(addr) == KASAN_TAG_INVALID &&
	       kasan_find_page_tag((const void *)addr, &last) && last == tag;
}

/* Describe a large allocation at @addr whose pointers have, or had, the tag of the report's. */
static bool describe_large(struct kasan_report *report, uintptr_t addr)
{
	const uint8_t tag = kasan_addr_tag(report->pointer);
	struct kasan_object object;
	uint8_t owner;

	kasan_clear(&object);
	if (!kasan_find_object((const void *)addr, &object) || object.kind != KASAN_OBJECT_LARGE)
		return false;
	/* The first page of a freed one may have a new owner. */
	if (!object.freed)
		addr = (uintptr_t)object.start;
	owner = kasan_tags_owner(addr);
	if (!report->is_free && (object.freed || (owner != tag && owner != KASAN_USER_POISON)) &&
	    !was_page_of(addr, tag))
		return false;
	kasan_owner_large(&report->owner, &object);
	return true;
}

/* The map of slack knows where the object ends, and that it is alive, which the ring may not. */
static void correct_by_slack(struct kasan_report *report)
{
	const struct kasan_slack *slack = &report->slack;
	struct kasan_owner *owner = &report->owner;

	if (owner->kind == KASAN_OBJECT_NONE)
		return;
	/* A freed owner is an earlier one. Large objects are not in the ring: their free is on its way. */
	if (owner->state == KASAN_OWNER_FREED && owner->kind != KASAN_OBJECT_LARGE)
		owner->has_alloc = false;
	owner->has_free = false;
	owner->state = KASAN_OWNER_LIVE;
	owner->size = slack->granule + KASAN_GRANULE_SIZE - slack->unused - owner->start;
}

static void find_owner(struct kasan_report *report)
{
	const void *addr = (const void *)report->addr;
	struct kasan_object object;
	bool in_slab;

	kasan_clear(&object);
	if (!kasan_find_object(addr, &object))
		object.kind = KASAN_OBJECT_NONE;
	in_slab = object.kind == KASAN_OBJECT_SLAB && object.cache;
	if (report->slack.found && object.kind == KASAN_OBJECT_LARGE) {
		kasan_owner_large(&report->owner, &object);
		return;
	}
	if (describe_by_ring(report, in_slab ? kasan_untag_addr((uintptr_t)object.start) : 0,
			     in_slab ? object.cache->slot_size : 0) ||
	    describe_by_header(report))
		return;
	/* The start of an overrun of whole pages. */
	if (describe_large(report, report->addr) ||
	    describe_large(report, report->addr - KASAN_GRANULE_SIZE) ||
	    describe_large(report, report->addr - CONFIG_KASAN_PAGE_SIZE))
		return;
	if (in_slab)
		describe_slot(&report->owner, &object);
	else if (object.kind == KASAN_OBJECT_LARGE && report->is_free)
		kasan_owner_large(&report->owner, &object);
}

void kasan_describe_object(struct kasan_report *report)
{
	kasan_heap_new_report();
	find_owner(report);
	if (report->slack.found)
		correct_by_slack(report);
}

/* --- The name of the bug --- */

void kasan_classify(struct kasan_report *report)
{
	if (kasan_size_is_absurd(report))
		report->type = "out-of-bounds";
	else if (!report->has_shadow || report->is_fault)
		/* A fault means that the tags allow the access but the MMU does not: the address is not mapped. */
		report->type = kasan_type_without_shadow(report->addr);
	else
		report->type = "invalid-access";
}

static bool is_invalid_access(const struct kasan_report *report)
{
	return !report->is_fault && report->has_shadow && !kasan_size_is_absurd(report);
}

/* Compilers choose any number as the tag of a stack object, even one that elsewhere means a short granule. */
static bool is_stack_tag(const struct kasan_report *report, uintptr_t addr, uint8_t tag)
{
	uint8_t state;

	return addr >= report->task.stack_start && addr < report->task.stack_end &&
	       kasan_tags_read(addr, &state) && (state == tag || kasan_tags_owner(addr) == tag);
}

/* Does memory near the address, on the same stack, have the pointer's tag? */
static bool is_near_stack_object(const struct kasan_report *report, uint8_t tag)
{
	uintptr_t at = report->addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	uintptr_t low = at, high = at;

	for (; high - at <= NEAR_BYTES; high += KASAN_GRANULE_SIZE, low -= KASAN_GRANULE_SIZE) {
		if (is_stack_tag(report, low, tag) || is_stack_tag(report, high, tag))
			return true;
	}
	return false;
}

#ifdef KASAN_TAGGED_FRAMES
/* On a stack that the CPU is not on, frames are not known: does memory near the address have the tag? */
static bool is_near_variable(const struct kasan_report *report, uint8_t tag)
{
	const uintptr_t at = report->first_bad;
	uint8_t state;

	for (uintptr_t far = 0; far <= NEAR_BYTES; far += KASAN_GRANULE_SIZE) {
		if ((kasan_tags_read(at - far, &state) && state == tag) ||
		    (kasan_tags_read(at + far, &state) && state == tag))
			return true;
	}
	return false;
}
#endif

/* Has a program poisoned the bad byte? All memory of an object has tags, so nothing else gives it this one. */
static bool is_user_poison(const struct kasan_report *report)
{
	const struct kasan_owner *owner = &report->owner;
	const struct kasan_area *area = &report->area;
	uint8_t state;

	if (!kasan_tags_read(report->first_bad, &state) || state != KASAN_USER_POISON)
		return false;
	if (owner->kind != KASAN_OBJECT_NONE)
		return owner->state == KASAN_OWNER_LIVE &&
		       report->first_bad - owner->start < owner->size;
	return report->has_area && report->first_bad - area->start < area->size &&
	       kasan_tags_owner(area->start) == kasan_addr_tag(report->pointer);
}

void kasan_classify_by_owner(struct kasan_report *report)
{
	const struct kasan_owner *owner = &report->owner;
	const uint8_t tag = kasan_addr_tag(report->pointer);

	if (!report->has_shadow && report->has_area && !kasan_size_is_absurd(report)) {
		report->type = "vmalloc-out-of-bounds";
		return;
	}
	if (!is_invalid_access(report) || tag == KASAN_TAG_KERNEL)
		return;
	if (is_user_poison(report)) {
		report->type = "use-after-poison";
	} else if ((owner->kind == KASAN_OBJECT_SLAB || owner->kind == KASAN_OBJECT_HEAP) &&
		   (owner->has_alloc || owner->has_free)) {
		if (owner->state == KASAN_OWNER_FREED)
			report->type = "slab-use-after-free";
		/* A fault does not say how many bytes it was about, but at least one. */
		else if (report->first_bad < owner->start ||
			 report->addr + (report->size ? report->size : 1) >
				 owner->start + owner->size)
			report->type = "slab-out-of-bounds";
	} else if (owner->kind == KASAN_OBJECT_LARGE) {
		report->type =
			owner->state == KASAN_OWNER_FREED ? "use-after-free" : "slab-out-of-bounds";
	} else if (report->has_area && kasan_tags_owner(report->area.start) == tag) {
		report->type = "vmalloc-out-of-bounds";
	} else if (kasan_has_tagged_frame(report)) {
		/* Only the tag of an existing variable is found. */
		report->type = report->tagged.high ? "stack-out-of-bounds" : "use-after-scope";
#ifdef KASAN_TAGGED_FRAMES
	} else if (report->on_other_stack) {
		report->type =
			is_near_variable(report, tag) ? "stack-out-of-bounds" : "use-after-scope";
#endif
	} else if (report->on_stack) {
		if (is_near_stack_object(report, tag))
			report->type = "stack-out-of-bounds";
	} else if (report->left_global) {
		report->type = "global-out-of-bounds";
	} else if (was_page_of(report->addr, tag)) {
		report->type = "use-after-free";
	}
}

#endif /* CONFIG_KASAN_TAGS */
