// SPDX-License-Identifier: MIT
/*
 * usage.c - how lock classes and interrupts go together.
 *
 * If an interrupt handler takes a lock, no lock of that class may be held while such an interrupt can come: the handler
 * would wait for the code that it interrupts. The same is true of a lock that the handler's lock leads to: another CPU may
 * hold the handler's lock and wait for that one, whose holder is interrupted.
 */
#include "internal.h"

u8 enabled_usage(u32 id)
{
	const int read = id_read(id);

	/* A task that waits for the readers of RCU keeps none of them out. */
	if (lock_classes[id_class(id)].wait_type == LD_WAIT_FREE && !read)
		return 0;
	return read ? ENABLED_HARDIRQ_READ : ENABLED_HARDIRQ;
}

u8 usage_of_taking(const struct taking *taking)
{
	const u32 id = taking->lock.id;
	u8 usage = 0;

	/* A try does not wait for whom it interrupts. */
	if (!(id & ID_TRYLOCK)) {
		const u8 used =
			id_read(id) == LOCK_READ_RECURSIVE ? USED_HARDIRQ_READ : USED_HARDIRQ;

		if (taking->context == CONTEXT_HARDIRQ || taking->context == CONTEXT_NESTED)
			usage |= used;
		else if (taking->context == CONTEXT_SOFTIRQ)
			usage |= (u8)(used << USAGE_SOFTIRQ_SHIFT);
	}
	if (id & ID_HARDIRQS)
		usage |= enabled_usage(id);
	if (id & ID_SOFTIRQS)
		usage |= (u8)(enabled_usage(id) << USAGE_SOFTIRQ_SHIFT);
	return usage;
}

/* Return: usages of the same class that @bit does not go with. */
static u8 conflicts(unsigned int bit)
{
	static const u8 with[USAGE_SOFTIRQ_SHIFT] = {
		[0] = ENABLED_HARDIRQ | ENABLED_HARDIRQ_READ,
		[1] = ENABLED_HARDIRQ,
		[2] = USED_HARDIRQ | USED_HARDIRQ_READ,
		[3] = USED_HARDIRQ,
	};
	const unsigned int shift = bit & USAGE_SOFTIRQ_SHIFT;

	return (u8)(with[bit - shift] << shift);
}

static bool is_enabled_bit(unsigned int bit)
{
	return BIT(bit) & (USAGE_ENABLED_MASK | (u8)(USAGE_ENABLED_MASK << USAGE_SOFTIRQ_SHIFT));
}

/* The usage that a search from a class with usage @bit must not find. @search: its start and direction are set too. */
static void aim(struct search *search, unsigned int class, unsigned int bit)
{
	const unsigned int shift = bit & USAGE_SOFTIRQ_SHIFT;
	const bool enabled = is_enabled_bit(bit);

	*search = (struct search){
		.start = class,
		.weak = bit & 1,
		.backwards = enabled,
		.usage = (u8)((enabled ? USED_HARDIRQ : ENABLED_HARDIRQ) << shift),
		.usage_strong = (u8)((enabled ? USED_HARDIRQ_READ : ENABLED_HARDIRQ_READ) << shift),
	};
}

/* Return: the bit number of what a search found at @class. */
static unsigned int found_bit(const struct search *search, unsigned int class)
{
	const u8 usage = lock_classes[class].usage;

	return (unsigned int)__builtin_ctz(usage & search->usage ? usage & search->usage
								 : usage & search->usage_strong);
}

/* Return: false if there was a report. */
static bool check_bit(const struct taking *taking, unsigned int class, unsigned int bit)
{
	const u8 bad = lock_classes[class].usage & conflicts(bit);
	/* Under lockdep_lock(). */
	static struct path path;
	struct inversion inversion = {.after = &path};
	struct search search;

	if (bad) {
		describe_usage(taking, bit, (unsigned int)__builtin_ctz(bad));
		return false;
	}
	aim(&search, class, bit);
	if (!graph_search(&search, &path))
		return true;
	if (search.backwards) {
		inversion.used = found_bit(&search, path.start);
		inversion.enabled = bit;
	} else {
		inversion.used = bit;
		inversion.enabled = found_bit(&search, path.end);
	}
	describe_inversion(taking, &inversion);
	return false;
}

void usage_mark(const struct taking *taking, u8 usage)
{
	const unsigned int class = id_class(taking->lock.id);
	struct lock_class *c = &lock_classes[class];

	for (unsigned int bit = 0; bit < USAGE_BITS; bit++) {
		if (!(usage & BIT(bit)) || (c->usage | c->usage_bad) & BIT(bit))
			continue;
		if (!check_bit(taking, class, bit)) {
			c->usage_bad |= (u8)BIT(bit);
			continue;
		}
		c->traces[bit] = trace_save(taking->ip, taking->event == EVENT_UNLOCK);
		c->usage |= (u8)BIT(bit);
	}
}

bool usage_check_dep(const struct taking *taking, unsigned int from, bool shared, unsigned int to,
		     bool weak, const struct search *after)
{
	const u8 writers = ENABLED_HARDIRQ | ENABLED_SOFTIRQ;
	const u8 readers = ENABLED_HARDIRQ_READ | ENABLED_SOFTIRQ_READ;
	const u8 enabled = (after->seen & writers) | (after->seen_strong & readers);
	/* Under lockdep_lock(). */
	static struct path before, behind;
	struct inversion inversion = {.before = &before, .from = from, .to = to, .after = &behind};
	struct search search;

	for (unsigned int shift = 0; shift <= USAGE_SOFTIRQ_SHIFT; shift += USAGE_SOFTIRQ_SHIFT) {
		if (!(enabled >> shift & USAGE_ENABLED_MASK))
			continue;
		/* Backwards from @from, as if that were the class that is held with interrupts on. */
		aim(&search, from, shift + (shared ? 3 : 2));
		if (!graph_search(&search, &before))
			continue;
		inversion.used = found_bit(&search, before.start);
		aim(&search, to, shift + (weak ? 1 : 0));
		if (!graph_search(&search, &behind))
			continue;
		inversion.enabled = found_bit(&search, behind.end);
		describe_inversion(taking, &inversion);
		return false;
	}
	return true;
}
