/* SPDX-License-Identifier: MIT */
/* linux/uaccess.h - copies between kernel and user memory. */
#ifndef LINUX_KUNIT_LINUX_UACCESS_H
#define LINUX_KUNIT_LINUX_UACCESS_H

#include <kernel/uaccess.h>
#include <linux/mm.h>

#endif
