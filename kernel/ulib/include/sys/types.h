/* SPDX-License-Identifier: MIT */
/* sys/types.h - the few POSIX types that portable libraries ask for. */
#ifndef _SYS_TYPES_H
#define _SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
typedef unsigned int mode_t;

#endif
