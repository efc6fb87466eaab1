// SPDX-License-Identifier: MIT
/*
 * smp.c - the other CPUs: starting them, and the three reasons to interrupt one.
 */
#include <kernel/arch.h>
#include <kernel/bare_lock.h>
#include <kernel/irqflags.h>
#include <kernel/printk.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/smp.h>
#include <kernel/softirq.h>

#include "sched.h"

enum { IPI_RESCHEDULE, IPI_CALL, IPI_STOP };

_Static_assert(NR_CPUS <= 32, "masks of CPUs have 32 bits");

unsigned int nr_cpu_ids = 1;
u32 cpu_online_mask = 1;

/*
 * One call at a time. call_lock is held by the caller until every CPU has what it needs: with
 * @wait to the end, else until the next caller wants to use this. A CPU that waits for the lock
 * serves calls that are meant for it.
 */
static struct bare_lock call_lock;
static struct {
	void (*fn)(void *arg);
	void *arg;
	u32 todo;    /* CPUs that have not started on it */
	u32 running; /* CPUs that have not finished */
} call;

/* Run the pending call if this CPU is one of its targets. Interrupts off. */
static void serve_call(void)
{
	u32 bit = 1U << smp_processor_id();
	void (*fn)(void *arg);
	void *arg;

	if (!(smp_load_acquire(&call.todo) & bit))
		return;
	fn = call.fn;
	arg = call.arg;
	__atomic_fetch_and(&call.todo, ~bit, __ATOMIC_ACQ_REL);
	fn(arg);
	__atomic_fetch_and(&call.running, ~bit, __ATOMIC_RELEASE);
}

static void wait_for_call(void)
{
	while (smp_load_acquire(&call.running)) {
		serve_call();
		cpu_relax();
	}
}

static void call_mask(u32 mask, void (*fn)(void *), void *arg, bool wait)
{
	if (!mask)
		return;
	while (!bare_trylock(&call_lock)) {
		serve_call();
		cpu_relax();
	}
	/* The call before this one, if its caller did not wait. */
	wait_for_call();
	call.fn = fn;
	call.arg = arg;
	__atomic_store_n(&call.running, mask, __ATOMIC_RELAXED);
	smp_store_release(&call.todo, mask);
	arch_send_ipi(mask, IPI_CALL);
	if (wait)
		wait_for_call();
	bare_unlock(&call_lock);
}

void smp_call_function_many(void (*fn)(void *), void *arg, bool wait)
{
	unsigned long flags = arch_local_irq_save();

	call_mask(READ_ONCE(cpu_online_mask) & ~(1U << smp_processor_id()), fn, arg, wait);
	arch_local_irq_restore(flags);
}

void smp_call_function_single(unsigned int cpu, void (*fn)(void *), void *arg, bool wait)
{
	unsigned long flags = arch_local_irq_save();

	if (cpu == smp_processor_id())
		fn(arg);
	else if (cpu < nr_cpu_ids && cpu_online(cpu))
		call_mask(1U << cpu, fn, arg, wait);
	arch_local_irq_restore(flags);
}

void smp_send_reschedule(unsigned int cpu)
{
	if (cpu < nr_cpu_ids && cpu_online(cpu))
		arch_send_ipi(1U << cpu, IPI_RESCHEDULE);
}

void smp_send_stop(void)
{
	unsigned long flags = arch_local_irq_save();
	u32 self = 1U << smp_processor_id();
	u32 others = READ_ONCE(cpu_online_mask) & ~self;

	if (others) {
		arch_send_ipi(others, IPI_STOP);
		for (int us = 0; us < 100000 && smp_load_acquire(&cpu_online_mask) & ~self; us++)
			udelay(1);
	}
	arch_local_irq_restore(flags);
}

static _Noreturn void stop_this_cpu(void)
{
	arch_local_irq_disable();
	__atomic_fetch_and(&cpu_online_mask, ~(1U << smp_processor_id()), __ATOMIC_RELEASE);
	arch_stop_cpu();
}

void smp_handle_ipi(unsigned int ipi)
{
	switch (ipi) {
	case IPI_RESCHEDULE:
		/* need_resched is looked at when the interrupt ends. */
		rt_check_preempt();
		break;
	case IPI_CALL:
		serve_call();
		break;
	case IPI_STOP:
		stop_this_cpu();
	default:
		pr_warn("smp: unknown interrupt %u from another CPU\n", ipi);
	}
}

void smp_cpu_online(unsigned int cpu)
{
	__atomic_fetch_or(&cpu_online_mask, 1U << cpu, __ATOMIC_RELEASE);
	rcu_cpu_starting();
	cpu_startup_entry();
}

static void boot_cpu(unsigned int cpu)
{
	struct task *idle = idle_task(cpu);
	u64 start;
	int err;

	if (!idle || scs_init_cpu(cpu) || softirq_init_cpu(cpu)) {
		pr_warn("smp: no memory for the threads of CPU %u\n", cpu);
		return;
	}
	err = arch_start_cpu(cpu, idle);
	if (err) {
		pr_warn("smp: CPU %u does not start, error %d\n", cpu, err);
		return;
	}
	start = clock_ns();
	while (!cpu_online(cpu)) {
		if (clock_ns() - start > NSEC_PER_SEC) {
			pr_warn("smp: CPU %u was started but is not heard of\n", cpu);
			return;
		}
		cpu_relax();
	}
}

void smp_boot_secondaries(void)
{
	for (unsigned int cpu = 1; cpu < nr_cpu_ids; cpu++)
		boot_cpu(cpu);
}
