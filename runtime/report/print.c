/* SPDX-License-Identifier: MIT */
/* print.c - the text of a report, from what was captured and described. Tools read these lines: docs/use/reports.md has
 * the contract. Apart from stack traces, whose handles the depot checks, nothing here looks at memory that a bug may
 * have changed. */
#include "captured.h"

/* Too large for the stack. The report lock guards it. */
static struct kasan_line line;

static void separator(void)
{
	kasan_report_line("==================================================================");
}

static void blank(void)
{
	kasan_report_line("%s", "");
}

#define NO_STACK " (stack is not available)"

/* A trace can run into code that keeps no frames, or into what a bug has left on the stack. The first entry is the
 * place itself: of the bug, or one that the system has named. */
static bool is_frame(const uintptr_t *pcs, size_t i)
{
	return kasan_is_place(pcs, i, true) ? kasan_port_is_code(pcs[i]) : kasan_is_return(pcs[i]);
}

static void print_trace(const uintptr_t *pcs, size_t count, bool first_is_exact)
{
	size_t i;

	/* Parsers would take the lines after an empty section for frames. */
	if (!count) {
		kasan_report_line(NO_STACK);
		return;
	}
	for (i = 0; i < count && is_frame(pcs, i); i++)
		kasan_report_line(kasan_is_place(pcs, i, first_is_exact) ? " %pS" : " %pB",
				  (const void *)pcs[i]);
	if (!i)
		kasan_report_line(NO_STACK);
}

void kasan_stack_print(uint32_t handle)
{
	const uintptr_t *pcs = NULL;
	const size_t count = kasan_depot_fetch(handle, &pcs);

	print_trace(pcs, count, false);
}

static void print_stack(uint32_t handle)
{
	kasan_stack_print(handle);
	blank();
}

/* Prints "Allocated by task 7:" and the stack. @what: "Allocated" or "Freed". */
static void print_track(const char *what, const struct kasan_track *track)
{
#ifdef CONFIG_KASAN_EXTRA_INFO
	const uint64_t us = ((uint64_t)track->when << KASAN_TRACK_CLOCK_SHIFT) / 1000;

	kasan_report_line("%s by task %u on cpu %u at %lu.%06lus:", what, (unsigned int)track->pid,
			  (unsigned int)track->cpu, (unsigned long)(us / 1000000),
			  (unsigned long)(us % 1000000));
#else
	kasan_report_line("%s by task %u:", what, (unsigned int)track->pid);
#endif
	print_stack(track->stack);
}

/* Adds "slab-out-of-bounds in f+0x8/0x20". */
static void add_title(struct kasan_line *to, const struct kasan_report *report)
{
	kasan_line_add(to, report->at_pc ? "%s in %pS" : "%s in %pB", report->type,
		       (const void *)report->ip);
}

/* Adds "Write of size 4 at addr ffff000012345678 by task main/21". @capital: at the start of a line. */
static void add_access(struct kasan_line *to, const struct kasan_report *report, bool capital)
{
	static const char *const words[][2] = {
		{"asynchronous fault: no details available",
		 "Asynchronous fault: no details available"},
		{"free", "Free"},
		{"write", "Write"},
		{"read", "Read"},
		{"access", "Access"},
	};
	const unsigned int which = KASAN_IS_ASYNC(report) ? 0
				   : report->is_free	  ? 1
				   : report->is_unclear	  ? 4
				   : report->is_write	  ? 2
							  : 3;
	const void *addr = (const void *)report->pointer;

	kasan_line_add(to, "%s", words[which][capital]);
	if (KASAN_IS_ASYNC(report))
		return;
	if (report->is_free)
		kasan_line_add(to, " of addr %p", addr);
	else if (report->size)
		kasan_line_add(to, " of size %zu at addr %p", report->size, addr);
	else
		kasan_line_add(to, " at addr %p", addr);
	/* The task that found it may not be the one that wrote. */
	if (KASAN_HAS_SLACK && report->slack.found)
		kasan_line_add(to, " found %s", report->slack.found);
	kasan_line_add(to, " by task %s/%u", report->comm, (unsigned int)report->task.id);
}

static void print_access(const struct kasan_report *report)
{
	line.length = 0;
	add_access(&line, report, true);
	kasan_line_print(&line);
	/* Parsers want the line above to be one of an access. */
	if (report->note)
		kasan_report_line("%s", report->note);
	if (report->source)
		kasan_report_line("The source overlaps the destination: [%p, %p)",
				  (const void *)report->source,
				  (const void *)(report->source + report->size));
}

/* Prints who has found it, and the trace. */
static void print_context(const struct kasan_report *report)
{
	/* The port would describe the context that prints. */
	if (CONFIG_KASAN_WAITING_REPORTS && report->was_put_off)
		kasan_report_line("CPU: %u PID: %u Comm: %s", report->cpu,
				  (unsigned int)report->task.id, report->comm);
	else
		kasan_port_print_banner();
	kasan_report_line("Call trace:");
	print_trace(report->pcs, report->depth, report->at_pc);
	if (KASAN_ARCH_UNWINDS && report->depth == 1)
		kasan_report_line(" (no callers: compile with -funwind-tables, link .ARM.exidx)");
}

static void print_header(const struct kasan_report *report)
{
	line.length = 0;
	kasan_line_add(&line, "BUG: KASAN: ");
	add_title(&line, report);
	kasan_line_print(&line);
	print_access(report);
#ifdef CONFIG_KASAN_TAGS
	/* Tags have not found it. */
	if (report->has_shadow && !report->slack.found && !report->is_call)
		kasan_report_line("Pointer tag: [%02x], memory tag: [%02x]",
				  kasan_addr_tag(report->pointer), report->bad_shadow);
#endif
	blank();
	print_context(report);
}

/* After the header, because it explains everything else. */
static void print_overflow(const struct kasan_report *report)
{
	const struct kasan_port_task *task = &report->overflow_task;

	kasan_report_line("The stack of task %s/%u has overflowed: %zu bytes [%p, %p)",
			  report->overflow_comm, (unsigned int)task->id,
			  (size_t)(task->stack_end - task->stack_start),
			  (const void *)task->stack_start, (const void *)task->stack_end);
	if (report->overflow_by)
		kasan_report_line(" its stack pointer is %zu bytes below it", report->overflow_by);
}

void kasan_print_tracks(const struct kasan_owner *owner)
{
	if (owner->has_alloc)
		print_track("Allocated", &owner->alloc);
	if (owner->has_free)
		print_track("Freed", &owner->free);
	/* Objects of simple heaps have none. */
	if (!CONFIG_KASAN_SLAB)
		return;
	if (owner->aux_stack[0]) {
		kasan_report_line("Last potentially related work creation:");
		print_stack(owner->aux_stack[0]);
	}
	if (owner->aux_stack[1]) {
		kasan_report_line("Second to last potentially related work creation:");
		print_stack(owner->aux_stack[1]);
	}
}

static const char *region_state(const struct kasan_report *report)
{
	/* A bad free concerns the pointer, and not the state of the region when it was accessed. */
	if (report->is_free)
		return "";
	if (report->owner.state == KASAN_OWNER_LIVE)
		return "allocated ";
	if (report->owner.state == KASAN_OWNER_FREED)
		return "freed ";
	return "";
}

static void print_owner(const struct kasan_report *report)
{
	const struct kasan_owner *owner = &report->owner;
	const uintptr_t end = owner->start + owner->size;
	const char *where = "inside of";
	size_t distance;

	if (report->addr < owner->start) {
		distance = owner->start - report->addr;
		where = "to the left of";
	} else if (report->addr >= end) {
		distance = report->addr - end;
		where = "to the right of";
	} else {
		distance = report->addr - owner->start;
	}
	kasan_report_line("The buggy address belongs to the object at %p",
			  (const void *)owner->start);
	kasan_report_line(" which belongs to the cache %s of size %zu", owner->name,
			  owner->cache_size);
	kasan_report_line("The buggy address is located %zu bytes %s", distance, where);
	kasan_report_line(" %s%zu-byte region [%p, %p)", region_state(report), owner->size,
			  (const void *)owner->start, (const void *)end);
	if (owner->corrupt)
		kasan_report_line(
			"The metadata of this object was overwritten: what it said is left out");
	blank();
}

/* Offsets count from the start of the object or, if its owner is not known, of the granule. */
static void print_slack(const struct kasan_report *report)
{
	const struct kasan_slack *slack = &report->slack;
	const uintptr_t start =
		report->owner.kind != KASAN_OBJECT_NONE ? report->owner.start : slack->granule;
	/* Of sampled objects also those before it. */
	const bool before = slack->granule < start;
	unsigned int i;

	kasan_report_line("Unused bytes %s the object that were overwritten:",
			  before ? "before" : "past");
	for (i = KASAN_GRANULE_SIZE - slack->unused; i < KASAN_GRANULE_SIZE; i++) {
		if (slack->is[i] != slack->was[i])
			kasan_report_line(" offset %s%zu: found %02x, expected %02x",
					  before ? "-" : "",
					  (size_t)(before ? start - slack->granule - i
							  : slack->granule + i - start),
					  slack->is[i], slack->was[i]);
	}
	blank();
}

static void print_global(const struct kasan_report *report)
{
	const struct kasan_global *global = report->global;
	char name[96], file[96];

	kasan_copy_string(name, global->name, sizeof(name));
	kasan_report_line("The buggy address belongs to the variable:");
	if (report->addr >= global->beg)
		kasan_report_line(" %s+0x%lx/0x%lx", name,
				  (unsigned long)(report->addr - global->beg),
				  (unsigned long)global->size);
	else
		kasan_report_line(" %lu bytes to the left of %s+0x0/0x%lx",
				  (unsigned long)(global->beg - report->addr), name,
				  (unsigned long)global->size);
	if (global->location && kasan_port_readable(global->location, sizeof(*global->location)) &&
	    kasan_copy_string(file, global->location->file, sizeof(file)))
		kasan_report_line(" defined at %s:%u", file, (unsigned int)global->location->line);
	else if (kasan_copy_string(file, global->module, sizeof(file)))
		kasan_report_line(" defined in %s", file);
	blank();
}

static void add_task(const char *name, uint32_t id)
{
	kasan_line_add(&line, "task %s/%u", name, (unsigned int)id);
}

static void print_stack_owner(const struct kasan_report *report)
{
	line.length = 0;
	kasan_line_add(&line, "The buggy address belongs to stack of ");
	if (report->on_stack || report->on_other_stack)
		add_task(report->on_stack ? report->comm : report->other_comm,
			 report->on_stack ? report->task.id : report->other_id);
	else
		kasan_line_add(&line, "another task");
	kasan_line_print(&line);
	if (report->alloca_pc) {
		kasan_report_line(" and is located beside memory of alloca() in frame:");
		if (report->has_frame)
			kasan_report_line(" %pS", (const void *)report->frame.function);
		else
			kasan_report_line(" %pB", (const void *)report->alloca_pc);
	} else if (report->has_frame) {
		/* An access may begin below the frame that its first bad byte lies in. */
		const uintptr_t at =
			report->addr >= report->frame.base ? report->addr : report->first_bad;

		kasan_report_line(" and is located at offset %lu in frame:",
				  (unsigned long)(at - report->frame.base));
		kasan_report_line(" %pS", (const void *)report->frame.function);
	}
	if (kasan_has_tagged_frame(report))
		kasan_print_tagged_frame(report);
	if (CONFIG_KASAN_STACK_OBJECTS && report->has_frame) {
		blank();
		kasan_print_frame(&report->frame);
	}
	blank();
}

static void print_area(const struct kasan_area *area)
{
	const size_t pages = (area->size + CONFIG_KASAN_PAGE_SIZE - 1) / CONFIG_KASAN_PAGE_SIZE;

	line.length = 0;
	kasan_line_add(&line,
		       "The buggy address belongs to a %zu-page vmalloc region starting at 0x%p",
		       pages, (const void *)area->start);
	if (area->caller)
		kasan_line_add(&line, " allocated at %pB", (const void *)area->caller);
	kasan_line_print(&line);
}

#ifdef CONFIG_KASAN_DMA
static void print_dma(const struct kasan_report *report)
{
	static const char *const directions[] = {"bidirectional", "to the device",
						 "from the device"};
	const struct kasan_dma_mapping *const dma = &report->dma;

	kasan_report_line("The buggy address belongs to the DMA buffer [%p, %p) of %zu bytes, %s",
			  (const void *)dma->start, (const void *)(dma->start + dma->size),
			  dma->size,
			  (unsigned int)dma->direction < 3 ? directions[dma->direction]
							   : "without a direction");
	print_track("Mapped", &dma->map);
	if (!dma->mapped)
		print_track("Unmapped", &dma->unmap);
}
#endif

#ifdef CONFIG_KASAN_PERCPU
/* Between two copies, the nearer one is meant: overruns and underruns are mostly short. */
static void print_percpu(const struct kasan_report *report)
{
	const struct kasan_percpu *const var = &report->percpu;
	const uintptr_t from_first = report->addr - var->first;
	const char *where = "inside";
	uintptr_t cpu = 0, start, at;

	if (report->addr >= var->first)
		cpu = from_first / var->stride;
	if (cpu >= var->copies)
		cpu = var->copies - 1;
	start = var->first + cpu * var->stride;
	if (report->addr >= start + var->size && cpu + 1 < var->copies &&
	    start + var->stride - report->addr < report->addr - (start + var->size) + 1) {
		cpu++;
		start += var->stride;
	}
	at = report->addr - start;
	if (report->addr < start) {
		at = start - report->addr;
		where = "to the left";
	} else if (at >= var->size) {
		at -= var->size;
		where = "to the right";
	}
	kasan_report_line(
		"The buggy address is %lu bytes %s of variable %s of CPU %lu: %zu bytes [%p, %p)",
		(unsigned long)at, where, report->percpu_name, var->cpu + (unsigned long)cpu,
		var->size, (const void *)start, (const void *)(start + var->size));
	blank();
}
#endif

static void print_row(uintptr_t addr, const uint8_t *row, bool marked)
{
	unsigned int i;

	line.length = 0;
	kasan_line_add(&line, marked ? ">%p:" : " %p:", (const void *)addr);
	for (i = 0; i < KASAN_REPORT_ROW_SIZE; i++)
		kasan_line_add(&line, " %02x", row[i]);
	kasan_line_print(&line);
}

static void print_memory(const struct kasan_report *report)
{
	const uintptr_t row_bytes = KASAN_REPORT_ROW_SIZE * KASAN_GRANULE_SIZE;
	const uintptr_t granule = (report->first_bad % row_bytes) / KASAN_GRANULE_SIZE;
	const size_t column = 1 + sizeof(uintptr_t) * 2 + 2 + granule * 3;
	const uintptr_t middle = KASAN_REPORT_ROWS / 2;
	uintptr_t i;

	kasan_report_line("Memory state around the buggy address:");
	for (i = 0; i < KASAN_REPORT_ROWS; i++) {
		if (!report->row_valid[i])
			continue;
		print_row(report->rows_base + i * row_bytes, report->rows[i], i == middle);
		if (i == middle) {
			line.length = 0;
			__memset(line.text, ' ', column);
			line.length = column;
			kasan_line_add(&line, "^");
			kasan_line_print(&line);
		}
	}
}

/* Adds "file.c:12:3", or the function if the code does not say more. */
static void add_place(struct kasan_line *to, const struct kasan_report *report)
{
#ifdef CONFIG_KASAN_UBSAN
	char file[160];

	if (report->file && kasan_copy_string(file, report->file, sizeof(file))) {
		kasan_line_add(to, "%s:%u:%u", file, (unsigned int)report->line,
			       (unsigned int)report->column);
		return;
	}
#endif
	kasan_line_add(to, report->at_pc ? "%pS" : "%pB", (const void *)report->ip);
}

/* The headline is the one of Linux's UBSan, which parsers know. */
static void print_undefined(const struct kasan_report *report)
{
	line.length = 0;
	kasan_line_add(&line, "UBSAN: %s in ", report->type);
	add_place(&line, report);
	kasan_line_print(&line);
#ifdef CONFIG_KASAN_UBSAN
	if (report->sentence.length)
		kasan_report_line("%.*s", (unsigned int)report->sentence.length,
				  report->sentence.text);
#endif
}

/* Not "BUG: KASAN:", which parsers take for the beginning of a report, missing the rest; nor "Write of size", which
 * they would read as the access of an earlier double free. The callers tell which earlier report is meant. They come
 * last, because a line that is too long is cut. */
void kasan_print_again(const struct kasan_report *report, unsigned long count)
{
	size_t i;

	line.length = 0;
	kasan_line_add(&line, KASAN_IS_UNDEFINED(report) ? "UBSan: " : "KASAN: ");
	add_title(&line, report);
	kasan_line_add(&line, " again (%lu times): ", count);
	if (KASAN_IS_UNDEFINED(report))
		add_place(&line, report);
	else
		add_access(&line, report, false);
	for (i = 1; i < report->depth && i < KASAN_PLACE_FRAMES; i++)
		kasan_line_add(&line, kasan_is_place(report->pcs, i, false) ? "%s%pS" : "%s%pB",
			       i == 1 ? ", called by " : " < ", (const void *)report->pcs[i]);
	kasan_line_print(&line);
}

void kasan_print_short(const struct kasan_report *report, size_t left)
{
	separator();
	if (KASAN_IS_UNDEFINED(report)) {
		print_undefined(report);
	} else {
		kasan_report_line("BUG: KASAN: %s in 0x%lx", report->type,
				  (unsigned long)report->ip);
		print_access(report);
	}
	if (report->is_overflow)
		print_overflow(report);
	kasan_report_line(
		"kasan: a short report: %zu bytes of stack are left, a whole one takes %zu "
		"(kasan_port_report_stack())",
		left, (size_t)KASAN_REPORT_STACK_MIN);
	separator();
}

#ifdef CONFIG_KASAN_DMA
#define HAS_DMA(report) ((report)->has_dma)
#else
#define HAS_DMA(report) false
#endif

void kasan_print_report(const struct kasan_report *report)
{
	unsigned long before;

	separator();
	if (KASAN_IS_UNDEFINED(report)) {
		print_undefined(report);
		print_context(report);
		separator();
		return;
	}
	print_header(report);
	if (report->is_overflow) {
		blank();
		print_overflow(report);
	} else if (report->task.overflowed) {
		blank();
		kasan_report_line("The stack of task %s/%u has overflowed at some time before",
				  report->comm, (unsigned int)report->task.id);
	} else if (report->overflow_by) {
		blank();
		kasan_report_line("The stack pointer is %zu bytes below the stack of task %s/%u",
				  report->overflow_by, report->comm, (unsigned int)report->task.id);
	}
#ifdef CONFIG_KASAN_DMA
	if (report->has_dma) {
		blank();
		print_dma(report);
	}
#endif
	if (report->has_shadow) {
		if (!HAS_DMA(report))
			blank();
		if (report->owner.kind != KASAN_OBJECT_NONE) {
			kasan_print_tracks(&report->owner);
			print_owner(report);
		}
		if (KASAN_HAS_SLACK && report->slack.found)
			print_slack(report);
		if (CONFIG_KASAN_GLOBALS && report->global)
			print_global(report);
#ifdef CONFIG_KASAN_PERCPU
		if (report->has_percpu)
			print_percpu(report);
#endif
		if (report->on_stack || report->on_other_stack || report->has_frame)
			print_stack_owner(report);
		before = kasan_lines_printed();
		if (CONFIG_KASAN_SLAB && report->has_area)
			print_area(&report->area);
		kasan_port_print_page((const void *)report->addr);
		if (kasan_lines_printed() != before)
			blank();
		print_memory(report);
	} else if (KASAN_IS_SAMPLED(report)) {
		blank();
		kasan_print_tracks(&report->owner);
		print_owner(report);
		if (report->slack.found)
			print_slack(report);
		kasan_report_line("The object was sampled: it lies at the %s of a page of its own",
				  report->sampled_at_end ? "end" : "beginning");
	} else if (CONFIG_KASAN_SLAB && report->has_area) {
		/* Its guard page, which has no state. */
		blank();
		print_area(&report->area);
	}
	separator();
}

KASAN_WEAK void kasan_port_print_banner(void)
{
	struct kasan_port_task task;

	kasan_clear(&task);
	kasan_port_task(&task);
	kasan_report_line("CPU: %u PID: %u Comm: %s", kasan_port_cpu(), (unsigned int)task.id,
			  task.name ? task.name : "?");
}
