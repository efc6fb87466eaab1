/* SPDX-License-Identifier: MIT */
/*
 * page_heap.c - simple page allocators: a record for each page gives them stacks, redzones, checks of frees, a
 * quarantine, and the allocation that holds an address.
 *
 * A free page belongs to the allocator, which may keep its own list in it. So nothing is stored in pages: the records
 * lie in a table of their own, which no bug in checked code can reach unreported.
 */
#include "fifo.h"
#include "meta.h"
#include "whole_pages.h"

#include "../base/lock.h"
#include "../base/up.h"
#include "../shadow/shadow.h"
#include "../tags/tags.h"
#include "../track/track.h"

#if CONFIG_KASAN_SLAB

#define PAGE ((size_t)CONFIG_KASAN_PAGE_SIZE)

enum page_state {
	PAGE_NEVER, /* not handed out since kasan_page_heap_add() */
	PAGE_LIVE,
	PAGE_FREED, /* in quarantine, or back in the allocator */
	PAGE_PART,  /* further page of a live allocation, its redzone included */
	PAGE_GUARD, /* kept as the redzone of the page before */
	PAGE_EARLY, /* perhaps handed out before kasan_page_heap_add() */
};

/**
 * struct kasan_page_record - one page
 * @large: tracks and size, as reports of large allocations read them; not of a PAGE_PART.
 * @span: PAGE_LIVE: pages of the allocation with its redzone; PAGE_PART, PAGE_FREED: distance back to the first page.
 * @state: enum page_state. @tag: in tag modes, the tag of the allocation's pointer.
 *
 * Each page of a freed allocation has a full record, because the other pages may get new owners one by one.
 */
struct kasan_page_record {
	struct kasan_large_meta large;
	uint32_t span;
	uint16_t state, tag;
};

static struct kasan_page_heap *page_heaps;
static struct kasan_lock page_heaps_lock;

static inline struct kasan_lock *lock_of(struct kasan_page_heap *heap)
{
	return kasan_lock_in(&heap->lock);
}

static inline size_t pages_of(size_t size)
{
	return size / PAGE + (size % PAGE != 0);
}

/* Pages without the redzone that an allocation has, or that a caller means. */
static inline size_t user_pages(size_t size)
{
	return size ? pages_of(size) : 1;
}

/* Return: the number of the page that holds @addr, which has no tag; @heap->pages if none does. */
static inline size_t page_at(const struct kasan_page_heap *heap, uintptr_t addr)
{
	const uintptr_t distance = addr - (uintptr_t)heap->start;

	return addr >= (uintptr_t)heap->start && distance / PAGE < heap->pages ? distance / PAGE
									       : heap->pages;
}

static inline void *page_address(const struct kasan_page_heap *heap, size_t page)
{
	return (char *)heap->start + page * PAGE;
}

/* --- Registration --- */

/* Which pages were handed out before there are records? One range holds them, as in simple heaps. */
static void note_early(struct kasan_page_heap *heap, const void *raw, size_t count)
{
	const uintptr_t first = (uintptr_t)raw;

	if (!heap->early_end || first < heap->early_start)
		heap->early_start = first;
	if (first + count * PAGE > heap->early_end)
		heap->early_end = first + count * PAGE;
}

/* All pages but the early ones are free. */
static void poison_free(struct kasan_page_heap *heap)
{
	size_t page, first = page_at(heap, heap->early_start);
	size_t end = page_at(heap, heap->early_end);

	/* None, or the allocator has given others than its own. */
	if (first == heap->pages)
		first = end = 0;
	for (page = first; page < end; page++)
		heap->records[page].state = PAGE_EARLY;
	kasan_free_pages(heap->start, first * PAGE);
	kasan_free_pages(page_address(heap, end), (heap->pages - end) * PAGE);
}

static const char *check_range(const struct kasan_page_heap *heap)
{
	const struct kasan_page_heap *other = __atomic_load_n(&page_heaps, __ATOMIC_ACQUIRE);
	const uintptr_t start = (uintptr_t)heap->start;
	const uintptr_t last = start + (heap->size - 1);
	uint8_t state;

	if (start % PAGE)
		return kasan_complain("start of the page heap ", start,
				      " is not a multiple of CONFIG_KASAN_PAGE_SIZE: use ",
				      (start / PAGE + 1) * PAGE, "");
	if (!heap->size || heap->size % PAGE || last < start)
		return kasan_complain("size of the page heap ", heap->size,
				      " is not a multiple of CONFIG_KASAN_PAGE_SIZE above 0: use ",
				      heap->size < PAGE ? PAGE : heap->size / PAGE * PAGE, "");
	/* Without shadow, poison would be dropped silently. */
	if (!kasan_memory_state(heap->start, &state) ||
	    !kasan_memory_state((const void *)last, &state))
		return kasan_complain("the page heap at ", start,
				      " has no shadow: a window must cover it, up to ", last + 1,
				      "");
	for (; other; other = other->next) {
		const uintptr_t first = (uintptr_t)other->start;

		if (start <= first + (other->size - 1) && first <= last)
			return kasan_complain("the page heap overlaps the one at ", first,
					      ", which ends at ", first + other->size, "");
	}
	return NULL;
}

const char *kasan_page_heap_add(struct kasan_page_heap *heap)
{
	const char *wrong = check_range(heap);
	unsigned long flags;
	size_t bytes;

	if (wrong)
		return wrong;
	heap->pages = heap->size / PAGE;
	heap->redzone_pages = pages_of(heap->redzone);
	bytes = pages_of(heap->pages * sizeof(*heap->records)) * PAGE;
	heap->records = kasan_port_alloc(bytes);
	if (!heap->records)
		return kasan_complain("no memory for the records of ", heap->pages,
				      " pages: kasan_port_alloc() must be able to give ", bytes,
				      "");
	poison_free(heap);
	flags = kasan_lock(&page_heaps_lock);
	heap->next = page_heaps;
	__atomic_store_n(&page_heaps, heap, __ATOMIC_RELEASE);
	kasan_unlock(&page_heaps_lock, flags);
	return NULL;
}

/* Under the heap's lock, or while nothing else knows the pages. */
static void record_span(struct kasan_page_heap *heap, size_t first, size_t count)
{
	struct kasan_page_record *record = &heap->records[first];
	size_t i;

	record->span = (uint32_t)count;
	record->state = PAGE_LIVE;
	for (i = 1; i < count; i++) {
		record[i].span = (uint32_t)i;
		record[i].state = PAGE_PART;
	}
}

void kasan_page_heap_adopt(struct kasan_page_heap *heap, void *start, size_t size)
{
	const size_t first = page_at(heap, kasan_untag_addr((uintptr_t)start));
	const size_t count = pages_of(size);
	unsigned long flags;

	if (!heap->records || !count || first + count > heap->pages)
		return;
	kasan_clear(&heap->records[first].large);
	heap->records[first].large.size = size;
	flags = kasan_lock(lock_of(heap));
	record_span(heap, first, count);
	kasan_unlock(lock_of(heap), flags);
	(void)kasan_alloc_pages(start, count * PAGE);
}

/* --- Allocations --- */

/* The runtime keeps the page for good. */
static bool keep_as_guard(struct kasan_page_heap *heap, void *raw, size_t count)
{
	const size_t page = page_at(heap, (uintptr_t)raw);
	unsigned long flags;

	if (count != 1 || heap->guard_every < 2 || page == heap->pages || !kasan_on() ||
	    page % heap->guard_every != heap->guard_every - 1)
		return false;
	flags = kasan_lock(lock_of(heap));
	heap->records[page].state = PAGE_GUARD;
	kasan_unlock(lock_of(heap), flags);
	kasan_poison(raw, PAGE, KASAN_PAGE_REDZONE);
	return true;
}

static void *acquire(struct kasan_page_heap *heap, size_t count)
{
	bool shrunk = false;
	void *raw;

	for (;;) {
		raw = heap->acquire(heap, count);
		if (raw && keep_as_guard(heap, raw, count))
			continue;
		if (raw || shrunk)
			return raw;
		kasan_page_heap_shrink(heap);
		shrunk = true;
	}
}

kasan_noinline void *kasan_page_alloc(struct kasan_page_heap *heap, size_t size)
{
	const size_t wanted = user_pages(size);
	const size_t count = wanted + (kasan_on() && heap->records ? heap->redzone_pages : 0);
	struct kasan_large_meta large;
	unsigned long flags;
	size_t first;
	void *raw, *ptr;

	if (kasan_unlikely(count < wanted))
		return NULL;
	raw = heap->records ? acquire(heap, count) : heap->acquire(heap, count);
	if (kasan_unlikely(!raw || !heap->records)) {
		if (raw)
			note_early(heap, raw, count);
		return raw;
	}
	first = page_at(heap, (uintptr_t)raw);
	if (kasan_unlikely((uintptr_t)raw % PAGE || count > heap->pages - first))
		return raw;
	kasan_clear(&large);
	large.size = size;
	kasan_set_track(&large.alloc, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	flags = kasan_lock(lock_of(heap));
	kasan_copy(&heap->records[first].large, &large);
	record_span(heap, first, count);
	kasan_unlock(lock_of(heap), flags);
	ptr = kasan_alloc_pages(raw, wanted * PAGE);
#ifdef CONFIG_KASAN_TAGS
	heap->records[first].tag = kasan_get_tag(ptr);
	/* Pages that sampling skipped keep the tags of free pages. */
	if (kasan_get_tag(ptr) == KASAN_TAG_KERNEL)
		return ptr;
#endif
	kasan_poison_tail(ptr, size, count * PAGE, KASAN_PAGE_REDZONE);
	return ptr;
}

size_t kasan_page_heap_size(struct kasan_page_heap *heap, const void *ptr)
{
	const uintptr_t addr = kasan_untag_addr((uintptr_t)ptr);
	const size_t page = page_at(heap, addr);

	if (page == heap->pages || addr % PAGE || heap->records[page].state != PAGE_LIVE)
		return 0;
	return heap->records[page].large.size;
}

/* --- Frees --- */

/* Does the pointer belong to an earlier owner of the pages? */
static bool is_stale(const void *ptr)
{
#ifdef CONFIG_KASAN_TAGS
	const uint8_t tag = kasan_get_tag(ptr);
	uint8_t state;

	return tag != KASAN_TAG_KERNEL && kasan_memory_state(ptr, &state) &&
	       !kasan_tag_owns(tag, kasan_tags_owner(kasan_untag_addr((uintptr_t)ptr)));
#else
	(void)ptr;
	return false;
#endif
}

/* Under the heap's lock. Early pages that come back become an allocation, so that they are freed like one. */
static void adopt_early(struct kasan_page_heap *heap, size_t first, size_t count)
{
	size_t page;

	for (page = first; page - first < count; page++) {
		if (page >= heap->pages || heap->records[page].state != PAGE_EARLY)
			return;
	}
	kasan_clear(&heap->records[first].large);
	heap->records[first].large.size = count * PAGE;
	record_span(heap, first, count);
}

/* Under the heap's lock. The live allocation at the page @first ends before @page, where another one begins that has the
 * same stack. */
static void split(struct kasan_page_heap *heap, size_t first, size_t page)
{
	struct kasan_page_record *record = &heap->records[first];
	const size_t span = record->span, kept = page - first;

	kasan_copy(&heap->records[page], record);
	heap->records[page].large.size -= kept * PAGE;
	record->large.size = kept * PAGE;
	record_span(heap, first, kept);
	record_span(heap, page, span - kept);
}

/* Under the heap's lock, so that one of two concurrent frees fails. @page: of @addr, in the range. @part: the pages may
 * be any of a live allocation, and become one of their own. */
static const char *why_bad(struct kasan_page_heap *heap, uintptr_t addr, size_t page, size_t size,
			   bool part)
{
	const struct kasan_page_record *record = &heap->records[page];
	size_t first = page, count = user_pages(size), all;

	if (record->state == PAGE_FREED)
		return "double-free";
	if (addr != (uintptr_t)page_address(heap, page))
		return "invalid-free";
	if (record->state == PAGE_EARLY)
		adopt_early(heap, page, count);
	if (part && record->state == PAGE_PART)
		first -= record->span;
	record = &heap->records[first];
	if (record->state != PAGE_LIVE)
		return "invalid-free";
	all = user_pages(record->large.size) - (page - first);
	if (part ? page - first + count > user_pages(record->large.size) : size && count != all)
		return "invalid-free";
	if (first != page)
		split(heap, first, page);
	if (part && count < all)
		split(heap, page, page + count);
	return NULL;
}

/* Under the heap's lock. Return: pages of the allocation that starts with the live page @first, with its redzone. */
static size_t record_free(struct kasan_page_heap *heap, size_t first,
			  const struct kasan_track *track)
{
	struct kasan_page_record *record = &heap->records[first];
	const size_t count = record->span;
	size_t i;

	record->large.free = *track;
	for (i = 0; i < count; i++) {
		if (i)
			kasan_copy(&record[i], record);
		record[i].span = (uint32_t)i;
		record[i].state = PAGE_FREED;
	}
	return count;
}

/* @count: filled with the pages of the allocation, if nothing is wrong. */
static const char *end_life(struct kasan_page_heap *heap, void *ptr, size_t size, bool part,
			    uintptr_t fp, uintptr_t ip, size_t *count)
{
	const uintptr_t addr = kasan_untag_addr((uintptr_t)ptr);
	const size_t page = page_at(heap, addr);
	struct kasan_track track;
	const char *wrong;
	unsigned long flags;

	if (page == heap->pages)
		return "invalid-free";
	if (is_stale(ptr))
		return "double-free";
	kasan_set_track(&track, ip, fp);
	flags = kasan_lock(lock_of(heap));
	wrong = why_bad(heap, addr, page, size, part);
	if (!wrong)
		*count = record_free(heap, page, &track);
	kasan_unlock(lock_of(heap), flags);
	return wrong;
}

static inline void give_back(void *heap, const struct kasan_held *held)
{
	((struct kasan_page_heap *)heap)->release(heap, held->object, held->bytes / PAGE);
}

/* Queue pages, and release the oldest that no longer fit. Releases @raw if it cannot stay. */
static void quarantine(struct kasan_page_heap *heap, void *raw, size_t count)
{
	const size_t bytes = count * PAGE;

	if (kasan_silent() || !kasan_on() || bytes > heap->quarantine_max ||
	    !kasan_fifo_put(&heap->quarantine, lock_of(heap), raw, bytes, heap->quarantine_max,
			    heap, give_back))
		heap->release(heap, raw, count);
}

static kasan_always_inline bool take_back(struct kasan_page_heap *heap, void *ptr, size_t size,
					  bool part, uintptr_t ip)
{
	const uintptr_t fp = KASAN_CALLER_FP();
	const char *wrong;
	size_t count = 0;
	void *raw;

	if (!ptr)
		return true;
	if (kasan_unlikely(!heap->records)) {
		heap->release(heap, ptr, user_pages(size));
		return true;
	}
	wrong = end_life(heap, ptr, size, part, fp, KASAN_CALLER_IP(), &count);
	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, ptr, ip ? ip : KASAN_CALLER_IP(), fp);
		return false;
	}
	raw = (void *)kasan_untag_addr((uintptr_t)ptr);
	kasan_free_pages(raw, count * PAGE);
	quarantine(heap, raw, count);
	return true;
}

kasan_noinline bool kasan_page_free(struct kasan_page_heap *heap, void *ptr, size_t size,
				    uintptr_t ip)
{
	return take_back(heap, ptr, size, false, ip);
}

kasan_noinline bool kasan_page_free_part(struct kasan_page_heap *heap, void *ptr, size_t size,
					 uintptr_t ip)
{
	return take_back(heap, ptr, size, true, ip);
}

void kasan_page_heap_shrink(struct kasan_page_heap *heap)
{
	kasan_fifo_empty(&heap->quarantine, lock_of(heap), heap, give_back);
}

/* --- Looking up --- */

/* Reports must not wait for a lock; a record that is just changing is wrong, but not dangerous. Return: the record of
 * the allocation, live or freed, around @addr, or NULL. @first: filled with its first page. */
static struct kasan_page_record *record_at(const struct kasan_page_heap *heap, uintptr_t addr,
					   size_t *first)
{
	size_t page = page_at(heap, addr);
	struct kasan_page_record *record;

	if (page == heap->pages)
		return NULL;
	/* It is the redzone of the page before. */
	if (heap->records[page].state == PAGE_GUARD) {
		if (!page)
			return NULL;
		page--;
	}
	record = &heap->records[page];
	if (record->state != PAGE_LIVE && record->span <= page)
		page -= record->span;
	if (record->state == PAGE_PART)
		record = &heap->records[page];
	*first = page;
	return record->state == PAGE_LIVE || record->state == PAGE_FREED ? record : NULL;
}

#ifdef CONFIG_KASAN_TAGS
bool kasan_find_page_tag(const void *addr, uint8_t *tag)
{
	const struct kasan_page_heap *heap = __atomic_load_n(&page_heaps, __ATOMIC_ACQUIRE);
	size_t first;

	for (; heap; heap = heap->next) {
		const struct kasan_page_record *record =
			record_at(heap, kasan_untag_addr((uintptr_t)addr), &first);

		if (record) {
			*tag = (uint8_t)record->tag;
			return true;
		}
	}
	return kasan_port_page_tag(addr, tag);
}
#endif

bool kasan_find_object(const void *addr, struct kasan_object *object)
{
	const struct kasan_page_heap *heap = __atomic_load_n(&page_heaps, __ATOMIC_ACQUIRE);
	struct kasan_page_record *record;
	size_t first;

	if (kasan_port_find_object(addr, object))
		return true;
	for (; heap; heap = heap->next) {
		record = record_at(heap, kasan_untag_addr((uintptr_t)addr), &first);
		if (!record)
			continue;
		object->kind = KASAN_OBJECT_LARGE;
		object->start = page_address(heap, first);
		object->size = record->large.size;
		object->freed = record->state == PAGE_FREED;
		object->large = &record->large;
		object->name = heap->name;
		return true;
	}
	return false;
}

#endif /* CONFIG_KASAN_SLAB */
