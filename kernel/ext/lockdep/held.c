// SPDX-License-Identifier: MIT
/*
 * held.c - what each context holds, and the entries of the validator.
 *
 * The usual case of taking and releasing is in fast.c.
 */
#include <kernel/arch.h>
#include <kernel/lock_events.h>
#include <kernel/sched.h>

#include "internal.h"

struct lockdep_stack irq_stacks[NR_CPUS][CONTEXTS - 1];

/* All stacks, for the sums of the counters. */
static struct lockdep_stack *all_stacks;
static struct bare_lock all_stacks_lock;
/* Of stacks that are gone. */
static unsigned long known_before;

/* Measure how long locks are held. */
static bool measure;

static struct held_lock *find_held(struct lockdep_stack *stack, const struct lockdep_map *map)
{
	struct held_lock *held;

	for (held = stack->top; held > stack->locks; held--) {
		if (held->map == map)
			return held;
	}
	return NULL;
}

/* --- Taking ---------------------------------------------------------------------------------------- */

/* Return: number of the sequence with @id after the locks of @stack. The lock is held. */
static u32 find_or_check(struct lockdep_stack *stack, struct lockdep_map *map, u32 id,
			 const struct lockdep_map *nest, int count, unsigned long ip)
{
	const u32 chain = chain_find(stack->top->chain, id);
	const struct taking taking = {
		.context = context_of(count),
		.stack = stack,
		.lock = {.map = map, .ip = ip, .id = id, .nest = nest},
		.ip = ip,
	};

	lock_event_inc(LOCKEVENT_lockdep_acquire);
	if (!chain)
		return chain_check(&taking);
	lock_event_inc(LOCKEVENT_lockdep_chain_hits);
	return chain;
}

void lock_take_slow(struct lockdep_map *map, u32 how, const struct lockdep_map *nest,
		    unsigned long ip)
{
	const unsigned int subclass = how >> LOCK_HOW_SUBCLASS_SHIFT;
	const int count = preempt_count();
	struct lockdep_stack *stack = this_stack(count);
	u32 id = (how & ID_CHAIN_MASK) | irq_bits(count), chain = 0;
	unsigned int class;
	struct held_lock *held;
	unsigned long flags;

	if (!lock_usable(map) || (nest && !lock_usable(nest)))
		return;
	if (!lockdep_enter(&flags)) {
		stack->untracked++;
		return;
	}
	if (!stack->locks[0].chain || stack->top >= &stack->locks[LOCKDEP_DEPTH]) {
		if (stack->locks[0].chain)
			bound_reached("LOCKDEP_DEPTH", "locks held at a time", LOCKDEP_DEPTH);
		stack->untracked++;
		goto out;
	}
	if (nest && find_held(stack, nest))
		id |= ID_NEST;
	class = class_known(map, subclass);
	if (class)
		chain = chain_find(stack->top->chain, class | id);
	if (chain) {
		stack->known++;
	} else {
		lockdep_lock();
		class = class_get(map, subclass, ip);
		if (class)
			chain = find_or_check(stack, map, class | id, nest, count, ip);
		lockdep_unlock();
		if (!class) {
			/* Its release is told by the class, if that says that there is none. */
			stack->untracked += map->class != &lock_classes[NO_CLASS];
			goto out;
		}
	}
	if (id & ID_COMMIT)
		goto out;
	held = push(stack, stack->top, map, class | id, chain, ip);
	held->nest = nest;
	if (READ_ONCE(measure)) {
		held->id |= ID_TIMED;
		held->since = arch_counter();
	}
out:
	lockdep_leave(flags);
}

void lock_commit(struct lockdep_map *map, unsigned long ip)
{
	const int count = preempt_count();
	const struct lockdep_stack *stack;
	size_t class;

	if (!lock_usable(map))
		return;
	stack = this_stack(count);
	if (stack->top == stack->locks)
		return;
	class = cached_class(map);
	if (class && class < NR_CLASSES && lock_classes[class].key == map->key &&
	    chain_find(stack->top->chain, (u32) class | ID_COMMIT))
		return;
	lock_take_slow(map, ID_COMMIT, NULL, ip);
}

void lock_contended(struct lockdep_map *map, unsigned long ip)
{
	struct held_lock *held;

	if (!lock_usable(map))
		return;
	held = find_held(this_stack(preempt_count()), map);
	if (!held)
		return;
	__atomic_fetch_add(&lock_classes[id_class(held->id)].contended, 1, __ATOMIC_RELAXED);
	lock_event_inc(LOCKEVENT_lockdep_contended);
}

void lock_acquired(struct lockdep_map *map, unsigned long ip)
{
	struct held_lock *held;

	if (!READ_ONCE(measure) || !lock_usable(map))
		return;
	held = find_held(this_stack(preempt_count()), map);
	if (held && held->id & ID_TIMED)
		held->since = arch_counter();
}

void lockdep_might_lock(struct lockdep_map *map, int read, unsigned long ip)
{
	if (!lock_usable(map))
		return;
	lock_acquire(map, 0, false, read, NULL, ip);
	lock_release(map, ip);
}

/* --- Releasing ------------------------------------------------------------------------------------- */

static void note_time(const struct held_lock *held)
{
	struct lock_class *class = &lock_classes[id_class(held->id)];
	u64 time;

	if (!(held->id & ID_TIMED))
		return;
	time = arch_counter() - held->since;
	if (time > READ_ONCE(class->longest))
		WRITE_ONCE(class->longest, time);
}

/* Take @held out of the middle. Those above are then held in another sequence. The lock is held. */
static void take_out(struct lockdep_stack *stack, struct held_lock *held,
		     enum lockdep_context context)
{
	struct held_lock *const top = stack->top - 1;

	for (; held <= top; held++) {
		*held = held[1];
		/* As if it were taken now, on top of those below. */
		stack->top = held - 1;
		held->chain = chain_find(held[-1].chain, held->id & ID_CHAIN_MASK);
		if (!held->chain) {
			struct taking taking = {
				.context = context,
				.event = EVENT_UNLOCK,
				.stack = stack,
				.lock = *held,
				.ip = held->ip,
			};

			taking.lock.id &= ID_CHAIN_MASK;
			held->chain = chain_check(&taking);
		}
	}
	stack->top = top;
}

/* The lock's memory is gone, and KASAN has reported that: forget the lock without reading it. */
static void drop(struct lockdep_stack *stack, const struct lockdep_map *map, int count)
{
	struct held_lock *held;
	unsigned long flags;

	if (!lockdep_enter(&flags))
		return;
	lockdep_lock();
	for (held = stack->top; held > stack->locks; held--) {
		if (kasan_reset_tag(held->map) == kasan_reset_tag(map)) {
			take_out(stack, held, context_of(count));
			break;
		}
	}
	lockdep_unlock();
	lockdep_leave(flags);
}

void lock_release_slow(struct lockdep_map *map, unsigned long ip)
{
	const int count = preempt_count();
	struct lockdep_stack *stack = this_stack(count);
	struct held_lock *held;
	unsigned long flags;

	if (!lock_usable(map)) {
		drop(stack, map, count);
		return;
	}
	if (!lockdep_enter(&flags)) {
		if (stack->untracked)
			stack->untracked--;
		return;
	}
	held = find_held(stack, map);
	if (held && held == stack->top) {
		note_time(held);
		stack->top = held - 1;
		goto out;
	}
	lockdep_lock();
	if (held) {
		note_time(held);
		take_out(stack, held, context_of(count));
	} else if (map->class == &lock_classes[NO_CLASS]) {
		/* The validator leaves this lock alone. */
	} else if (stack->untracked) {
		stack->untracked--;
	} else if (report_once(LOCKDEP_BAD_UNLOCK, ip, class_known(map, 0))) {
		describe_unlock(stack, map, class_known(map, 0), ip);
	}
	lockdep_unlock();
out:
	lockdep_leave(flags);
}

/* --- Questions and statements ---------------------------------------------------------------------- */

bool lock_is_held(const struct lockdep_map *map)
{
	if (!lock_usable(map))
		return false;
	return find_held(this_stack(preempt_count()), map) != NULL;
}

void lockdep_assert(const struct lockdep_map *map, unsigned long ip)
{
	struct lockdep_stack *stack;
	unsigned long flags;

	if (!lock_usable(map))
		return;
	stack = this_stack(preempt_count());
	if (find_held(stack, map) || stack->untracked || map->class == &lock_classes[NO_CLASS] ||
	    !lockdep_enter(&flags))
		return;
	lockdep_lock();
	if (report_once(LOCKDEP_ASSERTION, ip, class_known(map, 0)))
		describe_assertion(stack, map, ip);
	lockdep_unlock();
	lockdep_leave(flags);
}

/* --- Interrupts are switched on -------------------------------------------------------------------- */

static u8 usage_of_held(const struct held_lock *held, enum lockdep_event event, bool soft)
{
	u8 usage = enabled_usage(held->id);

	if (event == EVENT_SOFTIRQS_ON)
		return (u8)(usage << USAGE_SOFTIRQ_SHIFT);
	return soft ? (u8)(usage | usage << USAGE_SOFTIRQ_SHIFT) : usage;
}

static void mark_held(struct lockdep_stack *stack, enum lockdep_event event, int count,
		      unsigned long ip)
{
	const bool soft = !(count & (SOFTIRQ_MASK | HARDIRQ_MASK));
	const struct held_lock *held;
	bool known = true;
	unsigned long flags;

	for (held = stack->top; held > stack->locks; held--) {
		const struct lock_class *class = &lock_classes[id_class(held->id)];
		const u8 usage = usage_of_held(held, event, soft);

		known &= !(usage & ~(READ_ONCE(class->usage) | READ_ONCE(class->usage_bad)));
	}
	if (likely(known) || !lockdep_enter(&flags))
		return;
	lockdep_lock();
	for (held = stack->top; held > stack->locks; held--) {
		const struct taking taking = {
			.context = context_of(count),
			.event = event,
			.stack = stack,
			.lock = *held,
			.ip = ip,
		};

		usage_mark(&taking, usage_of_held(held, event, soft));
	}
	lockdep_unlock();
	lockdep_leave(flags);
}

void lockdep_hardirqs_on(unsigned long ip)
{
	const int count = preempt_count();
	struct lockdep_stack *stack = this_stack(count);

	if (unlikely(stack->top != stack->locks))
		mark_held(stack, EVENT_HARDIRQS_ON, count, ip);
}

void lockdep_softirqs_on(unsigned long ip)
{
	const int count = preempt_count();
	struct lockdep_stack *stack = this_stack(count);

	if (unlikely(stack->top != stack->locks) && !irqs_disabled())
		mark_held(stack, EVENT_SOFTIRQS_ON, count, ip);
}

/* --- Places where no lock may be held -------------------------------------------------------------- */

static void report_held(enum lockdep_kind kind, const struct lockdep_stack *stack,
			const struct held_lock *held, unsigned long ip)
{
	unsigned long flags;

	if (!lockdep_enter(&flags))
		return;
	lockdep_lock();
	if (report_once(kind, held->ip, id_class(held->id)))
		describe_held(kind, stack, held, ip);
	lockdep_unlock();
	lockdep_leave(flags);
}

void report_freed(uintptr_t start, size_t size, unsigned long ip)
{
	const struct lockdep_stack *stack = &current->lockdep;

	for (const struct held_lock *held = stack->top; held > stack->locks; held--) {
		if ((uintptr_t)kasan_reset_tag(held->map) - start < size &&
		    report_once(LOCKDEP_HELD_FREED, held->ip, id_class(held->id)))
			describe_held(LOCKDEP_HELD_FREED, stack, held, ip);
	}
}

void lockdep_user_exit(void)
{
	const struct lockdep_stack *stack = &current->lockdep;

	if (unlikely(stack->top != stack->locks))
		report_held(LOCKDEP_HELD_IN_USER_MODE, stack, stack->top, _RET_IP_);
}

/* A task that holds such a lock must not sleep. Readers of RCU never wait. */
#ifdef CONFIG_PREEMPT_RT
#define MAX_ATOMIC_WAIT LD_WAIT_SPIN
#else
#define MAX_ATOMIC_WAIT LD_WAIT_CONFIG
#endif

void lockdep_sleep(unsigned long ip)
{
	const struct lockdep_stack *stack = &current->lockdep;

	for (const struct held_lock *held = stack->top; held > stack->locks; held--) {
		const unsigned int wait_type = lock_classes[id_class(held->id)].wait_type;

		if (wait_type != LD_WAIT_INV && wait_type <= MAX_ATOMIC_WAIT) {
			report_held(LOCKDEP_HELD_IN_SLEEP, stack, held, ip);
			return;
		}
	}
}

/* --- Tasks ------------------------------------------------------------------------------------------ */

static void add_stack(struct lockdep_stack *stack, enum lockdep_context context)
{
	unsigned long flags;

	stack->top = stack->locks;
	stack->locks[0].chain = CHAIN_ROOT(context);
	flags = arch_local_irq_save();
	bare_lock(&all_stacks_lock);
	stack->end = measure ? NULL : &stack->locks[LOCKDEP_DEPTH];
	stack->prev = NULL;
	stack->next = all_stacks;
	if (all_stacks)
		all_stacks->prev = stack;
	all_stacks = stack;
	bare_unlock(&all_stacks_lock);
	arch_local_irq_restore(flags);
}

void lockdep_task_init(struct task *task)
{
	task->lockdep.known = 0;
	task->lockdep.untracked = 0;
	add_stack(&task->lockdep, CONTEXT_TASK);
}

void lockdep_task_free(struct task *task)
{
	struct lockdep_stack *stack = &task->lockdep;
	unsigned long flags;

	flags = arch_local_irq_save();
	bare_lock(&all_stacks_lock);
	known_before += stack->known;
	if (stack->next)
		stack->next->prev = stack->prev;
	if (stack->prev)
		stack->prev->next = stack->next;
	else
		all_stacks = stack->next;
	bare_unlock(&all_stacks_lock);
	arch_local_irq_restore(flags);
}

void lockdep_task_exit(bool expected)
{
	struct lockdep_stack *stack = &current->lockdep;

	if (stack->top == stack->locks)
		return;
	if (!expected)
		report_held(LOCKDEP_HELD_AT_EXIT, stack, stack->top, _RET_IP_);
	stack->top = stack->locks;
	stack->untracked = 0;
}

unsigned long lockdep_known_acquisitions(void)
{
	unsigned long flags = arch_local_irq_save(), sum;

	bare_lock(&all_stacks_lock);
	sum = known_before;
	for (const struct lockdep_stack *stack = all_stacks; stack; stack = stack->next)
		sum += READ_ONCE(stack->known);
	bare_unlock(&all_stacks_lock);
	arch_local_irq_restore(flags);
	return sum;
}

bool lockdep_measure(bool on)
{
	const unsigned long flags = arch_local_irq_save();
	bool before;

	bare_lock(&all_stacks_lock);
	before = measure;
	WRITE_ONCE(measure, on);
	/* The fast path does not measure. */
	for (struct lockdep_stack *stack = all_stacks; stack; stack = stack->next)
		WRITE_ONCE(stack->end, on ? NULL : &stack->locks[LOCKDEP_DEPTH]);
	bare_unlock(&all_stacks_lock);
	arch_local_irq_restore(flags);
	return before;
}

void lockdep_init(void)
{
	lockdep_task_init(&init_task);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		for (unsigned int context = 1; context < CONTEXTS; context++)
			add_stack(&irq_stacks[cpu][context - 1], (enum lockdep_context)context);
	}
}
