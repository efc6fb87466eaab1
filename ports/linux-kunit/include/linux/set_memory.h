/* SPDX-License-Identifier: MIT */
/*
 * linux/set_memory.h - permissions of mapped pages. Return: 0, or a negative error if one is not mapped.
 */
#ifndef LINUX_KUNIT_LINUX_SET_MEMORY_H
#define LINUX_KUNIT_LINUX_SET_MEMORY_H

#include <kernel/types.h>

int set_memory_ro(unsigned long addr, int pages);
int set_memory_rw(unsigned long addr, int pages);

#endif
