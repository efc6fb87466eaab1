// SPDX-License-Identifier: MIT
/*
 * events.c - what happens to locks, counted by name on each CPU.
 */
#include <kernel/lock_events.h>
#include <kernel/kernel.h>
#include <kernel/lockdep.h>
#include <kernel/param.h>
#include <kernel/percpu.h>
#include <kernel/time.h>

static bool print_events;

static int set_print(const char *value, void *var)
{
	int error = param_set_bool(value, &print_events);

	if (!error)
		lockdep_measure(print_events);
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
	/* The hot path counts in the stack of the context. */
	if (event == LOCKEVENT_lockdep_acquire || event == LOCKEVENT_lockdep_chain_hits)
		sum += lockdep_known_acquisitions();
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

void lock_events_print(void)
{
	if (!print_events)
		return;
	for (unsigned int event = 0; event < NR_LOCK_EVENTS; event++)
		pr_info("lock_events: %s %lu\n", lock_event_name((enum lock_event)event),
			lock_event_read((enum lock_event)event));
	lockdep_print_tables();
}
