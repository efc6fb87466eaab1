/* SPDX-License-Identifier: MIT */
/* linux/mman.h - what maps memory for user mode; test files name it and use the kernel side alone. */
#ifndef LINUX_KUNIT_LINUX_MMAN_H
#define LINUX_KUNIT_LINUX_MMAN_H

#include <linux/mm.h>

#endif
