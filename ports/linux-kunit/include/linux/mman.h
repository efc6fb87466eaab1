/* SPDX-License-Identifier: MIT */
/* linux/mman.h - mapping memory for user mode. */
#ifndef LINUX_KUNIT_LINUX_MMAN_H
#define LINUX_KUNIT_LINUX_MMAN_H

#include <kernel/user_mm.h>
#include <linux/mm.h>

#endif
