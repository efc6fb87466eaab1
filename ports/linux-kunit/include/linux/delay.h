/* SPDX-License-Identifier: MIT */
/* linux/delay.h - waiting for a time. */
#ifndef LINUX_KUNIT_LINUX_DELAY_H
#define LINUX_KUNIT_LINUX_DELAY_H

#include <kernel/arch.h>
#include <kernel/sched.h>

#endif
