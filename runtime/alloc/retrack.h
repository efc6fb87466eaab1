/* SPDX-License-Identifier: MIT */
/* retrack.h - another stack for the allocation of an object. */
#ifndef KASAN_RETRACK_H
#define KASAN_RETRACK_H

#include "../base/base.h"

/** kasan_retrack() - take the stack at @ip, @fp for the one that allocated the live object that starts at @ptr, which the
 *  caller owns. Return: false if there is no such object. */
bool kasan_retrack(const void *ptr, uintptr_t ip, uintptr_t fp);

#endif /* KASAN_RETRACK_H */
