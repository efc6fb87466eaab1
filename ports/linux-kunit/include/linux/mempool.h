/* SPDX-License-Identifier: MIT */
/* linux/mempool.h - pools of spare objects. */
#ifndef LINUX_KUNIT_LINUX_MEMPOOL_H
#define LINUX_KUNIT_LINUX_MEMPOOL_H

#include <kernel/mempool.h>

#endif
