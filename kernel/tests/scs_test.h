/* SPDX-License-Identifier: MIT */
/* scs_test.h - for the suites scs, scs_trace and softirq: reading traces. */
#ifndef TESTS_SCS_TEST_H
#define TESTS_SCS_TEST_H

#include <kernel/kallsyms.h>
#include <kernel/types.h>

/* Frames of a trace that the cases look at. */
#define DEPTH 32U

/* Return: true if @pc is in @function. */
static inline bool is_in(uintptr_t pc, const void *function)
{
	unsigned long start, size;

	return kallsyms_lookup(pc, NULL, &start, &size) && start == (unsigned long)function;
}

static inline bool trace_has(const uintptr_t *pcs, size_t n, const void *function)
{
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found |= is_in(pcs[i], function);
	return found;
}

#endif
