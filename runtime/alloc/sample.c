/* SPDX-License-Identifier: MIT */
/*
 * sample.c - sampled objects: one allocation now and then lies at the edge of a page of its own, between closed pages.
 *
 *	guard | object's page | guard | object's page | guard ...
 *
 * The page of an object is open from its allocation to its free. The object begins where the page does, or ends where it
 * does, by chance, so that overflows and underflows are both found. The rest of the page holds a pattern, which the free
 * compares. Freed pages wait in a queue, so a use after free is found for as long as other samples do not need the page.
 *
 * Only one CPU at a time writes an object's members: from the moment when its page leaves the queue until it is live,
 * and from the end of its life until the page is back in the queue. Reports read them without a lock, and copy them first.
 */
#include "sampled.h"

#include "hw_slack.h"

#include "../base/lock.h"
#include "../base/up.h"

#ifdef CONFIG_KASAN_SAMPLE

#define PAGE	CONFIG_KASAN_PAGE_SIZE
#define OBJECTS CONFIG_KASAN_SAMPLE_OBJECTS

enum sample_state {
	SAMPLE_UNUSED,
	SAMPLE_LIVE,
	SAMPLE_ENDING, /* its free compares the pattern */
	SAMPLE_FREED,
};

static struct sample {
	unsigned int state;
	struct kasan_sampled is;
} objects[OBJECTS];

/* Pages without an object, oldest first; and guards that a report has opened. @lock guards both. */
static struct kasan_lock lock;
static uint16_t queue[OBJECTS];
static unsigned int queue_head, queue_count;
static uint8_t open_guards[OBJECTS + 1];
static bool any_open_guard;

static uintptr_t pool;
static uint32_t random_state;
static unsigned long last_ms, nr_sampled, nr_skipped;

unsigned int kasan_opt_sample_interval = CONFIG_KASAN_SAMPLE_INTERVAL;
unsigned int kasan_sample_wanted;

/* --- Places --- */

static uintptr_t page_of(unsigned int index)
{
	return pool + (2 * (uintptr_t)index + 1) * PAGE;
}

static bool in_pool(uintptr_t addr)
{
	return pool && addr - pool < KASAN_SAMPLE_PAGES * PAGE;
}

bool kasan_sample_owns(const void *ptr)
{
	return in_pool(kasan_untag_addr((uintptr_t)ptr));
}

/* Differs from one byte to the next, so that a copy of neighbours does not fit. */
static uint8_t pattern_at(uintptr_t addr)
{
	return (uint8_t)(0xa5 ^ (addr & 0x3f));
}

/* --- When --- */

bool kasan_sample_tick(unsigned long ms)
{
	const unsigned int interval = __atomic_load_n(&kasan_opt_sample_interval, __ATOMIC_RELAXED);

	if (interval && ms - last_ms >= interval) {
		last_ms = ms;
		kasan_sample_next();
	}
	return kasan_sample_due();
}

void kasan_sample_next(void)
{
	__atomic_store_n(&kasan_sample_wanted, 1, __ATOMIC_RELAXED);
}

void kasan_sample_get_counts(struct kasan_sample_counts *counts)
{
	unsigned int i;

	kasan_clear(counts);
	counts->sampled = __atomic_load_n(&nr_sampled, __ATOMIC_RELAXED);
	counts->skipped = __atomic_load_n(&nr_skipped, __ATOMIC_RELAXED);
	for (i = 0; i < OBJECTS; i++)
		counts->live += __atomic_load_n(&objects[i].state, __ATOMIC_RELAXED) == SAMPLE_LIVE;
}

void kasan_sample_start(void *memory)
{
	unsigned int i;

	random_state = (uint32_t)kasan_port_seed() | 1;
	for (i = 0; i < OBJECTS; i++)
		queue[i] = (uint16_t)i;
	queue_count = OBJECTS;
	__atomic_store_n(&pool, kasan_untag_addr((uintptr_t)memory), __ATOMIC_RELEASE);
}

/* --- Pages that wait --- */

static bool take_page(unsigned int *index)
{
	const unsigned long flags = kasan_lock(&lock);
	const bool some = queue_count;

	if (some) {
		*index = queue[queue_head];
		queue_head = (queue_head + 1) % OBJECTS;
		queue_count--;
	}
	kasan_unlock(&lock, flags);
	return some;
}

static void give_page(unsigned int index)
{
	const unsigned long flags = kasan_lock(&lock);

	queue[(queue_head + queue_count++) % OBJECTS] = (uint16_t)index;
	kasan_unlock(&lock, flags);
}

/* A report has opened the guards beside the page @index: the next bug there is to be found too. */
static void close_guards(unsigned int index)
{
	unsigned int i;

	if (kasan_likely(!__atomic_load_n(&any_open_guard, __ATOMIC_RELAXED)))
		return;
	for (i = index; i <= index + 1; i++) {
		if (__atomic_exchange_n(&open_guards[i], 0, __ATOMIC_RELAXED))
			kasan_port_sample_close((void *)(pool + 2 * (uintptr_t)i * PAGE));
	}
}

/* --- Objects --- */

static void place(struct sample *object, uintptr_t page, size_t size, size_t align)
{
	uint8_t *at = (uint8_t *)page, *const end = at + PAGE;

	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	object->is.at_end = random_state & 1;
	object->is.start =
		object->is.at_end ? (page + PAGE - size) & ~(uintptr_t)(align - 1) : page;
	object->is.size = size;
	for (; at < (uint8_t *)object->is.start; at++)
		*at = pattern_at((uintptr_t)at);
	for (at += size; at < end; at++)
		*at = pattern_at((uintptr_t)at);
}

kasan_noinline void *kasan_sample_alloc(size_t size, size_t align, const char *name,
					size_t cache_size, uintptr_t ip)
{
	const uintptr_t caller = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	struct sample *object;
	unsigned int index;

	/* A small alignment would have granules that are both unused and before the object. */
	if (align < KASAN_GRANULE_SIZE)
		align = KASAN_GRANULE_SIZE;
	if (!pool || !size || size > PAGE || align > PAGE || kasan_silent() ||
	    !__atomic_exchange_n(&kasan_sample_wanted, 0, __ATOMIC_RELAXED))
		return NULL;
	if (!take_page(&index)) {
		__atomic_fetch_add(&nr_skipped, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	object = &objects[index];
	close_guards(index);
	if (!kasan_port_sample_open((void *)page_of(index))) {
		give_page(index);
		__atomic_fetch_add(&nr_skipped, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	__atomic_store_n(&object->state, SAMPLE_UNUSED, __ATOMIC_RELAXED);
	place(object, page_of(index), size, align);
	object->is.name = name;
	object->is.cache_size = cache_size;
	kasan_set_full_track(&object->is.alloc, ip ? ip : caller, fp);
	__atomic_store_n(&object->state, SAMPLE_LIVE, __ATOMIC_RELEASE);
	__atomic_fetch_add(&nr_sampled, 1, __ATOMIC_RELAXED);
	return (void *)object->is.start;
}

/* Return: the object whose page holds @addr, which is in the pool; NULL: it is a guard. */
static struct sample *object_at(uintptr_t addr)
{
	const uintptr_t page = (addr - pool) / PAGE;

	return page & 1 ? &objects[page / 2] : NULL;
}

size_t kasan_sample_size(const void *ptr)
{
	const uintptr_t addr = kasan_untag_addr((uintptr_t)ptr);
	const struct sample *const object = in_pool(addr) ? object_at(addr) : NULL;

	return object && __atomic_load_n(&object->state, __ATOMIC_ACQUIRE) == SAMPLE_LIVE &&
			       object->is.start == addr
		       ? object->is.size
		       : 0;
}

/* Return: the first byte of [@from, @to) that is not the pattern; @to: all are. */
static uintptr_t first_changed(uintptr_t from, uintptr_t to)
{
	while (from < to && *(const uint8_t *)from == pattern_at(from))
		from++;
	return from;
}

/* Report the first granule around the object that was overwritten. */
static void check_pattern(const struct sample *object, uintptr_t page, uintptr_t ip, uintptr_t fp)
{
	const uintptr_t start = object->is.start, end = start + object->is.size;
	uintptr_t bad = first_changed(page, start), from;
	struct kasan_slack slack;
	unsigned int i;

	if (bad == start)
		bad = first_changed(end, page + PAGE);
	if (bad == page + PAGE)
		return;
	kasan_clear(&slack);
	slack.found = "at free";
	slack.granule = bad & ~(uintptr_t)KASAN_GRANULE_MASK;
	/* Those of the object are not compared. */
	from = bad >= end && slack.granule < end ? end : slack.granule;
	slack.unused = (unsigned int)(slack.granule + KASAN_GRANULE_SIZE - from);
	for (i = 0; i < KASAN_GRANULE_SIZE; i++) {
		slack.is[i] = *(const uint8_t *)(slack.granule + i);
		slack.was[i] = pattern_at(slack.granule + i);
	}
	kasan_report_slack("slab-out-of-bounds", &slack, 0xff, ip, fp);
}

kasan_noinline bool kasan_sample_free(const void *ptr, uintptr_t ip)
{
	const uintptr_t caller = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	const uintptr_t addr = kasan_untag_addr((uintptr_t)ptr);
	unsigned int live = SAMPLE_LIVE;
	struct sample *object;

	if (!in_pool(addr))
		return false;
	ip = ip ? ip : caller;
	object = object_at(addr);
	if (!object || object->is.start != addr ||
	    !__atomic_compare_exchange_n(&object->state, &live, SAMPLE_ENDING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		/* @live is what the state was instead. */
		kasan_report_bad_free(object && object->is.start == addr && live >= SAMPLE_ENDING
					      ? "double-free"
					      : "invalid-free",
				      ptr, ip, fp);
		return true;
	}
	check_pattern(object, addr & ~(uintptr_t)(PAGE - 1), ip, fp);
	kasan_set_full_track(&object->is.free, caller, fp);
	__atomic_store_n(&object->state, SAMPLE_FREED, __ATOMIC_RELEASE);
	kasan_port_sample_close((void *)(addr & ~(uintptr_t)(PAGE - 1)));
	give_page((unsigned int)(object - objects));
	return true;
}

/* --- Bad accesses --- */

static size_t distance(uintptr_t addr, const struct sample *object)
{
	if (addr < object->is.start)
		return object->is.start - addr;
	return addr < object->is.start + object->is.size
		       ? 0
		       : addr - (object->is.start + object->is.size) + 1;
}

bool kasan_sample_find(uintptr_t addr, struct kasan_sampled *sampled)
{
	const struct sample *object = NULL, *one;
	unsigned int last, state;
	uintptr_t page;
	size_t best = SIZE_MAX;
	unsigned int i;

	if (!in_pool(addr))
		return false;
	page = (addr - pool) / PAGE;
	/* The object of this page, or those on both sides of a guard; of two the nearer one, a live one first. */
	last = (unsigned int)(page / 2);
	i = page & 1 || !last ? last : last - 1;
	for (; i <= last && i < OBJECTS; i++) {
		one = &objects[i];
		state = __atomic_load_n(&one->state, __ATOMIC_ACQUIRE);
		if (state == SAMPLE_UNUSED)
			continue;
		if (distance(addr, one) + (state == SAMPLE_LIVE ? 0 : 2 * PAGE) < best) {
			best = distance(addr, one) + (state == SAMPLE_LIVE ? 0 : 2 * PAGE);
			object = one;
		}
	}
	if (!object)
		return false;
	kasan_copy(sampled, &object->is);
	sampled->live = __atomic_load_n(&object->state, __ATOMIC_RELAXED) != SAMPLE_FREED;
	return true;
}

bool kasan_sample_fault(uintptr_t addr, size_t size, int direction, const struct kasan_regs *regs)
{
	const uintptr_t at = kasan_untag_addr(addr);
	uintptr_t page;

	if (!in_pool(at))
		return false;
	kasan_report_fault_at(addr, size, direction, regs);
	page = (at - pool) / PAGE;
	if (!(page & 1)) {
		__atomic_store_n(&open_guards[page / 2], 1, __ATOMIC_RELAXED);
		__atomic_store_n(&any_open_guard, true, __ATOMIC_RELAXED);
	}
	return kasan_port_sample_open((void *)(pool + page * PAGE));
}

#endif
