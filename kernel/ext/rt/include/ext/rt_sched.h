/* SPDX-License-Identifier: MIT */
/* rt_sched.h - tasks that wait for locks which spin in other kernels. Included by <kernel/sched.h>, which explains the rest. */
#ifndef EXT_RT_SCHED_H
#define EXT_RT_SCHED_H

/**
 * set_rtlock_wait_state(), restore_rtlock_wait_state() - around waiting for a lock that spins in other kernels
 *
 * The task may have set its state to sleep already, and then need a lock before it does. The first call puts that
 * state aside and sets TASK_RTLOCK_WAIT, the second brings it back. A wake-up meant for the state that was put
 * aside is kept: the second call then leaves TASK_RUNNING. In between, schedule_rtlock() waits, after which
 * set_current_state(TASK_RTLOCK_WAIT) comes before the next look at the condition, and
 * wake_up_state(task, TASK_RTLOCK_WAIT) wakes. Interrupts on; the calls do not nest.
 */
void set_rtlock_wait_state(void);
void restore_rtlock_wait_state(void);

/** rtlock_might_sleep() - warn, with a trace, if a lock that sleeps in real-time kernels only is not allowed here. */
void __rtlock_might_sleep(const char *file, int line);
#define rtlock_might_sleep() __rtlock_might_sleep(__FILE__, __LINE__)

static inline bool holds_rtlock(void)
{
	return READ_ONCE(current->rtlocks) != 0;
}

static inline void abandon_rtlocks(void)
{
	current->rt_mutexes_held += current->rtlocks;
	current->rtlocks = 0;
}

static inline bool wake_saved_state(struct task *task, unsigned int state)
{
	if (!(task->saved_state & state))
		return false;
	task->saved_state = TASK_RUNNING;
	return true;
}

#endif
