/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of the lock validator share.
 *
 *	fast.c		taking and releasing a lock in the usual case
 *	held.c		the other entries of <kernel/lockdep.h>: locks held
 *	chain.c		sequences of locks that are known to be right, and the checks of a new one
 *	class.c		lock classes
 *	graph.c		dependencies between classes, and the search for paths
 *	usage.c		how classes and interrupts go together
 *	trace.c		where things happened
 *	report.c	the text of a report, reports made once, tests' view of them
 *	describe.c	what the reports of each kind say
 *	events.c	counters
 *	memory.c	may a lock be read?
 *
 * None of it is instrumented: the validator reads and writes its own tables only, and a lock only after KASAN has said
 * that its memory may be used.
 *
 * lockdep_lock() guards all tables. Whoever holds it calls nothing outside of these files but the formatting of text and
 * the look-up of symbols, which take no locks; reports are printed after it was released.
 */
#ifndef LOCKDEP_INTERNAL_H
#define LOCKDEP_INTERNAL_H

#include <kasan/kasan.h>
#include <kernel/bare_lock.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/lockdep.h>
#include <kernel/preempt.h>
#include <asm/percpu.h>
#include <ext/lockdep_test.h>

/* --- How a lock is held: struct held_lock's id --------------------------------------------------- */

#define ID_CLASS_BITS 12U
#define ID_CLASS_MASK ((1U << ID_CLASS_BITS) - 1)
#define ID_READ_SHIFT 12U /* two bits: LOCK_* */
#define ID_TRYLOCK    (1U << 14)
#define ID_NEST	      (1U << 15)
#define ID_HARDIRQS   (1U << 16) /* taken with interrupts on */
#define ID_SOFTIRQS   (1U << 17) /* taken where a soft interrupt may come */
#define ID_COMMIT     (1U << 18) /* not held: lock_commit() */
/* Not part of a sequence. */
#define ID_TIMED      (1U << 19) /* @since is valid */
#define ID_CHAIN_MASK (ID_TIMED - 1)
_Static_assert(ID_READ_SHIFT == LOCK_HOW_READ_SHIFT && ID_TRYLOCK == LOCK_HOW_TRYLOCK,
	       "lock_take() passes them on");

static inline unsigned int id_class(u32 id)
{
	return id & ID_CLASS_MASK;
}

static inline int id_read(u32 id)
{
	return (int)(id >> ID_READ_SHIFT & 3);
}

/* --- Contexts ------------------------------------------------------------------------------------- */

enum lockdep_context {
	CONTEXT_TASK,
	CONTEXT_SOFTIRQ,
	CONTEXT_HARDIRQ,
	CONTEXT_NESTED, /* an interrupt in an interrupt handler */
	CONTEXTS,
};

/* In a real-time kernel soft interrupts are handled by threads: their locks are those of a task. */
static inline enum lockdep_context context_of(int count)
{
#ifndef CONFIG_PREEMPT_RT
	if ((count & (HARDIRQ_MASK | SOFTIRQ_OFFSET)) == SOFTIRQ_OFFSET)
		return CONTEXT_SOFTIRQ;
#endif
	if (!(count & HARDIRQ_MASK))
		return CONTEXT_TASK;
	return (count & HARDIRQ_MASK) == HARDIRQ_OFFSET ? CONTEXT_HARDIRQ : CONTEXT_NESTED;
}

/* --- trace.c -------------------------------------------------------------------------------------- */

/** trace_save() - Return: handle of the running context's trace from the function on that @ip is in, 0: no room. The lock is
 *  held. @ip_only: the trace is of another place now: @ip alone. */
u32 trace_save(unsigned long ip, bool ip_only);

/** trace_own_frames() - Return: how many of the innermost frames of a trace are inside of the function that @ip is in: the
 *  validator's own, mostly. */
size_t trace_own_frames(const uintptr_t *pcs, size_t count, unsigned long ip);

/** trace_get() - Return: number of code places of @trace; @pcs: filled with where they are. */
unsigned int trace_get(u32 trace, const uintptr_t **pcs);

extern unsigned int nr_traces;

/* --- class.c -------------------------------------------------------------------------------------- */

/* Usage of a class. A writer and a plain reader that come from an interrupt both wait for any holder; a recursive reader
 * waits for writers only. A holder that an interrupt may find is a writer or a reader. */
#define USED_HARDIRQ	     BIT(0)
#define USED_HARDIRQ_READ    BIT(1)
#define ENABLED_HARDIRQ	     BIT(2)
#define ENABLED_HARDIRQ_READ BIT(3)
#define USAGE_SOFTIRQ_SHIFT  4
#define USED_SOFTIRQ	     (USED_HARDIRQ << USAGE_SOFTIRQ_SHIFT)
#define USED_SOFTIRQ_READ    (USED_HARDIRQ_READ << USAGE_SOFTIRQ_SHIFT)
#define ENABLED_SOFTIRQ	     (ENABLED_HARDIRQ << USAGE_SOFTIRQ_SHIFT)
#define ENABLED_SOFTIRQ_READ (ENABLED_HARDIRQ_READ << USAGE_SOFTIRQ_SHIFT)
#define USAGE_BITS	     8
#define USAGE_ENABLED_MASK   (ENABLED_HARDIRQ | ENABLED_HARDIRQ_READ)

/* Classes and dependencies are named by their index. Number 0 stands for none; class 0 is that of locks that the validator
 * leaves alone. */
#define NO_CLASS 0U
#define NO_DEP	 0U

/**
 * struct lock_class - all locks that follow the same rules
 * @key: NULL: free. @name, @subclass, @wait_type: of the first lock.
 * @sub: classes of the same key by subclass, of the one with subclass 0 only.
 * @after, @before: first dependency from this class, and to it.
 * @hash_next: next class with this hash value.
 * @usage: what was seen. @usage_bad: what was seen and reported; it takes part in no more checks.
 * @traces: where each usage was seen first.
 * @contended: number of waits. @longest: longest time that one was held, in counts of the clock.
 *
 * Its size is a power of two, so that an index costs a shift.
 */
struct lock_class {
	const struct lock_class_key *key;
	const char *name;
	u64 longest;
	unsigned long contended;
	u32 traces[USAGE_BITS];
	u16 sub[MAX_LOCKDEP_SUBCLASSES];
	u16 after, before;
	u16 hash_next;
	u8 usage, usage_bad;
	u8 subclass;
	u8 wait_type;
	u8 reserved[38];
};
_Static_assert(sizeof(struct lock_class) == 128, "an index must cost a shift");

#define NR_CLASSES CONFIG_LOCKDEP_CLASSES
_Static_assert(NR_CLASSES <= 1U << ID_CLASS_BITS, "a class has ID_CLASS_BITS bits");

extern struct lock_class lock_classes[NR_CLASSES];
extern unsigned int nr_lock_classes; /* in use, without class 0 */

/** cached_class() - Return: the class in @map's cache as an index; NR_CLASSES or more if there is none. Never reads it. */
static __always_inline size_t cached_class(const struct lockdep_map *map)
{
	return ((uintptr_t)map->class - (uintptr_t)lock_classes) / sizeof(struct lock_class);
}

/** class_get() - find or make the class of @map. The lock is held. @ip: for reports. Return: its index; 0: leave the lock
 *  alone. */
unsigned int class_get(struct lockdep_map *map, unsigned int subclass, unsigned long ip);

/** class_known() - the same, but never makes one. Needs no lock. Return: 0 if it must be asked under the lock. */
unsigned int class_known(const struct lockdep_map *map, unsigned int subclass);

/* --- graph.c -------------------------------------------------------------------------------------- */

#define NR_DEPS CONFIG_LOCKDEP_DEPS
_Static_assert(NR_DEPS <= 65535U, "an index of a dependency has 16 bits");

/*
 * How a dependency was made, one bit for each: bit n of struct dep's kinds. @shared: the first lock was held by a reader.
 * @weak: the second is taken by a recursive reader, which waits for writers only.
 *
 * A task that waits for a lock as a recursive reader is not stopped by readers. So no deadlock goes through a class that
 * a dependency reaches weakly and the next one leaves shared.
 */
#define DEP_WEAK	       1U
#define DEP_SHARED	       2U
#define DEP_KIND(shared, weak) (1U << (((shared) ? DEP_SHARED : 0U) | ((weak) ? DEP_WEAK : 0U)))

/**
 * struct dep - a lock of class @to was taken while one of class @from was held
 * @kinds: what the searches follow. @bad: kinds that were reported, and are no part of the graph.
 * @trace: where it was made first.
 */
struct dep {
	u16 from, to;
	u16 next_after, next_before;
	u8 kinds, bad;
	u32 trace;
};

extern struct dep deps[NR_DEPS];
extern unsigned int nr_deps;

/* Longer paths are cut in reports. */
#define MAX_PATH 32U

/** struct path - dependencies from a class to another, in order */
struct path {
	unsigned int length;
	u16 deps[MAX_PATH];
	unsigned int start, end; /* classes */
};

/**
 * struct search - what to look for
 * @start: class to start from. @weak: forwards: it is reached weakly; backwards: it is left shared.
 * @backwards: follow dependencies from @to to @from.
 * @class, @shared: stop at this class unless it is reached weakly and @shared; 0: at none.
 * @usage: stop at a class with one of these bits; @usage_strong: or, unless it is reached weakly, of these.
 * @seen, @seen_strong: filled with the usage of all classes found, and of those that are not reached weakly.
 */
struct search {
	unsigned int start;
	bool weak, backwards;
	unsigned int class;
	bool shared;
	u8 usage, usage_strong;
	u8 seen, seen_strong;
};

/** graph_search() - shortest path. @path: filled if not NULL; its dependencies are in the order of the graph, whatever the
 *  direction. Return: true if something was found. */
bool graph_search(struct search *search, struct path *path);

/** dep_find() - Return: the dependency, NO_DEP if there is none. */
unsigned int dep_find(unsigned int from, unsigned int to);

/** dep_get() - the same, but make one with no kind. Return: NO_DEP if there is no room. */
unsigned int dep_get(unsigned int from, unsigned int to);

/** graph_forget() - remove all dependencies of a class. */
void graph_forget(unsigned int class);

/* --- chain.c -------------------------------------------------------------------------------------- */

/** enum lockdep_event - what the running context is doing while it is checked */
enum lockdep_event {
	EVENT_TAKE,
	EVENT_HARDIRQS_ON,
	EVENT_SOFTIRQS_ON,
	EVENT_UNLOCK, /* another lock, in the middle of those held */
};

/**
 * struct taking - a lock that is being taken, for the checks and their reports
 * @context: of the taker. @stack: what it holds. @event: with EVENT_TAKE, @lock is not on @stack yet, else it is.
 * @ip: of the event.
 */
struct taking {
	enum lockdep_context context;
	enum lockdep_event event;
	struct lockdep_stack *stack;
	struct held_lock lock;
	unsigned long ip;
};

/** struct chain - a sequence of locks: @key: number of the sequence without the newest lock, and that lock's id;
 *  @number: its own; @parent: slot of the sequence without the newest, NR_CHAIN_SLOTS if that has none. */
struct chain {
	u64 key;
	u32 number;
	u32 parent;
};

/* The smallest power of two that leaves half of the slots free. */
#define NR_CHAIN_SLOTS (1U << CONFIG_LOCKDEP_CHAIN_BITS)
#define NR_CHAINS      CONFIG_LOCKDEP_CHAINS
_Static_assert(NR_CHAINS <= NR_CHAIN_SLOTS / 4 * 3, "a search must meet a free slot soon");

extern struct chain chains[NR_CHAIN_SLOTS];
extern unsigned int nr_chains;

/* Numbers of the empty sequences, by context: 1 to CONTEXTS. A number is never used again. */
#define CHAIN_ROOT(context) ((u32)(context) + 1U)

static __always_inline u64 chain_key(u32 parent, u32 id)
{
	return (u64)parent << 32 | id;
}

static __always_inline unsigned int chain_slot(u32 parent, u32 id)
{
	return (parent + (id * 0x9e3779b1U >> 16)) & (NR_CHAIN_SLOTS - 1);
}

/** chain_find() - Return: number of the sequence @parent with @id after it; 0: not known. Needs no lock. */
static __always_inline u32 chain_find(u32 parent, u32 id)
{
	const u64 key = chain_key(parent, id);
	unsigned int slot = chain_slot(parent, id);

	for (;;) {
		/* In this order: a slot that gets another sequence has no key while its number changes. */
		const u32 number = __atomic_load_n(&chains[slot].number, __ATOMIC_ACQUIRE);
		const u64 found = __atomic_load_n(&chains[slot].key, __ATOMIC_RELAXED);

		if (likely(found == key))
			return number;
		if (!found)
			return 0;
		slot = (slot + 1) & (NR_CHAIN_SLOTS - 1);
	}
}

/** chain_check() - make all checks of a sequence that is not known, report, and remember it. The lock is held. Return: its
 *  number, never 0. */
u32 chain_check(const struct taking *taking);

/** chains_forget() - remove all sequences with @class. */
void chains_forget(unsigned int class);

/* --- usage.c -------------------------------------------------------------------------------------- */

/** enabled_usage() - Return: the usage that it means to hold the lock of @id with interrupts on. */
u8 enabled_usage(u32 id);

/** usage_of_taking() - Return: the usage that taking a lock means. */
u8 usage_of_taking(const struct taking *taking);

/** usage_mark() - the lock of @taking is used so: check that it fits, report, remember. The lock is held. @usage: bits. */
void usage_mark(const struct taking *taking, u8 usage);

/** usage_check_dep() - would the dependency make a lock that interrupts take wait for one that they interrupt? Reports.
 *  @after: a complete search from @to on. Return: false if there was a report. */
bool usage_check_dep(const struct taking *taking, unsigned int from, bool shared, unsigned int to,
		     bool weak, const struct search *after);

/* --- report.c ------------------------------------------------------------------------------------- */

/** lockdep_lock() - guards all tables. Interrupts are off. */
void lockdep_lock(void);
void lockdep_unlock(void);

/** lockdep_enter() - start of work on the tables: interrupts off. @flags: filled. Return: false if this CPU is at it
 *  already, or the validator is off: then leave the lock alone, and do not call lockdep_leave(). */
bool lockdep_enter(unsigned long *flags);

/** lockdep_leave() - end of work on the tables, not locked: print the reports made since lockdep_enter(). */
void lockdep_leave(unsigned long flags);

/** report_once() - Return: false if a report with this kind and these numbers was made before. The lock is held. */
bool report_once(enum lockdep_kind kind, unsigned long a, unsigned long b);

/** reports_forget() - a class goes, and its number may be another one's later: forget its reports. */
void reports_forget(unsigned int class);

/** report_begin() - start the text of a report. The lock is held. @lock, @other: the classes that it is about, or 0. */
void report_begin(enum lockdep_kind kind, unsigned long ip, unsigned int lock, unsigned int other);

/** report_line() - add a line. */
void report_line(const char *fmt, ...) __printf(1, 2);

/** report_end() - the text is complete. @advice: what to do. */
void report_end(const char *advice);

/** bound_reached() - print once that a table is full. @option: "REDZONE_LOCKDEP_...". */
#define bound_reached(option, what, size)                       \
	do {                                                    \
		static bool __told;                             \
                                                                \
		if (!__told) {                                  \
			__told = true;                          \
			report_bound((option), (what), (size)); \
		}                                               \
	} while (0)
void report_bound(const char *option, const char *what, unsigned int size);

/* --- describe.c ----------------------------------------------------------------------------------- */

/** class_name() - write "(name)" or "(name/subclass)" to @buf. Return: @buf. */
#define CLASS_NAME_LEN 64
const char *class_name(char buf[CLASS_NAME_LEN], unsigned int class);

/** usage_name() - write the four characters of a class's usage to @buf. Return: @buf. */
const char *usage_name(char buf[5], const struct lock_class *class);

void describe_recursion(const struct taking *taking, const struct held_lock *held);
void describe_cycle(const struct taking *taking, unsigned int from, bool shared, unsigned int to,
		    const struct path *path);
/** describe_wait() - @held: because of which the wait is not allowed; NULL: because the context is an interrupt. */
void describe_wait(const struct taking *taking, const struct held_lock *held);
/** describe_usage() - @bit: how the class is used now; @other: how it was used before. Both bit numbers. */
void describe_usage(const struct taking *taking, unsigned int bit, unsigned int other);

/**
 * struct inversion - a class that interrupts take leads to one that they interrupt
 * @used, @enabled: the usage of the first class of @before, and of the last of @after: bit numbers.
 * @from, @to: the dependency that is being made, from the last class of @before to the first of @after; 0: none, and
 *	@after alone is the path.
 */
struct inversion {
	unsigned int used, enabled;
	const struct path *before;
	unsigned int from, to;
	const struct path *after;
};
void describe_inversion(const struct taking *taking, const struct inversion *inversion);
void describe_unlock(const struct lockdep_stack *stack, const struct lockdep_map *map,
		     unsigned int class, unsigned long ip);
/** describe_held() - @held: the one that must not be held. */
void describe_held(enum lockdep_kind kind, const struct lockdep_stack *stack,
		   const struct held_lock *held, unsigned long ip);
void describe_no_key(const struct lockdep_map *map, unsigned long ip);
void describe_assertion(const struct lockdep_stack *stack, const struct lockdep_map *map,
			unsigned long ip);

/* --- fast.c, held.c --------------------------------------------------------------------------------------- */

/** report_freed() - [@start, @start + @size) goes away: report if the running task holds a lock in it. The lock of the tables
 *  is held. */
void report_freed(uintptr_t start, size_t size, unsigned long ip);

/** lock_untagged_usable() - the same for a pointer without a tag, in the tag-based modes, where no check looks at the
 *  memory behind such a pointer. memory.c */
bool lock_untagged_usable(const struct lockdep_map *map);

/** surely_usable() - Return: true if KASAN certainly says that @map's first byte may be used. Never reports. */
static __always_inline bool surely_usable(const struct lockdep_map *map)
{
#if defined(CONFIG_KASAN_GENERIC)
	return !*(const u8 *)(((uintptr_t)map >> 3) + CONFIG_KASAN_SHADOW_OFFSET);
#elif defined(CONFIG_KASAN_SW_TAGS) || defined(CONFIG_KASAN_HW_TAGS)
	if (kasan_get_tag(map) == KASAN_TAG_KERNEL)
		return is_kernel_image(map);
	return kasan_byte_accessible(map);
#else
	return true;
#endif
}

/** lock_usable() - ask KASAN, which reports if not. Return: true if the validator may read @map. */
static inline bool lock_usable(const struct lockdep_map *map)
{
	if (!kasan_check_byte(map))
		return false;
#if defined(CONFIG_KASAN_SW_TAGS) || defined(CONFIG_KASAN_HW_TAGS)
	if (kasan_get_tag(map) == KASAN_TAG_KERNEL && !is_kernel_image(map))
		return lock_untagged_usable(map);
#endif
	return true;
}

/* Set in the counter of anything but a task with soft interrupts on. */
#define NOT_PLAIN (SOFTIRQ_MASK | HARDIRQ_MASK)

/* The contexts after CONTEXT_TASK. */
extern struct lockdep_stack irq_stacks[NR_CPUS][CONTEXTS - 1];

static inline struct lockdep_stack *other_stack(int count)
{
	const enum lockdep_context context = context_of(count);

	if (context == CONTEXT_TASK)
		return &current->lockdep;
	return &irq_stacks[smp_processor_id()][context - 1];
}

/** this_stack() - Return: the locks of the running context. @count: preempt_count(). */
static __always_inline struct lockdep_stack *this_stack(int count)
{
	return likely(!(count & NOT_PLAIN)) ? &current->lockdep : other_stack(count);
}

/** irq_bits() - Return: how interrupts stand, for an id. */
static __always_inline u32 irq_bits(int count)
{
	if (irqs_disabled())
		return 0;
	return count & NOT_PLAIN ? ID_HARDIRQS : ID_HARDIRQS | ID_SOFTIRQS;
}

/** push() - put a lock on top of @stack. Return: the new entry, without @nest and @since. */
static __always_inline struct held_lock *push(struct lockdep_stack *stack, struct held_lock *top,
					      struct lockdep_map *map, u32 id, u32 chain,
					      unsigned long ip)
{
	top[1].map = map;
	top[1].ip = ip;
	top[1].chain = chain;
	top[1].id = id;
	stack->top = top + 1;
	return top + 1;
}

/** lock_take_slow(), lock_release_slow() - the same as lock_take() and lock_release(), in all cases. */
void lock_take_slow(struct lockdep_map *map, u32 how, const struct lockdep_map *nest,
		    unsigned long ip);
void lock_release_slow(struct lockdep_map *map, unsigned long ip);

#endif
