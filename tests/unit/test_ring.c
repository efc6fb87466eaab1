/* SPDX-License-Identifier: MIT */
/*
 * test_ring.c - the stack ring: order, overwriting, and that readers never see half of a record.
 *
 * The ring is made so small that writers overtake each other by whole rounds all the time.
 */
#include <pthread.h>

#include "../../runtime/track/ring.h"
#include "unit.h"

#define ENTRIES 16
#define WRITERS 4
#define RECORDS 200000U

static uint64_t full_mask;

static void shrink(void)
{
	full_mask = kasan_ring.mask;
	REQUIRE(full_mask >= ENTRIES);
	kasan_ring.mask = ENTRIES - 1;
}

static void restore(void)
{
	kasan_ring.mask = full_mask;
}

/* Every part of a record follows from its writer and its number. */
static void write_one(unsigned int writer, uint32_t n)
{
	const struct kasan_track track = {.pid = writer, .stack = n * 0x9e3779b1U};

	kasan_ring_record((const void *)((uintptr_t)n << 8 | writer), n & 0xffffff, n & 1, &track);
}

static bool is_whole(const struct kasan_ring_record *record)
{
	const uint32_t n = (uint32_t)(record->ptr >> 8);

	return record->track.pid == (record->ptr & 0xff) &&
	       record->track.stack == n * 0x9e3779b1U && record->size == (n & 0xffffff) &&
	       record->is_free == (n & 1);
}

static struct kasan_ring_cursor newest(void)
{
	return (struct kasan_ring_cursor){.number = kasan_ring_newest()};
}

static void newest_first(void)
{
	struct kasan_ring_cursor cursor, earlier;
	struct kasan_ring_record record;
	uint32_t n;

	shrink();
	CHECK_EQ(kasan_ring_entries(), ENTRIES);
	for (n = 1; n <= 3 * ENTRIES + 5; n++)
		write_one(7, n);
	earlier = cursor = newest();
	for (n = 3 * ENTRIES + 5; n > 2 * ENTRIES + 5; n--) {
		REQUIRE(kasan_ring_next(&cursor, &record));
		CHECK(is_whole(&record));
		CHECK_EQ(record.ptr >> 8, n);
	}
	/* The older ones are overwritten. */
	CHECK(!kasan_ring_next(&cursor, &record));
	/* A reader that started before does not see what came since. */
	for (n = 3 * ENTRIES + 6; n <= 3 * ENTRIES + 9; n++)
		write_one(7, n);
	REQUIRE(kasan_ring_next(&earlier, &record));
	CHECK_EQ(record.ptr >> 8, 3 * ENTRIES + 5);
	restore();
}

/* A writer that stopped in the middle of its record: one that comes a round later leaves, and readers skip it. */
static void overtaken(void)
{
	struct kasan_ring_cursor cursor;
	struct kasan_ring_record record;
	struct kasan_ring_entry *entry;
	uint64_t stuck;
	uint32_t n, seen = 0;

	shrink();
	write_one(7, 1);
	stuck = kasan_ring.last;
	entry = kasan_ring_entry_of(&kasan_ring, stuck, kasan_ring.mask);
	entry->seq = KASAN_RING_BUSY;
	for (n = 2; n <= ENTRIES + 1; n++)
		write_one(7, n);
	CHECK(entry->seq == KASAN_RING_BUSY);
	CHECK_EQ(entry->ptr >> 8, 1);
	cursor = newest();
	while (kasan_ring_next(&cursor, &record)) {
		CHECK(is_whole(&record));
		CHECK(record.ptr >> 8 != 1 && record.ptr >> 8 != ENTRIES + 1);
		seen++;
	}
	CHECK_EQ(seen, ENTRIES - 1);
	/* It goes on: its record is too old by now for any reader. */
	__atomic_store_n(&entry->seq, stuck, __ATOMIC_RELEASE);
	cursor = newest();
	while (kasan_ring_next(&cursor, &record))
		CHECK(record.ptr >> 8 != 1);
	write_one(7, ENTRIES + 2);
	cursor = newest();
	REQUIRE(kasan_ring_next(&cursor, &record));
	CHECK_EQ(record.ptr >> 8, ENTRIES + 2);
	restore();
}

static unsigned int running;

static void *writer_thread(void *argument)
{
	const unsigned int writer = (unsigned int)(uintptr_t)argument;
	uint32_t n;

	for (n = 1; n <= RECORDS; n++)
		write_one(writer, n);
	__atomic_fetch_sub(&running, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* Readers meet four writers: every record is whole, and those of one writer come in its order. */
static void many_writers(void)
{
	pthread_t threads[WRITERS];
	unsigned long torn = 0, disorder = 0, seen = 0;
	const uint64_t before = kasan_ring.last;
	unsigned int i;

	shrink();
	running = WRITERS;
	for (i = 0; i < WRITERS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, writer_thread,
					(void *)(uintptr_t)(i + 1)));
	do {
		uint64_t oldest[WRITERS + 1] = {0};
		struct kasan_ring_cursor cursor = newest();
		struct kasan_ring_record record;

		while (kasan_ring_next(&cursor, &record)) {
			seen++;
			if (!is_whole(&record)) {
				torn++;
				continue;
			}
			/* What the cases before have left. */
			if (record.track.pid > WRITERS)
				continue;
			if (oldest[record.track.pid] && record.ptr >> 8 >= oldest[record.track.pid])
				disorder++;
			oldest[record.track.pid] = record.ptr >> 8;
		}
	} while (__atomic_load_n(&running, __ATOMIC_ACQUIRE));
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(torn, 0);
	CHECK_EQ(disorder, 0);
	CHECK(seen > 1000);
	CHECK_EQ(kasan_ring.last - before, (uint64_t)WRITERS * RECORDS);
	restore();
}

UNIT_MAIN(newest_first, overtaken, many_writers)
