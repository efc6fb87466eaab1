/* SPDX-License-Identifier: MIT */
/*
 * stacktrace.c - finding out which stack this is, and the calls on it.
 *
 * Not instrumented: inside reports it reads frames that may be poisoned or garbage.
 *
 * The calls come from the shadow call stack, if there is one and it covers the context, else from frame records.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/stacktrace.h>
#include <asm/ptrace.h>
#include <asm/stacktrace.h>

/* A runaway recursion has thousands of frames: only both ends of such a trace are printed. */
#define TRACE_INNER 32
#define TRACE_OUTER 8

static bool is_on(uintptr_t sp, const void *stack, size_t size, uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)stack;
	*end = *start + size;
	return stack && sp >= *start && sp < *end;
}

/* Find the stack that holds @sp: the current task's, the boot stack or this CPU's overflow stack. @start,
 * @end: filled. Return: false if @sp is not on any of them. */
static bool stack_bounds(uintptr_t sp, uintptr_t *start, uintptr_t *end)
{
	struct task *task = current;
	unsigned int cpu = smp_processor_id();

	if (task && (is_on(sp, task->stack, task->stack_size, start, end) ||
		     is_on(sp, task->other_stack, task->other_size, start, end)))
		return true;
	*start = (uintptr_t)overflow_stack + cpu * OVERFLOW_STACK_SIZE;
	*end = *start + OVERFLOW_STACK_SIZE;
	if (sp >= *start && sp < *end)
		return true;
	*start = (uintptr_t)boot_stack;
	*end = (uintptr_t)boot_stack_top;
	if (sp >= *start && sp < *end)
		return true;
	*start = *end = 0;
	return false;
}

bool current_stack(uintptr_t *start, uintptr_t *end)
{
	return stack_bounds((uintptr_t)__builtin_frame_address(0), start, end);
}

/**
 * struct unwind - a walk along frame pointers
 * @fp: the next frame, 0 at the end. @start, @end: bounds of the stack that it is on.
 * @leaf_return: if not 0, the address that comes before those of the frames: see leave_leaf().
 */
struct unwind {
	uintptr_t fp;
	uintptr_t start, end;
	uintptr_t leaf_return;
};

static bool frame_fits(uintptr_t fp, uintptr_t start, uintptr_t end)
{
	const uintptr_t record = arch_frame_record(fp);

	return !(record & (sizeof(uintptr_t) - 1)) && record >= start && record < end &&
	       end - record >= 2 * sizeof(uintptr_t);
}

/* Does the code on the stack at @start interrupt code on another one? */
static bool is_nested_stack(uintptr_t start)
{
	/* A handler of signals on its own stack. */
	if (current->on_other && start == (uintptr_t)current->stack)
		return true;
	return start >= (uintptr_t)overflow_stack &&
	       start < (uintptr_t)overflow_stack + NR_CPUS * OVERFLOW_STACK_SIZE;
}

#ifdef ARCH_HAS_LEAF_FRAMES
/*
 * u->fp is the frame of code that was interrupted with @regs. If that is a function which calls nothing, its frame
 * has the caller's frame pointer and no return address: that is in a register. Go on to the caller's frame.
 */
static void leave_leaf(struct unwind *u, const struct pt_regs *regs)
{
	uintptr_t caller;

	if (!frame_fits(u->fp, u->start, u->end))
		return;
	/* In other frames this word is the return address, and code is not on a stack. */
	caller = arch_leaf_caller(u->fp);
	if (caller > u->fp && frame_fits(caller, u->start, u->end)) {
		u->fp = caller;
		u->leaf_return = regs_return_address(regs);
	}
}
#else
static void leave_leaf(struct unwind *u, const struct pt_regs *regs)
{
}

static const struct pt_regs *arch_regs_at(uintptr_t fp, uintptr_t stack)
{
	return NULL;
}
#endif

/* Go to the caller's frame. Return: its return address, 0 at the end. */
static uintptr_t unwind_next(struct unwind *u)
{
	const uintptr_t *record = (const uintptr_t *)arch_frame_record(u->fp);
	const uintptr_t leaf_return = u->leaf_return;
	uintptr_t next, pc, start, end;
	const struct pt_regs *regs;

	if (leaf_return) {
		u->leaf_return = 0;
		return leaf_return;
	}
	if (!frame_fits(u->fp, u->start, u->end))
		return 0;
	next = record[0];
	pc = record[1];
	regs = arch_regs_at(u->fp, u->start);
	if (next <= u->fp || !frame_fits(next, u->start, u->end)) {
		/* Change once to the stack that was interrupted; other cases are the end. */
		if (next && stack_bounds(next, &start, &end) && start != u->start &&
		    is_nested_stack(u->start)) {
			u->start = start;
			u->end = end;
		} else {
			next = 0;
		}
	}
	u->fp = next;
	if (regs)
		leave_leaf(u, regs);
	return pc;
}

/* Return: where the function around @pc starts; 0 if that is not known. */
static uintptr_t function_start(uintptr_t pc)
{
	unsigned long start, size;

	return kallsyms_lookup(pc, NULL, &start, &size) ? start : module_text_start(pc);
}

/*
 * Has the function around @pc stored its frame record yet? If not (a leaf, or its first instructions) only
 * a register has the caller.
 */
static bool frame_is_set_up(uintptr_t pc)
{
	uintptr_t start;

	if (!kernel_text_address(pc))
		return false;
	start = function_start(pc);
	return !start || arch_frame_is_set_up(start, pc);
}

/**
 * struct trace - a trace being walked, one code address at a time
 * @early: addresses that come from registers, innermost first. @nr_early: their number. @at: the next one.
 * @scs: the others come from the shadow call stack, @walk, not from @u.
 */
struct trace {
#ifdef CONFIG_SHADOW_CALL_STACK
	struct scs_walk walk;
	bool scs;
#endif
	struct unwind u;
	uintptr_t early[2];
	unsigned int nr_early, at;
};

#ifdef CONFIG_SHADOW_CALL_STACK

/* Has the function around @pc pushed its return address? If not, only a register has it. */
static bool has_pushed(uintptr_t pc)
{
	const uintptr_t start = function_start(pc);

	return !start || scs_has_pushed(start, pc);
}

/* Return: false if the shadow call stack does not cover the context. */
static bool trace_start_scs(struct trace *t, const struct pt_regs *regs, uintptr_t top)
{
	struct scs_walk walk;

	if (regs ? !scs_walk_start_regs(&walk, regs) : !scs_walk_start(&walk, top))
		return false;
	*t = (struct trace){.scs = true, .walk = walk};
	if (regs) {
		t->early[t->nr_early++] = regs->pc;
		if (!has_pushed(regs->pc) && kernel_text_address(regs_return_address(regs)))
			t->early[t->nr_early++] = regs_return_address(regs);
	}
	return true;
}

static bool trace_next_scs(struct trace *t, uintptr_t *pc)
{
	if (!scs_walk_next(&t->walk, pc))
		*pc = 0;
	return kernel_text_address(*pc);
}

#endif

/** struct here - where a trace starts: the frame of its innermost function, and the shadow call stack's pointer */
struct here {
	const void *fp;
#ifdef CONFIG_SHADOW_CALL_STACK
	uintptr_t top;
#endif
};

#ifdef CONFIG_SHADOW_CALL_STACK
#define HERE ((struct here){__builtin_frame_address(0), scs_pointer()})
#else
#define HERE ((struct here){__builtin_frame_address(0)})
#endif

/* @here: used if @regs is NULL. */
static void trace_start(struct trace *t, const struct pt_regs *regs, struct here here)
{
#ifdef CONFIG_SHADOW_CALL_STACK
	if (trace_start_scs(t, regs, here.top))
		return;
#endif
	*t = (struct trace){.u.fp = (uintptr_t)here.fp};
	if (regs) {
		t->early[t->nr_early++] = regs->pc;
		if (!frame_is_set_up(regs->pc) && kernel_text_address(regs_return_address(regs)))
			t->early[t->nr_early++] = regs_return_address(regs);
		t->u.fp = regs_fp(regs);
	}
	if (!stack_bounds(t->u.fp, &t->u.start, &t->u.end))
		t->u.fp = 0;
	if (regs && t->nr_early == 1)
		leave_leaf(&t->u, regs);
}

static bool trace_next(struct trace *t, uintptr_t *pc)
{
	if (t->at < t->nr_early) {
		*pc = t->early[t->at++];
		return true;
	}
#ifdef CONFIG_SHADOW_CALL_STACK
	if (t->scs)
		return trace_next_scs(t, pc);
#endif
	*pc = t->u.fp ? unwind_next(&t->u) : 0;
	return kernel_text_address(*pc);
}

size_t stack_trace_save(uintptr_t *pcs, size_t max, const struct pt_regs *regs)
{
	struct trace t;
	size_t n = 0;

	trace_start(&t, regs, HERE);
	while (n < max && trace_next(&t, &pcs[n]))
		n++;
	return n;
}

/* %pS for the place where something happened, %pB for return addresses. */
static void show_frame(uintptr_t pc, bool exact, uintptr_t before)
{
	if (exact || arch_is_interrupted(before))
		printk(" %pS\n", (void *)pc);
	else
		printk(" %pB\n", (void *)pc);
}

static void show_trace_from(const struct pt_regs *regs, struct here here)
{
	unsigned long flags = console_lock();
	uintptr_t outer[TRACE_OUTER], pc, before = 0;
	struct trace t;
	size_t n;

	printk("Call trace:\n");
	trace_start(&t, regs, here);
	for (n = 0; trace_next(&t, &pc); n++) {
		if (n < TRACE_INNER)
			show_frame(pc, n == 0 && regs, before);
		else
			outer[n % TRACE_OUTER] = pc;
		before = pc;
	}
	if (n > TRACE_INNER + TRACE_OUTER)
		printk(" (%zu frames are left out)\n", n - TRACE_INNER - TRACE_OUTER);
	before = 0;
	for (size_t i = n > TRACE_INNER + TRACE_OUTER ? n - TRACE_OUTER : TRACE_INNER; i < n; i++) {
		show_frame(outer[i % TRACE_OUTER], false, before);
		before = outer[i % TRACE_OUTER];
	}
	if (!n)
		printk(" (stack is not available)\n");
	console_unlock(flags);
}

void show_trace(const struct pt_regs *regs)
{
	show_trace_from(regs, HERE);
}

void dump_stack(void)
{
	unsigned long flags = console_lock();

	printk("CPU: %u PID: %d Comm: %s\n", smp_processor_id(), current->pid, current->comm);
	show_trace_from(NULL, HERE);
	console_unlock(flags);
}
