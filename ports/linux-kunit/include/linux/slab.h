/* SPDX-License-Identifier: MIT */
/* linux/slab.h - objects. There is nobody to be accounted. */
#ifndef LINUX_KUNIT_LINUX_SLAB_H
#define LINUX_KUNIT_LINUX_SLAB_H

#include <kernel/slab.h>

#define SLAB_ACCOUNT 0U

#endif
