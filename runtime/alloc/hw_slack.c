/* SPDX-License-Identifier: MIT */
/*
 * hw_slack.c - kasan.slack=check: the pattern in the unused bytes of last granules, and the map of where it is.
 *
 * The map has one byte for each granule and is not near the objects, so an overflow cannot reach it. While an object
 * lives, the byte of its last granule is the number of unused bytes in it. So a check needs neither the object's size,
 * nor its cache, nor a stack, and a walk over the map finds all live objects without the allocator.
 *
 * The pattern of a granule depends on its address and on the port's seed, so an object that is copied over another with
 * its tail does not match there. No byte of it is 0, because the most frequent overflow writes a 0, the end of a
 * string. Another wrong byte is missed if it equals the pattern, once in 256.
 *
 * The map takes 1/16 of the memory that has such objects, in leaves for 256 KiB, and never shrinks. Without memory for
 * a leaf, objects are not checked, and one message says so.
 */
#include "hw_slack.h"

#include "../base/lock.h"
#include "../base/up.h"
#include "../shadow/shadow.h"
#include "../tags/tags.h"

unsigned int kasan_opt_slack;

#ifdef CONFIG_KASAN_HW_TAGS

/* --- The map: three levels of tables, each part made when it is first needed --- */

/* Kernel addresses differ in at most 52 bits: 12 + 11 + 11 bits of index, and 18 inside a leaf. */
#define LEAF_SHIFT   18
#define INDEX_BITS   11
#define INDEX_COUNT  (1U << INDEX_BITS)
#define ROOT_COUNT   (1U << (52 - LEAF_SHIFT - 2 * INDEX_BITS))
#define LEAF_BYTES   (1UL << LEAF_SHIFT)
#define LEAF_COUNT   (LEAF_BYTES / KASAN_GRANULE_SIZE)
#define ADDRESS_ONES (~0UL << 52)

/* States of a granule: 0: nothing is known; 1 to 15: that many of its last bytes hold the pattern. */
/* In the first granule of an object whose last granule is full, so there is nothing to look for. */
#define STATE_FULL 0x40U
/* A walk is comparing the granule, so the object's end must wait. The walk has interrupts off and calls nothing. */
#define STATE_BUSY 0x80U

struct leaf {
	uint8_t state[LEAF_COUNT];
};
struct table {
	struct leaf *leaf[INDEX_COUNT];
};
struct upper {
	struct table *table[INDEX_COUNT];
};
struct root {
	struct upper *upper[ROOT_COUNT];
};
static struct root *root;
bool kasan_slack_used;

/* Only decides who makes a part. */
static struct kasan_lock map_lock;
static bool map_is_short;

/* Return: the part at *@place, of @size bytes, which is made if it is missing. NULL: no memory. */
static kasan_noinline void *make_part(void **place, size_t size)
{
	const unsigned long flags = kasan_lock(&map_lock);
	void *part = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (!part) {
		part = kasan_port_alloc(size);
		__atomic_store_n(place, part, __ATOMIC_RELEASE);
		kasan_slack_used = true;
	}
	kasan_unlock(&map_lock, flags);
	return part;
}

static inline void *part_at(void **place, size_t size, bool make)
{
	void *part = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	return kasan_likely(part) || !make ? part : make_part(place, size);
}

/* Return: the state of the granule at @addr, which has no tag. NULL: it has none, or with @make there is no memory. */
static inline uint8_t *state_at(uintptr_t addr, bool make)
{
	struct root *top = part_at((void **)&root, sizeof(*top), make);
	struct upper *upper;
	struct table *table;
	struct leaf *leaf;

	if (!top)
		return NULL;
	upper = part_at(
		(void **)&top->upper[addr >> (LEAF_SHIFT + 2 * INDEX_BITS) & (ROOT_COUNT - 1)],
		sizeof(*upper), make);
	if (!upper)
		return NULL;
	table = part_at(
		(void **)&upper->table[addr >> (LEAF_SHIFT + INDEX_BITS) & (INDEX_COUNT - 1)],
		sizeof(*table), make);
	if (!table)
		return NULL;
	leaf = part_at((void **)&table->leaf[addr >> LEAF_SHIFT & (INDEX_COUNT - 1)], sizeof(*leaf),
		       make);
	return leaf ? &leaf->state[addr % LEAF_BYTES / KASAN_GRANULE_SIZE] : NULL;
}

/* --- The pattern --- */

#define FACTOR 0x9e3779b97f4a7c15ULL

/* Constant until the next boot, because the pattern is computed again when it is checked. */
static uint64_t pattern_key(void)
{
	static uint64_t key;
	uint64_t now = __atomic_load_n(&key, __ATOMIC_RELAXED), mine;

	if (kasan_likely(now))
		return now;
	/* Two CPUs that get here at once must agree. Seeds that differ in one bit differ in many after this. */
	mine = (kasan_port_seed() + FACTOR) * FACTOR;
	mine = (mine ^ mine >> 32) * FACTOR | 1;
	if (__atomic_compare_exchange_n(&key, &now, mine, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return mine;
	return now;
}

/* Turn bytes that are 0 into 1. A borrow may mark a 1 above a 0, which changes nothing. */
static inline uint64_t without_zeroes(uint64_t word)
{
	return word | ((word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL) >> 7;
}

union pattern {
	uint64_t word[2];
	uint8_t byte[KASAN_GRANULE_SIZE];
};

static inline union pattern pattern_of(uintptr_t granule)
{
	uint64_t high = (granule ^ pattern_key()) * FACTOR, low;

	high = (high ^ high >> 32) * FACTOR;
	low = (high ^ high >> 29) * FACTOR;
	return (union pattern){
		.word = {without_zeroes(low ^ low >> 32), without_zeroes(high ^ high >> 32)}};
}

/* A mask of the last @count bytes of a word in memory; @count is 0 to 8. */
static inline uint64_t last_bytes(unsigned int count)
{
	if (!count)
		return 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return ~0ULL << (64 - 8 * count);
#else
	return ~0ULL >> (64 - 8 * count);
#endif
}

/* Write only the unused bytes, because the object's own are in use. */
static void write_pattern(uintptr_t granule, unsigned int unused)
{
	const union pattern pattern = pattern_of(granule);
	unsigned int at = KASAN_GRANULE_SIZE - unused;
	uint8_t *bytes = (uint8_t *)granule;

	/* From the smallest store to the largest, so that each is aligned. */
	if (unused & 1) {
		bytes[at] = pattern.byte[at];
		at += 1;
	}
	if (unused & 2) {
		*(kasan_u16_any *)(bytes + at) = *(const kasan_u16_any *)(pattern.byte + at);
		at += 2;
	}
	if (unused & 4) {
		*(kasan_u32_any *)(bytes + at) = *(const kasan_u32_any *)(pattern.byte + at);
		at += 4;
	}
	if (unused & 8)
		*(kasan_u64_any *)(bytes + at) = pattern.word[1];
}

/* Return: was a byte overwritten? Then @slack is filled, except for @found. */
static inline bool differs(uintptr_t granule, unsigned int unused, struct kasan_slack *slack)
{
	const union pattern pattern = pattern_of(granule);
	const volatile uint64_t *words = (const volatile uint64_t *)granule;
	const union pattern is = {.word = {words[0], words[1]}};
	const unsigned int first = unused > 8 ? unused - 8 : 0;

	if (kasan_likely(!(((is.word[0] ^ pattern.word[0]) & last_bytes(first)) |
			   ((is.word[1] ^ pattern.word[1]) & last_bytes(unused - first)))))
		return false;
	slack->granule = granule;
	slack->unused = unused;
	__memcpy(slack->is, is.byte, sizeof(slack->is));
	__memcpy(slack->was, pattern.byte, sizeof(slack->was));
	return true;
}

/* --- The life of an object --- */

void kasan_slack_arm(uintptr_t start, size_t size)
{
	const uintptr_t first = kasan_untag_addr(start), end = first + size;
	const uintptr_t granule = end & ~(uintptr_t)KASAN_GRANULE_MASK;
	const unsigned int unused = -(unsigned int)end & KASAN_GRANULE_MASK;
	uint8_t *state = state_at(unused ? granule : first, true);

	if (kasan_unlikely(!state)) {
		if (!__atomic_exchange_n(&map_is_short, true, __ATOMIC_RELAXED))
			kasan_notice("kasan: no memory for the map of kasan.slack=check: some "
				     "objects are not checked");
		return;
	}
	if (!unused) {
		__atomic_store_n(state, STATE_FULL, __ATOMIC_RELAXED);
		return;
	}
	write_pattern(granule, unused);
	/* Last, because a walk on another CPU may look at the granule as soon as it is armed. */
	__atomic_store_n(state, (uint8_t)unused, __ATOMIC_RELEASE);
}

/* Return: the state of the last granule of [@start, @end) that has one; NULL: there is none. @granule: filled. */
static uint8_t *find_last(uintptr_t start, uintptr_t end, uintptr_t *granule)
{
	uint8_t *first, *at;
	uintptr_t low;

	/* Leaf by leaf; nearly always there is only one. */
	for (; end > start; end = low) {
		low = (end - 1) & ~(LEAF_BYTES - 1);
		if (low < start)
			low = start;
		first = state_at(low, false);
		if (!first)
			continue;
		at = first + (end - low + KASAN_GRANULE_MASK) / KASAN_GRANULE_SIZE;
		while (at - first >= 8 && !*(const kasan_u64_any *)(at - 8))
			at -= 8;
		while (at != first) {
			if (__atomic_load_n(--at, __ATOMIC_RELAXED)) {
				*granule = low + (uintptr_t)(at - first) * KASAN_GRANULE_SIZE;
				return at;
			}
		}
	}
	return NULL;
}

/* Take the state out of the map, and wait if a walk has it. */
static unsigned int take(uint8_t *state)
{
	uint8_t was = __atomic_load_n(state, __ATOMIC_RELAXED);

	do {
		while (was & STATE_BUSY) {
			kasan_arch_relax();
			was = __atomic_load_n(state, __ATOMIC_RELAXED);
		}
	} while (!__atomic_compare_exchange_n(state, &was, 0, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return was;
}

static void end_granule(uintptr_t start, uintptr_t granule, uint8_t *state, const char *found,
			uintptr_t ip, uintptr_t fp)
{
	const unsigned int unused = take(state);
	struct kasan_slack slack;

	if (!unused || unused == STATE_FULL || kasan_likely(!differs(granule, unused, &slack)))
		return;
	slack.found = found;
	kasan_report_slack("slab-out-of-bounds", &slack, kasan_addr_tag(start), ip, fp);
}

void kasan_slack_end(uintptr_t start, size_t span, const char *found, uintptr_t ip, uintptr_t fp)
{
	const uintptr_t first = kasan_untag_addr(start);
	uint8_t *state = state_at(first, false);
	uintptr_t granule = first;

	/* The first granule says whether there is nothing after it. */
	if (!state || !__atomic_load_n(state, __ATOMIC_RELAXED))
		state = find_last(first, first + span, &granule);
	if (state)
		end_granule(start, granule, state, found, ip, fp);
}

unsigned int kasan_slack_unused(uintptr_t end)
{
	const uint8_t *state = state_at(kasan_untag_addr(end) - 1, false);
	const unsigned int unused =
		state ? __atomic_load_n(state, __ATOMIC_RELAXED) & ~STATE_BUSY : 0;

	return unused == STATE_FULL ? 0 : unused;
}

void kasan_slack_end_large(const void *ptr, const struct kasan_large_meta *meta, const char *found,
			   uintptr_t ip, uintptr_t fp)
{
	const uintptr_t granule =
		(kasan_untag_addr((uintptr_t)ptr) + meta->size) & ~(uintptr_t)KASAN_GRANULE_MASK;
	uint8_t *state = meta->size & KASAN_GRANULE_MASK ? state_at(granule, false) : NULL;

	if (state)
		end_granule((uintptr_t)ptr, granule, state, found, ip, fp);
}

/* --- Walks --- */

struct walk {
	const struct kasan_cache *cache;
	size_t overwritten;
	uintptr_t ip, fp;
};

/* Compare the granule at @granule, whose life may end meanwhile. Its pattern is restored, so that its end does not
 * report it again. Return: was it overwritten? */
static bool compare_live(uintptr_t granule, uint8_t *state, struct kasan_slack *slack)
{
	const unsigned long flags = kasan_port_irq_save();
	uint8_t unused = __atomic_load_n(state, __ATOMIC_RELAXED);
	bool overwritten = false;

	if (unused && unused < KASAN_GRANULE_SIZE &&
	    __atomic_compare_exchange_n(state, &unused, unused | STATE_BUSY, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		overwritten = differs(granule, unused, slack);
		if (overwritten)
			write_pattern(granule, unused);
		__atomic_store_n(state, unused, __ATOMIC_RELEASE);
	}
	kasan_port_irq_restore(flags);
	return overwritten;
}

static void walk_leaf(struct walk *walk, struct leaf *leaf, uintptr_t addr)
{
	struct kasan_slack slack;
	size_t i;

	for (i = 0; i < LEAF_COUNT; i++) {
		const uintptr_t granule = addr + i * KASAN_GRANULE_SIZE;
		struct kasan_object object;

		if (i % 8 == 0 && !*(const kasan_u64_any *)&leaf->state[i]) {
			i += 7;
			continue;
		}
		if (!leaf->state[i] || leaf->state[i] == STATE_FULL)
			continue;
		kasan_clear(&object);
		if (walk->cache && (!kasan_port_find_object((const void *)granule, &object) ||
				    object.cache != walk->cache))
			continue;
		if (!compare_live(granule, &leaf->state[i], &slack))
			continue;
		walk->overwritten++;
		slack.found = "in a walk";
		kasan_report_slack("slab-out-of-bounds", &slack, kasan_tags_owner(granule),
				   walk->ip, walk->fp);
	}
}

static void walk_upper(struct walk *walk, const struct upper *upper, uintptr_t addr)
{
	unsigned int i, j;

	for (i = 0; i < INDEX_COUNT; i++) {
		const struct table *table = __atomic_load_n(&upper->table[i], __ATOMIC_ACQUIRE);

		for (j = 0; table && j < INDEX_COUNT; j++) {
			struct leaf *leaf = __atomic_load_n(&table->leaf[j], __ATOMIC_ACQUIRE);

			if (leaf)
				walk_leaf(walk, leaf,
					  addr + ((uintptr_t)i << (LEAF_SHIFT + INDEX_BITS)) +
						  ((uintptr_t)j << LEAF_SHIFT));
		}
	}
}

kasan_noinline size_t kasan_cache_check_slack(struct kasan_cache *cache)
{
	const struct root *top = __atomic_load_n(&root, __ATOMIC_ACQUIRE);
	struct walk walk;
	unsigned int i;

	kasan_clear(&walk);
	walk.cache = cache;
	walk.ip = KASAN_CALLER_IP();
	walk.fp = KASAN_CALLER_FP();
	for (i = 0; top && i < ROOT_COUNT; i++) {
		const struct upper *upper = __atomic_load_n(&top->upper[i], __ATOMIC_ACQUIRE);

		if (upper)
			walk_upper(&walk, upper,
				   ADDRESS_ONES | (uintptr_t)i << (LEAF_SHIFT + 2 * INDEX_BITS));
	}
	return walk.overwritten;
}

#else

size_t kasan_cache_check_slack(struct kasan_cache *cache)
{
	(void)cache;
	return 0;
}

#endif /* CONFIG_KASAN_HW_TAGS */
