// SPDX-License-Identifier: MIT
/*
 * die.c - the end of a thread, or of the machine, by an exception.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <asm/ptrace.h>

unsigned int oops_count;

/* Depth of die() on each CPU: an exception inside it only prints that it happened. */
static unsigned int dying[NR_CPUS];

/* Return: why the thread's end is the machine's; NULL if it is not. */
static const char *why_fatal(const struct pt_regs *regs)
{
	if (panic_in_progress())
		return "Oops while stopping";
	if (!in_task())
		return "Oops: Fatal exception in interrupt";
	if (current->kflags & PF_IDLE || current == &init_task)
		return "Attempted to kill the idle task!";
	if (in_atomic() || regs_irqs_disabled(regs))
		return "Oops: Fatal exception in atomic context";
	return panic_on_oops ? "Oops: Fatal exception" : NULL;
}

void die(const char *msg, struct pt_regs *regs)
{
	unsigned int cpu = smp_processor_id();
	unsigned long flags;
	const char *fatal;

	arch_local_irq_disable();
	if (!early_init_done)
		arch_bare_panic(msg ? msg : "Oops", regs);
	if (dying[cpu]++)
		arch_bare_panic("Exception while handling an exception", regs);

	flags = console_lock();
	__atomic_fetch_add(&oops_count, 1, __ATOMIC_RELAXED);
	if (msg) {
		printk("Internal error: %s: %016lx [#%u] SMP\n", msg, regs_error(regs), oops_count);
		show_regs(regs);
		printk("---[ end trace %016lx ]---\n", 0UL);
	}
	fatal = why_fatal(regs);
	if (!fatal)
		printk("Thread %s/%d is killed\n", current->comm, current->pid);
	console_unlock(flags);
	dying[cpu]--;

	if (fatal)
		panic("%s", fatal);
	arch_local_irq_enable();
	make_task_dead();
}
