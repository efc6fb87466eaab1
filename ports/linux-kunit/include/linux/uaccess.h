/* SPDX-License-Identifier: MIT */
/* linux/uaccess.h - the two halves of the address space; test files name it and use the kernel side alone. */
#ifndef LINUX_KUNIT_LINUX_UACCESS_H
#define LINUX_KUNIT_LINUX_UACCESS_H

#include <linux/mm.h>

#endif
