/* SPDX-License-Identifier: MIT */
/*
 * hw_frame.c - bad accesses to stack variables that the compiler tags in hardware.
 *
 * Such frames have no description in memory, only tags: each variable has its own, and everything else on a stack has
 * the stack pointer's. So tags tell a variable that still exists and that the pointer has left from one that is gone.
 * Frame records give the function. The names of its variables are in the debug information, where tools look them up by
 * the distance to the frame record.
 *
 * All this is found when the report is captured, because the stack changes later.
 */
#include "captured.h"

#include "../tags/tags.h"
#include "../track/walk.h"

#ifdef KASAN_TAGGED_FRAMES

/* How far from the bad address its variable is searched for: in the same frame; in the frames below, where the same tag
 * is more likely a coincidence; and above a place in no frame, where a pointer to a dead variable is most likely. */
#define SEARCH_FRAME 4096UL
#define SEARCH_NEAR  256UL
#define SEARCH_ABOVE 64UL
/* For a larger variable the report names the part nearby. */
#define VARIABLE_MAX 32768UL

static bool has_tag(uintptr_t addr, uint8_t tag)
{
	uint8_t state;

	return kasan_tags_read(addr, &state) && state == tag;
}

/* Find the memory with the pointer's tag nearest to @addr in [@low, @high), both granules. It may extend further. */
static void find_variable(struct kasan_tagged_frame *frame, uintptr_t addr, uintptr_t low,
			  uintptr_t high, uint8_t tag)
{
	const uintptr_t step = KASAN_GRANULE_SIZE;
	const uintptr_t start = addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	uintptr_t below = start, above = start, found = 0;

	while (!found && (below > low || above + step < high)) {
		if (below > low) {
			below -= step;
			if (below < high && has_tag(below, tag))
				found = below;
		}
		if (!found && above + step < high) {
			above += step;
			if (above >= low && has_tag(above, tag))
				found = above;
		}
	}
	if (!found)
		return;
	frame->low = found;
	frame->high = found + step;
	while (found - frame->low < VARIABLE_MAX && has_tag(frame->low - step, tag))
		frame->low -= step;
	while (frame->high - found < VARIABLE_MAX && has_tag(frame->high, tag))
		frame->high += step;
}

/*
 * The entry of an exception has put a frame record on top of the stack that continues the interrupted chain, so the
 * interrupted stack pointer is after that record.
 *
 * Return: an address below which no live variable of the reported code lies.
 */
static uintptr_t stack_pointer_of(const struct kasan_report *report,
				  const struct kasan_bounds *bounds)
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0), prev;

	while (kasan_is_frame(bounds, at)) {
		prev = kasan_arch_frame_prev(at);
		if (prev == report->fp)
			return at + 2 * sizeof(uintptr_t);
		if (prev <= at)
			break;
		at = prev;
	}
	return (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)KASAN_GRANULE_MASK;
}

/* Find the record of the frame that @addr lies in. @below: filled with the end of the record below it, if there is
 * one. */
static void find_frame(const struct kasan_report *report, const struct kasan_bounds *bounds,
		       uintptr_t addr, struct kasan_tagged_frame *frame, uintptr_t *below)
{
	uintptr_t fp = report->at_pc ? report->fp : kasan_skip_to(bounds, report->ip, report->fp);
	uintptr_t pc = report->ip, prev;
	bool returns = !report->at_pc;

	while (kasan_is_frame(bounds, fp)) {
		if (fp > addr) {
			frame->fp = fp;
			frame->pc = pc;
			frame->is_return = returns;
			return;
		}
		prev = kasan_arch_frame_prev(fp);
		if (prev <= fp)
			return;
		pc = kasan_arch_frame_ra(fp);
		returns = true;
		*below = fp + 2 * sizeof(uintptr_t);
		fp = prev;
	}
}

void kasan_capture_frame(struct kasan_report *report)
{
	const struct kasan_port_task *task = &report->task;
	struct kasan_tagged_frame *frame = &report->tagged;
	const uint8_t tag = kasan_addr_tag(report->pointer);
	const uintptr_t addr = report->first_bad;
	uintptr_t sp, below, low, high;
	struct kasan_bounds bounds;

	if (report->is_free || !report->has_shadow || tag == KASAN_TAG_KERNEL ||
	    addr - task->stack_start >= task->stack_end - task->stack_start ||
	    !kasan_get_bounds(task->stack_start, task->stack_end, &bounds))
		return;
	sp = below = stack_pointer_of(report, &bounds);
	frame->is_dead = addr < sp;
	if (!frame->is_dead)
		find_frame(report, &bounds, addr, frame, &below);
	low = addr > task->stack_start + SEARCH_NEAR ? addr - SEARCH_NEAR : task->stack_start;
	high = task->stack_end - addr > SEARCH_ABOVE ? addr + SEARCH_ABOVE : task->stack_end;
	if (frame->fp) {
		/* All of the frame, unless it is very large. Of other frames only what is near and below: an overrun
		 * comes from there, but a variable in a frame above is not reached by accident. */
		if (below < low)
			low = addr - below < SEARCH_FRAME ? below : addr - SEARCH_FRAME;
		high = frame->fp - addr < SEARCH_FRAME ? frame->fp : addr + SEARCH_FRAME;
	}
	if (low < sp)
		low = sp;
	find_variable(frame, addr, low & ~(uintptr_t)KASAN_GRANULE_MASK,
		      high & ~(uintptr_t)KASAN_GRANULE_MASK, tag);
	/* Memory above a record also belongs to its function, up to the next function's variables, so the variable
	 * decides. */
	if (frame->high)
		find_frame(report, &bounds, frame->low, frame, &below);
	if (frame->fp)
		frame->is_dead = false;
}

bool kasan_has_tagged_frame(const struct kasan_report *report)
{
	return report->tagged.fp || report->tagged.is_dead;
}

void kasan_print_tagged_frame(const struct kasan_report *report)
{
	const struct kasan_tagged_frame *frame = &report->tagged;
	const uintptr_t at = report->first_bad;

	if (frame->is_dead) {
		kasan_report_line(
			" and is located below the stack pointer, in a frame that is gone");
	} else {
		kasan_report_line(" and is located %lu bytes %s the frame record of:",
				  (unsigned long)(at < frame->fp ? frame->fp - at : at - frame->fp),
				  at < frame->fp ? "below" : "above");
		if (frame->is_return)
			kasan_report_line(" %pB", (const void *)frame->pc);
		else
			kasan_report_line(" %pS", (const void *)frame->pc);
	}
	if (!frame->high)
		kasan_report_line("No variable nearby has the pointer's tag");
	else if (at >= frame->high)
		kasan_report_line(
			"The pointer's tag is that of %lu bytes, which end %lu bytes before it",
			(unsigned long)(frame->high - frame->low),
			(unsigned long)(at - frame->high));
	else
		kasan_report_line(
			"The pointer's tag is that of %lu bytes, which begin %lu bytes behind it",
			(unsigned long)(frame->high - frame->low),
			(unsigned long)(frame->low - at));
}

#endif /* KASAN_TAGGED_FRAMES */
