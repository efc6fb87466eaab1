/* SPDX-License-Identifier: MIT */
/*
 * test_depot.c - the stack depot: equal traces share a handle, garbage handles do no harm, and threads get the same
 * handles. A full depot refuses new traces and still finds known ones.
 *
 * Built with a depot of one block (CONFIG_KASAN_DEPOT_SIZE=65536) and few hash buckets, so that the bound is soon
 * reached and chains are long.
 */
#include <pthread.h>
#include <string.h>

#include "../../runtime/track/track.h"
#include "unit.h"

/* Make a trace that depends on @n alone: 1 to 16 frames with addresses of one image. */
static size_t make_trace(uint64_t n, uintptr_t *pcs)
{
	size_t count = 1 + n % 16;
	uint64_t x = n * 0x9e3779b97f4a7c15 + 1;

	for (size_t i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		pcs[i] = 0xffff800080000000 + (x % 0x1000000 & ~3UL);
	}
	return count;
}

static bool holds(uint32_t handle, const uintptr_t *pcs, size_t count)
{
	const uintptr_t *got;

	return kasan_depot_fetch(handle, &got) == count && !memcmp(got, pcs, count * sizeof(*pcs));
}

static void equal_traces_share_a_handle(void)
{
	uintptr_t pcs[16];
	uint32_t handles[64];

	for (uint64_t n = 0; n < 64; n++) {
		size_t count = make_trace(n, pcs);

		handles[n] = kasan_depot_save(pcs, count);
		REQUIRE(handles[n]);
		CHECK(holds(handles[n], pcs, count));
		for (uint64_t m = 0; m < n; m++)
			CHECK(handles[m] != handles[n]);
	}
	for (uint64_t n = 0; n < 64; n++) {
		struct kasan_depot_stats before, after;
		size_t count = make_trace(n, pcs);

		kasan_depot_stats(&before);
		CHECK_EQ(kasan_depot_save(pcs, count), handles[n]);
		kasan_depot_stats(&after);
		CHECK_EQ(after.bytes, before.bytes);
		CHECK_EQ(after.traces, before.traces);
	}
}

/* A prefix, an extension, or a trace with one changed frame is a different trace. */
static void near_traces_differ(void)
{
	uintptr_t pcs[16];
	uint32_t whole;

	make_trace(15, pcs);
	whole = kasan_depot_save(pcs, 16);
	for (size_t count = 1; count < 16; count++)
		CHECK(kasan_depot_save(pcs, count) != whole);
	for (size_t i = 0; i < 16; i++) {
		pcs[i] ^= 4;
		CHECK(kasan_depot_save(pcs, 16) != whole);
		pcs[i] ^= 4;
	}
	CHECK_EQ(kasan_depot_save(pcs, 16), whole);
}

static void long_and_empty_traces(void)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH + 20];
	const uintptr_t *got;
	uint32_t handle;

	for (size_t i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++)
		pcs[i] = 0x1000 + i * 8;
	handle = kasan_depot_save(pcs, sizeof(pcs) / sizeof(pcs[0]));
	CHECK(handle);
	CHECK_EQ(kasan_depot_fetch(handle, &got), CONFIG_KASAN_STACK_DEPTH);
	CHECK(!memcmp(got, pcs, CONFIG_KASAN_STACK_DEPTH * sizeof(pcs[0])));
	CHECK_EQ(kasan_depot_save(pcs, 0), 0);
}

/* Handles are read from redzones, which any bug may overwrite: no value may crash the depot or give a wrong trace. */
static void garbage_handles(void)
{
	const uintptr_t *pcs;
	unsigned long accepted = 0;

	CHECK_EQ(kasan_depot_fetch(0, &pcs), 0);
	CHECK_EQ(kasan_depot_fetch(UINT32_MAX, &pcs), 0);
	for (uint32_t i = 0; i < 300000; i++) {
		/* Try all small values, because real handles are small; then random ones. */
		uint32_t handle = i < 100000 ? i : (uint32_t)unit_random();
		size_t count = kasan_depot_fetch(handle, &pcs);

		CHECK(count <= CONFIG_KASAN_STACK_DEPTH);
		if (count) {
			/* The handle leads to a real trace: saving that again gives the same handle. */
			accepted++;
			CHECK_EQ(kasan_depot_save(pcs, count), handle);
		}
	}
	CHECK(accepted > 0 && accepted < 5000);
}

/* --- Threads ---------------------------------------------------------------------------------- */

#define THREADS 4
#define SHARED	150

static uint32_t thread_handles[THREADS][SHARED];
static pthread_barrier_t barrier;

static void *save_all(void *arg)
{
	uint32_t *handles = arg;
	uintptr_t pcs[16];

	pthread_barrier_wait(&barrier);
	for (uint64_t n = 0; n < SHARED; n++) {
		size_t count = make_trace(1000 + n, pcs);

		handles[n] = kasan_depot_save(pcs, count);
	}
	return NULL;
}

static void threads_agree(void)
{
	pthread_t threads[THREADS];
	struct kasan_depot_stats before, after;
	uintptr_t pcs[16];

	kasan_depot_stats(&before);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, save_all, thread_handles[i]));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	kasan_depot_stats(&after);
	CHECK_EQ(after.traces - before.traces, SHARED);
	for (uint64_t n = 0; n < SHARED; n++) {
		size_t count = make_trace(1000 + n, pcs);

		CHECK(thread_handles[0][n]);
		CHECK(holds(thread_handles[0][n], pcs, count));
		for (int i = 1; i < THREADS; i++)
			CHECK_EQ(thread_handles[i][n], thread_handles[0][n]);
	}
}

/* --- The bound: these cases come last, because they leave the depot full ---------------------- */

/* An NMI comes under the lock of the depot, and stores a trace that is new, and one that is known. */
static unsigned int nmis;
static uint32_t known_handle;

static void nmi(void)
{
	uintptr_t pcs[16];

	if (nmis++)
		return;
	CHECK_EQ(kasan_depot_save(pcs, make_trace(900001, pcs)), 0);
	CHECK_EQ(kasan_depot_save(pcs, make_trace(900000, pcs)), known_handle);
}

static void interrupted_by_an_nmi(void)
{
	uintptr_t pcs[16];

	known_handle = kasan_depot_save(pcs, make_trace(900000, pcs));
	REQUIRE(known_handle);
	kasan_posix_hooks.locked = nmi;
	unit_clear();
	CHECK(kasan_depot_save(pcs, make_trace(900002, pcs)));
	kasan_posix_hooks.locked = NULL;
	CHECK(nmis);
	/* There is no want of memory, and none was said. */
	CHECK_EQ(unit_lines(), 0);
	CHECK(kasan_depot_save(pcs, make_trace(900001, pcs)));
}

static void at_and_past_the_bound(void)
{
	struct kasan_depot_stats stats;
	uintptr_t pcs[16];
	uint32_t last = 0, handle;
	uint64_t n, last_n = 0;

	unit_clear();
	for (n = 5000; n < 100000; n++) {
		size_t count = make_trace(n, pcs);

		handle = kasan_depot_save(pcs, count);
		kasan_depot_stats(&stats);
		CHECK(stats.bytes <= stats.max_bytes);
		if (!handle)
			break;
		last = handle;
		last_n = n;
	}
	REQUIRE(last && n < 100000);
	CHECK(stats.max_bytes <= CONFIG_KASAN_DEPOT_SIZE);
	/* The depot is nearly full: at most the room for one trace of the largest size is left. */
	CHECK(stats.max_bytes - stats.bytes <= 64 + 16 * sizeof(pcs[0]));
	CHECK(stats.refused > 0);
	/* Past the bound: thousands more traces are refused, with a single message. */
	for (n++; n < 12000; n++)
		CHECK_EQ(kasan_depot_save(pcs, make_trace(n, pcs)), 0);
	CHECK_EQ(unit_lines(), 1);
	CHECK(strstr(unit_line(0), "depot"));
	/* Known traces are still found. */
	CHECK_EQ(kasan_depot_save(pcs, make_trace(last_n, pcs)), last);
	CHECK_EQ(kasan_depot_save(pcs, make_trace(1000, pcs)), thread_handles[0][0]);
	CHECK(holds(thread_handles[0][0], pcs, make_trace(1000, pcs)));
}

/* A report that knows only the task of an allocation is still whole. */
static void reports_without_a_stack(void)
{
	char *p = kasan_posix_malloc(24);
	int at;

	REQUIRE(p);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 24, 1));
	at = unit_find(0, "Allocated by task ");
	REQUIRE(at > 0);
	CHECK(!strcmp(unit_line((size_t)at + 1), " (stack is not available)"));
	CHECK(unit_find((size_t)at, "Memory state around the buggy address:") > 0);
	kasan_posix_free(p);
}

UNIT_MAIN(equal_traces_share_a_handle, near_traces_differ, long_and_empty_traces, garbage_handles,
	  threads_agree, interrupted_by_an_nmi, at_and_past_the_bound, reports_without_a_stack)
