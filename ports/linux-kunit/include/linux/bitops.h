/* SPDX-License-Identifier: MIT */
/* linux/bitops.h - single bits. */
#ifndef LINUX_KUNIT_LINUX_BITOPS_H
#define LINUX_KUNIT_LINUX_BITOPS_H

#include <kernel/bitops.h>

#endif
