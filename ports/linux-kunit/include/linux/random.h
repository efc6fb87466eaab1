/* SPDX-License-Identifier: MIT */
/* linux/random.h - random numbers. */
#ifndef LINUX_KUNIT_LINUX_RANDOM_H
#define LINUX_KUNIT_LINUX_RANDOM_H

#include <kernel/random.h>

/** get_random_u32_inclusive() - Return: evenly distributed in [@floor, @ceil]. */
static inline u32 get_random_u32_inclusive(u32 floor, u32 ceil)
{
	return floor + get_random_u32_below(ceil - floor + 1);
}

#endif
