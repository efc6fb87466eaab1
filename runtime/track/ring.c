/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the stack ring: how CPUs share it, and how its records are ordered.
 *
 * The ring has kasan.stack_ring_size= entries of 32 bytes, in blocks from kasan_port_alloc(). Writers (ring.h) come from
 * all CPUs at any time, also in interrupts. A CPU takes a segment of the ring, the next one that no CPU has, and fills it
 * alone, with interrupts off; so CPUs write a shared word only once in 64 records. When all segments were used, the oldest are
 * overwritten. Reports about older objects then have no stacks, and their type is invalid-access.
 *
 * Each record has a stamp: the ring's epoch, which grows when a CPU takes a segment. CPUs read the epoch and rarely write
 * it. If an object goes from one CPU to another, the second reads the epoch after the first, so stamps never contradict
 * what depends on each other. They can be equal: then the order within a segment decides, or that an object is freed after
 * it was allocated. Segments lie in no order, because a CPU that does little keeps its segment for a long time, so readers look
 * at all of them.
 *
 * A reader takes only entries whose stamp is unchanged after they were copied. An entry is written again only after its
 * CPU has taken the segment again, in a later epoch.
 */
#include "ring.h"

#include "../base/up.h"

unsigned int kasan_opt_stack_ring_size = 32768;

#ifdef CONFIG_KASAN_TAGS

#ifndef CONFIG_KASAN_EXTRA_INFO
_Static_assert(sizeof(struct kasan_ring_entry) == 32, "docs and config.h say 32 bytes an entry");
#endif

#define MAX_BLOCKS (4194304UL / KASAN_RING_BLOCK_ENTRIES + 1)

/* So that at least half of the segments are free to be taken. */
#define LEAST (2UL * KASAN_RING_SEGMENT * CONFIG_KASAN_NR_CPUS)

static struct kasan_ring_entry *blocks[MAX_BLOCKS];

struct kasan_ring kasan_ring = {.blocks = blocks};
struct kasan_ring_cpu kasan_ring_cpus[CONFIG_KASAN_NR_CPUS];

void kasan_ring_init(void)
{
	size_t entries = KASAN_RING_SEGMENT, have = 0, block;

	if (kasan_ring_entries() || !kasan_on())
		return;
	while (entries < kasan_opt_stack_ring_size || entries < LEAST)
		entries *= 2;
	for (block = 0; have < entries && block < MAX_BLOCKS; block++) {
		blocks[block] = kasan_port_alloc(KASAN_RING_BLOCK_BYTES);
		if (!blocks[block])
			break;
		have += KASAN_RING_BLOCK_ENTRIES;
	}
	while (entries > have)
		entries /= 2;
	if (entries < LEAST)
		entries = 0;
	if (entries < kasan_opt_stack_ring_size)
		kasan_notice("kasan: no memory for a stack ring of %u entries: it has %zu, "
			     "so reports know fewer of the last allocations and frees",
			     kasan_opt_stack_ring_size, entries);
	/* Writers on other CPUs see the blocks before the number. */
	__atomic_store_n(&kasan_ring.entries, entries, __ATOMIC_RELEASE);
}

size_t kasan_ring_entries(void)
{
	return __atomic_load_n(&kasan_ring.entries, __ATOMIC_ACQUIRE);
}

static struct kasan_ring_entry *entry_at(size_t place)
{
	return &blocks[place / KASAN_RING_BLOCK_ENTRIES][place % KASAN_RING_BLOCK_ENTRIES];
}

/* Give @cpu another segment, with interrupts off. Return: false if there is no memory. */
static bool take_segment(struct kasan_ring_cpu *cpu)
{
	const size_t segments = kasan_ring_entries() / KASAN_RING_SEGMENT;
	struct kasan_ring_entry *first;
	uint64_t number;

	if (!segments)
		return false;
	/* There are twice as many as CPUs. */
	do {
		number = __atomic_fetch_add(&kasan_ring.drawn, 1, __ATOMIC_RELAXED);
		first = entry_at((size_t)(number & (segments - 1)) * KASAN_RING_SEGMENT);
	} while (__atomic_exchange_n(&first->taken, 1, __ATOMIC_ACQUIRE));
	if (cpu->first)
		__atomic_store_n(&cpu->first->taken, 0, __ATOMIC_RELEASE);
	cpu->first = cpu->next = first;
	cpu->end = first + KASAN_RING_SEGMENT;
	__atomic_fetch_add(&kasan_ring.epoch, 1, __ATOMIC_RELAXED);
	return true;
}

/* kasan_ring_put() if this CPU needs another segment. */
static kasan_noinline void take_and_put(const void *ptr, uint32_t size,
					const struct kasan_track *track)
{
	const unsigned long irq = kasan_port_irq_save();
	struct kasan_ring_cpu *const cpu = &kasan_ring_cpus[kasan_port_cpu()];

	/* An interrupt may have taken one by now, and this may be another CPU. */
	if (cpu->next != cpu->end || take_segment(cpu))
		(void)kasan_ring_put(ptr, size, *track);
	kasan_port_irq_restore(irq);
}

void kasan_ring_record(const void *ptr, size_t size, bool is_free, const struct kasan_track *track)
{
	const uint32_t word = (uint32_t)size | (is_free ? KASAN_RING_FREE : 0);

	if (kasan_unlikely(!kasan_ring_put(ptr, word, *track)))
		take_and_put(ptr, word, track);
}

void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp)
{
	const uint32_t word = (uint32_t)size | (is_free ? KASAN_RING_FREE : 0);
	struct kasan_track track;

	kasan_set_track(&track, ip, fp);
	if (kasan_unlikely(!kasan_ring_put(ptr, word, track)))
		take_and_put(ptr, word, &track);
}

uint64_t kasan_ring_mark(void)
{
	return __atomic_fetch_add(&kasan_ring.epoch, 1, __ATOMIC_ACQ_REL);
}

/* Return: false if there is no record, or one that is being written. */
static bool read_entry(const struct kasan_ring_entry *entry, uint64_t newest,
		       struct kasan_ring_record *record)
{
	const uint64_t stamp = __atomic_load_n(&entry->stamp, __ATOMIC_ACQUIRE);

	if (!stamp || stamp > newest)
		return false;
	record->ptr = __atomic_load_n(&entry->ptr, __ATOMIC_RELAXED);
	record->track = *(const volatile struct kasan_track *)&entry->track;
	record->size = __atomic_load_n(&entry->size, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&entry->stamp, __ATOMIC_RELAXED) != stamp)
		return false;
	record->order.stamp = stamp;
	record->order.is_free = record->size & KASAN_RING_FREE;
	record->size &= ~(size_t)KASAN_RING_FREE;
	return true;
}

bool kasan_ring_next(size_t *place, struct kasan_ring_record *record, uint64_t newest)
{
	const size_t entries = kasan_ring_entries();

	while (*place < entries) {
		const size_t at = (*place)++;

		if (!read_entry(entry_at(at), newest, record))
			continue;
		record->order.place = (uint32_t)at;
		return true;
	}
	return false;
}

bool kasan_ring_lives(const void *ptr)
{
	const struct kasan_ring_order none = {0};
	struct kasan_ring_order own = none, other = none;
	struct kasan_ring_record record;
	size_t place;

	kasan_ring_each (&place, &record, KASAN_RING_NOW) {
		struct kasan_ring_order *last = record.ptr == (uintptr_t)ptr ? &own : &other;

		if (kasan_untag_addr(record.ptr) == kasan_untag_addr((uintptr_t)ptr) &&
		    kasan_ring_newer(&record.order, last, true))
			*last = record.order;
	}
	/* If two CPUs' records have the same stamp, the free of another owner's object counts as older than this
	 * allocation. */
	return own.stamp && !own.is_free && !kasan_ring_newer(&other, &own, false);
}

#endif /* CONFIG_KASAN_TAGS */
