/* SPDX-License-Identifier: MIT */
/*
 * smp.c - the other CPUs: starting them, and the three reasons to interrupt one.
 */
#include <kernel/errno.h>
#include <kernel/printk.h>
#include <kernel/sched.h>
#include <asm/irqflags.h>
#include <asm/mte.h>
#include <asm/smp.h>
#include <asm/timer.h>
#include <asm/user.h>
#include <drivers/psci.h>
#include "arch.h"

enum { IPI_RESCHEDULE, IPI_CALL, IPI_STOP, NR_IPIS };

unsigned int nr_cpu_ids = 1;
u32 cpu_online_mask = 1;
u64 cpu_mpidr[NR_CPUS];
struct secondary_boot secondary_boot[NR_CPUS];

extern char secondary_entry[];

/*
 * One call at a time. call_lock is held by the caller until every CPU has what it needs: with
 * @wait to the end, else until the next caller wants to use this. A CPU that waits for the lock
 * serves calls that are meant for it.
 */
static bare_lock_t call_lock;
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
	unsigned int cpu = smp_processor_id();

	if (!mask)
		return;
	while (!bare_trylock(&call_lock, cpu)) {
		serve_call();
		cpu_relax();
	}
	/* The call before this one, if nobody waited for it. */
	wait_for_call();
	call.fn = fn;
	call.arg = arg;
	__atomic_store_n(&call.running, mask, __ATOMIC_RELAXED);
	smp_store_release(&call.todo, mask);
	irq_send_ipi(mask, IPI_CALL);
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
		irq_send_ipi(1U << cpu, IPI_RESCHEDULE);
}

static _Noreturn void stop_this_cpu(void)
{
	arch_local_irq_disable();
	/* A pending tick would wake the CPU again and again. */
	write_sysreg(0, cntv_ctl_el0);
	__atomic_fetch_and(&cpu_online_mask, ~(1U << smp_processor_id()), __ATOMIC_RELEASE);
	for (;;)
		wfi();
}

void smp_send_stop(void)
{
	unsigned long flags = arch_local_irq_save();
	u32 self = 1U << smp_processor_id();
	u32 others = READ_ONCE(cpu_online_mask) & ~self;

	if (others) {
		irq_send_ipi(others, IPI_STOP);
		for (int us = 0; us < 100000 && smp_load_acquire(&cpu_online_mask) & ~self; us++)
			udelay(1);
	}
	arch_local_irq_restore(flags);
}

/* From the interrupt handler, interrupts off. */
void smp_ipi(unsigned int sgi)
{
	switch (sgi) {
	case IPI_RESCHEDULE:
		/* need_resched is looked at when the interrupt ends. */
		break;
	case IPI_CALL:
		serve_call();
		break;
	case IPI_STOP:
		stop_this_cpu();
	default:
		pr_warn("smp: unknown interrupt %u from another CPU\n", sgi);
	}
}

/* First C function of a secondary CPU, on the stack of its idle task, interrupts off. */
void secondary_start(unsigned int cpu)
{
	mte_enable_cpu();
	user_init_cpu();
	irq_init_secondary();
	timer_start_cpu();
	__atomic_fetch_or(&cpu_online_mask, 1U << cpu, __ATOMIC_RELEASE);
	secondary_idle();
}

static bool boot_cpu(unsigned int cpu)
{
	struct task *idle = idle_task(cpu);
	u64 start;
	int err;

	if (!idle) {
		pr_warn("smp: no memory for the idle task of CPU %u\n", cpu);
		return false;
	}
	secondary_boot[cpu].task = idle;
	secondary_boot[cpu].stack_top = (char *)idle->stack + idle->stack_size;
	dsb(ish);
	err = psci_cpu_on(cpu_mpidr[cpu], __pa_symbol(secondary_entry), cpu);
	if (err) {
		pr_warn("smp: CPU %u does not start, error %d\n", cpu, err);
		return false;
	}
	start = clock_ns();
	while (!cpu_online(cpu)) {
		if (clock_ns() - start > 1000000000UL) {
			pr_warn("smp: CPU %u was started but is not heard of\n", cpu);
			return false;
		}
		cpu_relax();
	}
	return true;
}

void smp_boot_secondaries(void)
{
	for (unsigned int cpu = 1; cpu < nr_cpu_ids; cpu++)
		boot_cpu(cpu);
}
