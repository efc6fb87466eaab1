/* SPDX-License-Identifier: MIT */
/*
 * tag_policy.c - which tag an allocation gets: kasan.tag_policy=adjacent|random.
 *
 * "adjacent" trades entropy for certainty. The slots of a slab alternate between even and odd tags, so a linear
 * overflow always meets a tag of the other kind. Within its kind a slot gets any tag but its last one, so the previous
 * owner's pointer never matches. Only an access that jumps over objects, or a pointer that is two owners old, is left
 * to chance.
 *
 * The numbers need not be secret, only evenly spread: each CPU has a linear congruential generator, without a lock.
 * Whoever sees a few software tags can compute the others; with hardware tags the CPU's own randomness is added. An
 * interrupt between load and store repeats a number, which does no harm.
 */
#include "tags_hot.h"

unsigned int kasan_opt_tag_policy = KASAN_TAG_POLICY_ADJACENT;

#ifdef CONFIG_KASAN_TAGS

_Static_assert(KASAN_TAG_COUNT % 2 == 0 && KASAN_TAG_MIN % 2 == 0, "as many even tags as odd ones");

/* Knuth's and Lewis's constants; modulo 2^32 the period is complete. */
struct kasan_tag_generator kasan_tag_generators[CONFIG_KASAN_NR_CPUS] = {
	[0 ... CONFIG_KASAN_NR_CPUS - 1] = {.factor = 1664525U, .step = 1013904223U},
};

void kasan_set_tag_policy(enum kasan_tag_policy policy)
{
	kasan_opt_tag_policy = policy;
	/* This cannot be undone: from now on the last tag of some slots does not tell even from odd, so
	 * kasan_slab_retag() must not be used again. */
	if (policy != KASAN_TAG_POLICY_ADJACENT)
		kasan_slab_set_flag(KASAN_SLAB_SLOW, true);
}

static kasan_cold uint32_t first_state(unsigned int cpu)
{
	uint64_t seed = kasan_port_seed() + cpu + 1;

	/* Neighbouring seeds must not give neighbouring sequences. */
	seed *= 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(seed >> 32) | 1;
}

uint16_t kasan_tags_cpu_seed(uint64_t seed, unsigned int cpu)
{
	const uint32_t start = (uint32_t)((seed + 1) * 0x9e3779b97f4a7c15ULL >> 40);

	/* 40504 and 65535 are coprime, so no two CPUs start at the same place. */
	return (uint16_t)(1 + (start + cpu % 65535 * 40504) % 65535);
}

/* Randomness that only this CPU knows, added to a generator's state. With hardware tags it is a tag that the CPU drew,
 * which makes the sequence unpredictable if the CPU has a source of randomness. Alone it would not do: a CPU may prefer
 * some steps from one tag to the next, as QEMU does. From bit 12 on, the multiplication carries each of its values to
 * another place of the upper bits. */
static inline uint32_t cpu_randomness(void)
{
#ifdef CONFIG_KASAN_HW_TAGS
	if (kasan_likely(kasan_tags_possible()))
		return (uint32_t)(kasan_mte_irg(0, KASAN_HW_NO_TAGS) >> 56 & 15) << 12;
#endif
	return 0;
}

uint32_t kasan_tags_entropy(void)
{
	const unsigned int cpu = kasan_port_cpu();
	struct kasan_tag_generator *generator = &kasan_tag_generators[cpu];
	uint32_t state = __atomic_load_n(&generator->state, __ATOMIC_RELAXED);

	if (kasan_unlikely(!state))
		state = first_state(cpu);
	state += cpu_randomness();
	state = state * generator->factor + generator->step;
	__atomic_store_n(&generator->state, state, __ATOMIC_RELAXED);
	return state;
}

uint8_t kasan_tag_random(void)
{
	return (uint8_t)(KASAN_TAG_MIN + kasan_tag_spread(kasan_tags_entropy(), KASAN_TAG_COUNT));
}

uint8_t kasan_tag_for_slot(unsigned int parity, uint8_t last)
{
	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return kasan_tag_random();
	return kasan_tag_pick(kasan_tags_entropy(), parity, last);
}

uint8_t kasan_tag_beside(uint8_t tag, uint8_t a, uint8_t b, uint8_t c)
{
	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return tag;
	while (tag == a || tag == b || tag == c)
		tag = kasan_tag_next(tag);
	return tag;
}

uint8_t kasan_tag_avoiding(uint8_t a, uint8_t b, uint8_t c)
{
	unsigned int tag = kasan_tag_random();

	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return (uint8_t)tag;
	/* At most three steps: there are more tags than neighbours. */
	while (tag == a || tag == b || tag == c)
		tag = tag == KASAN_TAG_MAX ? KASAN_TAG_MIN : tag + 1;
	return (uint8_t)tag;
}

#else

void kasan_set_tag_policy(enum kasan_tag_policy policy)
{
	kasan_opt_tag_policy = policy;
}

#endif
