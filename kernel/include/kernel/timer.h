/* SPDX-License-Identifier: MIT */
/*
 * timer.h - call a function later, from the timer interrupt.
 *
 * Resolution is one tick (1/HZ s). The function runs with interrupts off, on any CPU but never on two at
 * once, and may start its timer again or free it.
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include <kernel/list.h>
#include <kernel/time.h>
#include <kernel/types.h>

/** struct timer_list - @expires: on the scale of jiffies. @function: gets the timer. */
struct timer_list {
	struct list_head entry;
	unsigned long expires;
	void (*function)(struct timer_list *timer);
};

#define DEFINE_TIMER(name, fn) \
	struct timer_list name = {.entry = LIST_HEAD_INIT((name).entry), .function = (fn)}

/** timer_setup() - prepare @timer; it is not started. @flags: 0. */
void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *),
		 unsigned int flags);
#define timer_setup_on_stack(timer, function, flags) timer_setup(timer, function, flags)

/** from_timer() - the structure that holds @timer as its member. */
#define from_timer(var, timer, member) container_of(timer, __typeof__(*(var)), member)

/** timer_pending() - Return: true if it is started and has not run; a hint. */
static inline bool timer_pending(const struct timer_list *timer)
{
	return !list_empty(&timer->entry);
}

/** mod_timer() - start @timer, or move it, to @expires. Any context. Return: true if it was
 * pending. */
bool mod_timer(struct timer_list *timer, unsigned long expires);

/** add_timer() - start @timer at @timer->expires. */
void add_timer(struct timer_list *timer);

/** del_timer() - stop @timer; its function may still be running. Any context. Return: true if it
 *  was pending. */
bool del_timer(struct timer_list *timer);

/** del_timer_sync() - stop @timer and wait until its function has ended on every CPU; the function
 *  must not start it again. Not from the function itself, and with no lock held that the function
 *  takes.
 *  Return: true if it was pending. */
bool del_timer_sync(struct timer_list *timer);

#define timer_delete(timer)	 del_timer(timer)
#define timer_delete_sync(timer) del_timer_sync(timer)

/** run_timers() - call what has expired. From timer_tick(), interrupts off. */
void run_timers(void);

#endif
