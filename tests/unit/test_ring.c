/* SPDX-License-Identifier: MIT */
/*
 * test_ring.c - the stack ring: what is overwritten, the order of records of several CPUs, and that readers never see half
 * of a record.
 *
 * The ring is made so small that writers overwrite it all the time.
 */
#include <pthread.h>
#include <string.h>

#include "../../ports/posix/kasan_posix.h"
#include "../../runtime/track/ring.h"
#include "unit.h"

/* Two segments for each CPU, as kasan_ring_init() guarantees. */
#define ENTRIES (size_t)(2 * KASAN_RING_SEGMENT * CONFIG_KASAN_NR_CPUS)
#define WRITERS 4
#define RECORDS 200000U /* that are read meanwhile */

_Static_assert((ENTRIES & (ENTRIES - 1)) == 0 && CONFIG_KASAN_NR_CPUS >= 3, "for this test");

static size_t full;

/* An empty ring of ENTRIES entries, on CPU 0. */
static void shrink(void)
{
	size_t place;

	full = kasan_ring.entries;
	REQUIRE(full >= ENTRIES && ENTRIES <= KASAN_RING_BLOCK_ENTRIES);
	for (place = 0; place < full; place++)
		memset(&kasan_ring.blocks[place / KASAN_RING_BLOCK_ENTRIES]
					 [place % KASAN_RING_BLOCK_ENTRIES],
		       0, sizeof(struct kasan_ring_entry));
	memset(kasan_ring_cpus, 0, sizeof(kasan_ring_cpus));
	kasan_ring.drawn = 0;
	kasan_ring.entries = ENTRIES;
	kasan_posix_set_cpu(0);
}

static void restore(void)
{
	memset(kasan_ring_cpus, 0, sizeof(kasan_ring_cpus));
	kasan_ring.entries = full;
	for (size_t place = 0; place < ENTRIES; place += KASAN_RING_SEGMENT)
		kasan_ring.blocks[0][place].taken = 0;
	kasan_posix_set_cpu(0);
}

/* Every part of a record follows from its writer and its number. */
static void write_one(unsigned int writer, uint32_t n)
{
	const struct kasan_track track = {.pid = writer, .stack = n * 0x9e3779b1U};

	kasan_ring_record((const void *)((uintptr_t)n << 8 | writer), n & 0xffffff, n & 1, &track);
}

static uint32_t number_of(const struct kasan_ring_record *record)
{
	return (uint32_t)(record->ptr >> 8);
}

static bool is_whole(const struct kasan_ring_record *record)
{
	const uint32_t n = number_of(record);

	return record->track.pid == (record->ptr & 0xff) &&
	       record->track.stack == n * 0x9e3779b1U && record->size == (n & 0xffffff) &&
	       record->order.is_free == (n & 1);
}

/* Return: the number of records from @first to @last that are in the ring, each once and in this order, and no others. */
static size_t count(uint32_t first, uint32_t last, uint64_t newest)
{
	struct kasan_ring_order orders[2 * 2 * KASAN_RING_SEGMENT * CONFIG_KASAN_NR_CPUS] = {0};
	struct kasan_ring_record record;
	size_t place, seen = 0;
	uint32_t n;

	REQUIRE(last - first < sizeof(orders) / sizeof(orders[0]));
	kasan_ring_each (&place, &record, newest) {
		n = number_of(&record);
		CHECK(is_whole(&record));
		REQUIRE(n >= first && n <= last);
		CHECK(!orders[n - first].stamp);
		orders[n - first] = record.order;
		seen++;
	}
	for (n = first; n < last; n++) {
		const struct kasan_ring_order *a = &orders[n - first], *b = a + 1;

		CHECK(!a->stamp || !b->stamp || kasan_ring_newer(b, a, true));
		CHECK(!a->stamp || !b->stamp || !kasan_ring_newer(a, b, true));
	}
	return seen;
}

/* One CPU uses the whole ring: the last records are in it, as many as it has entries. */
static void overwritten(void)
{
	const uint32_t last = 3 * ENTRIES + 5;
	uint64_t mark;
	uint32_t n;

	shrink();
	CHECK_EQ(kasan_ring_entries(), ENTRIES);
	CHECK_EQ(count(1, 1, KASAN_RING_NOW), 0);
	for (n = 1; n <= 9; n++)
		write_one(7, n);
	CHECK_EQ(count(1, 9, KASAN_RING_NOW), 9);
	for (; n <= last; n++)
		write_one(7, n);
	CHECK_EQ(count(last + 1 - ENTRIES, last, KASAN_RING_NOW), ENTRIES);
	/* A reader that started before does not see what came since. */
	mark = kasan_ring_mark();
	for (; n <= last + 4; n++)
		write_one(7, n);
	CHECK_EQ(count(last + 5 - ENTRIES, last, mark), ENTRIES - 4);
	restore();
}

/* A CPU that does little keeps its segment and what it wrote, however much the others do. */
static void idle_cpu(void)
{
	struct kasan_ring_order order = {0};
	struct kasan_ring_record record;
	size_t place, seen = 0;
	uint32_t n;

	shrink();
	kasan_posix_set_cpu(1);
	write_one(1, 1);
	kasan_posix_set_cpu(0);
	for (n = 2; n <= 5 * ENTRIES; n++)
		write_one(7, n);
	kasan_posix_set_cpu(1);
	write_one(1, n);
	kasan_ring_each (&place, &record, KASAN_RING_NOW) {
		CHECK(is_whole(&record));
		if (record.track.pid == 1)
			seen++;
		if (number_of(&record) == n)
			order = record.order;
	}
	CHECK_EQ(seen, 2);
	REQUIRE(order.stamp);
	/* Only what was written in the same epoch may look as young. */
	kasan_ring_each (&place, &record, KASAN_RING_NOW) {
		CHECK(!kasan_ring_newer(&record.order, &order, order.is_free));
		CHECK(number_of(&record) > n - KASAN_RING_SEGMENT ||
		      kasan_ring_newer(&order, &record.order, true));
	}
	restore();
}

/* The pointer with @tag to one object. */
static const void *tagged(unsigned int tag)
{
	return (const void *)((uintptr_t)tag << KASAN_TAG_SHIFT | 0x7000);
}

static void on(unsigned int cpu, unsigned int tag, bool is_free)
{
	const struct kasan_track track = {0};

	kasan_posix_set_cpu(cpu);
	kasan_ring_record(tagged(tag), 64, is_free, &track);
}

/* Return: the size in the newest record of tagged(@tag), 0 if there is none. */
static size_t size_of(unsigned int tag)
{
	struct kasan_ring_record record, newest = {0};
	size_t place;

	kasan_ring_each (&place, &record, KASAN_RING_NOW) {
		if (record.ptr == (uintptr_t)tagged(tag) &&
		    (!newest.ptr || kasan_ring_newer(&record.order, &newest.order, true)))
			newest = record;
	}
	return newest.size;
}

/* Only the newest record of the same CPU is corrected, and only an allocation. */
static void corrected(void)
{
	shrink();
	kasan_posix_set_cpu(0);
	CHECK(!kasan_ring_correct(tagged(0x21), 10));
	for (unsigned int i = 0; i < 2 * KASAN_RING_SEGMENT; i++) {
		on(0, 0x21, false);
		CHECK(kasan_ring_correct(tagged(0x21), 1 + i % 60));
		CHECK_EQ(size_of(0x21), 1 + i % 60);
		on(0, 0x22, false);
		CHECK(!kasan_ring_correct(tagged(0x21), 61));
		CHECK_EQ(size_of(0x21), 1 + i % 60);
		on(0, 0x22, true);
		CHECK(!kasan_ring_correct(tagged(0x22), 61));
		CHECK_EQ(size_of(0x22), 64);
	}
	on(0, 0x23, false);
	kasan_posix_set_cpu(1);
	CHECK(!kasan_ring_correct(tagged(0x23), 61));
	CHECK_EQ(size_of(0x23), 64);
	restore();
}

/* An object goes from CPU to CPU. In @busy steps in between the others move on, so that stamps differ, or not. */
static void hand_over(unsigned int busy)
{
	shrink();
	for (unsigned int tag = 0x20; tag < 0x40; tag++) {
		on(tag % 3, tag, false);
		CHECK(kasan_ring_lives(tagged(tag)));
		CHECK(!kasan_ring_lives(tagged(tag - 1)));
		for (unsigned int n = 0; n < busy; n++)
			write_one(7, 1 + n);
		on((tag + 1) % 3, tag, true);
		CHECK(!kasan_ring_lives(tagged(tag)));
	}
	restore();
}

static void handed_over(void)
{
	hand_over(0);
	hand_over(1);
	hand_over(KASAN_RING_SEGMENT);
	hand_over(3 * KASAN_RING_SEGMENT);
}

static unsigned int stop;

static void *writer_thread(void *argument)
{
	const unsigned int writer = (unsigned int)(uintptr_t)argument;
	uint32_t n;

	for (n = 1; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); n++)
		write_one(writer, n);
	return NULL;
}

/* Readers meet four writers: every record is whole, and those of one writer come in its order. */
static void many_writers(void)
{
	pthread_t threads[WRITERS];
	unsigned long torn = 0, disorder = 0, seen = 0;
	unsigned int i;

	shrink();
	stop = 0;
	for (i = 0; i < WRITERS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, writer_thread,
					(void *)(uintptr_t)(i + 1)));
	do {
		struct kasan_ring_record last[WRITERS + 1] = {0}, record;
		size_t place;

		kasan_ring_each (&place, &record, KASAN_RING_NOW) {
			struct kasan_ring_record *before = &last[record.ptr & 7];

			seen++;
			if (!is_whole(&record) || record.track.pid > WRITERS) {
				torn++;
				continue;
			}
			if (before->ptr && (kasan_ring_newer(&record.order, &before->order, true) !=
					    (number_of(&record) > number_of(before))))
				disorder++;
			*before = record;
		}
	} while (seen < RECORDS);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(torn, 0);
	CHECK_EQ(disorder, 0);
	restore();
}

UNIT_MAIN(overwritten, idle_cpu, corrected, handed_over, many_writers)
