/* SPDX-License-Identifier: MIT */
/*
 * linux/kernel.h - what Linux code finds without asking for it: configuration, rounding, and the
 * barriers, RCU, workqueues and migrate_disable() that other headers bring along there.
 */
#ifndef LINUX_KUNIT_LINUX_KERNEL_H
#define LINUX_KUNIT_LINUX_KERNEL_H

#include <kernel/atomic.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/preempt.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/workqueue.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>

/* To a multiple of @n, a power of two. */
#define round_up(x, n)	 ALIGN((x), (n))
#define round_down(x, n) ALIGN_DOWN((x), (n))

#endif
