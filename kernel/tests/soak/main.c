// SPDX-License-Identifier: MIT
/*
 * main.c - the soak test: hours of random traffic on every allocator at once, with planted bugs.
 *
 * Arguments: seconds=N, seed=N, bugs=on|off. Lines of output that `./redzone test soak` reads:
 *
 *	soak: begin seconds=N seed=N cpus=N workers=N ram=PAGES bugs=0|1
 *	soak: busy SECONDS KEY=VALUE...		while traffic goes on
 *	soak: quiet SECONDS KEY=VALUE...	when all workers have given everything back
 *	soak: planted NAME TYPE TRACES COUNT	at the end, for each kind of bug
 *	soak: lock NAME COUNT KIND		the same for lock bugs; KIND none: harmless
 *	soak: sampled KEY=VALUE...		objects between guard pages
 *	soak: FAILED: TEXT			something that KASAN does not see is wrong
 *	soak: end failures=N no_memory=N killed=N
 *
 * KEYs: used, slab, shadow, modules in pages; live in slab objects; quarantine, depot in bytes; areas;
 * traces of the depot; steps of all workers.
 */
#include <kasan/stats.h>
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/program.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "soak.h"

#define MAX_WORKERS	48
#define DEFAULT_SECONDS 600U
/* Memory is compared this often: the last half has half of these intervals. */
#define QUIET_INTERVALS 10U
/* Samples in between. */
#define BUSY_INTERVALS 60U
/* Longer than any step: a worker is stuck. */
#define QUIET_TIMEOUT_MS 120000U

static const struct soak_kind *const tables[] = {
	soak_slab_kinds,   soak_vmem_kinds, soak_deferred_kinds,
	soak_module_kinds, soak_lock_kinds, soak_sample_kinds,
#ifdef CONFIG_KASAN
	soak_bug_kinds,
#endif
};

/* Without a mode the bugs of bugs.c would just destroy things. */
#ifdef CONFIG_KASAN
#define HAS_KASAN true
#else
#define HAS_KASAN false
#endif

static struct soak_worker workers[MAX_WORKERS];
static unsigned int nr_workers;

/* The workers poll it: STATE_QUIET asks them to give everything back and wait. */
static enum { STATE_BUSY, STATE_QUIET, STATE_END } state;

static unsigned int failures, no_memory;
static unsigned long begin_ns;

/* --- For the workers ------------------------------------------------------------------------------- */

void soak_fail(const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pr_err("soak: FAILED: %s\n", text);
	__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
}

void soak_no_memory(void)
{
	__atomic_fetch_add(&no_memory, 1, __ATOMIC_RELAXED);
}

static u8 pattern(size_t i, u32 key)
{
	return (u8)(key + i * 7);
}

/* The next byte that is looked at behind @i. */
static size_t next_byte(size_t i, size_t size)
{
	if (i < 64 || i + 64 >= size)
		return i + 1;
	return min(i + 61, size - 64);
}

void soak_fill(void *p, size_t size, u32 key)
{
	u8 *bytes = p;

	for (size_t i = 0; i < size; i = next_byte(i, size))
		bytes[i] = pattern(i, key);
}

void soak_check(const void *p, size_t size, u32 key, const char *what)
{
	const u8 *bytes = p;

	for (size_t i = 0; i < size; i = next_byte(i, size)) {
		if (bytes[i] == pattern(i, key))
			continue;
		soak_fail("%s of %zu bytes: byte %zu is %02x and was %02x", what, size, i, bytes[i],
			  pattern(i, key));
		return;
	}
}

/* --- Workers --------------------------------------------------------------------------------------- */

static void rest(struct soak_worker *w)
{
	u32 ms = w->kind->pause_ms ? soak_below(w, w->kind->pause_ms + 1) : 0;

	/* Most steps follow at once, so that queues grow and preemption has something to cut. */
	if (ms)
		msleep(ms);
	else if (!soak_below(w, 64))
		msleep(1 + soak_below(w, 20));
	else
		cond_resched();
}

static void wait_quietly(struct soak_worker *w)
{
	if (w->kind->drain)
		w->kind->drain(w);
	smp_store_release(&w->quiet, true);
	while (smp_load_acquire(&state) == STATE_QUIET)
		msleep(10);
	WRITE_ONCE(w->quiet, false);
}

static int worker_thread(void *arg)
{
	struct soak_worker *w = arg;

	for (;;) {
		switch (smp_load_acquire(&state)) {
		case STATE_BUSY:
			w->kind->step(w);
			WRITE_ONCE(w->steps, w->steps + 1);
			rest(w);
			break;
		case STATE_QUIET:
			wait_quietly(w);
			break;
		default:
			if (w->kind->drain)
				w->kind->drain(w);
			return 0;
		}
	}
}

static bool make_workers(u64 seed, bool bugs)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct soak_kind *kind = tables[t]; kind->name; kind++) {
			if (kind->plants && !bugs)
				continue;
			for (unsigned int i = 0; i < kind->threads; i++) {
				struct soak_worker *w = &workers[nr_workers];

				if (nr_workers == MAX_WORKERS)
					return false;
				w->kind = kind;
				w->index = nr_workers++;
				w->nth = i;
				prandom_seed_state(&w->rnd, seed * MAX_WORKERS + w->index);
				if (kind->setup && !kind->setup(w))
					return false;
			}
		}
	}
	for (unsigned int i = 0; i < nr_workers; i++) {
		struct soak_worker *w = &workers[i];

		w->task = kthread_create(worker_thread, w, "soak_%s/%u", w->kind->name, w->nth);
		if (IS_ERR(w->task))
			return false;
	}
	return true;
}

/* Return: a worker that has not given everything back after a long time; NULL: there is none. */
static const struct soak_worker *wait_for_workers(void)
{
	unsigned int i = 0;

	for (unsigned int ms = 0; ms < QUIET_TIMEOUT_MS; ms += 10) {
		while (i < nr_workers && smp_load_acquire(&workers[i].quiet))
			i++;
		if (i == nr_workers)
			return NULL;
		msleep(10);
	}
	return &workers[i];
}

/* --- Memory ---------------------------------------------------------------------------------------- */

static void print_memory(const char *title)
{
	struct kasan_quarantine_stats quarantine;
	struct kasan_depot_stats depot;
	unsigned long slab, live, steps = 0;

	kasan_quarantine_stats(&quarantine);
	kasan_depot_stats(&depot);
	kmem_cache_totals(&slab, &live);
	for (unsigned int i = 0; i < nr_workers; i++)
		steps += READ_ONCE(workers[i].steps);
	pr_info("soak: %s %lu used=%lu slab=%lu live=%lu shadow=%lu modules=%lu areas=%lu "
		"quarantine=%zu depot=%zu traces=%zu steps=%lu\n",
		title, (clock_ns() - begin_ns) / NSEC_PER_SEC, totalram_pages() - nr_free_pages(),
		slab, live, kasan_shadow_pages(), module_used_pages(), vmalloc_nr_areas(),
		quarantine.bytes, depot.bytes, depot.traces, steps);
}

/* Drops everything that is kept for later use, so that only leaked memory is left. */
static void purge(void)
{
	for (int round = 0; round < 2; round++) {
		soak_deferred_flush();
		rcu_barrier();
	}
	module_purge();
	vmalloc_purge();
	kmem_cache_shrink_all();
	/* Type-safe slabs go a grace period later. */
	rcu_barrier();
	drain_all_pages();
}

static bool be_quiet(void)
{
	const struct soak_worker *stuck;

	smp_store_release(&state, STATE_QUIET);
	stuck = wait_for_workers();
	if (stuck) {
		soak_fail("thread soak_%s/%u does not come to rest", stuck->kind->name, stuck->nth);
		return false;
	}
	print_memory("busy");
	purge();
	print_memory("quiet");
	smp_store_release(&state, STATE_BUSY);
	return true;
}

/* --- The run --------------------------------------------------------------------------------------- */

static unsigned long elapsed_ms(void)
{
	return (clock_ns() - begin_ns) / NSEC_PER_MSEC;
}

/* However short the run and slow the machine, each kind of bug is planted. */
static void plant_all(void)
{
	for (unsigned int ms = 0; ms < QUIET_TIMEOUT_MS; ms += 100) {
		if ((!HAS_KASAN || soak_all_planted()) && soak_all_locks_planted() &&
		    soak_all_sampled_planted())
			return;
		msleep(100);
	}
}

static bool soak(unsigned int seconds, bool bugs)
{
	unsigned long total = seconds * MSEC_PER_SEC;

	for (unsigned int i = 0; i < nr_workers; i++)
		wake_up_process(workers[i].task);
	if (bugs)
		plant_all();
	for (unsigned int quiet = 1; quiet <= QUIET_INTERVALS; quiet++) {
		unsigned long until = total * quiet / QUIET_INTERVALS;

		while (elapsed_ms() < until) {
			unsigned long left = until - elapsed_ms();

			msleep((unsigned int)min(left, total / BUSY_INTERVALS));
			if (elapsed_ms() < until)
				print_memory("busy");
		}
		if (!be_quiet())
			return false;
	}
	return true;
}

static void finish(void)
{
	smp_store_release(&state, STATE_END);
	for (unsigned int i = 0; i < nr_workers; i++) {
		struct soak_worker *w = &workers[i];

		if (kthread_join(w->task))
			soak_fail("thread soak_%s/%u was killed", w->kind->name, w->nth);
		if (w->kind->teardown)
			w->kind->teardown(w);
	}
	soak_deferred_flush();
}

/* --- Arguments ------------------------------------------------------------------------------------- */

struct options {
	unsigned int seconds;
	unsigned long seed;
	bool bugs;
};

static bool parse(const char *argument, struct options *options)
{
	const char *value = strchr(argument, '=');
	size_t length = value ? (size_t)(value++ - argument) : 0;

	if (length == 7 && !strncmp(argument, "seconds", 7))
		return !kstrtouint(value, 10, &options->seconds) && options->seconds >= 1 &&
		       options->seconds <= 1000000;
	if (length == 4 && !strncmp(argument, "seed", 4))
		return !kstrtoul(value, 0, &options->seed);
	if (length == 4 && !strncmp(argument, "bugs", 4))
		return !kstrtobool(value, &options->bugs);
	return false;
}

int redzone_program_main(int argc, char **argv)
{
	struct options options = {.seconds = DEFAULT_SECONDS, .seed = 1, .bugs = true};

	for (int i = 1; i < argc; i++) {
		if (parse(argv[i], &options))
			continue;
		pr_err("soak: '%s' is not accepted; accepted: seconds=1..1000000, seed=NUMBER, "
		       "bugs=on|off\n",
		       argv[i]);
		return 1;
	}
	/* Nothing would find them. */
	if (!kasan_enabled())
		options.bugs = false;
	begin_ns = clock_ns();
	if (!make_workers(options.seed, options.bugs)) {
		pr_err("soak: no memory for the workers\n");
		return 1;
	}
	pr_info("soak: begin seconds=%u seed=%lu cpus=%u workers=%u ram=%lu bugs=%u\n",
		options.seconds, options.seed, num_online_cpus(), nr_workers, totalram_pages(),
		options.bugs);
	if (soak(options.seconds, options.bugs))
		finish();
	if (HAS_KASAN)
		soak_print_planted();
	soak_print_locks_planted();
	if (options.bugs)
		soak_print_sampled();
	pr_info("soak: end failures=%u no_memory=%u killed=%u\n", READ_ONCE(failures),
		READ_ONCE(no_memory), soak_threads_to_lose());
	return failures ? 1 : 0;
}
