/* SPDX-License-Identifier: MIT */
/*
 * timer.c - timers, and sleeping for a time.
 *
 * One list for the whole system holds the timers, sorted by expiry. The first CPU that ticks after a
 * timer's expiry runs it, in a soft interrupt. There are few timers at a time, and the most recent one usually expires
 * last, so a new one is placed by a search from the end.
 *
 * In a real-time kernel soft interrupts are threads, for which urgent tasks do not wait. So timers that only wake a task,
 * as those of sleepers do, have a list of their own there, and run in the tick itself.
 */
#include <kernel/bug.h>
#include <kernel/percpu.h>
#include <kernel/rt.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include <kernel/spinlock.h>
#include <kernel/timer.h>
#include <asm/barrier.h>

#define IN_TICK(timer) (PREEMPT_RT && ((timer)->flags & TIMER_HARDIRQ) != 0)

/**
 * struct timer_queue - the timers that run in one context
 * @first_expiry: no timer expires before, unless the list is empty. It may be too early, after the first timer has been
 *	stopped. Read without the lock.
 */
struct timer_queue {
	struct list_head timers;
	unsigned long first_expiry;
};

static DEFINE_RAW_SPINLOCK(timer_lock);
static struct timer_queue soft = {.timers = LIST_HEAD_INIT(soft.timers)};
static struct timer_queue hard = {.timers = LIST_HEAD_INIT(hard.timers)};

/* The timers whose functions a CPU is in: a tick may come on top of a soft interrupt. They are compared, never followed, as
 * the functions may free them. */
struct timers_running {
	struct timer_list *soft;
	struct timer_list *hard;
};
static DEFINE_PER_CPU(struct timers_running, running);

/* A real-time kernel: held by a CPU's thread while it is in the function of a timer. A task that waits for the function's end
 * lends its priority. */
static DEFINE_PER_CPU(spinlock_t, expiry_lock);

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *),
		 unsigned int flags)
{
	INIT_LIST_HEAD(&timer->entry);
	timer->expires = 0;
	timer->function = function;
	timer->flags = flags;
}

bool mod_timer(struct timer_list *timer, unsigned long expires)
{
	struct timer_queue *queue = IN_TICK(timer) ? &hard : &soft;
	struct timer_list *other;
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(&timer_lock, flags);
	pending = !list_empty(&timer->entry);
	list_del_init(&timer->entry);
	timer->expires = expires;
	/* It goes after the timers that expire no later; without any, @other ends as the list's head. */
	list_for_each_entry_reverse(other, &queue->timers, entry)
	{
		if (!time_after(other->expires, expires))
			break;
	}
	list_add(&timer->entry, &other->entry);
	if (queue->timers.next == &timer->entry)
		WRITE_ONCE(queue->first_expiry, expires);
	raw_spin_unlock_irqrestore(&timer_lock, flags);
	return pending;
}

void add_timer(struct timer_list *timer)
{
	mod_timer(timer, timer->expires);
}

bool del_timer(struct timer_list *timer)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(&timer_lock, flags);
	pending = !list_empty(&timer->entry);
	list_del_init(&timer->entry);
	raw_spin_unlock_irqrestore(&timer_lock, flags);
	return pending;
}

/* Return: the CPU that is in the function of @timer, -1 if none is. timer_lock is held. */
static int running_on(const struct timer_list *timer)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		if (per_cpu(running, cpu).soft == timer || per_cpu(running, cpu).hard == timer)
			return (int)cpu;
	}
	return -1;
}

/* Wait a little for CPU @cpu, which is in the function of @timer. */
static void wait_for_end(const struct timer_list *timer, unsigned int cpu)
{
	/* A thread, which might have to wait for this task: for its CPU, or for its priority. A function that runs with
	 * interrupts off does not wait, and the caller may have them off too. */
	if (PREEMPT_RT && !IN_TICK(timer) && !(timer->flags & TIMER_IRQSAFE)) {
		spin_lock(per_cpu_ptr(&expiry_lock, cpu));
		spin_unlock(per_cpu_ptr(&expiry_lock, cpu));
		return;
	}
	cpu_relax();
}

bool del_timer_sync(struct timer_list *timer)
{
	bool pending = false;

	WARN_ON_ONCE(in_hardirq());
	for (;;) {
		unsigned long flags;
		int cpu;

		raw_spin_lock_irqsave(&timer_lock, flags);
		if (!list_empty(&timer->entry)) {
			pending = true;
			list_del_init(&timer->entry);
		}
		cpu = running_on(timer);
		raw_spin_unlock_irqrestore(&timer_lock, flags);
		if (cpu < 0)
			return pending;
		wait_for_end(timer, (unsigned int)cpu);
	}
}

/* --- Running ------------------------------------------------------------------------------------ */

/*
 * Return: the first timer to run, or NULL. If the timer's function still runs on another CPU, the timer is
 * left to that CPU, which looks again when the function ends: so a function never runs twice at once.
 * timer_lock is held.
 */
static struct timer_list *next_timer(struct timer_queue *queue, unsigned long now)
{
	struct timer_list *timer;

	list_for_each_entry (timer, &queue->timers, entry) {
		if (time_after(timer->expires, now))
			break;
		if (running_on(timer) < 0)
			return timer;
	}
	return NULL;
}

static bool queue_due(const struct timer_queue *queue)
{
	return !list_empty(&queue->timers) && !time_after(READ_ONCE(queue->first_expiry), jiffies);
}

/* timer_lock is held. */
static void note_first(struct timer_queue *queue)
{
	if (!list_empty(&queue->timers))
		WRITE_ONCE(queue->first_expiry,
			   list_first_entry(&queue->timers, struct timer_list, entry)->expires);
}

static void lock_expiry(void)
{
	if (PREEMPT_RT)
		spin_lock(this_cpu_ptr(&expiry_lock));
	raw_spin_lock_irq(&timer_lock);
}

static void unlock_expiry(void)
{
	raw_spin_unlock_irq(&timer_lock);
	if (PREEMPT_RT)
		spin_unlock(this_cpu_ptr(&expiry_lock));
}

/* Call the function of @timer. timer_lock is held, and released meanwhile. */
static void call_timer(struct timer_list *timer)
{
	list_del_init(&timer->entry);
	this_cpu_ptr(&running)->soft = timer;
	if (timer->flags & TIMER_IRQSAFE) {
		raw_spin_unlock(&timer_lock);
		timer->function(timer);
		raw_spin_lock(&timer_lock);
	} else {
		raw_spin_unlock_irq(&timer_lock);
		timer->function(timer);
		raw_spin_lock_irq(&timer_lock);
	}
	this_cpu_ptr(&running)->soft = NULL;
}

static void run_timers(void)
{
	struct timer_list *timer;
	unsigned long now = jiffies;

	lock_expiry();
	while ((timer = next_timer(&soft, now))) {
		call_timer(timer);
		/* Let those pass that wait for the end of the function. */
		if (PREEMPT_RT) {
			unlock_expiry();
			lock_expiry();
		}
	}
	note_first(&soft);
	unlock_expiry();
}

/* In the tick of a real-time kernel: wake the sleepers. */
static void run_hard_timers(void)
{
	struct timer_list *timer;
	unsigned long now = jiffies;

	raw_spin_lock(&timer_lock);
	while ((timer = next_timer(&hard, now))) {
		list_del_init(&timer->entry);
		this_cpu_ptr(&running)->hard = timer;
		raw_spin_unlock(&timer_lock);
		timer->function(timer);
		raw_spin_lock(&timer_lock);
		this_cpu_ptr(&running)->hard = NULL;
	}
	note_first(&hard);
	raw_spin_unlock(&timer_lock);
}

void timers_tick(void)
{
	/* Most ticks find no timer, and need no lock for that. */
	if (queue_due(&soft))
		raise_softirq_irqoff(TIMER_SOFTIRQ);
	if (PREEMPT_RT && queue_due(&hard))
		run_hard_timers();
}

void timers_init(void)
{
	open_softirq(TIMER_SOFTIRQ, run_timers);
	for (unsigned int cpu = 0; PREEMPT_RT && cpu < NR_CPUS; cpu++)
		spin_lock_init(per_cpu_ptr(&expiry_lock, cpu));
}

/* --- Sleeping -------------------------------------------------------------------------------- */

struct sleeper {
	struct timer_list timer;
	struct task *task;
};

static void wake_sleeper(struct timer_list *timer)
{
	struct sleeper *sleeper = from_timer(sleeper, timer, timer);

	wake_up_process(sleeper->task);
}

long schedule_timeout(long timeout)
{
	struct sleeper sleeper = {.task = current};
	unsigned long expires;
	long left;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeout;
	}
	expires = jiffies + (unsigned long)max(timeout, 0L);
	timer_setup(&sleeper.timer, wake_sleeper, TIMER_IRQSAFE | TIMER_HARDIRQ);
	mod_timer(&sleeper.timer, expires);
	schedule();
	/* The timer is on this stack, so no CPU may use it after the return. */
	del_timer_sync(&sleeper.timer);
	left = (long)(expires - jiffies);
	return max(left, 0L);
}

long schedule_timeout_interruptible(long timeout)
{
	__set_current_state(TASK_INTERRUPTIBLE);
	return schedule_timeout(timeout);
}

long schedule_timeout_uninterruptible(long timeout)
{
	__set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(timeout);
}

void msleep(unsigned int ms)
{
	/* One tick more, because part of the current one is over. */
	long left = (long)msecs_to_jiffies(ms) + 1;

	might_sleep();
	while (left)
		left = schedule_timeout_uninterruptible(left);
}
