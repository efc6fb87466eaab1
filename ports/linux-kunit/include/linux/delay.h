/* SPDX-License-Identifier: MIT */
/* linux/delay.h - waiting for a time. */
#ifndef LINUX_KUNIT_LINUX_DELAY_H
#define LINUX_KUNIT_LINUX_DELAY_H

#include <kernel/sched.h>
#include <asm/timer.h>

#endif
