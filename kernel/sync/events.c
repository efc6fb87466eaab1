// SPDX-License-Identifier: MIT
/*
 * events.c - what happens to locks, counted by name on each CPU.
 */
#include <kernel/lock_events.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/percpu.h>
#include <kernel/time.h>

#ifdef CONFIG_LOCKDEP
#include "../ext/lockdep/internal.h"
#endif

static bool print_events;

static int set_print(const char *value, void *var)
{
	int error = param_set_bool(value, &print_events);

#ifdef CONFIG_LOCKDEP
	if (!error)
		lockdep_measure(print_events);
#endif
	return error;
}
setup_param("lock_events", set_print, "on|off",
	    "print what happened to locks at the machine's end");

struct lock_counters {
	unsigned long count[NR_LOCK_EVENTS];
};
static DEFINE_PER_CPU(struct lock_counters, counters);

/* Atomic, because the task may move to another CPU in between. */
void lock_event_inc(enum lock_event event)
{
	__atomic_fetch_add(&this_cpu_ptr(&counters)->count[event], 1, __ATOMIC_RELAXED);
}

unsigned long lock_event_read(enum lock_event event)
{
	unsigned long sum = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		sum += READ_ONCE(per_cpu(counters, cpu).count[event]);
#ifdef CONFIG_LOCKDEP
	/* The hot path counts in the stack of the context. */
	if (event == LOCKEVENT_lockdep_acquire || event == LOCKEVENT_lockdep_chain_hits)
		sum += known_acquisitions();
#endif
	return sum;
}

const char *lock_event_name(enum lock_event event)
{
	static const char *const names[] = {
#define LOCK_EVENT_NAME(name) #name,
		LOCK_EVENTS(LOCK_EVENT_NAME)
#undef LOCK_EVENT_NAME
	};

	return names[event];
}

#ifdef CONFIG_LOCKDEP

/* As many as a reader looks at. */
#define TOP_CLASSES 10U

static u64 in_ns(u64 counts)
{
	return counts * NSEC_PER_SEC / arch_counter_hz();
}

static void print_classes(void)
{
	bool printed[NR_CLASSES] = {false};
	char name[CLASS_NAME_LEN];

	pr_info("lock_events: classes by longest hold:\n");
	for (unsigned int row = 0; row < TOP_CLASSES; row++) {
		unsigned int best = 0;

		for (unsigned int class = 1; class < NR_CLASSES; class ++) {
			if (lock_classes[class].key && !printed[class] &&
			    lock_classes[class].longest > (best ? lock_classes[best].longest : 0))
				best = class;
		}
		if (!best)
			break;
		printed[best] = true;
		pr_info("lock_events:  %s contended %lu longest %lu ns\n", class_name(name, best),
			lock_classes[best].contended,
			(unsigned long)in_ns(lock_classes[best].longest));
	}
}

static void print_tables(void)
{
	struct lockdep_counts counts;

	lockdep_counts(&counts);
	pr_info("lock_events: %u of %u classes, %u of %u dependencies, %u of %u sequences\n",
		counts.classes, counts.max_classes, counts.deps, counts.max_deps, counts.chains,
		counts.max_chains);
	print_classes();
}

#else

static void print_tables(void)
{
}

#endif

void lock_events_print(void)
{
	if (!print_events)
		return;
	for (unsigned int event = 0; event < NR_LOCK_EVENTS; event++)
		pr_info("lock_events: %s %lu\n", lock_event_name((enum lock_event)event),
			lock_event_read((enum lock_event)event));
	print_tables();
}
