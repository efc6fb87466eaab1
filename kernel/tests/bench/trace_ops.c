/* SPDX-License-Identifier: MIT */
/*
 * trace_ops.c - what do stack traces cost? kmalloc(64)+kfree at several depths, and from many
 * places. Instrumented.
 *
 * The depth is the number of frames in the trace that the allocation stores; that of the free has as many. The
 * innermost is the function that calls kmalloc() and kfree().
 */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <asm/percpu.h>

#include "bench.h"

/* The quarantine of a machine with 512 MiB: see ops.c. */
#define QUARANTINE (16UL << 20)

static __always_inline void pair(void)
{
	void *p = kmalloc(64, GFP_KERNEL);

	HIDE_VAR(p);
	if (unlikely(!p))
		bench_fail("kmalloc");
	kfree(p);
}

static noinline void one_pair(void)
{
	pair();
}

static noinline void no_pair(void)
{
	barrier();
}

/* Fill the quarantine once for all operations of the group. */
static bool fill(unsigned long unused)
{
	static bool filled;
	unsigned long i;

	for (i = 0; !filled && i < QUARANTINE / 64; i++)
		one_pair();
	filled = true;
	return true;
}

/* --- Many places ----------------------------------------------------------------------------------- */

#define SITES 8192

/* m(n0) ... m(nf); the same with two and with three more digits. */
/* clang-format off */
#define EACH_16(m, n) \
	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) \
	m(n##8) m(n##9) m(n##a) m(n##b) m(n##c) m(n##d) m(n##e) m(n##f)
#define EACH_256(m, n) \
	EACH_16(m, n##0) EACH_16(m, n##1) EACH_16(m, n##2) EACH_16(m, n##3) \
	EACH_16(m, n##4) EACH_16(m, n##5) EACH_16(m, n##6) EACH_16(m, n##7) \
	EACH_16(m, n##8) EACH_16(m, n##9) EACH_16(m, n##a) EACH_16(m, n##b) \
	EACH_16(m, n##c) EACH_16(m, n##d) EACH_16(m, n##e) EACH_16(m, n##f)
#define EACH_4096(m, n) \
	EACH_256(m, n##0) EACH_256(m, n##1) EACH_256(m, n##2) EACH_256(m, n##3) \
	EACH_256(m, n##4) EACH_256(m, n##5) EACH_256(m, n##6) EACH_256(m, n##7) \
	EACH_256(m, n##8) EACH_256(m, n##9) EACH_256(m, n##a) EACH_256(m, n##b) \
	EACH_256(m, n##c) EACH_256(m, n##d) EACH_256(m, n##e) EACH_256(m, n##f)
/* clang-format on */
#define EACH_SITE(m) EACH_4096(m, 0x0) EACH_4096(m, 0x1)

/* At irregular distances, as functions of a program are. Equal ones give hashes that are spread better or worse than at
 * random, as the addresses of the kernel will have it: the same code took 541 to 606 instructions. The constant is the
 * golden ratio times 2^32. */
#define IRREGULAR(n) __attribute__((__aligned__(4U << ((n) * 0x9e3779b1U >> 30))))

/* Each calls kmalloc() and kfree() itself ... */
#define SITE(n)                                             \
	static BENCH_APART IRREGULAR(n) void site_##n(void) \
	{                                                   \
		pair();                                     \
	}
/* ... or through one function that they share: then the traces differ in the second frame only. */
#define CALLER(n)                                             \
	static BENCH_APART IRREGULAR(n) void caller_##n(void) \
	{                                                     \
		one_pair();                                   \
	}
EACH_SITE(SITE)
EACH_SITE(CALLER)

#define SITE_ENTRY(n)	site_##n,
#define CALLER_ENTRY(n) caller_##n,
static void (*const sites[])(void) = {EACH_SITE(SITE_ENTRY)};
static void (*const callers[])(void) = {EACH_SITE(CALLER_ENTRY)};
_Static_assert(ARRAY_SIZE(sites) == SITES && ARRAY_SIZE(callers) == SITES, "SITES is their number");

/* Odd, so that every site has its turn in SITES steps; large, so that neighbours do not follow each other. */
#define STRIDE 1237
static unsigned int position[NR_CPUS];

static __always_inline unsigned int next_site(void)
{
	unsigned int *at = &position[smp_processor_id()];

	*at += STRIDE;
	return *at % SITES;
}

static void visit_site(void)
{
	sites[next_site()]();
}

static void visit_caller(void)
{
	callers[next_site()]();
}

/* The choice and a call, without the rest. */
static void visit_none(void)
{
	void (*function)(void) = sites[next_site()];

	HIDE_VAR(function);
	no_pair();
}

#define DEPTH(n)                                                           \
	{"traces.depth_" #n, one_pair,	  .warm = 1024,	   .rounds = 8192, \
	 .setup = fill,	     .smp = true, .idle = no_pair, .depth = (n)}

const struct bench_op bench_trace_ops[] = {
	DEPTH(4),
	DEPTH(8),
	DEPTH(16),
	DEPTH(32),
	{"traces.sites_8192", visit_site, .warm = SITES, .rounds = SITES, .setup = fill,
	 .smp = true, .idle = visit_none, .depth = 8, .inner = 1},
	{"traces.callers_8192", visit_caller, .warm = SITES, .rounds = SITES, .setup = fill,
	 .smp = true, .idle = visit_none, .depth = 8, .inner = 2},
	{},
};
