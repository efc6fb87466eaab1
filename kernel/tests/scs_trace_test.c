// SPDX-License-Identifier: MIT
/*
 * scs_trace_test.c - traces that are copied from the shadow call stack, and the contexts that it does not cover, whose
 * traces come from frame records.
 */
#include <kernel/arch.h>
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/slab.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <asm/ptrace.h>
#include <asm/stacktrace.h>

#include "kasan_test.h"
#include "scs_test.h"

/* The trace that frame records give. The caller's own call of this function is not the same as another's, so
 * element 0 differs from that of another trace. */
static noinline size_t trace_of_frames(uintptr_t *pcs, size_t max)
{
	uintptr_t fp = (uintptr_t)__builtin_frame_address(0);
	size_t n = 0;

	while (n < max) {
		const uintptr_t *record = (const uintptr_t *)arch_frame_record(fp);

		pcs[n++] = record[1];
		if (record[0] <= fp)
			break;
		fp = record[0];
	}
	return n;
}

/* --- Traces --------------------------------------------------------------------------------------- */

static noinline bool compare(void)
{
	uintptr_t pcs[DEPTH], frames[DEPTH];
	size_t n = stack_trace_save(pcs, DEPTH, NULL), m = trace_of_frames(frames, DEPTH);

	return n == m && n > 4 && is_in(pcs[0], compare) &&
	       !memcmp(pcs + 1, frames + 1, (n - 1) * sizeof(pcs[0]));
}

static noinline bool same_as_frames(unsigned int depth)
{
	bool same = depth ? same_as_frames(depth - 1) : compare();

	HIDE_VAR(same);
	return same;
}

static void traces(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, same_as_frames(0));
	KUNIT_EXPECT_TRUE(test, same_as_frames(10));
	KUNIT_EXPECT_TRUE(test, same_as_frames(2 * DEPTH));
}

/* A trace comes from the shadow call stack, so wrong frame records do not matter. */
static noinline size_t trace_without_frames(uintptr_t *pcs)
{
	volatile uintptr_t *record =
		(volatile uintptr_t *)arch_frame_record((uintptr_t)__builtin_frame_address(0));
	const uintptr_t next = record[0];
	size_t n;

	record[0] = 0;
	n = stack_trace_save(pcs, DEPTH, NULL);
	record[0] = next;
	return n;
}

static void traces_without_frame_records(struct kunit *test)
{
	uintptr_t pcs[DEPTH];
	size_t n = trace_without_frames(pcs);

	KUNIT_EXPECT_TRUE(test, is_in(pcs[0], trace_without_frames));
	KUNIT_EXPECT_TRUE(test, is_in(pcs[1], traces_without_frame_records));
	KUNIT_ASSERT_GT(test, n, 4);
	KUNIT_EXPECT_TRUE(test, is_in(pcs[n - 1], ret_from_fork));
}

/* The frame pointer that belongs to the frame record at @record. */
static uintptr_t frame_pointer_of(const uintptr_t *record)
{
	const uintptr_t at = (uintptr_t)kasan_reset_tag(record);

	return at + (at - arch_frame_record(at));
}

/* An entry with an authentication code, as the compiler stores it if it signs return addresses. */
static noinline void authentication_codes(struct kunit *test)
{
	volatile uintptr_t *entry = (volatile uintptr_t *)scs_pointer() - 1;
	const uintptr_t plain = *entry, code = 0x2a5aUL << 48;
	uintptr_t pcs[DEPTH], frames[DEPTH];
	size_t n, m;

	kunit_needs(test, scs_strip(plain ^ code) == plain, "return addresses with signatures");
	*entry = plain ^ code;
	n = stack_trace_save(pcs, DEPTH, NULL);
	*entry = plain;
	m = trace_of_frames(frames, DEPTH);
	KUNIT_EXPECT_EQ(test, n, m);
	KUNIT_EXPECT_EQ(test, pcs[1], plain);
	KUNIT_EXPECT_EQ(test, memcmp(pcs + 1, frames + 1, (n - 1) * sizeof(pcs[0])), 0);
}

/*
 * Traces of contexts that the shadow call stack does not cover come from frame records. Here there is one record of
 * a made-up context: the trace must have its return address, and nothing else.
 */
static size_t trace_of_context(uintptr_t pc, uintptr_t top, uintptr_t *pcs)
{
	uintptr_t record[2] = {0, (uintptr_t)ret_from_fork};
	struct pt_regs regs = {};

	regs.pc = pc;
	regs.regs[REG_SCS] = top;
	regs.regs[REG_FP] = frame_pointer_of(record);
	return stack_trace_save(pcs, DEPTH, &regs);
}

static void expect_frame_records(struct kunit *test, uintptr_t pc, uintptr_t top)
{
	uintptr_t pcs[DEPTH];

	KUNIT_EXPECT_EQ(test, trace_of_context(pc, top, pcs), 2);
	KUNIT_EXPECT_EQ(test, pcs[0], pc);
	KUNIT_EXPECT_EQ(test, pcs[1], (uintptr_t)ret_from_fork);
}

/* Return: an address behind the prologue of a function that pushes. */
static noinline uintptr_t pc_of_call(void)
{
	uintptr_t pcs[DEPTH];

	return stack_trace_save(pcs, DEPTH, NULL) ? pcs[0] : 0;
}

static void context_that_is_covered(struct kunit *test)
{
	uintptr_t pcs[DEPTH];
	size_t n = trace_of_context(pc_of_call(), scs_pointer(), pcs);

	KUNIT_ASSERT_GT(test, n, 4);
	KUNIT_EXPECT_TRUE(test, is_in(pcs[n - 1], ret_from_fork));
	KUNIT_EXPECT_NE(test, pcs[1], (uintptr_t)ret_from_fork);
}

static void uncovered_foreign_pointer(struct kunit *test)
{
	uintptr_t value = 0;

	expect_frame_records(test, pc_of_call(), 0);
	expect_frame_records(test, pc_of_call(), (uintptr_t)&value);
	expect_frame_records(test, pc_of_call(), scs_pointer() - 4);
	/* Another task's, and this one's behind its end. */
	expect_frame_records(test, pc_of_call(), init_task.context.scs_base);
	expect_frame_records(test, pc_of_call(), scs_base_of(scs_pointer()) + SCS_SIZE);
}

#ifdef CONFIG_KASAN

static void uncovered_runtime(struct kunit *test)
{
#ifdef CONFIG_SCS_RUNTIME
	kunit_skip(test, "the runtime's functions push");
#else
	expect_frame_records(test, (uintptr_t)kasan_flush_reports, scs_pointer());
#endif
}

static struct {
	size_t n;
	uintptr_t pcs[DEPTH];
} tapped;

static bool trace_line(const char *text)
{
	if (!tapped.n)
		tapped.n = stack_trace_save(tapped.pcs, DEPTH, NULL);
	return true;
}

static noinline void write_freed(void)
{
	char *p = kmalloc(24, GFP_KERNEL);

	kfree(p);
	HIDE_VAR(p);
	KASAN_TEST_BUG(WRITE_ACCESS(*p, 1));
	kasan_settle();
}

/* The kernel's function is called by the runtime, whose functions push nothing: write_freed() must not be missing. */
static void uncovered_call_from_the_runtime(struct kunit *test)
{
	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	tapped.n = 0;
	kasan_line_tap(trace_line);
	KUNIT_EXPECT_KASAN_FAIL(test, write_freed());
	kasan_line_tap(NULL);
	KUNIT_EXPECT_TRUE(test, trace_has(tapped.pcs, tapped.n, trace_line));
	KUNIT_EXPECT_TRUE(test, trace_has(tapped.pcs, tapped.n, write_freed));
}

#endif

static struct kunit_case scs_trace_test_cases[] = {
	KUNIT_CASE(traces),
	KUNIT_CASE(traces_without_frame_records),
	KUNIT_CASE(authentication_codes),
	KUNIT_CASE(context_that_is_covered),
	KUNIT_CASE(uncovered_foreign_pointer),
#ifdef CONFIG_KASAN
	KUNIT_CASE(uncovered_runtime),
	KUNIT_CASE(uncovered_call_from_the_runtime),
#endif
	{},
};

KUNIT_SUITE(scs_trace, scs_trace_test_cases, KASAN_SUITE_INIT);
