// SPDX-License-Identifier: MIT
/*
 * manage.c - handlers of device interrupts: requesting and freeing them, calling them, their threads.
 *
 * Interrupts find their handler without a lock. A handler counts as an RCU reader, because a grace period waits for each CPU
 * to be seen outside of interrupts; so free_irq() waits for one.
 *
 * Nothing of this is for interrupts between CPUs, which the architecture hands to smp_handle_ipi().
 */
#include <kernel/arch.h>
#include <kernel/atomic.h>
#include <kernel/interrupt.h>
#include <kernel/kernel.h>
#include <kernel/rcupdate.h>
#include <kernel/rt.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/softirq.h>
#include <kernel/spinlock.h>
#include <asm/barrier.h>

/**
 * struct irq_action - the handler of an interrupt
 * @forced: @handler runs in the thread too.
 * @thread: NULL: none. @wake: it is to run @thread_fn. @freed: the interrupt is no longer this action's. Under the lock.
 */
struct irq_action {
	unsigned int irq;
	irq_handler_t handler;
	irq_handler_t thread_fn;
	unsigned int flags;
	void *dev;
	bool forced;
	struct task *thread;
	bool wake;
	bool freed;
};

static DEFINE_RAW_SPINLOCK(actions_lock);
static struct irq_action *actions[NR_IRQS];

/* --- The thread ------------------------------------------------------------------------------- */

static void run_in_thread(struct irq_action *action)
{
	irqreturn_t result = IRQ_WAKE_THREAD;
	unsigned long flags;

	if (action->forced) {
		/* As above a handler on top of a task: no soft interrupt of this CPU comes in between. */
		local_bh_disable();
		result = action->handler(action->irq, action->dev);
		local_bh_enable();
	}
	if (result == IRQ_WAKE_THREAD && action->thread_fn)
		action->thread_fn(action->irq, action->dev);
	if (!(action->flags & IRQF_ONESHOT))
		return;
	raw_spin_lock_irqsave(&actions_lock, flags);
	if (!action->freed)
		arch_irq_enable(action->irq);
	raw_spin_unlock_irqrestore(&actions_lock, flags);
}

static int irq_thread(void *arg)
{
	struct irq_action *action = arg;

	for (;;) {
		/* The interrupt stores @wake, then wakes: one of the two is seen. */
		set_current_state(TASK_INTERRUPTIBLE);
		if (xchg(&action->wake, false)) {
			__set_current_state(TASK_RUNNING);
			run_in_thread(action);
			continue;
		}
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

void irq_handle(unsigned int irq)
{
	struct irq_action *action = irq < NR_IRQS ? smp_load_acquire(&actions[irq]) : NULL;

	if (!action) {
		pr_warn("irq: interrupt %u has no handler, it is switched off\n", irq);
		arch_irq_disable(irq);
		return;
	}
	if (!action->forced && action->handler &&
	    (action->handler(irq, action->dev) != IRQ_WAKE_THREAD || !action->thread))
		return;
	if (action->flags & IRQF_ONESHOT)
		arch_irq_disable(irq);
	WRITE_ONCE(action->wake, true);
	wake_up_process(action->thread);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Return: false if the parts of @action do not fit together. */
static bool fits(const struct irq_action *action)
{
	bool threaded = action->thread_fn || action->forced;

	if (!action->handler && !(action->thread_fn && action->flags & IRQF_ONESHOT))
		return false;
	if (action->thread_fn && action->flags & IRQF_NO_THREAD)
		return false;
	return arch_irq_exists(action->irq, threaded);
}

static int start_thread(struct irq_action *action, const char *name)
{
	struct task *task = kthread_create(irq_thread, action, "irq/%u-%s", action->irq, name);

	if (IS_ERR(task))
		return -ENOMEM;
	sched_set_fifo(task);
	action->thread = task;
	return 0;
}

/* Make @action the one of its interrupt. */
static int install(struct irq_action *action)
{
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&actions_lock, flags);
	if (actions[action->irq]) {
		err = -EBUSY;
	} else {
		smp_store_release(&actions[action->irq], action);
		arch_irq_enable(action->irq);
	}
	raw_spin_unlock_irqrestore(&actions_lock, flags);
	return err;
}

static void release(struct irq_action *action)
{
	if (action->thread)
		kthread_stop(action->thread);
	kfree(action);
}

int request_threaded_irq(unsigned int irq, irq_handler_t handler, irq_handler_t thread_fn,
			 unsigned int flags, const char *name, void *dev)
{
	struct irq_action *action = kzalloc(sizeof(*action), GFP_KERNEL);
	int err = -EINVAL;

	if (!action)
		return -ENOMEM;
	action->irq = irq;
	action->handler = handler;
	action->thread_fn = thread_fn;
	action->flags = flags;
	action->dev = dev;
	action->forced = PREEMPT_RT && handler && !(flags & IRQF_NO_THREAD);
	/* The line may stay active until the handler has run. */
	if (action->forced)
		action->flags |= IRQF_ONESHOT;
	if (fits(action))
		err = thread_fn || action->forced ? start_thread(action, name) : 0;
	if (!err)
		err = install(action);
	if (err) {
		release(action);
		return err;
	}
	if (action->thread)
		wake_up_process(action->thread);
	return 0;
}

void free_irq(unsigned int irq, void *dev)
{
	struct irq_action *action = NULL;
	unsigned long flags;

	might_sleep();
	raw_spin_lock_irqsave(&actions_lock, flags);
	if (irq < NR_IRQS && actions[irq] && actions[irq]->dev == dev) {
		action = actions[irq];
		actions[irq] = NULL;
		action->freed = true;
		arch_irq_disable(irq);
	}
	raw_spin_unlock_irqrestore(&actions_lock, flags);
	if (WARN(!action, "free_irq: interrupt %u has no such handler\n", irq))
		return;
	synchronize_rcu();
	release(action);
}
