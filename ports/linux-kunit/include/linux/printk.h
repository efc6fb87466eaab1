/* SPDX-License-Identifier: MIT */
/* linux/printk.h - messages. */
#ifndef LINUX_KUNIT_LINUX_PRINTK_H
#define LINUX_KUNIT_LINUX_PRINTK_H

#include <kernel/printk.h>

#endif
