/* SPDX-License-Identifier: MIT */
/* random.c - xorshift64* generators: the system's own, and those of callers. */
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/random.h>

/* The seed without random.seed=. It must not be 0, the one state that xorshift never leaves. */
#define DEFAULT_SEED 0x9e3779b97f4a7c15UL

static u64 system_state = DEFAULT_SEED;
u64 random_seed;
bool random_seed_given;

static u64 advance(u64 state)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state;
}

/* The state has linear patterns; the high half of this product does not. */
static u64 scramble(u64 state)
{
	return state * 0x2545f4914f6cdd1dUL;
}

/* Neighbouring seeds give unrelated states (splitmix64's finaliser, a bijection). */
static u64 spread(u64 seed)
{
	seed += DEFAULT_SEED;
	seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9UL;
	seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebUL;
	seed ^= seed >> 31;
	return seed ? seed : DEFAULT_SEED;
}

void prandom_seed_state(struct rnd_state *rnd, u64 seed)
{
	rnd->state = spread(seed);
}

u32 prandom_u32_state(struct rnd_state *rnd)
{
	rnd->state = advance(rnd->state);
	return (u32)(scramble(rnd->state) >> 32);
}

u64 get_random_u64(void)
{
	u64 old = __atomic_load_n(&system_state, __ATOMIC_RELAXED);

	/* Interrupts and other CPUs draw numbers too; each number is given out once. */
	while (!__atomic_compare_exchange_n(&system_state, &old, advance(old), false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return scramble(advance(old));
}

u32 get_random_u32(void)
{
	return (u32)(get_random_u64() >> 32);
}

void get_random_bytes(void *buf, size_t n)
{
	u8 *p = buf;

	while (n) {
		u64 bits = get_random_u64();

		for (unsigned int i = 0; i < 8 && n; i++, n--, bits >>= 8)
			*p++ = (u8)bits;
	}
}

u32 get_random_u32_below(u32 ceil)
{
	u64 product;

	if (!ceil)
		return 0;
	/* The high half of the product is almost uniform. Reject products whose low half is below
	 * 2^32 mod ceil: then it is exactly uniform. */
	do {
		product = (u64)get_random_u32() * ceil;
	} while ((u32)product < -ceil % ceil);
	return (u32)(product >> 32);
}

static int set_seed(const char *value, void *var)
{
	u64 seed;
	int err = value ? kstrtou64(value, 0, &seed) : -EINVAL;

	if (!err) {
		random_seed = seed;
		random_seed_given = true;
		system_state = spread(seed);
	}
	return err;
}
setup_param("random.seed", set_seed, "a number below 2^64",
	    "sequence of the random number generator, and of tags");
