/* SPDX-License-Identifier: MIT */
/* test_heap_cpus.c - a simple heap whose objects several CPUs free: the bound of its quarantine, who holds how much of it,
 * and two frees of one object at the same time. */
#include <pthread.h>
#include <sched.h>

#include "../../ports/posix/kasan_posix.h"
#include "unit.h"

#define MAX	1048576UL
#define THREADS 2U
#define ROUNDS	500U

static size_t freed, released; /* bytes */

static size_t span_of_100(struct kasan_heap *heap)
{
	return kasan_heap_span(heap, 100, 0);
}

/* Memory that no chunk had for longer than a quarantine holds one back. */
static void *memory(size_t bytes)
{
	const size_t whole = 8 * MAX;
	static char *arena;
	static size_t used;

	if (!arena)
		arena = unit_arena(whole);
	if (used + bytes > whole)
		used = 0;
	used += (bytes + 15) & ~15UL;
	return arena + used - ((bytes + 15) & ~15UL);
}

static void note_release(struct kasan_heap *heap, void *raw)
{
	(void)raw;
	__atomic_fetch_add(&released, span_of_100(heap), __ATOMIC_RELAXED);
}

/* Allocate and free @count objects, which @cpu frees. */
static void turn_over(struct kasan_heap *heap, unsigned int cpu, unsigned int count)
{
	const size_t span = span_of_100(heap);

	for (unsigned int i = 0; i < count; i++) {
		void *p = kasan_heap_alloc(heap, memory(span), 100, 0);

		REQUIRE(p);
		kasan_posix_set_cpu(cpu);
		CHECK(kasan_heap_free(heap, p, 0));
		freed += span;
		CHECK(freed - released <= MAX);
	}
}

/* Return: the bytes that the queue of @cpu holds. */
static size_t held(const struct kasan_heap *heap, unsigned int cpu)
{
	return heap->queues[cpu].fifo.bytes;
}

static void heap_start(struct kasan_heap *heap)
{
	freed = released = 0;
	kasan_heap_add(heap);
}

/* One CPU has the whole quarantine. A second one gets all of it if the first does nothing more. */
static void idle_cpu(void)
{
	static struct kasan_heap heap = {
		.name = "idle", .quarantine_max = MAX, .release = note_release};
	unsigned int all;

	heap_start(&heap);
	all = MAX / span_of_100(&heap);
	turn_over(&heap, 0, 2 * all);
	CHECK_EQ(freed - released, all * span_of_100(&heap));
	CHECK_EQ(held(&heap, 0), freed - released);
	turn_over(&heap, 1, 2 * all);
	CHECK_EQ(held(&heap, 0), 0);
	CHECK(held(&heap, 1) > MAX - MAX / 64);
	kasan_heap_shrink(&heap);
	CHECK_EQ(freed, released);
}

/* CPUs that do the same get the same. */
static void busy_cpus(void)
{
	static struct kasan_heap heap = {
		.name = "busy", .quarantine_max = MAX, .release = note_release};
	unsigned int all;

	heap_start(&heap);
	all = MAX / span_of_100(&heap);
	turn_over(&heap, 0, all);
	for (unsigned int i = 0; i < 2 * all; i++) {
		for (unsigned int cpu = 0; cpu < 3; cpu++)
			turn_over(&heap, cpu, 1);
	}
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		CHECK(held(&heap, cpu) > MAX / 3 - MAX / 16);
	kasan_heap_shrink(&heap);
	CHECK_EQ(freed, released);
}

/* A chunk as large as the quarantine takes all of it, from whichever CPU has it. */
static void large_chunk(void)
{
	static struct kasan_heap heap = {
		.name = "large", .quarantine_max = MAX, .release = note_release};
	size_t size;
	void *p;

	heap_start(&heap);
	size = MAX - (span_of_100(&heap) - 100) - 64;
	turn_over(&heap, 0, 1000);
	turn_over(&heap, 1, 1000);
	REQUIRE(kasan_heap_span(&heap, size, 0) <= MAX);
	p = kasan_heap_alloc(&heap, memory(MAX), size, 0);
	REQUIRE(p);
	kasan_posix_set_cpu(2);
	CHECK(kasan_heap_free(&heap, p, 0));
	CHECK_EQ(freed, released);
	CHECK_EQ(held(&heap, 2), kasan_heap_span(&heap, size, 0));
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
	kasan_posix_set_cpu(0);
}

static unsigned int meeting;
static void *shared[ROUNDS];
static unsigned int succeeded[THREADS][ROUNDS];
static struct kasan_heap racing = {.name = "racing", .quarantine_max = 1 << 16};

static void *free_all(void *argument)
{
	const unsigned int thread = (unsigned int)(uintptr_t)argument;

	kasan_posix_set_cpu(thread);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		/* Not a barrier: threads that it wakes start one after the other. */
		__atomic_fetch_add(&meeting, 1, __ATOMIC_ACQ_REL);
		for (unsigned int n = 1;
		     __atomic_load_n(&meeting, __ATOMIC_ACQUIRE) < THREADS * (i + 1); n++) {
			if (n % 4096 == 0)
				sched_yield();
		}
		succeeded[thread][i] = kasan_heap_free(&racing, shared[i], 0);
	}
	return NULL;
}

static void keep(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	(void)raw;
}

/* Two CPUs free the same objects at the same time: each object is freed once, and the other free is reported. */
static void one_free_wins(void)
{
	pthread_t threads[THREADS];
	size_t bad = 0;

	racing.release = keep;
	kasan_heap_add(&racing);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		shared[i] = kasan_heap_alloc(&racing, memory(256), 40, 0);
		REQUIRE(shared[i]);
	}
	unit_clear();
	for (unsigned int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, free_all, (void *)(uintptr_t)i));
	for (unsigned int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_join(threads[i], NULL));
	for (unsigned int i = 0; i < ROUNDS; i++)
		bad += succeeded[0][i] + succeeded[1][i] != 1;
	CHECK_EQ(bad, 0);
	CHECK(unit_find(0, "invalid-free") < 0);
}

UNIT_MAIN(idle_cpu, busy_cpus, large_chunk, one_free_wins)
