// SPDX-License-Identifier: MIT
/*
 * kasan_stack_rate_test.c - how many of a thousand random bugs on the stack the tag-based modes catch: overflows by
 * one granule, uses after scope, and uses after return where another frame's variable lies by then.
 *
 * Clang derives all tags of a frame from one: with hardware tags IRG draws it, with software tags it is made of
 * bits of the frame's address. The variables of a frame get different offsets to it, or each asks the runtime for a tag of
 * its own, and the memory around them has a tag that no variable gets. So the first two kinds are always caught; the third
 * is missed if the bases of two frames, or the tags of two variables, happen to be equal.
 *
 * Each round makes a real access. Its report is counted and not printed, except for the first.
 */
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/string.h>

#include "kasan_test.h"

/* GCC lets variables keep their tags until the function returns. */
#if defined(CONFIG_KASAN_TAGS) && defined(__clang__) && CONFIG_KASAN_STACK

#define ROUNDS	1000U
#define GRANULE KASAN_GRANULE_SIZE
/* In granules. A task's stack has room for that. */
#define MIN_DEPTH 16U
#define DEPTHS	  64U

/* What the accesses of a case came to. unsure: the pointer's tag may match any memory, see is_sure(). */
static struct {
	struct rnd_state rnd;
	unsigned int done, caught, unsure, differing;
	u8 last_tag;
} rounds;

/* --- Counting reports ---------------------------------------------------------------------------- */

static struct task *victim;
static volatile unsigned int seen;

/* Lets pass the first report of a case, and those of others. */
static bool count_report(const struct kasan_report_info *info)
{
	if (current != victim)
		return true;
	return seen++ == 0 && rounds.caught == 0;
}

static u32 below(u32 ceil)
{
	return prandom_u32_state(&rounds.rnd) % ceil;
}

/*
 * With software tags a base may be any number. ff matches all memory, and 0 to f look like the mark of a short
 * granule. Hardware draws neither ff nor the tag of free memory.
 */
static bool is_sure(const void *p)
{
#ifdef CONFIG_KASAN_SW_TAGS
	return kasan_get_tag(p) >= 0x10 && kasan_get_tag(p) != KASAN_TAG_KERNEL;
#else
	return true;
#endif
}

/* Make the access to @p, and compare its fate with what the tags say. */
static void access(struct kunit *test, char *p, bool write)
{
	const bool wrong = !kasan_byte_accessible(p);

	seen = 0;
	if (write)
		KASAN_TEST_BUG(WRITE_ACCESS(*p, 0));
	else
		KASAN_TEST_BUG(READ_ACCESS(*p));
	kasan_settle();
	/* Not in each round: a thousand failures say no more than a few. */
	if ((seen != 0) != wrong && rounds.differing++ < 3)
		kunit_fail(test, KUNIT_EXPECTATION, KUNIT_CURRENT_LOC,
			   "%s of %px, pointer tag %02x: %sreported", write ? "a write" : "a read",
			   p, kasan_get_tag(p), seen ? "" : "not ");
	rounds.caught += seen != 0;
	rounds.unsure += !is_sure(p);
	rounds.done++;
}

static void begin(unsigned int seed)
{
	memset(&rounds, 0, sizeof(rounds));
	prandom_seed_state(&rounds.rnd, seed);
	victim = current;
}

/* Call @step from a random place on the stack, so that frames and their neighbours differ. */
static noinline void somewhere(struct kunit *test, void (*step)(struct kunit *test))
{
	char *space = __builtin_alloca(GRANULE * (MIN_DEPTH + below(DEPTHS)));

	HIDE_VAR(space);
	WRITE_ACCESS(space[0], 0);
	step(test);
}

/* --- Overflows ------------------------------------------------------------------------------------- */

struct variable {
	char *p;
	size_t size;
};

static bool is_inside(const struct variable *v, const char *p)
{
	const char *start = kasan_reset_tag(v->p);

	p = kasan_reset_tag(p);
	return p >= start && p < start + ALIGN(v->size, GRANULE);
}

/* An access to a random byte of the granule behind or before one of the variables of the caller's frame. */
static noinline void overflow(struct kunit *test, const struct variable *vars, unsigned int count)
{
	const struct variable *v = &vars[below(count)];
	char *p = below(2) ? v->p + KASAN_STACK_END(v->size) + below(GRANULE)
			   : v->p - 1 - below(GRANULE);
	bool write = false;

	/* Bytes outside of the variables must stay whole: they may be a return address. */
	for (unsigned int i = 0; i < count; i++)
		write |= &vars[i] != v && is_inside(&vars[i], p) && below(2);
	access(test, p, write);
}

/* Cleared, because the check of a short granule compares its last byte with the pointer's tag. */
#define FRAME(name, a, b, c)                            \
	static noinline void name(struct kunit *test)   \
	{                                               \
		char x[a], y[b], z[c];                  \
		const struct variable vars[] = {        \
			{memset(x, 0, a), a},           \
			{memset(y, 0, b), b},           \
			{memset(z, 0, c), c},           \
		};                                      \
		overflow(test, vars, ARRAY_SIZE(vars)); \
	}

FRAME(frame_small, 1, 7, 10)
FRAME(frame_granules, 16, 32, 48)
FRAME(frame_mixed, 13, 64, 100)
FRAME(frame_large, 300, 17, 255)
FRAME(frame_equal, 16, 16, 16)

static void step_overflow(struct kunit *test)
{
	static void (*const frames[])(struct kunit *test) = {
		frame_small, frame_granules, frame_mixed, frame_large, frame_equal,
	};

	frames[below(ARRAY_SIZE(frames))](test);
}

/* --- Scopes ------------------------------------------------------------------------------------------ */

/* A variable of a block that has ended. If @again, a later block's variable may have its place. */
#define SCOPE(name, size)                                 \
	static noinline void name(struct kunit *test)     \
	{                                                 \
		const bool again = below(2);              \
		char *stale;                              \
                                                          \
		{                                         \
			char local[size];                 \
			char *p = memset(local, 0, size); \
                                                          \
			HIDE_VAR(p);                      \
			stale = p + below(size);          \
		}                                         \
		HIDE_VAR(stale);                          \
		if (again) {                              \
			char other[size];                 \
			char *p = memset(other, 0, size); \
                                                          \
			HIDE_VAR(p);                      \
			access(test, stale, false);       \
			HIDE_VAR(p);                      \
		} else {                                  \
			access(test, stale, false);       \
		}                                         \
	}

SCOPE(scope_1, 1)
SCOPE(scope_16, 16)
SCOPE(scope_40, 40)
SCOPE(scope_500, 500)

static void step_scope(struct kunit *test)
{
	static void (*const scopes[])(struct kunit *test) = {scope_1, scope_16, scope_40,
							     scope_500};

	scopes[below(ARRAY_SIZE(scopes))](test);
}

static void all_are_caught(struct kunit *test, const char *what, void (*step)(struct kunit *test),
			   unsigned int seed)
{
	kasan_report_filter_fn saved = kasan_report_filter(count_report);

	begin(seed);
	KUNIT_EXPECT_KASAN_FAIL(test, {
		for (unsigned int i = 0; i < ROUNDS; i++)
			somewhere(test, step);
	});
	kasan_report_filter(saved);
	kunit_info(test,
		   "%u of %u %s caught; expected: all, except perhaps %u with a tag that may match",
		   rounds.caught, ROUNDS, what, rounds.unsure);
	KUNIT_EXPECT_EQ(test, rounds.done, ROUNDS);
	KUNIT_EXPECT_GE(test, rounds.caught + rounds.unsure, ROUNDS);
}

static void overflows_by_a_granule(struct kunit *test)
{
	all_are_caught(test, "overflows by a granule", step_overflow, 1);
}

static void uses_after_scope(struct kunit *test)
{
	all_are_caught(test, "uses after scope", step_scope, 2);
}

/* --- Returns ------------------------------------------------------------------------------------------ */

/*
 * IRG draws from 12 tags. If all are as likely, 1 in 12 is missed. The architecture's sequence for GCR_EL1.RRND=0,
 * and QEMU's, adds 0 to 15 to the last tag, so two draws in a row are equal 2 times in 16. Software tags of one
 * stack differ in the four bits of the address that tell granules of 256 bytes apart, and one of the 16 values may
 * match all memory: 1 or 2 in 16 are missed. If each variable asks for its tag (CONFIG_STACK_TAG_CALLS), even and odd ones
 * come in turn: 1 in as many as there are of one kind is missed, or none.
 *
 * With 1 in 16 missed, fewer than 14 of 1000 come with a probability below 1e-13; with 1 in 7, more than 224 with
 * one below 1e-11; with 1 in 112, more than 45 with one below 1e-16.
 */
#ifdef CONFIG_KASAN_HW_TAGS
#define BASES (KASAN_TAG_MAX - KASAN_TAG_MIN + 1U)
#elif defined(CONFIG_STACK_TAG_CALLS)
#define BASES ((KASAN_TAG_MAX - KASAN_TAG_MIN + 1U) / 2)
#else
#define BASES 16U
#endif
#ifdef CONFIG_STACK_TAG_CALLS
#define MISSED_LEAST 0U
#define MISSED_MOST  45U
#else
#define MISSED_LEAST 14U
#define MISSED_MOST  224U
#endif

static char *stale_variable;

static noinline void leave_variable(struct kunit *test)
{
	char local[2 * GRANULE];
	char *p = memset(local, 0, sizeof(local));

	HIDE_VAR(p);
	stale_variable = p;
}

static noinline void use_covered(struct kunit *test)
{
	/* From well above the stale variable to well below it, whatever else the frames hold. */
	char cover[GRANULE * (MIN_DEPTH + DEPTHS + 48)];
	struct variable v = {memset(cover, 0, sizeof(cover)), sizeof(cover)};

	HIDE_VAR(v.p);
	KUNIT_ASSERT_TRUE(test, is_inside(&v, stale_variable));
	access(test, stale_variable, false);
	HIDE_VAR(v.p);
}

static void uses_after_return(struct kunit *test)
{
	kasan_report_filter_fn saved = kasan_report_filter(count_report);
	unsigned int missed;

	begin(3);
	KUNIT_EXPECT_KASAN_FAIL(test, {
		for (unsigned int i = 0; i < ROUNDS; i++) {
			somewhere(test, leave_variable);
			use_covered(test);
		}
	});
	kasan_report_filter(saved);
	missed = ROUNDS - rounds.caught;
	kunit_info(test, "%u of %u uses after return caught; expected about %u: 1 in %u missed",
		   rounds.caught, ROUNDS, ROUNDS - ROUNDS / BASES, BASES);
	KUNIT_EXPECT_GE(test, missed, MISSED_LEAST);
	KUNIT_EXPECT_LE(test, missed, MISSED_MOST);
}

KASAN_BUG_SUITE(kasan_stack_rate, KUNIT_CASE(overflows_by_a_granule), KUNIT_CASE(uses_after_scope),
		KUNIT_CASE(uses_after_return));

#endif
