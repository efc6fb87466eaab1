/* SPDX-License-Identifier: MIT */
/* linux/slab.h - objects. Accounting does not exist here. */
#ifndef LINUX_KUNIT_LINUX_SLAB_H
#define LINUX_KUNIT_LINUX_SLAB_H

#include <kernel/slab.h>

#define SLAB_ACCOUNT 0U

#endif
