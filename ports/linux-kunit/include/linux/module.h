/* SPDX-License-Identifier: MIT */
/* linux/module.h - macros by which a file describes itself. Nothing reads the license of a file linked into
 * the kernel. */
#ifndef LINUX_KUNIT_LINUX_MODULE_H
#define LINUX_KUNIT_LINUX_MODULE_H

#include <linux/kernel.h>

#define MODULE_LICENSE(license) _Static_assert(sizeof(license) > 1, "no license given")

#define MODULE_DESCRIPTION(text) _Static_assert(sizeof(text) > 1, "no description given")
/* The names that a file imports are all linked into the kernel. */
#define MODULE_IMPORT_NS(space) _Static_assert(sizeof(space) > 1, "no name space given")

/** linux_module_init() - the init function of the one linked file that is a module:
 *  module_case.c calls it. */
int linux_module_init(void);

#define module_init(fn)             \
	int linux_module_init(void) \
	{                           \
		return fn();        \
	}                           \
	_Static_assert(1, "module_init")

#endif
