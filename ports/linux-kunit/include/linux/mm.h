/* SPDX-License-Identifier: MIT */
/* linux/mm.h - pages. */
#ifndef LINUX_KUNIT_LINUX_MM_H
#define LINUX_KUNIT_LINUX_MM_H

#include <kernel/gfp.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <linux/io.h>

#define offset_in_page(p) ((unsigned long)(p) & ~PAGE_MASK)

#endif
