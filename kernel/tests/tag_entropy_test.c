// SPDX-License-Identifier: MIT
/*
 * tag_entropy_test.c - how the tags of slab objects are spread, and how well they can be guessed: by chance, from the
 * tag beside, from the last owner's, and from the allocation before.
 *
 * Each case prints its figures; kasan_test.allocations= chooses how many allocations they are from. The limits are so
 * wide that a generator of independent tags passes them by far less than 1 in 10^9 runs, and still see a tag that is
 * never given, or given twice as often as others. `./redzone test tag-entropy` makes bench/tag-entropy.md's tables.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/param.h>
#include <kernel/preempt.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

static unsigned int allocations = 6000;
range_param("kasan_test.allocations", allocations, 6000, 4000000, "a number",
	    "allocations in each case of the suite tag_entropy, at least 60000 with software tags");

#ifdef CONFIG_KASAN_HW_TAGS
#define IS_HW_TAGS true
#else
#define IS_HW_TAGS false
#endif

#ifdef CONFIG_KASAN_TAGS

#define TAGS  (KASAN_TAG_MAX - KASAN_TAG_MIN + 1U)
#define KIND  (TAGS / 2)
#define SIZE  64U
#define BATCH 512U
/* On average each of the 12 hardware tags 500 times, each of the 238 software tags 252 times. */
#define ALLOCATIONS_MIN (IS_HW_TAGS ? 6000U : 60000U)
/* How many slots apart two objects may be that are compared. */
#define DISTANCES 4U

/** struct draw - an allocation: number of its tag, from 0, and whether its slot is an even or an odd one */
struct draw {
	u8 tag, parity;
};

static const char *const policies[] = {"adjacent", "random"};
enum policy {
	ADJACENT,
	RANDOM,
};

static struct kmem_cache *cache;
static char *objects[BATCH];
/* Every allocation of a case, in the order in which they were made. */
static struct draw *draws;
static unsigned int stacktrace;
/* How often each second tag came with each first one. */
static u32 (*pairs)[TAGS];

static void set_policy(struct kunit *test, enum policy policy)
{
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.tag_policy", policies[policy]), 0);
}

static unsigned int tag_number(const void *p)
{
	return kasan_get_tag(p) - KASAN_TAG_MIN;
}

/* The whole square root. */
static u64 root_of(u64 n)
{
	u64 root = 0;

	for (u64 bit = 1UL << 31; bit; bit >>= 1) {
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	}
	return root;
}

/** struct fit - how @total draws are spread over @cells: 100 times chi-square, the least and the greatest count */
struct fit {
	u64 total, chi100;
	unsigned int cells;
	u32 low, high;
};

static struct fit fit_of(const u32 *counts, unsigned int cells, unsigned int step)
{
	struct fit fit = {.cells = cells, .low = (u32)-1};
	u64 squares = 0;

	for (unsigned int i = 0; i < cells; i++) {
		const u32 n = counts[(size_t)i * step];

		fit.total += n;
		squares += (u64)n * n;
		fit.low = min(fit.low, n);
		fit.high = max(fit.high, n);
	}
	/* The sum of (n - mean)^2 / mean. */
	if (fit.total)
		fit.chi100 = 100 * cells * squares / fit.total - 100 * fit.total;
	return fit;
}

static void print_fit(struct kunit *test, const char *what, const struct fit *fit)
{
	kunit_info(test,
		   "%s: %lu over %u: chi-square %lu.%02lu, %u degrees of freedom, %u to %u each",
		   what, (unsigned long)fit->total, fit->cells, (unsigned long)(fit->chi100 / 100),
		   (unsigned long)(fit->chi100 % 100), fit->cells - 1, fit->low, fit->high);
}

/*
 * Every tag comes at least half as often as on average, and at most twice as often. From 60,000 draws each of 238
 * has 252 on average with a standard deviation of 16, so half is eight of them away: less than 1 in 10^12.
 */
static void expect_fit(struct kunit *test, const struct fit *fit)
{
	const u64 mean = fit->total / fit->cells, df = fit->cells - 1;

	KUNIT_EXPECT_GE(test, fit->low, mean / 2);
	KUNIT_EXPECT_LE(test, fit->high, mean * 2);
	/* Laurent and Massart: P(chi-square >= df + 2 sqrt(30 df) + 60) <= e^-30. The hardware's source is not ours to
	 * judge: an emulator's has a short period, which a long run sees. */
	if (!IS_HW_TAGS)
		KUNIT_EXPECT_LE(test, fit->chi100, 100 * (df + 60) + 200 * root_of(30 * df));
}

static unsigned int one_in(u64 total, u64 hits)
{
	return hits ? (unsigned int)((total * 100 + hits / 2) / hits) : 0;
}

static void print_hits(struct kunit *test, const char *policy, const char *what, u64 hits,
		       u64 total)
{
	const unsigned int rate = one_in(total, hits);

	if (hits)
		kunit_info(test, "%s: %s: %lu of %lu, 1 in %u.%02u", policy, what,
			   (unsigned long)hits, (unsigned long)total, rate / 100, rate % 100);
	else
		kunit_info(test, "%s: %s: 0 of %lu", policy, what, (unsigned long)total);
}

/* --- Allocations ------------------------------------------------------------------------------ */

/* Take @n objects, on one CPU. No other code uses the cache. */
static void take(struct kunit *test, unsigned int n)
{
	unsigned int got = 0;

	preempt_disable();
	while (got < n) {
		objects[got] = kmem_cache_alloc(cache, GFP_ATOMIC);
		if (!objects[got])
			break;
		got++;
	}
	preempt_enable();
	if (got < n) {
		while (got)
			kmem_cache_free(cache, objects[--got]);
		KUNIT_FAIL(test, "no memory");
		kunit_abort(test);
	}
}

static void give_back(unsigned int n)
{
	/* As they were taken, so that the free list turns round each time. */
	for (unsigned int i = 0; i < n; i++)
		kmem_cache_free(cache, objects[i]);
}

/* Fill @draws. */
static void collect(struct kunit *test)
{
	unsigned int n;

	for (unsigned int at = 0; at < allocations; at += n) {
		n = min(BATCH, allocations - at);
		take(test, n);
		for (unsigned int i = 0; i < n; i++) {
			const uintptr_t slot = (uintptr_t)kasan_reset_tag(objects[i]) / SIZE;

			draws[at + i] = (struct draw){(u8)tag_number(objects[i]), slot & 1};
		}
		give_back(n);
	}
}

/* --- From the allocation before --------------------------------------------------------------- */

/* Return: the tag that came most often behind @before, of the kind that the slot allows. */
static unsigned int best_guess(unsigned int before, bool any, unsigned int kind)
{
	unsigned int best = any ? 0 : kind;

	for (unsigned int tag = best; tag < TAGS; tag += any ? 1 : 2) {
		if (pairs[before][tag] > pairs[before][best])
			best = tag;
	}
	return best;
}

/*
 * Learn from the first half which tag follows which, and guess the second half by it. Whoever knows the address of an
 * object knows its slot's kind of tags with the policy "adjacent".
 */
static void guess_next_tag(struct kunit *test, enum policy policy)
{
	const unsigned int half = allocations / 2, values = policy == RANDOM ? TAGS : KIND;
	unsigned int hits = 0;
	static u8 guesses[TAGS][2];

	memset(pairs, 0, sizeof(*pairs) * TAGS);
	for (unsigned int i = 1; i < half; i++)
		pairs[draws[i - 1].tag][draws[i].tag]++;
	for (unsigned int tag = 0; tag < TAGS; tag++) {
		for (unsigned int kind = 0; kind < 2; kind++)
			guesses[tag][kind] = (u8)best_guess(tag, policy == RANDOM, kind);
	}
	for (unsigned int i = half; i < allocations; i++)
		hits += guesses[draws[i - 1].tag][draws[i].tag & 1] == draws[i].tag;
	print_hits(test, policies[policy], "the next tag guessed from the one before", hits,
		   allocations - half);
	/* Twice the chance is 15 standard deviations above it. */
	KUNIT_EXPECT_LE(test, hits, (allocations - half) / values * 2);
}

/* --- How tags are spread ---------------------------------------------------------------------- */

/* Does the first parity go with even tags? It depends on the runtime. */
static bool is_first_kind(const struct draw *draw)
{
	return !((draw->tag ^ draw->parity) & 1);
}

static void spread(struct kunit *test, enum policy policy)
{
	static u32 counts[TAGS];
	unsigned int first = 0;
	struct fit fit;

	set_policy(test, policy);
	collect(test);
	memset(counts, 0, sizeof(counts));
	for (unsigned int i = 0; i < allocations; i++) {
		KUNIT_ASSERT_LT(test, draws[i].tag, TAGS);
		counts[draws[i].tag]++;
		first += is_first_kind(&draws[i]);
	}
	guess_next_tag(test, policy);
	if (policy == RANDOM) {
		fit = fit_of(counts, TAGS, 1);
		print_fit(test, "random: tags", &fit);
		expect_fit(test, &fit);
		return;
	}
	/* Even slots have one kind of tags, odd slots the other. */
	KUNIT_EXPECT_TRUE(test, first == 0 || first == allocations);
	fit = fit_of(counts, KIND, 2);
	print_fit(test, "adjacent: even tags", &fit);
	expect_fit(test, &fit);
	fit = fit_of(counts + 1, KIND, 2);
	print_fit(test, "adjacent: odd tags", &fit);
	expect_fit(test, &fit);
}

static void spread_adjacent(struct kunit *test)
{
	spread(test, ADJACENT);
}

static void spread_random(struct kunit *test)
{
	spread(test, RANDOM);
}

/* --- From the tag beside ---------------------------------------------------------------------- */

/* Half as often as 1 in @values, to twice as often. 45,000 / 238 is 189 with a standard deviation of 14: seven are 98. */
static void expect_chance(struct kunit *test, u64 hits, u64 total, unsigned int values)
{
	KUNIT_EXPECT_GE(test, hits, total / values / 2);
	KUNIT_EXPECT_LE(test, hits, total / values * 2);
}

/* Compare @object with those behind it in its page. */
static void compare_with_next(const char *object, u32 *same, u32 *total)
{
	const char *at = kasan_reset_tag(object);

	for (unsigned int d = 1; d <= DISTANCES; d++) {
		u8 tag;

		at += SIZE;
		if (!((uintptr_t)at % PAGE_SIZE))
			break;
		/* Slots that are free now do not count. */
		if (!kasan_memory_state(at, &tag) || tag == KASAN_TAG_INVALID)
			continue;
		total[d]++;
		same[d] += tag == kasan_get_tag(object);
	}
}

/* Do live objects that are so many slots apart have the same tag? */
static void neighbours(struct kunit *test, enum policy policy)
{
	static const char *const names[] = {"", "1 slot away", "2 slots away", "3 slots away",
					    "4 slots away"};
	u32 same[DISTANCES + 1] = {0}, total[DISTANCES + 1] = {0};

	set_policy(test, policy);
	for (unsigned int at = 0; at < allocations; at += BATCH) {
		take(test, BATCH);
		for (unsigned int i = 0; i < BATCH; i++)
			compare_with_next(objects[i], same, total);
		give_back(BATCH);
	}
	for (unsigned int d = 1; d <= DISTANCES; d++) {
		print_hits(test, policies[policy], names[d], same[d], total[d]);
		KUNIT_ASSERT_GE(test, total[d], allocations / 4 * 3);
		if (policy == RANDOM)
			expect_chance(test, same[d], total[d], TAGS);
		else if (d % 2)
			KUNIT_EXPECT_EQ(test, same[d], 0U);
		else
			expect_chance(test, same[d], total[d], KIND);
	}
}

static void neighbours_adjacent(struct kunit *test)
{
	neighbours(test, ADJACENT);
}

static void neighbours_random(struct kunit *test)
{
	neighbours(test, RANDOM);
}

/* --- From the last owner's tag ---------------------------------------------------------------- */

/* A slot is freed and handed out again at once. Which way is its new tag from the old one? */
static void heirs(struct kunit *test, enum policy policy)
{
	static u32 steps[TAGS];
	unsigned int n = 0, held = 0;
	struct fit fit;

	set_policy(test, policy);
	memset(steps, 0, sizeof(steps));
	for (unsigned int i = 0; i < allocations; i++) {
		char *last, *next;

		preempt_disable();
		last = kmem_cache_alloc(cache, GFP_ATOMIC);
		if (last)
			kmem_cache_free(cache, last);
		next = kmem_cache_alloc(cache, GFP_ATOMIC);
		preempt_enable();
		KUNIT_ASSERT_NOT_NULL(test, last);
		KUNIT_ASSERT_NOT_NULL(test, next);
		if (kasan_reset_tag(next) == kasan_reset_tag(last)) {
			steps[(tag_number(next) + TAGS - tag_number(last)) % TAGS]++;
			n++;
		}
		/* Kept for a while, so that the next one is another slot: those at the end of a page have more neighbours. */
		objects[held++] = next;
		if (held == BATCH || i + 1 == allocations) {
			give_back(held);
			held = 0;
		}
	}
	/* Another slot only if a slab was taken or given up. */
	KUNIT_ASSERT_GE(test, n, allocations / 4 * 3);
	print_hits(test, policies[policy], "the last owner's tag again", steps[0], n);
	if (policy == RANDOM) {
		fit = fit_of(steps, TAGS, 1);
		print_fit(test, "random: steps from the last owner's tag", &fit);
		expect_chance(test, steps[0], n, TAGS);
		return;
	}
	KUNIT_EXPECT_EQ(test, steps[0], 0U);
	for (unsigned int i = 1; i < TAGS; i += 2)
		KUNIT_EXPECT_EQ(test, steps[i], 0U);
	fit = fit_of(steps + 2, KIND - 1, 2);
	print_fit(test, "adjacent: steps from the last owner's tag", &fit);
	KUNIT_EXPECT_GE(test, fit.low, n / (KIND - 1) / 4);
	KUNIT_EXPECT_LE(test, fit.high, n / (KIND - 1) * 2);
}

static void heirs_adjacent(struct kunit *test)
{
	heirs(test, ADJACENT);
}

static void heirs_random(struct kunit *test)
{
	heirs(test, RANDOM);
}

/* --- The beginning ---------------------------------------------------------------------------- */

/* Prints consecutive tags: `./redzone test tag-entropy` compares boots by them. */
static void sequence(struct kunit *test)
{
	char text[3 * 32 + 1];
	size_t length = 0;

	set_policy(test, ADJACENT);
	take(test, 32);
	for (unsigned int i = 0; i < 32; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " %02x",
					   kasan_get_tag(objects[i]));
	give_back(32);
	kunit_info(test, "tags in sequence:%s", text);
	KUNIT_EXPECT_EQ(test, length, sizeof(text) - 1);
}

/* "random" is last: it takes the short way through the allocator from all that follow. */
KUNIT_CASES(tag_entropy_test_cases, KUNIT_CASE(sequence), KUNIT_CASE_SLOW(spread_adjacent),
	    KUNIT_CASE_SLOW(neighbours_adjacent), KUNIT_CASE_SLOW(heirs_adjacent),
	    KUNIT_CASE_SLOW(spread_random), KUNIT_CASE_SLOW(neighbours_random),
	    KUNIT_CASE_SLOW(heirs_random));

static void suite_exit(struct kunit_suite *suite)
{
	kasan_option("kasan.tag_policy", policies[ADJACENT]);
	if (stacktrace)
		kasan_option("kasan.stacktrace", "on");
	if (cache)
		kmem_cache_destroy(cache);
	vfree(draws);
	vfree(pairs);
	kasan_test_suite_exit(suite);
}

static int suite_init(struct kunit_suite *suite)
{
	int err = kasan_test_suite_init(suite);

	if (err || !kasan_enabled())
		return err;
	/* Traces cost most of an allocation's time, and have nothing to do with tags. */
	kasan_option_number("kasan.stacktrace", &stacktrace);
	kasan_option("kasan.stacktrace", "off");
	allocations = max(allocations, ALLOCATIONS_MIN);
	cache = kmem_cache_create("tag_entropy", SIZE, SIZE, 0, NULL);
	draws = vmalloc(allocations * sizeof(*draws));
	pairs = vmalloc(TAGS * sizeof(*pairs));
	return cache && draws && pairs ? 0 : -ENOMEM;
}

KUNIT_SUITE(tag_entropy, tag_entropy_test_cases, .suite_init = suite_init, .suite_exit = suite_exit,
	    .init = kasan_bug_test_init, .exit = kasan_test_exit);

#endif /* CONFIG_KASAN_TAGS */
