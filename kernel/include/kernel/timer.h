/* SPDX-License-Identifier: MIT */
/*
 * timer.h - call a function later, in a soft interrupt.
 *
 * Resolution is one tick (1/HZ s). The function runs with interrupts on, on any CPU, but never on two at
 * once, and must not sleep. It may start its timer again or free it.
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include <kernel/list.h>
#include <kernel/time.h>
#include <kernel/types.h>

/* The function runs with interrupts off, and nothing on its CPU comes between the end of "pending" and its call. */
#define TIMER_IRQSAFE 1U

/* The function only wakes a task: in a real-time kernel the tick's interrupt calls it, so that no task comes before it.
 * With TIMER_IRQSAFE. */
#define TIMER_HARDIRQ 2U

/** struct timer_list - @expires: in jiffies. @function: called with the timer. @flags: TIMER_*. */
struct timer_list {
	struct list_head entry;
	unsigned long expires;
	void (*function)(struct timer_list *timer);
	unsigned int flags;
};

#define DEFINE_TIMER(name, fn) \
	struct timer_list name = {.entry = LIST_HEAD_INIT((name).entry), .function = (fn)}

/** timer_setup() - prepare @timer; it is not started. @flags: 0 or TIMER_*. */
void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *),
		 unsigned int flags);
#define timer_setup_on_stack(timer, function, flags) timer_setup(timer, function, flags)

/** from_timer() - Return: the structure that has @timer as a member. */
#define from_timer(var, timer, member) container_of(timer, __typeof__(*(var)), member)

/** timer_pending() - Return: true if @timer is started and its function has not run; a hint. */
static inline bool timer_pending(const struct timer_list *timer)
{
	return !list_empty(&timer->entry);
}

/** mod_timer() - start @timer, or move it, to @expires. Any context. Return: true if it was
 *  pending. */
bool mod_timer(struct timer_list *timer, unsigned long expires);

/** add_timer() - start @timer at @timer->expires. */
void add_timer(struct timer_list *timer);

/** del_timer() - stop @timer; its function may still be running. Any context. Return: true if it
 *  was pending. */
bool del_timer(struct timer_list *timer);

/** del_timer_sync() - stop @timer and wait until its function has ended on every CPU; the function
 *  must not start it again. Do not call it from the function itself, or with a lock that the function takes,
 *  or in an interrupt handler, below which the function may be running. Return: true if it was pending. */
bool del_timer_sync(struct timer_list *timer);

#define timer_delete(timer)	 del_timer(timer)
#define timer_delete_sync(timer) del_timer_sync(timer)

/** timers_tick() - have expired timers run, in a soft interrupt. From timer_tick(), interrupts off. */
void timers_tick(void);

/** timers_init() - at boot, once. */
void timers_init(void);

#endif
