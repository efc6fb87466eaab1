/* SPDX-License-Identifier: MIT */
/*
 * tag_policy.c - which tag an allocation gets: kasan.tag_policy=adjacent|random.
 *
 * "adjacent" spends entropy on certainty. Slots of a slab alternate between even and odd tags, so a linear
 * overflow always meets a tag of the other kind. Within its kind a slot gets any tag but its last one, so
 * the previous owner's pointer never fits. Only an access that jumps over objects, or a pointer that is two
 * owners old, is left to chance.
 *
 * The numbers need not be secret, only evenly spread: a linear congruential generator for each CPU, without
 * a lock. An interrupt between its load and its store repeats a number, which does no harm.
 */
#include "tags.h"

enum kasan_tag_policy kasan_opt_tag_policy = KASAN_TAG_POLICY_ADJACENT;

#ifdef CONFIG_KASAN_TAGS

#define TAG_COUNT (KASAN_TAG_MAX - KASAN_TAG_MIN + 1)
/* Even and odd ones. */
#define KIND_COUNT (TAG_COUNT / 2)

_Static_assert(TAG_COUNT % 2 == 0 && KASAN_TAG_MIN % 2 == 0, "as many even tags as odd ones");

/* Apart from each other: every allocation writes its CPU's. */
static struct {
	uint32_t state;
} __attribute__((__aligned__(64))) generators[CONFIG_KASAN_NR_CPUS];

static __attribute__((cold, __noinline__)) uint32_t first_state(unsigned int cpu)
{
	uint64_t seed = kasan_port_seed() + cpu + 1;

	/* Neighbouring seeds must not give neighbouring sequences. */
	seed *= 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(seed >> 32) | 1;
}

uint32_t kasan_tags_entropy(void)
{
	const unsigned int cpu = kasan_port_cpu();
	uint32_t state = __atomic_load_n(&generators[cpu].state, __ATOMIC_RELAXED);

	if (kasan_unlikely(!state))
		state = first_state(cpu);
	/* The constants of Knuth and Lewis; modulo 2^32 the period is complete. */
	state = state * 1664525U + 1013904223U;
	__atomic_store_n(&generators[cpu].state, state, __ATOMIC_RELAXED);
	return state;
}

/* Evenly spread over [0, bound), bound at most 256: the upper bits are the random ones. */
static inline unsigned int below(unsigned int bound)
{
	return ((kasan_tags_entropy() >> 8) * bound) >> 24;
}

uint8_t kasan_tag_random(void)
{
	return (uint8_t)(KASAN_TAG_MIN + below(TAG_COUNT));
}

uint8_t kasan_tag_for_slot(unsigned int parity, uint8_t last)
{
	unsigned int index;

	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return kasan_tag_random();
	if (last >= KASAN_TAG_MIN && last <= KASAN_TAG_MAX && (last & 1) == parity) {
		/* One of the other tags: those from @last on move up by one. */
		index = below(KIND_COUNT - 1);
		if (index >= (unsigned int)(last - KASAN_TAG_MIN) / 2)
			index++;
	} else {
		index = below(KIND_COUNT);
	}
	return (uint8_t)(KASAN_TAG_MIN + 2 * index + parity);
}

uint8_t kasan_tag_beside(uint8_t tag, uint8_t a, uint8_t b, uint8_t c)
{
	unsigned int next = tag;

	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return tag;
	while (next == a || next == b || next == c)
		next = next + 2 > KASAN_TAG_MAX ? KASAN_TAG_MIN + (tag & 1U) : next + 2;
	return (uint8_t)next;
}

uint8_t kasan_tag_avoiding(uint8_t a, uint8_t b, uint8_t c)
{
	unsigned int tag = kasan_tag_random();

	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return (uint8_t)tag;
	/* Three steps at most: there are more tags than neighbours. */
	while (tag == a || tag == b || tag == c)
		tag = tag == KASAN_TAG_MAX ? KASAN_TAG_MIN : tag + 1;
	return (uint8_t)tag;
}

#endif /* CONFIG_KASAN_TAGS */
