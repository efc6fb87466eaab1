/* SPDX-License-Identifier: MIT */
/* linux/kasan.h - what any kernel code may ask KASAN for. */
#ifndef LINUX_KUNIT_LINUX_KASAN_H
#define LINUX_KUNIT_LINUX_KASAN_H

#include <kasan/kasan.h>
#include <linux/kconfig.h>

#endif
