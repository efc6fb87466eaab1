/* SPDX-License-Identifier: MIT */
/*
 * random.h - repeatable pseudo-random numbers (xorshift64*).
 *
 * Not for secrets. The boot parameter random.seed= chooses the sequence; without it the sequence is always
 * the same, so that a run can be repeated.
 */
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include <kernel/types.h>

/* Value of random.seed=, 0 without it. For code that cannot call instrumented functions. */
extern u64 random_seed;
/* Was it given? */
extern bool random_seed_given;

/** struct rnd_state - a generator of the caller's own */
struct rnd_state {
	u64 state;
};

/** prandom_seed_state() - start sequence number @seed. */
void prandom_seed_state(struct rnd_state *rnd, u64 seed);
u32 prandom_u32_state(struct rnd_state *rnd);

/** get_random_u32() and others - draw from the system's generator. Any context, any CPU. */
u32 get_random_u32(void);
u64 get_random_u64(void);
void get_random_bytes(void *buf, size_t n);

/** get_random_u32_below() - Return: evenly distributed in [0, @ceil), 0 if @ceil is 0. */
u32 get_random_u32_below(u32 ceil);

#endif
