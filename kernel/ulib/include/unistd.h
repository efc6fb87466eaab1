/* SPDX-License-Identifier: MIT */
/* unistd.h - the few names that portable libraries need. There are no system calls. */
#ifndef _UNISTD_H
#define _UNISTD_H

#include <stddef.h>
#include <sys/types.h>

#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif

#endif
