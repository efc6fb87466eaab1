// SPDX-License-Identifier: MIT
/*
 * graph.c - the graph of lock classes and dependencies, and the search for paths in it.
 */
#include "internal.h"

struct dep deps[NR_DEPS];
unsigned int nr_deps;
/* All dependencies from here on were never used. */
static unsigned int never_used = 1;

unsigned int dep_find(unsigned int from, unsigned int to)
{
	unsigned int dep;

	for (dep = lock_classes[from].after; dep; dep = deps[dep].next_after) {
		if (deps[dep].to == to)
			break;
	}
	return dep;
}

static unsigned int free_dep(void)
{
	if (never_used < NR_DEPS)
		return never_used++;
	for (unsigned int dep = 1; dep < NR_DEPS; dep++) {
		if (!deps[dep].from)
			return dep;
	}
	bound_reached("REDZONE_LOCKDEP_DEPS", "dependencies", NR_DEPS);
	return NO_DEP;
}

unsigned int dep_get(unsigned int from, unsigned int to)
{
	unsigned int dep = dep_find(from, to);

	if (dep)
		return dep;
	dep = free_dep();
	if (!dep)
		return NO_DEP;
	deps[dep] = (struct dep){
		.from = (u16)from,
		.to = (u16)to,
		.next_after = lock_classes[from].after,
		.next_before = lock_classes[to].before,
	};
	lock_classes[from].after = lock_classes[to].before = (u16)dep;
	nr_deps++;
	return dep;
}

static void unlink_dep(unsigned int dep)
{
	u16 *link;

	for (link = &lock_classes[deps[dep].from].after; *link != dep;)
		link = &deps[*link].next_after;
	*link = deps[dep].next_after;
	for (link = &lock_classes[deps[dep].to].before; *link != dep;)
		link = &deps[*link].next_before;
	*link = deps[dep].next_before;
	deps[dep] = (struct dep){.from = NO_CLASS};
	nr_deps--;
}

void graph_forget(unsigned int class)
{
	while (lock_classes[class].after)
		unlink_dep(lock_classes[class].after);
	while (lock_classes[class].before)
		unlink_dep(lock_classes[class].before);
}

/* --- Search ---------------------------------------------------------------------------------------- */

/*
 * A breadth-first search finds the shortest path, which is the easiest one to read. It visits states: a class, and whether
 * it was reached weakly. Backwards "weakly" means: it is left shared; the rule for two dependencies in a row is the same.
 */
#define NR_STATES (2 * NR_CLASSES)

static struct {
	u32 search; /* number of the search that has been here */
	u16 dep;    /* by which dependency */
	u16 from;   /* and from which state */
} states[NR_STATES];
static u16 queue[NR_STATES];
static u32 searches;
_Static_assert(NR_STATES <= 65536U, "a state has 16 bits");

static unsigned int state_of(unsigned int class, bool weak)
{
	return class * 2 + weak;
}

static bool matches(struct search *search, unsigned int class, bool weak)
{
	const u8 usage = lock_classes[class].usage;

	search->seen |= usage;
	if (!weak)
		search->seen_strong |= usage;
	if (search->class && class == search->class)
		return !(weak && search->shared);
	return usage & search->usage || (!weak && usage & search->usage_strong);
}

static void fill_path(const struct search *search, unsigned int state, struct path *path)
{
	const unsigned int first = state_of(search->start, search->weak);
	unsigned int n = 0;

	path->start = search->backwards ? state / 2 : search->start;
	path->end = search->backwards ? search->start : state / 2;
	for (unsigned int at = state; at != first; at = states[at].from)
		n++;
	path->length = min(n, MAX_PATH);
	for (unsigned int at = state, i = 0; at != first; at = states[at].from, i++) {
		const unsigned int place = search->backwards ? i : n - 1 - i;

		if (place < MAX_PATH)
			path->deps[place] = states[at].dep;
	}
}

/* May a path that came weakly or not go on through @dep? @weak: filled with how it goes on. */
static bool may_follow(const struct dep *dep, const struct search *search, bool came_weak,
		       bool *weak)
{
	const u8 shared = DEP_KIND(true, false) | DEP_KIND(true, true);
	const u8 weakly = DEP_KIND(false, true) | DEP_KIND(true, true);
	const u8 near = search->backwards ? weakly : shared;
	const u8 far = search->backwards ? shared : weakly;
	u8 kinds = dep->kinds;

	if (came_weak)
		kinds &= (u8)~near;
	*weak = !(kinds & ~far);
	return kinds != 0;
}

bool graph_search(struct search *search, struct path *path)
{
	unsigned int head = 0, tail = 0, state = state_of(search->start, search->weak);

	searches++;
	search->seen = search->seen_strong = 0;
	states[state].search = searches;
	queue[tail++] = (u16)state;
	while (head < tail) {
		unsigned int class, dep;

		state = queue[head++];
		class = state / 2;
		if (matches(search, class, state & 1)) {
			if (path)
				fill_path(search, state, path);
			return true;
		}
		dep = search->backwards ? lock_classes[class].before : lock_classes[class].after;
		while (dep) {
			const struct dep *d = &deps[dep];
			unsigned int next;
			bool weak;

			if (may_follow(d, search, state & 1, &weak)) {
				next = state_of(search->backwards ? d->from : d->to, weak);
				/* A path that came strongly can go on wherever one can that came weakly. */
				if (states[next].search != searches &&
				    states[next & ~1U].search != searches) {
					states[next].search = searches;
					states[next].dep = (u16)dep;
					states[next].from = (u16)state;
					queue[tail++] = (u16)next;
				}
			}
			dep = search->backwards ? d->next_before : d->next_after;
		}
	}
	return false;
}
