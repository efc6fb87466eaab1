// SPDX-License-Identifier: MIT
/*
 * window.c - what all operations call: where a measurement begins and ends, and what to do without memory.
 *
 * Not instrumented, because it lies beside what is measured.
 */
#include <kernel/bug.h>
#include <kernel/kernel.h>

#include "bench.h"

_Noreturn void bench_fail(const char *what)
{
	panic("bench: no memory for %s", what);
}

BENCH_APART void bench_window_opens(void)
{
	barrier();
}

BENCH_APART void bench_window_closes(void)
{
	barrier();
}
