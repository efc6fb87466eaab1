/* SPDX-License-Identifier: MIT */
/* asm/page.h - size and number of pages. */
#ifndef LINUX_KUNIT_ASM_PAGE_H
#define LINUX_KUNIT_ASM_PAGE_H

#include <kernel/types.h>

#endif
