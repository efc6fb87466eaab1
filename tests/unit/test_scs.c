/* SPDX-License-Identifier: MIT */
/*
 * test_scs.c - traces from a shadow call stack that this test fills, and the table of known stacks: a trace is right in
 * every word, whatever the table had before, whichever thread asks, and when there is no memory.
 *
 * Built with a depot of 16 buckets at the start.
 */
#include <pthread.h>
#include <string.h>

#include "../../runtime/track/known.h"
#include "unit.h"

__thread uintptr_t unit_scs_top, unit_scs_base;

#define MOST 100
#define IP   ((uintptr_t)0xffff800080123450)

static __thread uintptr_t words[MOST + 2];

/* A stack of @count entries whose contents depend on @n alone; words outside are garbage that must not be read into a
 * trace. */
static void make_stack(size_t count, uint64_t n)
{
	uint64_t x = n * 0x9e3779b97f4a7c15 + count + 1;

	for (size_t i = 0; i < MOST + 2; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		words[i] = 0xffff800080000000 + (x % 0x1000000 & ~3UL) + 4;
	}
	words[0] = 0;
	unit_scs_base = (uintptr_t)&words[1];
	unit_scs_top = (uintptr_t)&words[1 + count];
}

/* What the trace must be: @ip, then the entries from the newest on without the first @skip of them. */
static size_t expected(uintptr_t *pcs, uintptr_t ip, size_t skip)
{
	const uintptr_t *at = (const uintptr_t *)unit_scs_top - skip;
	size_t n = 0;

	pcs[n++] = ip;
	while (n < CONFIG_KASAN_STACK_DEPTH && at > (const uintptr_t *)unit_scs_base && at[-1])
		pcs[n++] = *--at;
	return n;
}

static bool is_trace(uint32_t handle, uintptr_t ip, size_t skip)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	size_t count = expected(pcs, ip, skip);
	const uintptr_t *got;

	return kasan_depot_fetch(handle, &got) == count && !memcmp(got, pcs, count * sizeof(*pcs));
}

/* As a hook asks: first without a call. @found: it was known. */
static uint32_t ask(uintptr_t ip, bool *found)
{
	uint32_t handle = 0;

	*found = kasan_known_stack(kasan_known, ip, 0, &handle);
	return *found ? handle : kasan_save_track_stack(ip, 0);
}

/* --- Capture ------------------------------------------------------------------------------------ */

/* Every depth from an empty stack to far more than fit, twice each: the second time most are known. */
static void every_depth(void)
{
	bool found;

	for (size_t count = 0; count <= MOST; count++) {
		uint32_t first, second;

		make_stack(count, 1);
		first = ask(IP, &found);
		CHECK(first && !found);
		CHECK(is_trace(first, IP, 0));
		second = ask(IP, &found);
		CHECK_EQ(second, first);
		CHECK_EQ(found, count >= 3 && count < CONFIG_KASAN_STACK_DEPTH);
	}
}

/* A zero, as below the first function of a task, ends the trace. */
static void zero_ends_it(void)
{
	bool found;

	for (size_t at = 1; at <= 12; at++) {
		make_stack(12, 2);
		words[at] = 0;
		for (int i = 0; i < 2; i++)
			CHECK(is_trace(ask(IP, &found), IP, 0));
	}
}

/* @ip is the return address of a function further out: the entries up to it are left out. */
static void skipped_entries(void)
{
	for (size_t skip = 1; skip <= 8; skip++) {
		make_stack(20, 3);
		((uintptr_t *)unit_scs_top)[-(ptrdiff_t)skip] = IP;
		for (int i = 0; i < 2; i++)
			CHECK(is_trace(kasan_save_stack(IP, 0), IP, skip));
	}
	/* All of it. */
	make_stack(1, 3);
	words[1] = IP;
	CHECK(is_trace(kasan_save_stack(IP, 0), IP, 1));
	/* Too far out, or not there: behind @ip comes all of it. */
	make_stack(20, 3);
	((uintptr_t *)unit_scs_top)[-12] = IP;
	CHECK(is_trace(kasan_save_stack(IP, 0), IP, 0));
}

/* Without a shadow stack frames are followed: this function's caller is in the trace. */
static __attribute__((noinline)) void no_shadow_stack(void)
{
	const uintptr_t *pcs;
	bool found;
	uint32_t handle;

	unit_scs_top = 0;
	CHECK(!kasan_known_stack(kasan_known, IP, 0, &handle));
	handle = kasan_save_track_stack((uintptr_t)__builtin_return_address(0),
					(uintptr_t)__builtin_frame_address(0));
	CHECK(kasan_depot_fetch(handle, &pcs) >= 2);
	CHECK_EQ(pcs[0], (uintptr_t)__builtin_return_address(0));
	/* No frame either. */
	CHECK(kasan_depot_fetch(ask(IP, &found), &pcs) == 1 && pcs[0] == IP);
}

/* --- The table ---------------------------------------------------------------------------------- */

/* The record in the entry of the stack at hand differs from it in one word, anywhere, or in length: it is not taken,
 * although the table names it. */
static void no_wrong_hit(void)
{
	struct kasan_scs scs = {0};
	uint32_t handle;
	bool found;

	for (size_t count = 3; count < CONFIG_KASAN_STACK_DEPTH; count += 1 + count / 12) {
		const struct kasan_record *planted, **entry;

		/* One older entry than it has. */
		make_stack(count + 1, 4);
		for (size_t at = 0; at <= count + 2; at++) {
			uintptr_t *word = at < count ? &words[2 + at] : NULL;
			uintptr_t ip = at == count ? IP + 4 : IP;
			size_t size = count + (at == count + 1) - (at == count + 2);

			if (size < 3 || size >= CONFIG_KASAN_STACK_DEPTH)
				continue;
			/* The other trace, and where the table has it. */
			if (word)
				*word ^= 4;
			unit_scs_base = (uintptr_t)&words[2 + count - size];
			ask(ip, &found);
			REQUIRE(kasan_scs_here(&scs));
			planted = *kasan_known_entry(kasan_known, kasan_known_scs_key(ip, &scs));
			REQUIRE(planted);
			if (word)
				*word ^= 4;
			/* Under the key of this one. */
			unit_scs_base = (uintptr_t)&words[2];
			REQUIRE(kasan_scs_here(&scs));
			entry = kasan_known_entry(kasan_known, kasan_known_scs_key(IP, &scs));
			for (unsigned int way = 0; way < KASAN_KNOWN_WAYS; way++)
				*kasan_known_way(entry, way) = planted;
			CHECK(!kasan_known_stack(kasan_known, IP, 0, &handle));
			CHECK(is_trace(ask(IP, &found), IP, 0));
			/* Now it is known, and the right one. */
			CHECK(is_trace(ask(IP, &found), IP, 0));
			CHECK(found);
		}
	}
}

/* Garbage in the table that is a record, but any: traces stay right. */
static void shuffled_table(void)
{
	const struct kasan_record **entries = kasan_known_entry(kasan_known, 0);
	const size_t count = (size_t)1 << (32 - ((uintptr_t)kasan_known & 31));
	bool found;

	for (unsigned int i = 0; i < 2000; i++) {
		const struct kasan_record **a = &entries[unit_below(count)];
		const struct kasan_record **b = &entries[unit_below(count)], *both = *a;

		*a = *b;
		*b = both;
		make_stack(3 + i % 30, i % 50);
		CHECK(is_trace(ask(IP, &found), IP, 0));
	}
}

static unsigned int refusals;

static void *no_memory(size_t size)
{
	refusals++;
	return NULL;
}

#define MANY 20000

/* Many traces: the depot's table and that of known stacks grow, and each trace keeps its handle. */
static uint32_t handles[MANY];

static void many_traces(void)
{
	struct kasan_depot_stats before, after;
	unsigned int known = 0;
	bool found;

	kasan_depot_stats(&before);
	for (unsigned int n = 0; n < MANY; n++) {
		/* Memory is short when both tables would grow: when the number of traces gets beyond 2,048 or 8,192.
		 * For the traces there is some left. */
		kasan_depot_stats(&after);
		kasan_posix_hooks.alloc =
			(after.traces >= 2040 && after.traces < 2070) ||
					(after.traces >= 8180 && after.traces < 8210)
				? no_memory
				: NULL;
		make_stack(8, 1000 + n);
		handles[n] = ask(IP, &found);
		CHECK(handles[n] && is_trace(handles[n], IP, 0));
	}
	/* Each table, twice. */
	CHECK(refusals >= 4);
	kasan_depot_stats(&after);
	CHECK(after.traces >= before.traces + MANY - 10);
	/* Two traces for each bucket. */
	CHECK(after.buckets >= after.traces / 2 && after.buckets <= after.traces);
	CHECK(after.index_bytes > before.index_bytes);
	CHECK(after.index_bytes <= after.max_bytes * 3 / 8);
	for (unsigned int n = 0; n < MANY; n++) {
		make_stack(8, 1000 + n);
		CHECK_EQ(ask(IP, &found), handles[n]);
		known += found;
	}
	/* Nearly all at the first look. */
	CHECK(known > MANY * 7 / 10);
	kasan_depot_stats(&before);
	CHECK_EQ(before.traces, after.traces);
	CHECK_EQ(before.bytes, after.bytes);
}

/* A known stack takes no lock, known to the table or to the depot only. */
static void no_lock_for_known_stacks(void)
{
	unsigned long taken = kasan_posix_locks_taken();
	bool found;

	for (unsigned int n = 0; n < MANY; n += 7) {
		make_stack(8, 1000 + n);
		CHECK_EQ(ask(IP, &found), handles[n]);
	}
	make_stack(1, 1);
	ask(IP, &found);
	CHECK_EQ(kasan_posix_locks_taken(), taken);
}

#define THREADS 4

static pthread_barrier_t barrier;

/* All threads look for the same and for own traces, while both tables grow. */
static void *look(void *arg)
{
	const uintptr_t own = (uintptr_t)arg;
	size_t wrong = 0;
	bool found;

	pthread_barrier_wait(&barrier);
	for (unsigned int n = 0; n < MANY; n++) {
		make_stack(6 + n % 5, n % 3 ? 100000 + n : (own << 32) + n);
		wrong += !is_trace(ask(IP, &found), IP, 0);
		make_stack(8, 1000 + n);
		wrong += ask(IP, &found) != handles[n];
	}
	return (void *)wrong;
}

static void threads_agree(void)
{
	pthread_t threads[THREADS];
	void *wrong;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, look, (void *)(i + 1)));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		CHECK_EQ((size_t)wrong, 0);
	}
}

/* --- Boot parameters ---------------------------------------------------------------------------- */

static void off_and_collect(void)
{
	struct kasan_track track;
	uint32_t handle;
	bool found;

	make_stack(8, 1000);
	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	kasan_set_track(&track, IP, 0);
	CHECK(track.pid == 7 && !track.stack);
	CHECK_EQ(kasan_option("kasan.stacktrace", "collect"), 0);
	CHECK(!kasan_known_stack(kasan_known, IP, 0, &handle));
	kasan_set_full_track(&track, IP, 0);
	CHECK(track.pid == 7 && !track.stack);
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
	kasan_set_full_track(&track, IP, 0);
	CHECK(track.pid == 7 && track.stack == handles[0]);
	/* Silenced: nothing will be reported, so nothing is stored. */
	CHECK_EQ(kasan_option("kasan", "off"), 0);
	kasan_set_full_track(&track, IP, 0);
	CHECK(!track.stack);
	CHECK_EQ(kasan_option("kasan", "on"), 0);
	CHECK_EQ(ask(IP, &found), handles[0]);
}

UNIT_MAIN(every_depth, zero_ends_it, skipped_entries, no_shadow_stack, no_wrong_hit, shuffled_table,
	  many_traces, no_lock_for_known_stacks, threads_agree, off_and_collect)
