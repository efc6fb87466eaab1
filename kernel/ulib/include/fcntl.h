/* SPDX-License-Identifier: MIT */
/* fcntl.h - the open modes that portable libraries name. There are no file descriptors and so no
 * open(): a program that calls it does not link. Files are read through <stdio.h>. */
#ifndef _FCNTL_H
#define _FCNTL_H

#include <sys/types.h>

#define O_RDONLY 00
#define O_WRONLY 01
#define O_RDWR	 02
#define O_CREAT	 0100
#define O_EXCL	 0200
#define O_TRUNC	 01000
#define O_APPEND 02000

#endif
