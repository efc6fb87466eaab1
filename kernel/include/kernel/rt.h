/* SPDX-License-Identifier: MIT */
/*
 * rt.h - the real-time kernel as the core sees it: an extension in kernel/ext/rt/.
 *
 * No other file of the core asks for CONFIG_PREEMPT_RT. Where a few lines differ, core code tests PREEMPT_RT, a constant. Where
 * a header's contents differ, it includes the extension's header of the same name instead.
 */
#ifndef KERNEL_RT_H
#define KERNEL_RT_H

#ifdef CONFIG_PREEMPT_RT
#include <ext/rt.h>
#else

#define PREEMPT_RT 0

/* Further members of struct task. */
#define RT_TASK_MEMBERS

/* What softirq_count() returns. @count: that part of preempt_count(). */
#define RT_SOFTIRQ_COUNT(count) (count)

#endif

#endif
