/* SPDX-License-Identifier: MIT */
/*
 * test_quarantine.c - freed objects wait in order, for each CPU and within a bound, until the quarantine is shrunk.
 *
 * Built with KASAN_POSIX_MEMORY of 4 MiB, so that the quarantine holds at most 128 KiB.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../runtime/alloc/quarantine.h"
#include "fake_slab.h"

#define BOUND ((4UL << 20) >> CONFIG_KASAN_QUARANTINE_SHIFT)

static struct kasan_quarantine_stats stats(void)
{
	struct kasan_quarantine_stats s;

	kasan_quarantine_stats(&s);
	return s;
}

/* The port's memory need not be aligned to pages. */
static unsigned int odd_pages;

static void *odd_memory(size_t size)
{
	static char memory[1 << 20] __attribute__((aligned(4096)));
	static size_t used = 48;
	char *const at = memory + used;

	/* The depot asks for more at once. */
	odd_pages += size == CONFIG_KASAN_PAGE_SIZE;
	used += size;
	return used <= sizeof(memory) ? at : NULL;
}

/* The first case, before there are chunks in other memory. */
static void memory_that_is_not_aligned(void)
{
	struct fake_slab *slabs[3];
	unsigned int i;

	kasan_posix_hooks.alloc = odd_memory;
	for (i = 0; i < 3; i++)
		slabs[i] = fake_slab_create("odd", 16, 8, 0, 250);
	for (i = 0; i < 3 * 2000; i++) {
		struct fake_slab *slab = slabs[i % 3];

		CHECK_EQ(fake_slab_free(slab, fake_slab_alloc(slab, 16)), KASAN_FREE_QUARANTINED);
		if (!slab->free_count)
			kasan_cache_shrink(&slab->cache);
	}
	kasan_posix_hooks.alloc = NULL;
	CHECK(odd_pages);
	kasan_cache_shrink(NULL);
	for (i = 0; i < 3; i++)
		CHECK_EQ(slabs[i]->release_count, 2000);
	CHECK_EQ(stats().objects, 0);
	CHECK_EQ(stats().bytes, 0);
}

static void freed_objects_wait(void)
{
	struct fake_slab *slab = fake_slab_create("wait", 128, 8, 0, 16);
	char *p = fake_slab_alloc(slab, 128);

	kasan_cache_shrink(NULL);
	CHECK_EQ(stats().objects, 0);
	CHECK_EQ(stats().bytes, 0);
	CHECK_EQ(stats().max_bytes, BOUND);
	CHECK_EQ(fake_slab_free(slab, p), KASAN_FREE_QUARANTINED);
	CHECK_EQ(stats().objects, 1);
	CHECK_EQ(stats().bytes, slab->slot_size);
	CHECK_EQ(slab->release_count, 0);
	/* A use after free is found, no matter how many other objects are allocated. */
	for (int i = 0; i < 15; i++)
		CHECK(fake_slab_alloc(slab, 128) != p);
	CHECK(!fake_slab_alloc(slab, 128));
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
	kasan_cache_shrink(&slab->cache);
	CHECK_EQ(slab->release_count, 1);
	CHECK(slab->released[0] == p);
	CHECK_EQ(stats().objects, 0);
	CHECK(fake_slab_alloc(slab, 128) == p);
}

static void never_past_the_bound(void)
{
	struct fake_slab *slab = fake_slab_create("bound", 1000, 8, 0, 200);
	size_t most = 0;

	kasan_cache_shrink(NULL);
	for (int round = 0; round < 3000; round++) {
		char *p = fake_slab_alloc(slab, 1000);

		REQUIRE(p);
		REQUIRE(fake_slab_free(slab, p) == KASAN_FREE_QUARANTINED);
		if (stats().bytes > most)
			most = stats().bytes;
		CHECK(stats().bytes <= BOUND);
		CHECK_EQ(stats().bytes, stats().objects * slab->slot_size);
	}
	CHECKF(most > BOUND / 2 && most <= BOUND, "held at most %zu of %zu bytes", most, BOUND);
	CHECK_EQ(slab->release_count, 3000 - stats().objects);
	kasan_cache_shrink(&slab->cache);
	CHECK_EQ(slab->release_count, 3000);
	CHECK_EQ(stats().bytes, 0);
}

static void first_freed_first_released(void)
{
	struct fake_slab *slab = fake_slab_create("order", 2000, 8, 0, 100);
	void *freed[1000];

	kasan_cache_shrink(NULL);
	for (int i = 0; i < 1000; i++) {
		freed[i] = fake_slab_alloc(slab, 2000);
		REQUIRE(freed[i]);
		fake_slab_free(slab, freed[i]);
	}
	CHECK(slab->release_count > 900);
	for (unsigned int i = 0; i < slab->release_count; i++)
		CHECK(slab->released[i] == freed[i]);
	kasan_cache_shrink(&slab->cache);
}

/* Caches that can take many slots back at once get them in bulk, each cache in its turn. */
static void *bulk_objects[2000];
static unsigned int bulk_count, bulk_calls;

static void release_bulk(struct kasan_cache *cache, void *const *objects, size_t count)
{
	bulk_calls++;
	for (size_t i = 0; i < count; i++) {
		/* The allocator may write into the slot now: its contents are not metadata any longer. */
		CHECK_EQ(*kasan_shadow_of(objects[i]), KASAN_SLAB_FREE);
		bulk_objects[bulk_count++ % 2000] = objects[i];
		cache->release(cache, objects[i]);
	}
}

static void released_in_bulk(void)
{
	struct fake_slab *bulk = fake_slab_create("bulk", 500, 8, KASAN_CACHE_RELEASE_BULK, 200);
	struct fake_slab *single = fake_slab_create("single", 500, 8, 0, 200);
	static void *freed[2000];
	unsigned int by_itself;

	kasan_cache_shrink(NULL);
	bulk->cache.release_bulk = release_bulk;
	for (int i = 0; i < 2000; i++) {
		freed[i] = fake_slab_alloc(bulk, 500);
		REQUIRE(freed[i]);
		CHECK_EQ(fake_slab_free(bulk, freed[i]), KASAN_FREE_QUARANTINED);
		if (i % 7 == 0)
			CHECK_EQ(fake_slab_free(single, fake_slab_alloc(single, 500)),
				 KASAN_FREE_QUARANTINED);
	}
	by_itself = bulk_count;
	CHECK(by_itself > 1800 && bulk_calls < by_itself / 2);
	for (unsigned int i = 0; i < by_itself; i++)
		CHECK(bulk_objects[i] == freed[i]);
	kasan_cache_shrink(NULL);
	CHECK_EQ(bulk_count, 2000);
	CHECK_EQ(bulk->release_count, 2000);
	CHECK_EQ(single->release_count, 2000 / 7 + 1);
}

/* An allocator leaves free slots alone: the record of the free stays, whichever way the slot came back. */
static void free_slots_left_alone(void)
{
	struct fake_slab *bulk = fake_slab_create("left", 100, 8, KASAN_CACHE_LEAVES_FREE, 20);
	void *p = fake_slab_alloc(bulk, 100), *q = fake_slab_alloc(bulk, 100);

	kasan_cache_shrink(NULL);
	CHECK_EQ(fake_slab_free(bulk, p), KASAN_FREE_QUARANTINED);
	kasan_cache_shrink(&bulk->cache);
	CHECK_EQ(*kasan_shadow_of(p), KASAN_SLAB_FREE_META);
	CHECK_EQ(kasan_option("kasan", "off"), 0);
	CHECK_EQ(fake_slab_free(bulk, q), KASAN_FREE_NOW);
	CHECK_EQ(kasan_option("kasan", "on"), 0);
	CHECK_EQ(*kasan_shadow_of(q), KASAN_SLAB_FREE_META);
}

/* While KASAN is off, the quarantine takes nothing; the objects in it are released as usual. */
static void switched_off(void)
{
	struct fake_slab *slab = fake_slab_create("off", 100, 8, 0, 20);

	kasan_cache_shrink(NULL);
	CHECK_EQ(fake_slab_free(slab, fake_slab_alloc(slab, 100)), KASAN_FREE_QUARANTINED);
	CHECK_EQ(kasan_option("kasan", "off"), 0);
	CHECK_EQ(fake_slab_free(slab, fake_slab_alloc(slab, 100)), KASAN_FREE_NOW);
	CHECK_EQ(stats().objects, 1);
	CHECK_EQ(kasan_option("kasan", "on"), 0);
	CHECK_EQ(fake_slab_free(slab, fake_slab_alloc(slab, 100)), KASAN_FREE_QUARANTINED);
	CHECK_EQ(stats().objects, 2);
	kasan_cache_shrink(NULL);
	CHECK_EQ(slab->release_count, 2);
	CHECK_EQ(stats().objects, 0);
}

/* An object larger than the whole quarantine is released at once: it must not push everything else out. */
static void too_large_an_object(void)
{
	struct fake_slab *small = fake_slab_create("small", 64, 8, 0, 8);
	struct fake_slab *big = fake_slab_create("big", 200000, 8, 0, 2);
	char *p = fake_slab_alloc(small, 64), *q = fake_slab_alloc(big, 200000);

	kasan_cache_shrink(NULL);
	CHECK_EQ(fake_slab_free(small, p), KASAN_FREE_QUARANTINED);
	CHECK_EQ(fake_slab_free(big, q), KASAN_FREE_NOW);
	CHECK_EQ(small->release_count, 0);
	CHECK(!kasan_byte_accessible(q));
	EXPECT_REPORT("slab-use-after-free", kasan_check_write(q + 100000, 4));
	EXPECT_REPORT("double-free", fake_slab_free(big, q));
	kasan_cache_shrink(NULL);
}

static void shrink_takes_one_cache_only(void)
{
	struct fake_slab *a = fake_slab_create("a", 64, 8, 0, 50);
	struct fake_slab *b = fake_slab_create("b", 96, 8, 0, 50);

	kasan_cache_shrink(NULL);
	for (int i = 0; i < 50; i++) {
		fake_slab_free(a, fake_slab_alloc(a, 64));
		fake_slab_free(b, fake_slab_alloc(b, 96));
	}
	CHECK_EQ(stats().objects, 100);
	kasan_cache_shrink(&a->cache);
	CHECK_EQ(a->release_count, 50);
	CHECK_EQ(b->release_count, 0);
	CHECK_EQ(stats().objects, 50);
	kasan_cache_shrink(NULL);
	CHECK_EQ(b->release_count, 50);
	CHECK_EQ(stats().objects, 0);
}

static void shrink_reaches_every_cpu(void)
{
	struct fake_slab *slab = fake_slab_create("cpus", 64, 8, 0, 80);

	kasan_cache_shrink(NULL);
	for (unsigned int cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		kasan_posix_set_cpu(cpu);
		for (int i = 0; i < 10; i++)
			CHECK_EQ(fake_slab_free(slab, fake_slab_alloc(slab, 64)),
				 KASAN_FREE_QUARANTINED);
	}
	kasan_posix_set_cpu(0);
	CHECK_EQ(stats().objects, 80);
	CHECK(!fake_slab_alloc(slab, 64));
	kasan_cache_shrink(&slab->cache);
	CHECK_EQ(slab->release_count, 80);
	CHECK_EQ(stats().objects, 0);
}

/* Even with the rings of all CPUs full, the bound holds. */
static void bound_holds_over_all_cpus(void)
{
	struct fake_slab *slab = fake_slab_create("spread", 4000, 8, 0, 250);

	kasan_cache_shrink(NULL);
	for (int i = 0; i < 2000; i++) {
		void *p;

		kasan_posix_set_cpu((unsigned int)unit_below(CONFIG_KASAN_NR_CPUS));
		p = fake_slab_alloc(slab, 4000);
		REQUIRE(p);
		fake_slab_free(slab, p);
		CHECK(stats().bytes <= BOUND);
	}
	kasan_posix_set_cpu(0);
	kasan_cache_shrink(NULL);
	CHECK_EQ(slab->release_count, 2000);
}

/* --- Threads: a lock here protects each fake slab; the quarantine has its own ----------------- */

#define THREADS	  4
#define PER_ROUND 40

struct worker {
	pthread_t thread;
	struct fake_slab *slab;
	unsigned int frees;
};
static volatile bool stop_shrinking;

/* Each thread has its own cache, but the quarantine may give back the objects on any thread. */
static pthread_mutex_t slab_locks[THREADS];
static struct worker workers[THREADS];

static void locked_release(struct kasan_cache *cache, void *object)
{
	struct fake_slab *slab = (struct fake_slab *)cache;

	for (int i = 0; i < THREADS; i++)
		if (workers[i].slab == slab) {
			pthread_mutex_lock(&slab_locks[i]);
			slab->release_count++;
			slab->free_list[slab->free_count++] =
				(unsigned int)((size_t)((char *)object - slab->memory) /
					       slab->slot_size);
			pthread_mutex_unlock(&slab_locks[i]);
		}
}

static void *alloc_and_free(void *arg)
{
	struct worker *w = arg;
	pthread_mutex_t *lock = &slab_locks[w - workers];

	for (int round = 0; round < 400; round++) {
		char *held[PER_ROUND];
		int n = 0;

		for (; n < PER_ROUND; n++) {
			pthread_mutex_lock(lock);
			held[n] = fake_slab_alloc(w->slab, 100);
			pthread_mutex_unlock(lock);
			if (!held[n])
				break;
			/* The object is ours alone: no thread may have poisoned it meanwhile. */
			if (kasan_first_bad((uintptr_t)held[n], 100))
				return "a live object is poisoned";
		}
		if (!n)
			kasan_cache_shrink(&w->slab->cache);
		while (n--) {
			if (fake_slab_free(w->slab, held[n]) != KASAN_FREE_QUARANTINED)
				return "a free was refused";
			w->frees++;
		}
	}
	return NULL;
}

static void *shrink_all_the_time(void *arg)
{
	while (!stop_shrinking)
		kasan_cache_shrink(NULL);
	return NULL;
}

static void several_cpus_at_once(void)
{
	pthread_t shrinker;

	kasan_cache_shrink(NULL);
	stop_shrinking = false;
	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_init(&slab_locks[i], NULL);
		workers[i].slab = fake_slab_create("thread", 100, 8, 0, 128);
		workers[i].slab->cache.release = locked_release;
		workers[i].frees = 0;
	}
	for (int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&workers[i].thread, NULL, alloc_and_free, &workers[i]));
	REQUIRE(!pthread_create(&shrinker, NULL, shrink_all_the_time, NULL));
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(workers[i].thread, &wrong);
		CHECKF(!wrong, "thread %d: %s", i, (const char *)wrong);
	}
	stop_shrinking = true;
	pthread_join(shrinker, NULL);
	kasan_cache_shrink(NULL);
	CHECK_EQ(stats().objects, 0);
	CHECK_EQ(stats().bytes, 0);
	for (int i = 0; i < THREADS; i++) {
		/* Each freed object came back once. */
		CHECK_EQ(workers[i].slab->release_count, workers[i].frees);
		CHECK_EQ(workers[i].slab->free_count, 128);
	}
	CHECK_EQ(unit_reports(), 0);
}

/* --- Journeys that nest: a release callback that frees objects of another cache --------------- */

static struct nesting {
	struct fake_slab *outer, *inner;
	pthread_t shrinker;
	unsigned int releases, inner_releases;
	bool shrinking, shrunk, shrunk_early;
} nesting;

static void *shrink_outer(void *unused)
{
	kasan_posix_set_cpu(0);
	__atomic_store_n(&nesting.shrinking, true, __ATOMIC_SEQ_CST);
	kasan_cache_shrink(&nesting.outer->cache);
	__atomic_store_n(&nesting.shrunk, true, __ATOMIC_SEQ_CST);
	return unused;
}

/* While the only object of @outer is being released, another CPU shrinks the cache of @outer, and this CPU begins and
 * ends journeys of @inner's objects. If shrinking does not wait for the release, it returns within a few rounds. If it
 * waits, the time that the rounds take does not matter. */
static void release_outer(struct kasan_cache *cache, void *object)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	nesting.releases++;
	REQUIRE(!pthread_create(&nesting.shrinker, NULL, shrink_outer, NULL));
	while (!__atomic_load_n(&nesting.shrinking, __ATOMIC_SEQ_CST))
		nanosleep(&moment, NULL);
	for (int round = 0; round < 50 && !nesting.shrunk_early; round++) {
		/* More objects than a chunk holds, so that some of them travel. */
		for (int i = 0; i < 80; i++)
			fake_slab_free(nesting.inner, fake_slab_alloc(nesting.inner, 800));
		nanosleep(&moment, NULL);
		nesting.shrunk_early = __atomic_load_n(&nesting.shrunk, __ATOMIC_SEQ_CST);
	}
	fake_slab_put(nesting.outer, object);
}

static void release_outer_bulk(struct kasan_cache *cache, void *const *objects, size_t count)
{
	CHECK_EQ(count, 1);
	release_outer(cache, objects[0]);
}

/* @bulk: release by release_bulk. @by_free: frees of other objects push the object out; else this CPU shrinks as
 * well. */
static void shrink_during_release(bool bulk, bool by_free)
{
	struct nesting fresh = {0};

	kasan_cache_shrink(NULL);
	nesting = fresh;
	nesting.outer = fake_slab_create("outer", 500, 8, bulk ? KASAN_CACHE_RELEASE_BULK : 0, 4);
	nesting.inner = fake_slab_create("inner", 800, 8, 0, 250);
	nesting.outer->cache.release = release_outer;
	nesting.outer->cache.release_bulk = release_outer_bulk;
	kasan_posix_set_cpu(1);
	CHECK_EQ(fake_slab_free(nesting.outer, fake_slab_alloc(nesting.outer, 500)),
		 KASAN_FREE_QUARANTINED);
	if (by_free)
		for (int i = 0; i < 1000 && !nesting.releases; i++)
			fake_slab_free(nesting.inner, fake_slab_alloc(nesting.inner, 800));
	else
		kasan_cache_shrink(&nesting.outer->cache);
	REQUIRE(nesting.releases == 1);
	CHECKF(!nesting.shrunk_early, "the cache was shrunk while its object was being released");
	pthread_join(nesting.shrinker, NULL);
	kasan_cache_shrink(NULL);
	kasan_posix_set_cpu(0);
	CHECK_EQ(stats().objects, 0);
	CHECK_EQ(nesting.outer->free_count, 4);
	CHECK_EQ(nesting.inner->free_count, 250);
}

static void release_frees(void)
{
	shrink_during_release(false, true);
	shrink_during_release(false, false);
}

static void release_bulk_frees(void)
{
	shrink_during_release(true, true);
	shrink_during_release(true, false);
}

/* If a release callback shrinks another cache, it must not wait for its own journey. */
static void release_and_shrink(struct kasan_cache *cache, void *object)
{
	nesting.releases++;
	kasan_cache_shrink(&nesting.inner->cache);
	nesting.inner_releases = nesting.inner->release_count;
	fake_slab_put(nesting.outer, object);
}

static void release_shrinks(void)
{
	struct nesting fresh = {0};

	kasan_cache_shrink(NULL);
	nesting = fresh;
	nesting.outer = fake_slab_create("outer", 500, 8, 0, 4);
	nesting.inner = fake_slab_create("inner", 800, 8, 0, 4);
	nesting.outer->cache.release = release_and_shrink;
	CHECK_EQ(fake_slab_free(nesting.outer, fake_slab_alloc(nesting.outer, 500)),
		 KASAN_FREE_QUARANTINED);
	CHECK_EQ(fake_slab_free(nesting.inner, fake_slab_alloc(nesting.inner, 800)),
		 KASAN_FREE_QUARANTINED);
	kasan_cache_shrink(&nesting.outer->cache);
	CHECK_EQ(nesting.releases, 1);
	CHECK_EQ(nesting.inner_releases, 1);
	CHECK_EQ(stats().objects, 0);
}

/* The port has no memory for the queue: fewer objects wait, and none is lost. */
static void *no_memory(size_t size)
{
	return NULL;
}

static void without_memory_for_the_queue(void)
{
	struct fake_slab *slab = fake_slab_create("no-memory", 1000, 8, 0, 200);

	kasan_cache_shrink(NULL);
	kasan_posix_hooks.alloc = no_memory;
	for (int i = 0; i < 4000; i++) {
		void *p = fake_slab_alloc(slab, 1000);

		REQUIRE(p);
		CHECK(fake_slab_free(slab, p) != KASAN_FREE_BAD);
		CHECK(stats().bytes <= BOUND);
	}
	kasan_cache_shrink(NULL);
	CHECK_EQ(slab->free_count, 200);
	kasan_posix_hooks.alloc = NULL;
}

static size_t lines_with(const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < unit_lines(); i++)
		count += strstr(unit_line(i), text) != NULL;
	return count;
}

/* This case is the last, because the bounds stay changed. */
static void size_from_the_command_line(void)
{
	struct fake_slab *slab = fake_slab_create("sized", 1000, 8, 0, 200);
	size_t bound;

	kasan_cache_shrink(NULL);
	CHECK_EQ(kasan_option("kasan.quarantine_size", "64K"), 0);
	/* The new size takes effect in kasan_init(). */
	CHECK_EQ(stats().max_bytes, BOUND);
	kasan_quarantine_init(4UL << 20);
	bound = stats().max_bytes;
	CHECK(bound <= 64UL << 10 && bound > 60UL << 10);
	unit_clear();
	for (int round = 0; round < 1000; round++) {
		REQUIRE(fake_slab_free(slab, fake_slab_alloc(slab, 1000)) ==
			KASAN_FREE_QUARANTINED);
		REQUIRE(stats().bytes <= bound);
	}
	/* Printed once. */
	CHECK_EQ(lines_with("kasan: quarantine full at "), 1);
	kasan_cache_shrink(NULL);

	CHECK_EQ(kasan_option("kasan.quarantine_size", "0"), 0);
	kasan_quarantine_init(4UL << 20);
	CHECK_EQ(fake_slab_free(slab, fake_slab_alloc(slab, 1000)), KASAN_FREE_NOW);
	CHECK_EQ(stats().objects, 0);

	/* Half of memory is accepted. A larger size is refused with a line that names the bound, and the default
	 * stays. */
	CHECK_EQ(kasan_option("kasan.quarantine_size", "2M"), 0);
	unit_clear();
	kasan_quarantine_init(4UL << 20);
	CHECK_EQ(unit_lines(), 0);
	CHECK_EQ(stats().max_bytes, 2UL << 20);
	CHECK_EQ(kasan_option("kasan.quarantine_size", "2097153"), 0);
	kasan_init(4UL << 20);
	CHECK_EQ(lines_with("kasan: kasan.quarantine_size=2097153: expected a size as in 512K or "
			    "16M, at most "
			    "half of memory, which is 2097152; keeping the default, 131072"),
		 1);
	CHECK_EQ(stats().max_bytes, 128UL << 10);
}

UNIT_MAIN(memory_that_is_not_aligned, freed_objects_wait, never_past_the_bound,
	  first_freed_first_released, released_in_bulk, free_slots_left_alone, switched_off,
	  too_large_an_object, shrink_takes_one_cache_only, shrink_reaches_every_cpu,
	  bound_holds_over_all_cpus, several_cpus_at_once, release_frees, release_bulk_frees,
	  release_shrinks, without_memory_for_the_queue, size_from_the_command_line)
