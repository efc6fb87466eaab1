/* SPDX-License-Identifier: MIT */
/*
 * hw_sample.c - chooses the page allocations that get tags if not all do: kasan.page_alloc.sample=.
 *
 * Every Nth large allocation of a CPU gets one. A CPU's counter deals tickets: a context draws one by an atomic
 * addition and then knows what to do, whatever others draw and wherever it runs by then. So nothing is locked, no
 * interrupt is masked, and a task that moves to another CPU after it looked up the counter still gets a ticket of its
 * own.
 *
 * Each ticket is drawn once, and those that N divides mean a tag. So exactly one of any N draws in a row from one
 * counter gets a tag, and of n draws on c CPUs n / N do, give or take fewer than c. The counter has 64 bits and never
 * wraps.
 */
#include "hw_sample.h"

unsigned int kasan_opt_sample = 1;
unsigned int kasan_opt_sample_order = 3;

#ifdef CONFIG_KASAN_HW_TAGS

/* Each has a cache line, because they are written all the time. */
static struct counter {
	unsigned long ticket, total, skipped;
} __attribute__((aligned(64))) counters[CONFIG_KASAN_NR_CPUS];

static inline void count(unsigned long *value)
{
	__atomic_fetch_add(value, 1, __ATOMIC_RELAXED);
}

bool kasan_sample_slow(size_t size)
{
	struct counter *counter = &counters[kasan_port_cpu()];
	const unsigned int order = kasan_opt_sample_order;

	count(&counter->total);
	if (order >= sizeof(size) * 8 - 12 || size < CONFIG_KASAN_PAGE_SIZE << order)
		return true;
	if (__atomic_fetch_add(&counter->ticket, 1, __ATOMIC_RELAXED) % kasan_opt_sample == 0)
		return true;
	count(&counter->skipped);
	return false;
}

unsigned long kasan_sample_tickets(unsigned int cpu)
{
	return __atomic_load_n(&counters[cpu].ticket, __ATOMIC_RELAXED);
}

void kasan_sample_stats(struct kasan_sample_stats *stats)
{
	unsigned int cpu;

	stats->interval = kasan_opt_sample;
	stats->allocations = stats->skipped = 0;
	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		stats->allocations += __atomic_load_n(&counters[cpu].total, __ATOMIC_RELAXED);
		stats->skipped += __atomic_load_n(&counters[cpu].skipped, __ATOMIC_RELAXED);
	}
}

#endif /* CONFIG_KASAN_HW_TAGS */
