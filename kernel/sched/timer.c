/* SPDX-License-Identifier: MIT */
/*
 * timer.c - timers, and sleeping for a time.
 *
 * One list for the whole system holds the timers, sorted by expiry. The first CPU that ticks after a
 * timer's expiry runs it. There are few timers at a time, and the most recent one usually expires last, so
 * a new one is placed by a search from the end.
 */
#include <kernel/percpu.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/timer.h>
#include <asm/barrier.h>

static DEFINE_SPINLOCK(timer_lock);
static LIST_HEAD(timers);
/* The timer whose function the CPU is in. It is compared, never followed: the function may free it. */
static DEFINE_PER_CPU(struct timer_list *, running_timer);

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *),
		 unsigned int flags)
{
	INIT_LIST_HEAD(&timer->entry);
	timer->expires = 0;
	timer->function = function;
}

bool mod_timer(struct timer_list *timer, unsigned long expires)
{
	struct timer_list *other;
	unsigned long flags;
	bool pending;

	spin_lock_irqsave(&timer_lock, flags);
	pending = !list_empty(&timer->entry);
	list_del_init(&timer->entry);
	timer->expires = expires;
	/* It goes behind the timers that expire no later; without any, @other ends as the list's head. */
	list_for_each_entry_reverse(other, &timers, entry)
	{
		if (!time_after(other->expires, expires))
			break;
	}
	list_add(&timer->entry, &other->entry);
	spin_unlock_irqrestore(&timer_lock, flags);
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

	spin_lock_irqsave(&timer_lock, flags);
	pending = !list_empty(&timer->entry);
	list_del_init(&timer->entry);
	spin_unlock_irqrestore(&timer_lock, flags);
	return pending;
}

/* Return: true if a CPU is in the function of @timer. timer_lock is held. */
static bool timer_running(const struct timer_list *timer)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		if (per_cpu(running_timer, cpu) == timer)
			return true;
	}
	return false;
}

bool del_timer_sync(struct timer_list *timer)
{
	bool pending = false;

	for (;;) {
		unsigned long flags;
		bool running;

		spin_lock_irqsave(&timer_lock, flags);
		if (!list_empty(&timer->entry)) {
			pending = true;
			list_del_init(&timer->entry);
		}
		running = timer_running(timer);
		spin_unlock_irqrestore(&timer_lock, flags);
		if (!running)
			return pending;
		cpu_relax();
	}
}

/*
 * Return: the first timer to run, or NULL. If the timer's function still runs on another CPU, the timer is
 * left to that CPU, which looks again when the function ends: so a function never runs twice at once.
 * timer_lock is held.
 */
static struct timer_list *next_timer(unsigned long now)
{
	struct timer_list *timer;

	list_for_each_entry (timer, &timers, entry) {
		if (time_after(timer->expires, now))
			break;
		if (!timer_running(timer))
			return timer;
	}
	return NULL;
}

void run_timers(void)
{
	struct timer_list *timer;
	unsigned long now;

	/* Most ticks find no timer, and need no lock for that. */
	if (list_empty(&timers))
		return;
	now = jiffies;
	spin_lock(&timer_lock);
	while ((timer = next_timer(now))) {
		list_del_init(&timer->entry);
		this_cpu_write(running_timer, timer);
		spin_unlock(&timer_lock);
		timer->function(timer);
		spin_lock(&timer_lock);
		this_cpu_write(running_timer, NULL);
	}
	spin_unlock(&timer_lock);
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
	timer_setup(&sleeper.timer, wake_sleeper, 0);
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
