/* SPDX-License-Identifier: MIT */
/* stdint.h - what the runtime's public headers need of it, in files that include Linux's headers. */
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/types.h>

#ifndef UINT32_MAX
#define UINT32_MAX U32_MAX
#endif
