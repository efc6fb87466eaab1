/* SPDX-License-Identifier: MIT */
/* linux/string.h - memory and strings. */
#ifndef LINUX_KUNIT_LINUX_STRING_H
#define LINUX_KUNIT_LINUX_STRING_H

#include <kernel/string.h>

#endif
