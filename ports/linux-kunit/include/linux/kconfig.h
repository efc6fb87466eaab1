/* SPDX-License-Identifier: MIT */
/*
 * linux/kconfig.h - the configuration of the reference kernel by the names that Linux gives it.
 *
 * The mode's own macros (CONFIG_KASAN_GENERIC and others) come from the command line.
 */
#ifndef LINUX_KUNIT_LINUX_KCONFIG_H
#define LINUX_KUNIT_LINUX_KCONFIG_H

#include <kasan/config.h>

/* Is @option defined as 1? A comparison of text, for C code: the compiler folds it. */
#define IS_ENABLED(option)	  LINUX_KUNIT_IS_ONE(option)
#define LINUX_KUNIT_IS_ONE(value) (LINUX_KUNIT_TEXT(value)[0] == '1')
#define LINUX_KUNIT_TEXT(value)	  #value
/* Tests are linked into the kernel; this macro also works in #if. */
#define IS_MODULE(option) 0

#ifdef __clang__
#define CONFIG_CC_IS_CLANG 1
#else
#define CONFIG_CC_IS_GCC 1
#endif
/* vmalloc areas have shadow of their own, and objects of SLAB_TYPESAFE_BY_RCU caches are poisoned once
 * a grace period has passed. */
#define CONFIG_KASAN_VMALLOC  1
#define CONFIG_SLUB_RCU_DEBUG 1

#endif
