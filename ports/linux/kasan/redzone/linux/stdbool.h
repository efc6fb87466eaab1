/* SPDX-License-Identifier: MIT */
/* stdbool.h - what the runtime's public headers need of it, in files that include Linux's headers. */
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/types.h>
