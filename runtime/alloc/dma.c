/* SPDX-License-Identifier: MIT */
/*
 * dma.c - buffers that devices have (<kasan/dma.h>): a table of mappings, and poison for the time that they last.
 *
 * The poison is a program's own (asan_interface.c): it stops a CPU at no cost to other accesses, and the state of the
 * granules comes back exactly. It has no room for a size, a direction or a stack, hence the table. That is made of sets,
 * so that a map looks at a few entries, and it keeps the last unmapped buffers. A mapping that finds its set full is not
 * watched, and from then on an unknown buffer is not taken for a bug any more.
 */
#include "mapped.h"

#ifdef CONFIG_KASAN_DMA

#include "../base/lock.h"
#include "../base/up.h"
#include "hw_slack.h"

#include <kasan/asan_interface.h>

#define WAYS 8U
#define SETS (CONFIG_KASAN_DMA_MAPPINGS / WAYS)

/**
 * struct entry - a mapping
 * @is: its facts; @start is 0 if the entry was never used. @pointer: as mapped, with its tag.
 * @turn: when it was mapped or unmapped, for the choice of an entry to use again.
 * @closed: it is poisoned.
 * @after: the bytes after the buffer, if no object owns them: @slack of them, up to the end of a granule.
 */
static struct entry {
	struct kasan_dma_mapping is;
	const void *pointer;
	unsigned long turn;
	bool closed;
	unsigned int slack;
	uint8_t after[KASAN_GRANULE_SIZE];
} entries[SETS * WAYS];

static struct kasan_lock lock;
static unsigned long turns;
static bool overflowed;

static struct entry *set_of(uintptr_t start)
{
	/* Buffers begin at cache lines, or close to one another. */
	return &entries[(start >> 5 ^ start >> 12) % SETS * WAYS];
}

/* Return: the entry of the buffer at @start; NULL: there is none. A mapped one goes before one that was. */
static struct entry *find(uintptr_t start)
{
	struct entry *const set = set_of(start), *found = NULL;
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		if (set[i].is.start == start &&
		    (!found || set[i].is.mapped > found->is.mapped ||
		     (set[i].is.mapped == found->is.mapped && set[i].turn > found->turn)))
			found = &set[i];
	}
	return found;
}

/* Return: the entry that may be used for @start: an old one of the same buffer, or the one that was idle longest; NULL:
 * all are mapped. */
static struct entry *choose(uintptr_t start)
{
	struct entry *const set = set_of(start), *chosen = NULL;
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		if (set[i].is.mapped)
			continue;
		if (set[i].is.start == start)
			return &set[i];
		if (!chosen || set[i].turn < chosen->turn)
			chosen = &set[i];
	}
	return chosen;
}

bool kasan_dma_find(uintptr_t addr, size_t margin, struct kasan_dma_mapping *mapping)
{
	const struct entry *one, *best = NULL;
	unsigned int i;

	for (i = 0; i < SETS * WAYS; i++) {
		one = &entries[i];
		if (!one->is.start || addr - one->is.start >= one->is.size + margin)
			continue;
		if (!best || one->is.mapped > best->is.mapped ||
		    (one->is.mapped == best->is.mapped && one->turn > best->turn))
			best = one;
	}
	if (!best)
		return false;
	kasan_copy(mapping, &best->is);
	return true;
}

/* --- After the buffer --- */

/* Return: bytes after [@start, @end) that no object owns, up to the end of a granule. */
static unsigned int bytes_after(uintptr_t start, uintptr_t end)
{
	const unsigned int used = (unsigned int)(end & KASAN_GRANULE_MASK);
#if defined(CONFIG_KASAN_GENERIC)
	uint8_t state;

	(void)start;
	if (!kasan_memory_state((const void *)(end - used), &state))
		return 0;
	/* The object's granule ends with the buffer, or redzone follows. */
	return state == (used ? used : KASAN_SLAB_REDZONE) ? KASAN_GRANULE_SIZE - used : 0;
#elif defined(CONFIG_KASAN_SW_TAGS)
	struct kasan_object object;

	kasan_clear(&object);
	if (!used || !kasan_port_find_object((const void *)start, &object))
		return 0;
	if (object.kind == KASAN_OBJECT_SLAB)
		object.size = kasan_object_size(object.cache, object.start);
	return kasan_untag_addr((uintptr_t)object.start) + object.size == end
		       ? KASAN_GRANULE_SIZE - used
		       : 0;
#else
	/* Hardware tags do not tell where in its last granule an object ends. */
	(void)start;
	(void)used;
	return 0;
#endif
}

/* Compare them. @entry: a copy, of a buffer that is the CPU's again. */
static void check_after(const struct entry *entry, uintptr_t ip, uintptr_t fp)
{
	const uintptr_t end = (uintptr_t)entry->pointer + entry->is.size;
	const unsigned int at = KASAN_GRANULE_SIZE - entry->slack;
	struct kasan_slack slack;
	unsigned int i;
	bool same = true;

	if (!entry->slack)
		return;
	kasan_clear(&slack);
	slack.found = "at unmap";
	slack.granule = kasan_untag_addr(end - at);
	slack.unused = entry->slack;
	__memcpy(slack.is + at, (const void *)end, entry->slack);
	__memcpy(slack.was + at, entry->after, entry->slack);
	for (i = at; i < KASAN_GRANULE_SIZE; i++)
		same = same && slack.is[i] == slack.was[i];
	if (!same)
		kasan_report_slack("dma-out-of-bounds", &slack, kasan_addr_tag(end), ip, fp);
}

/* --- Map and unmap --- */

kasan_noinline void kasan_dma_map(const void *addr, size_t size, int direction)
{
	const uintptr_t ip = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	const uintptr_t start = kasan_untag_addr((uintptr_t)addr);
	struct kasan_track track;
	struct entry *entry;
	unsigned long flags;
	unsigned int slack;
	bool good;

	if (!kasan_live() || !size)
		return;
	good = kasan_check_access_for(addr, size, direction != KASAN_DMA_TO_DEVICE, ip);
	slack = good ? bytes_after(start, start + size) : 0;
	kasan_set_track(&track, ip, fp);
	flags = kasan_lock(&lock);
	entry = choose(start);
	if (entry) {
		kasan_clear(entry);
		entry->is.start = start;
		entry->is.size = size;
		entry->is.direction = direction;
		entry->is.map = track;
		entry->is.mapped = true;
		entry->pointer = addr;
		entry->turn = ++turns;
		entry->closed = good;
		entry->slack = slack;
		__memcpy(entry->after, (const char *)addr + size, slack);
	} else {
		overflowed = true;
	}
	kasan_unlock(&lock, flags);
	if (entry && good)
		__asan_poison_memory_region(addr, size);
}

static void report_unmap(const void *addr, size_t size, const char *note, uintptr_t ip,
			 uintptr_t fp)
{
	kasan_report_call("dma-invalid-unmap", (uintptr_t)addr, size, note, 0, ip, fp);
}

kasan_noinline void kasan_dma_unmap(const void *addr, size_t size, int direction)
{
	const uintptr_t ip = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	struct kasan_track track;
	struct entry *entry, copy;
	unsigned long flags;
	bool known, may_be_unknown;

	if (!kasan_live() || !size)
		return;
	kasan_set_track(&track, ip, fp);
	kasan_clear(&copy);
	flags = kasan_lock(&lock);
	entry = find(kasan_untag_addr((uintptr_t)addr));
	known = entry;
	may_be_unknown = overflowed;
	if (known) {
		kasan_copy(&copy, entry);
		if (entry->is.mapped) {
			entry->is.mapped = false;
			entry->is.unmap = track;
			entry->turn = ++turns;
		}
	}
	kasan_unlock(&lock, flags);
	if (!known || !copy.is.mapped) {
		if (!may_be_unknown)
			report_unmap(addr, size,
				     known ? "This buffer was unmapped before"
					   : "No mapping begins at this address",
				     ip, fp);
		return;
	}
	if (copy.closed)
		__asan_unpoison_memory_region(copy.pointer, copy.is.size);
	if (size != copy.is.size)
		report_unmap(copy.pointer, size, "The buffer was mapped with another size", ip, fp);
	else if (direction != copy.is.direction)
		report_unmap(copy.pointer, size, "The buffer was mapped with another direction", ip,
			     fp);
	check_after(&copy, ip, fp);
}

/* Return: is [@addr, @addr + @size) inside of a mapping? @pointer: filled with its address, with the tag of the buffer. */
static bool part_of_mapping(const void *addr, size_t size, const char **pointer)
{
	const uintptr_t start = kasan_untag_addr((uintptr_t)addr);
	const unsigned long flags = kasan_lock(&lock);
	const struct entry *one;
	unsigned int i;

	*pointer = NULL;
	for (i = 0; i < SETS * WAYS && !*pointer; i++) {
		one = &entries[i];
		if (one->is.mapped && one->closed && start - one->is.start < one->is.size &&
		    size <= one->is.size - (start - one->is.start))
			*pointer = (const char *)one->pointer + (start - one->is.start);
	}
	kasan_unlock(&lock, flags);
	return *pointer;
}

void kasan_dma_sync_for_cpu(const void *addr, size_t size)
{
	const char *pointer;

	if (kasan_live() && part_of_mapping(addr, size, &pointer))
		__asan_unpoison_memory_region(pointer, size);
}

void kasan_dma_sync_for_device(const void *addr, size_t size)
{
	const char *pointer;

	if (kasan_live() && part_of_mapping(addr, size, &pointer))
		__asan_poison_memory_region(pointer, size);
}

#endif /* CONFIG_KASAN_DMA */
