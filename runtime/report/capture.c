/* SPDX-License-Identifier: MIT */
/* capture.c - copies what may change a moment later: the task, the trace, the state of memory. */
#include "captured.h"

#include "../track/exidx.h"

/* More pages than any stack has. The search for a stack's ends stops there. */
#define STACK_PAGES 4096U

/* Return: the last page on the way from @page to @end, in steps of @step bytes, up to which all memory can be read. */
static uintptr_t readable_to(uintptr_t page, uintptr_t end, uintptr_t step)
{
	unsigned int n;

	for (n = 0; n < STACK_PAGES && page != end; n++, page += step) {
		if (!kasan_port_readable((const void *)(page + step), 1))
			break;
	}
	return page;
}

void kasan_clip_stack(struct kasan_port_task *task, uintptr_t sp, uintptr_t fp)
{
	const uintptr_t page = CONFIG_KASAN_PAGE_SIZE, mask = ~(page - 1);
	uintptr_t at = sp, low, high;

	if (at < task->stack_start || at >= task->stack_end)
		at = fp >= task->stack_start && fp < task->stack_end ? fp : task->stack_start;
	at &= mask;
	if (task->stack_end <= task->stack_start || !kasan_port_readable((const void *)at, 1)) {
		task->stack_start = task->stack_end = 0;
		return;
	}
	low = readable_to(at, task->stack_start & mask, -page);
	high = readable_to(at, (task->stack_end - 1) & mask, page);
	if (task->stack_start < low)
		task->stack_start = low;
	if (task->stack_end > high + page)
		task->stack_end = high + page;
}

bool kasan_is_return(uintptr_t pc)
{
	return kasan_port_is_code(pc) && kasan_arch_is_return(pc);
}

/* Return: where a call that has come to no code would return to; 0: not known. */
static uintptr_t return_address(const struct kasan_port_task *task, const struct kasan_regs *regs)
{
	const uintptr_t word = sizeof(word);

	if (KASAN_ARCH_HAS_LR)
		return regs->lr;
	/* The call has pushed it, and nothing else has been pushed since. The stack is clipped to what can be read. */
	if (regs->sp % word || regs->sp < task->stack_start || task->stack_end < word ||
	    regs->sp > task->stack_end - word)
		return 0;
	return *(const uintptr_t *)regs->sp;
}

/* Something that is not code was called: the caller has only left its return address. */
static size_t walk_from_caller(struct kasan_report *report, const struct kasan_regs *regs)
{
	const uintptr_t pc = return_address(&report->task, regs);

	/* After a return to a bad address, the register holds that. */
	if (!pc || pc == regs->pc || !kasan_is_return(pc))
		return 0;
	report->at_pc = false;
	return kasan_stack_walk_fault(&report->task, pc, regs->fp, report->pcs,
				      CONFIG_KASAN_STACK_DEPTH);
}

/* @most: frames. */
static void capture_trace(struct kasan_report *report, const struct kasan_bug *bug, size_t most)
{
	const bool is_code =
		bug->ip && !(bug->regs && report->is_call) && kasan_port_is_code(bug->ip);

	if (!report->at_pc)
		report->depth = kasan_stack_walk_in(&report->task, report->ip, report->fp,
						    report->pcs, most);
	else if (bug->regs && !is_code)
		report->depth = walk_from_caller(report, bug->regs);
	if (report->at_pc && !report->depth)
		report->depth = kasan_stack_walk_fault(&report->task, is_code ? report->ip : 0,
						       report->fp, report->pcs, most);
	/* The bug's own place is not code, or not known, so the reader looks for the function that led there. */
	if (bug->regs && !is_code && report->depth) {
		report->ip = report->pcs[0];
		report->at_pc = false;
	}
}

static void capture_task(struct kasan_report *report, const struct kasan_bug *bug)
{
	if (kasan_port_stack_overflowed(&bug->task))
		report->task.overflowed = true;
	kasan_clip_stack(&report->task, bug->sp, report->fp);
	kasan_copy_name(report->comm, sizeof(report->comm), report->task.name, "none");
	capture_trace(report, bug, CONFIG_KASAN_STACK_DEPTH);
}

/* The system says so, or the stack pointer is below the stack. Then the overflow explains whatever was found. */
static void capture_overflow(struct kasan_report *report, const struct kasan_bug *bug)
{
	const struct kasan_port_task *owner = bug->owner;
	const uintptr_t start = bug->task.stack_start;
	const size_t below = start && bug->sp && bug->sp < start ? start - bug->sp : 0;

	if (below && below <= CONFIG_KASAN_STACK_GUARD) {
		owner = owner ? owner : &bug->task;
		if (owner->stack_start == start)
			report->overflow_by = below;
	} else if (!owner && (!bug->regs || bug->regs->stack_end)) {
		/* Too far to be sure: this may also be a stack that the port does not know. */
		report->overflow_by = below;
	}
	if (!owner)
		return;
	report->is_overflow = true;
	kasan_copy(&report->overflow_task, owner);
	kasan_copy_name(report->overflow_comm, sizeof(report->overflow_comm), owner->name, "none");
	if (!report->is_free)
		report->type = "stack-overflow";
}

static void capture_first_bad(struct kasan_report *report)
{
	size_t size = report->size;
	uintptr_t bad = 0;

	report->has_shadow = kasan_has_shadow(report->addr);
	/* Only the start of a wrapped range means anything. */
	if (report->addr + size < report->addr || size > (size_t)PTRDIFF_MAX)
		size = 0;
	if (report->has_shadow && !report->is_free)
		bad = kasan_first_bad(report->pointer, size ? size : 1);
	report->first_bad = bad ? bad : report->addr;
	/* It may lie after the last byte with shadow, if the range leaves that. */
	(void)kasan_memory_state((const void *)report->first_bad, &report->bad_shadow);
}

static void capture_shadow(struct kasan_report *report)
{
	const uintptr_t row = KASAN_REPORT_ROW_SIZE * KASAN_GRANULE_SIZE;
	uintptr_t addr = (report->first_bad & ~(row - 1)) - KASAN_REPORT_ROWS / 2 * row;
	unsigned int i, j;

	report->rows_base = addr;
	for (i = 0; i < KASAN_REPORT_ROWS; i++, addr += row) {
		/* Windows and address spaces end at granules, but perhaps not at rows. A row is printed whole or not at
		 * all. */
		report->row_valid[i] = true;
		for (j = 0; j < KASAN_REPORT_ROW_SIZE; j++) {
			if (!kasan_memory_state((const void *)(addr + j * KASAN_GRANULE_SIZE),
						&report->rows[i][j])) {
				report->row_valid[i] = false;
				break;
			}
		}
	}
}

static void copy_facts(struct kasan_report *report, const struct kasan_bug *bug)
{
	kasan_clear(report);
	report->type = bug->type;
	report->addr = kasan_untag_addr(bug->addr);
	report->pointer = bug->addr;
	report->size = bug->size;
	report->is_write = bug->how & KASAN_HOW_WRITE;
	report->is_free = bug->how & KASAN_HOW_FREE;
	report->is_fault = bug->how & KASAN_HOW_FAULT;
	report->at_pc = bug->how & (KASAN_HOW_FAULT | KASAN_HOW_AT_PC);
	report->is_async = bug->how & KASAN_HOW_ASYNC;
	report->is_unclear = bug->how & KASAN_HOW_UNCLEAR;
	report->ip = bug->ip;
	report->fp = bug->fp;
	report->note = bug->note;
	report->source = bug->source;
	/* A CPU that faults at the address that it executes was fetching the instruction. */
	report->is_call = report->is_fault && bug->ip == bug->addr;
	if (report->is_call && !report->type) {
		report->type = "invalid-call";
		report->note = "This address has no code: a call or a return went there";
	}
#if CONFIG_KASAN_CALLBACKS
	report->sp = bug->sp;
#endif
#ifdef CONFIG_KASAN_TAGS
	report->newest_record = bug->newest_record;
#endif
	if (KASAN_HAS_SLACK && bug->slack)
		kasan_copy(&report->slack, bug->slack);
#ifdef CONFIG_KASAN_UBSAN
	if (bug->undefined) {
		report->is_undefined = true;
		report->file = bug->undefined->file;
		report->line = bug->undefined->line;
		report->column = bug->undefined->column;
	}
#endif
	report->cpu = kasan_port_cpu();
	kasan_copy(&report->task, &bug->task);
}

void kasan_capture_short(struct kasan_report *report, const struct kasan_bug *bug)
{
	copy_facts(report, bug);
	kasan_copy_name(report->comm, sizeof(report->comm), report->task.name, "none");
	report->pcs[0] = bug->ip;
	report->depth = 1;
	if (KASAN_IS_NOT_OF_MEMORY(report))
		return;
	capture_overflow(report, bug);
	capture_first_bad(report);
	if (!report->type)
		kasan_classify(report);
}

#if CONFIG_KASAN_CHEAP_REPEATS
/* Pages of a stack in which the first frames are looked for. Deeper ones are found when all is captured. */
#define PLACE_PAGES 8U

bool kasan_capture_place(struct kasan_report *report, const struct kasan_bug *bug)
{
	const uintptr_t page = CONFIG_KASAN_PAGE_SIZE, at = bug->sp & ~(page - 1);
	struct kasan_port_task *const task = &report->task;

	/* The place of an asynchronous report is its whole trace; the others are found by what the handler has. */
	if (bug->how & (KASAN_HOW_FAULT | KASAN_HOW_ASYNC) || bug->regs || bug->slack || bug->owner)
		return false;
	copy_facts(report, bug);
	/* The whole of a large stack would take long. */
	if (at > task->stack_start && at < task->stack_end) {
		task->stack_start = at;
		if (task->stack_end - at > PLACE_PAGES * page)
			task->stack_end = at + PLACE_PAGES * page;
	}
	kasan_clip_stack(task, bug->sp, report->fp);
	capture_trace(report, bug, KASAN_PLACE_FRAMES);
	if (!KASAN_IS_NOT_OF_MEMORY(report)) {
		capture_overflow(report, bug);
		capture_first_bad(report);
	}
	report->given = report->type;
	return !report->is_overflow;
}
#endif

void kasan_capture(struct kasan_report *report, const struct kasan_bug *bug)
{
	copy_facts(report, bug);
	capture_task(report, bug);
#ifdef CONFIG_KASAN_UBSAN
	/* A short report has no room for it. */
	if (bug->undefined && bug->undefined->add)
		bug->undefined->add(&report->sentence, bug->undefined);
#endif
	if (KASAN_IS_NOT_OF_MEMORY(report))
		return;
	capture_overflow(report, bug);
	capture_first_bad(report);
	capture_shadow(report);
	kasan_capture_frame(report);
}
