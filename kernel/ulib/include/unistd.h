/* SPDX-License-Identifier: MIT */
/* unistd.h - what portable libraries take from it besides system calls, of which there are none. */
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
