/* SPDX-License-Identifier: MIT */
/* linux/module.h - what a file says of itself. Nothing reads the license of a file linked into the kernel. */
#ifndef LINUX_KUNIT_LINUX_MODULE_H
#define LINUX_KUNIT_LINUX_MODULE_H

#include <linux/kernel.h>

#define MODULE_LICENSE(license) _Static_assert(sizeof(license) > 1, "no license given")

#endif
