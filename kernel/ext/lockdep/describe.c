// SPDX-License-Identifier: MIT
/*
 * describe.c - what the reports of each kind say. docs/internals/lockdep.md, "Reports", is the contract of their text.
 *
 * All functions are called with the lock of the tables held.
 */
#include <kernel/sched.h>

#include "internal.h"

/* Columns of the table of CPUs. */
#define MAX_CPUS     4U
#define COLUMN_WIDTH 24U

const char *class_name(char buf[CLASS_NAME_LEN], unsigned int class)
{
	const struct lock_class *c = &lock_classes[class];

	if (c->subclass)
		snprintf(buf, CLASS_NAME_LEN, "(%.40s/%u)", c->name, c->subclass);
	else
		snprintf(buf, CLASS_NAME_LEN, "(%.40s)", c->name);
	return buf;
}

/* One for hard and one for soft interrupts, then the same for readers: '+': taken in them, '-': held with them on, '?': both,
 * '.': neither. */
const char *usage_name(char buf[5], const struct lock_class *class)
{
	static const char signs[] = ".+-?";
	static const unsigned int shifts[4] = {0, USAGE_SOFTIRQ_SHIFT, 1, USAGE_SOFTIRQ_SHIFT + 1};
	const unsigned int usage = class->usage | class->usage_bad;

	for (unsigned int i = 0; i < 4; i++) {
		const unsigned int bits = usage >> shifts[i];

		buf[i] = signs[(bits & 1) | (bits >> 1 & 2)];
	}
	buf[4] = '\0';
	return buf;
}

static void print_trace(u32 trace)
{
	const uintptr_t *pcs = NULL;
	unsigned int count = trace_get(trace, &pcs);

	if (!count)
		report_line("    (stack is not available)");
	for (unsigned int i = 0; i < count; i++)
		report_line(i && arch_is_interrupted(pcs[i - 1]) ? "    %pS" : "    %pB",
			    (void *)pcs[i]);
}

static const char *mode_of(u32 id)
{
	static const char *const modes[] = {"", " to read", " to read, recursively", ""};

	return modes[id_read(id)];
}

static void print_lock(const char *prefix, const struct held_lock *held)
{
	char name[CLASS_NAME_LEN], usage[5];
	const unsigned int class = id_class(held->id);

	report_line("%s%s{%s}%s at: %pB", prefix, class_name(name, class),
		    usage_name(usage, &lock_classes[class]), mode_of(held->id), (void *)held->ip);
}

static void print_held(const struct lockdep_stack *stack)
{
	char prefix[16];
	unsigned int n = 0;

	for (const struct held_lock *held = stack->locks + 1; held <= stack->top; held++) {
		snprintf(prefix, sizeof(prefix), " #%u: ", n++);
		print_lock(prefix, held);
	}
	if (!n)
		report_line(" (nothing)");
}

/* The part of each actor. */
static void print_taking(const struct taking *taking)
{
	static const char *const doing[] = {
		[EVENT_TAKE] = "is trying to take:",
		[EVENT_HARDIRQS_ON] = "is switching interrupts on while it holds:",
		[EVENT_SOFTIRQS_ON] = "is allowing soft interrupts while it holds:",
		[EVENT_UNLOCK] = "releases another lock and goes on holding:",
	};
	const bool commit = taking->lock.id & ID_COMMIT;

	report_line("%s/%d %s", current->comm, current->pid,
		    commit ? "completes:" : doing[taking->event]);
	print_lock(" ", &taking->lock);
	report_line(taking->event == EVENT_TAKE && !commit ? "but holds:" : "and holds:");
	print_held(taking->stack);
}

/* --- Chains ------------------------------------------------------------------------------------------ */

/** struct step - a lock of class @to was taken while one of @from was held; @now: that happens now */
struct step {
	unsigned int from, to;
	u32 trace;
	bool now;
};

#define MAX_STEPS (2 * MAX_PATH + 1)

/* Under lockdep_lock(). */
static struct step steps[MAX_STEPS];
static unsigned int nr_steps;

static void add_step(unsigned int from, unsigned int to, u32 trace, bool now)
{
	steps[nr_steps++] = (struct step){.from = from, .to = to, .trace = trace, .now = now};
}

static void add_path(const struct path *path)
{
	for (unsigned int i = 0; i < path->length; i++) {
		const struct dep *dep = &deps[path->deps[i]];

		add_step(dep->from, dep->to, dep->trace, false);
	}
}

/* The last one first: number 0 is the first that led here. */
static void print_steps(unsigned long ip)
{
	char to[CLASS_NAME_LEN], from[CLASS_NAME_LEN];

	report_line("The chain of dependencies, last first:");
	for (unsigned int i = nr_steps; i-- > 0;) {
		const struct step *step = &steps[i];

		report_line(" -> #%u %s, taken while %s is held%s:", i, class_name(to, step->to),
			    class_name(from, step->from), step->now ? ", now" : "");
		if (step->now)
			print_trace(trace_save(ip, false));
		else
			print_trace(step->trace);
	}
}

/* --- Tables of CPUs ---------------------------------------------------------------------------------- */

static void print_cpus(unsigned int count)
{
	char numbers[MAX_CPUS * COLUMN_WIDTH + 1] = "", lines[MAX_CPUS * COLUMN_WIDTH + 1] = "";
	size_t n = 0, l = 0;

	report_line("How it deadlocks:");
	for (unsigned int cpu = 0; cpu < count; cpu++) {
		n += (size_t)scnprintf(numbers + n, sizeof(numbers) - n, "%*sCPU%u",
				       cpu ? (int)COLUMN_WIDTH - 4 : 8, "", cpu);
		l += (size_t)scnprintf(lines + l, sizeof(lines) - l, "%*s----",
				       cpu ? (int)COLUMN_WIDTH - 4 : 8, "");
	}
	report_line("%s", numbers);
	report_line("%s", lines);
}

static void print_cell(unsigned int cpu, const char *verb, unsigned int class)
{
	char name[CLASS_NAME_LEN];

	report_line("%*s%s%s;", (int)(cpu * COLUMN_WIDTH) + 3, "", verb,
		    class ? class_name(name, class) : "");
}

/* Each step is a CPU that holds a lock and waits for the next one. The last step is the running CPU's. */
static void print_cycle_table(void)
{
	const unsigned int cpus = min(nr_steps, MAX_CPUS);

	print_cpus(cpus);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		print_cell(cpu, "lock", steps[cpu ? cpu - 1 : nr_steps - 1].from);
	if (nr_steps > MAX_CPUS)
		report_line("   ... and %u CPUs more, in the same way", nr_steps - MAX_CPUS);
	for (unsigned int cpu = cpus; cpu-- > 0;)
		print_cell(cpu, "lock", steps[cpu ? cpu - 1 : nr_steps - 1].to);
	report_line("   each waits for the next: deadlock");
}

/* --- Reports of cycles ------------------------------------------------------------------------------- */

void describe_recursion(const struct taking *taking, const struct held_lock *held)
{
	const unsigned int class = id_class(taking->lock.id);

	report_begin(LOCKDEP_RECURSION, taking->ip, class, class);
	print_taking(taking);
	report_line(held->map == taking->lock.map
			    ? "It is the same lock."
			    : "It is another lock of the same class; nothing says in which order "
			      "these are taken.");
	print_cpus(1);
	print_cell(0, "lock", class);
	print_cell(0, "lock", class);
	report_line("   it waits for itself: deadlock");
	report_end(held->map == taking->lock.map
			   ? "do not take a lock that is held; split the function in two."
			   : "if they nest in a fixed order, say so with the _nested form of the "
			     "inner lock.");
}

void describe_cycle(const struct taking *taking, unsigned int from, bool shared, unsigned int to,
		    const struct path *path)
{
	report_begin(LOCKDEP_CIRCULAR, taking->ip, to, from);
	print_taking(taking);
	nr_steps = 0;
	add_path(path);
	add_step(from, to, 0, true);
	print_steps(taking->ip);
	print_cycle_table();
	report_end("take these locks in the same order everywhere.");
}

void describe_wait(const struct taking *taking, const struct held_lock *held)
{
	static const char *const waits[] = {
		[LD_WAIT_INV] = "is not checked",
		[LD_WAIT_FREE] = "never waits",
		[LD_WAIT_SPIN] = "spins in every kernel",
		[LD_WAIT_CONFIG] = "sleeps in a real-time kernel",
		[LD_WAIT_SLEEP] = "sleeps",
	};
	const unsigned int class = id_class(taking->lock.id);
	const unsigned int other = held ? id_class(held->id) : NO_CLASS;
	char name[CLASS_NAME_LEN];

	report_begin(LOCKDEP_WAIT_CONTEXT, taking->ip, class, other);
	print_taking(taking);
	report_line("A context that waits for %s %s.", class_name(name, class),
		    waits[lock_classes[class].wait_type]);
	if (held)
		report_line("While it holds %s, that is not allowed: this %s.",
			    class_name(name, other),
			    lock_classes[other].wait_type == LD_WAIT_FREE
				    ? "makes it a reader of RCU"
				    : waits[lock_classes[other].wait_type]);
	else
		report_line("In an interrupt that is not allowed.");
	report_end(held ? "take the outer lock later, or release it first; or make it one that "
			  "sleeps."
			: "leave the work to a thread, or take a lock that spins.");
}

/* --- Reports of interrupts --------------------------------------------------------------------------- */

static const char *usage_words(unsigned int bit)
{
	static const char *const words[USAGE_BITS] = {
		"taken in a hard interrupt",
		"taken in a hard interrupt, by a recursive reader",
		"held with interrupts on",
		"held with interrupts on, by a reader",
		"taken in a soft interrupt",
		"taken in a soft interrupt, by a recursive reader",
		"held where a soft interrupt may come",
		"held where a soft interrupt may come, by a reader",
	};

	return words[bit];
}

static const char *usage_advice(bool soft)
{
	return soft ? "take the lock that is interrupted with soft interrupts off (_bh) everywhere."
		    : "take the lock that is interrupted with interrupts off (_irqsave) "
		      "everywhere.";
}

static void print_usage(unsigned int class, unsigned int bit)
{
	char name[CLASS_NAME_LEN];

	/* The usage that is being checked has no trace yet: it is what happens now. */
	if (!(lock_classes[class].usage & BIT(bit))) {
		report_line("%s is %s, now.", class_name(name, class), usage_words(bit));
		return;
	}
	report_line("%s was %s, first at:", class_name(name, class), usage_words(bit));
	print_trace(lock_classes[class].traces[bit]);
}

void describe_usage(const struct taking *taking, unsigned int bit, unsigned int other)
{
	const unsigned int class = id_class(taking->lock.id);

	report_begin(LOCKDEP_IRQ_STATE, taking->ip, class, NO_CLASS);
	print_taking(taking);
	print_usage(class, bit);
	print_usage(class, other);
	print_cpus(1);
	print_cell(0, "lock", class);
	report_line("   <interrupt>");
	print_cell(0, "  lock", class);
	report_line("   the handler waits for what it interrupts: deadlock");
	report_end(usage_advice(bit & USAGE_SOFTIRQ_SHIFT));
}

void describe_inversion(const struct taking *taking, const struct inversion *inversion)
{
	const bool soft = inversion->used & USAGE_SOFTIRQ_SHIFT;
	unsigned int first, last;

	nr_steps = 0;
	if (inversion->from) {
		add_path(inversion->before);
		add_step(inversion->from, inversion->to, 0, true);
		first = inversion->before->start;
	} else {
		first = inversion->after->start;
	}
	add_path(inversion->after);
	last = inversion->after->end;

	report_begin(soft ? LOCKDEP_INVERSION_SOFT : LOCKDEP_INVERSION_HARD, taking->ip,
		     inversion->from ? inversion->to : last,
		     inversion->from ? inversion->from : first);
	print_taking(taking);
	print_usage(first, inversion->used);
	print_usage(last, inversion->enabled);
	print_steps(taking->ip);
	print_cpus(2);
	print_cell(0, "lock", last);
	print_cell(1, soft ? "local_bh_disable()" : "local_irq_disable()", NO_CLASS);
	for (unsigned int i = 0; i < nr_steps; i++)
		print_cell(1, "lock", steps[i].from);
	print_cell(1, "lock", last);
	report_line("   <interrupt>");
	print_cell(0, "  lock", first);
	report_line("   the handler waits for CPU1, which waits for what it interrupts: deadlock");
	report_end(usage_advice(soft));
}

/* --- Other reports ----------------------------------------------------------------------------------- */

void describe_unlock(const struct lockdep_stack *stack, const struct lockdep_map *map,
		     unsigned int class, unsigned long ip)
{
	char name[CLASS_NAME_LEN];

	report_begin(LOCKDEP_BAD_UNLOCK, ip, class, NO_CLASS);
	report_line("%s/%d is trying to release:", current->comm, current->pid);
	if (class)
		report_line(" %s at: %pB", class_name(name, class), (void *)ip);
	else
		report_line(" (%.40s), which nobody has taken yet, at: %pB",
			    map->name ? map->name : "?", (void *)ip);
	report_line("but holds:");
	print_held(stack);
	report_end("release a lock once, in the task that has taken it.");
}

void describe_held(enum lockdep_kind kind, const struct lockdep_stack *stack,
		   const struct held_lock *held, unsigned long ip)
{
	report_begin(kind, ip, id_class(held->id), NO_CLASS);
	report_line("%s/%d must not hold:", current->comm, current->pid);
	print_lock(" ", held);
	report_line("It holds:");
	print_held(stack);
	report_end("release the lock on every path that leads here.");
}

void describe_no_key(const struct lockdep_map *map, unsigned long ip)
{
	report_begin(LOCKDEP_NO_KEY, ip, NO_CLASS, NO_CLASS);
	report_line("%s/%d is trying to take the lock at %p, which has no class.", current->comm,
		    current->pid, map);
	report_end("initialise the lock with its _init function; the validator leaves it alone.");
}

void describe_assertion(const struct lockdep_stack *stack, const struct lockdep_map *map,
			unsigned long ip)
{
	unsigned int class = class_known(map, 0);
	char name[CLASS_NAME_LEN];

	report_begin(LOCKDEP_ASSERTION, ip, class, NO_CLASS);
	report_line("%s/%d should hold:", current->comm, current->pid);
	if (class)
		report_line(" %s", class_name(name, class));
	else
		report_line(" (%.40s), which nobody has taken yet", map->name ? map->name : "?");
	report_line("but holds:");
	print_held(stack);
	report_end("take the lock before the function is called.");
}
