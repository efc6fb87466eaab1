/* SPDX-License-Identifier: MIT */
/* test_compact.c - the compact shadow with several CPUs: neighbours whose granules share a byte of shadow change it at
 * the same time, and neither loses what the other has written. */
#include <pthread.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define THREADS 4 /* as many granules as share a byte */
#define ROUNDS	10000000
#define SPAN	64 /* of a chunk, without the rounding below */

static char memory[65536] __attribute__((__aligned__(32)));
static uint8_t shadow[sizeof(memory) / 32];
static pthread_barrier_t barrier;
static unsigned long lost[THREADS];

static void add_window(void)
{
	static bool added;

	if (!added)
		REQUIRE(!kasan_window_add((uintptr_t)memory, sizeof(memory), shadow));
	added = true;
}

static void run(void *(*function)(void *))
{
	pthread_t threads[THREADS];
	unsigned long n;

	add_window();
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (n = 0; n < THREADS; n++) {
		lost[n] = 0;
		REQUIRE(!pthread_create(&threads[n], NULL, function, (void *)n));
	}
	for (n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	pthread_barrier_destroy(&barrier);
	for (n = 0; n < THREADS; n++)
		CHECK_EQ(lost[n], 0);
}

/* Each thread has one granule of each byte of shadow. */
static void *poison_own(void *number)
{
	const unsigned long n = (unsigned long)number;

	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const uintptr_t own = (uintptr_t)memory + (i / 1000 % 64) * 32 + n * 8;

		kasan_poison((void *)own, 8, n & 1 ? KASAN_SLAB_FREE : KASAN_SLAB_REDZONE);
		lost[n] += kasan_first_bad(own, 8) != own;
		kasan_unpoison((void *)own, 8);
		lost[n] += kasan_first_bad(own, 8) != 0;
	}
	return NULL;
}

static void neighbours_keep_their_bits(void)
{
	run(poison_own);
	CHECK_EQ(kasan_first_bad((uintptr_t)memory, sizeof(memory)), 0);
}

static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	(void)raw;
}

static struct kasan_heap heap = {.name = "compact", .release = release};

/* Chunks that begin and end inside a byte of shadow, one thread's beside another's. */
static void *use_heap(void *number)
{
	const unsigned long n = (unsigned long)number;
	const size_t span = (kasan_heap_span(&heap, SPAN, 0) + 15) / 16 * 16 + 8;
	char *const raw = memory + 32768 + n * span;

	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < ROUNDS / 50; i++) {
		const size_t size = 1 + i % SPAN;
		const uintptr_t p = (uintptr_t)kasan_heap_alloc(&heap, raw, size, 0);

		lost[n] += kasan_first_bad(p, size) != 0;
		lost[n] += kasan_first_bad(p, size + 1) != p + size;
		lost[n] += kasan_first_bad(p - 1, 1) != p - 1;
		if (!kasan_heap_free(&heap, (void *)p, 0))
			lost[n]++;
		lost[n] += kasan_first_bad(p, 1) != p;
	}
	return NULL;
}

static void chunks_keep_their_redzones(void)
{
	kasan_heap_add(&heap);
	run(use_heap);
	CHECK_EQ(unit_reports(), 0);
}

UNIT_MAIN(neighbours_keep_their_bits, chunks_keep_their_redzones)
