// SPDX-License-Identifier: MIT
/*
 * chain.c - sequences of locks, as contexts hold them.
 *
 * A sequence that was checked once needs no second check, as long as its classes exist. So each is remembered, by
 * the number of the sequence without its newest lock and that lock's id. The pair is unique, so a known sequence is really
 * the same and not one with the same hash. The id tells the class, how it is taken, and which interrupts were allowed:
 * all that the checks depend on.
 */
#include <kernel/lock_events.h>

#include "internal.h"

struct chain chains[NR_CHAIN_SLOTS];
unsigned int nr_chains;
/* The newest number. */
static u32 numbers = CHAIN_ROOT(CONTEXTS) - 1;

/* In a slot whose sequence was removed. A search goes on after it. No id has these bits. */
#define REMOVED ~0UL

/* Return: the slot of the sequence @parent with @id after it; NR_CHAIN_SLOTS if it has none. */
static unsigned int find_slot(u32 parent, u32 id)
{
	unsigned int slot = chain_slot(parent, id);

	while (chains[slot].key && chains[slot].key != chain_key(parent, id))
		slot = (slot + 1) & (NR_CHAIN_SLOTS - 1);
	return chains[slot].key ? slot : NR_CHAIN_SLOTS;
}

static u32 remember(const struct taking *taking)
{
	const struct held_lock *top = taking->stack->top;
	const u64 key = chain_key(top->chain, taking->lock.id);
	unsigned int slot = chain_slot(top->chain, taking->lock.id), parent = NR_CHAIN_SLOTS;

	numbers++;
	if (nr_chains >= NR_CHAINS) {
		bound_reached("REDZONE_LOCKDEP_CHAINS", "sequences of locks", NR_CHAINS);
		return numbers;
	}
	if (top > taking->stack->locks) {
		parent = find_slot(top[-1].chain, top->id & ID_CHAIN_MASK);
		/* No search would find it: the next holder of the same locks has another number for them. */
		if (parent == NR_CHAIN_SLOTS)
			return numbers;
	}
	while (chains[slot].key && chains[slot].key != REMOVED)
		slot = (slot + 1) & (NR_CHAIN_SLOTS - 1);
	chains[slot].parent = parent;
	__atomic_store_n(&chains[slot].number, numbers, __ATOMIC_RELAXED);
	__atomic_store_n(&chains[slot].key, key, __ATOMIC_RELEASE);
	nr_chains++;
	return numbers;
}

static void remove(unsigned int slot)
{
	__atomic_store_n(&chains[slot].key, REMOVED, __ATOMIC_RELAXED);
	nr_chains--;
}

static bool is_used(unsigned int slot)
{
	return chains[slot].key && chains[slot].key != REMOVED;
}

/* Is the sequence gone that the one at @slot starts with? */
static bool is_orphan(unsigned int slot)
{
	const unsigned int parent = chains[slot].parent;

	return parent != NR_CHAIN_SLOTS &&
	       (!is_used(parent) || chains[parent].number != chains[slot].key >> 32);
}

void chains_forget(unsigned int class)
{
	bool again = false;

	for (unsigned int slot = 0; slot < NR_CHAIN_SLOTS; slot++) {
		if (is_used(slot) && id_class((u32)chains[slot].key) == class) {
			remove(slot);
			again = true;
		}
	}
	/* No search finds the sequences that start with one of them any more: give their slots back. */
	while (again) {
		again = false;
		for (unsigned int slot = 0; slot < NR_CHAIN_SLOTS; slot++) {
			if (is_used(slot) && is_orphan(slot)) {
				remove(slot);
				again = true;
			}
		}
	}
}

/* --- Checks --------------------------------------------------------------------------------------- */

#define FOR_EACH_HELD(held, stack) for ((held) = (stack)->top; (held) > (stack)->locks; (held)--)

static bool is_held(const struct lockdep_stack *stack, const struct lockdep_map *map)
{
	const struct held_lock *held;

	FOR_EACH_HELD(held, stack)
	{
		if (held->map == map)
			return true;
	}
	return false;
}

/* Return: the lock of the same class that the context would wait for, NULL if it does not wait for itself. */
static const struct held_lock *find_recursion(const struct taking *taking)
{
	const struct held_lock *held;

	if (taking->lock.nest && is_held(taking->stack, taking->lock.nest))
		return NULL;
	FOR_EACH_HELD(held, taking->stack)
	{
		if (id_class(held->id) != id_class(taking->lock.id))
			continue;
		/* A recursive reader does not wait for readers. */
		if (id_read(taking->lock.id) == LOCK_READ_RECURSIVE && id_read(held->id))
			continue;
		return held;
	}
	return NULL;
}

/* While a lock is held, what may be waited for? RCU readers wait for nothing, but may be preempted. */
static unsigned int allowed_wait(unsigned int wait_type)
{
	if (wait_type == LD_WAIT_INV)
		return LD_WAIT_SLEEP;
	return wait_type == LD_WAIT_FREE ? LD_WAIT_CONFIG : wait_type;
}

/* Locks that an interrupt may wait for. */
static unsigned int allowed_in(enum lockdep_context context)
{
	if (context == CONTEXT_TASK)
		return LD_WAIT_SLEEP;
#ifdef CONFIG_PREEMPT_RT
	return LD_WAIT_SPIN;
#else
	return LD_WAIT_CONFIG;
#endif
}

/* Return: false if the context must not wait for this lock. @held: filled with the lock because of which; NULL: because it is
 * an interrupt. */
static bool may_wait(const struct taking *taking, const struct held_lock **held)
{
	const unsigned int wait_type = lock_classes[id_class(taking->lock.id)].wait_type;

	FOR_EACH_HELD(*held, taking->stack)
	{
		if (wait_type > allowed_wait(lock_classes[id_class((*held)->id)].wait_type))
			return false;
	}
	*held = NULL;
	return wait_type <= allowed_in(taking->context);
}

/*
 * A lock of class @to is waited for while one of @from is held. Does a path lead back? A dependency that was reported is
 * kept out of the graph, so that no second report goes through it. @add: put it into the graph if it is right.
 * Return: false if there was a report.
 */
static bool check_dep(const struct taking *taking, unsigned int from, bool shared, unsigned int to,
		      bool weak, bool add)
{
	struct search search = {.start = to, .weak = weak, .class = from, .shared = shared};
	const u8 kind = (u8)DEP_KIND(shared, weak);
	/* Under lockdep_lock(). */
	static struct path path;
	unsigned int dep = dep_find(from, to);

	if (dep && (deps[dep].kinds | deps[dep].bad) & kind)
		return true;
	dep = dep_get(from, to);
	/* Without a record the same bug would be reported again and again. */
	if (!dep)
		return true;
	lock_event_inc(LOCKEVENT_lockdep_cycle_checks);
	if (graph_search(&search, &path)) {
		deps[dep].bad |= kind;
		describe_cycle(taking, from, shared, to, &path);
		return false;
	}
	if (!usage_check_dep(taking, from, shared, to, weak, &search)) {
		deps[dep].bad |= kind;
		return false;
	}
	if (add) {
		deps[dep].kinds |= kind;
		if (!deps[dep].trace)
			deps[dep].trace = trace_save(taking->lock.ip, taking->event != EVENT_TAKE);
	}
	return true;
}

/* A completion depends on each lock that is held by whom it waits for. */
static void check_commit(const struct taking *taking)
{
	const unsigned int class = id_class(taking->lock.id);
	const struct held_lock *held;

	FOR_EACH_HELD(held, taking->stack)
	{
		/* A trylock never waited, so it orders nothing. The work item that this runs in counts as one. */
		if (id_class(held->id) != class && !(held->id & ID_TRYLOCK))
			check_dep(taking, class, false, id_class(held->id),
				  id_read(held->id) == LOCK_READ_RECURSIVE, true);
	}
}

/* Return: false if there was a report. */
static bool check_deps(const struct taking *taking, bool add)
{
	const unsigned int class = id_class(taking->lock.id);
	const bool weak = id_read(taking->lock.id) == LOCK_READ_RECURSIVE;
	const struct held_lock *held;
	bool good = true;

	FOR_EACH_HELD(held, taking->stack)
	{
		const bool recursive = id_read(held->id) == LOCK_READ_RECURSIVE;

		if (id_class(held->id) != class)
			good &= check_dep(taking, id_class(held->id), id_read(held->id) != 0, class,
					  weak, add);
		/* Locks below depend on this one already, unless it was a try; and no deadlock goes through a
		 * recursive reader that is reached as such. */
		if (!(held->id & ID_TRYLOCK) && !recursive)
			break;
	}
	return good;
}

static void check_waiting(const struct taking *taking)
{
	const struct held_lock *held = find_recursion(taking);
	const unsigned int class = id_class(taking->lock.id);
	bool good, allowed;

	if (held) {
		if (report_once(LOCKDEP_RECURSION, class,
				(unsigned long)id_read(held->id) << 2 | id_read(taking->lock.id)))
			describe_recursion(taking, held);
		return;
	}
	allowed = may_wait(taking, &held);
	good = check_deps(taking, allowed);
	/* A cycle says more about the same bug. */
	if (!allowed && good &&
	    report_once(LOCKDEP_WAIT_CONTEXT, class, held ? id_class(held->id) : NO_CLASS))
		describe_wait(taking, held);
}

u32 chain_check(const struct taking *taking)
{
	if (taking->lock.id & ID_COMMIT) {
		check_commit(taking);
	} else {
		if (!(taking->lock.id & ID_TRYLOCK))
			check_waiting(taking);
		usage_mark(taking, usage_of_taking(taking));
	}
	return remember(taking);
}
