/* SPDX-License-Identifier: MIT */
/*
 * describe_stack.c - finds the function's frame and the variables at a bad address.
 *
 * Instrumented functions put three words at the start of their frame's left redzone: a magic number, a description of
 * the variables, and their own address. The redzone is found by its shadow, so only words from the compiler are read as
 * such.
 */
#include "captured.h"
#include "locate.h"

#include "../track/walk.h"

#define FRAME_MAGIC 0x41b58ab3U

/* How many bytes below the first bad byte the start of its frame is searched for. */
#define FRAME_SEARCH_LIMIT ((uintptr_t)1 << 20)

/* --- The description: "n off size namelen name off size namelen name ..." --- */

/**
 * struct cursor - a place in the description
 * @left: variables that follow. @broken: what was read last is no description.
 * @offset, @size: of the variable that was read last. @line: where it is declared; 0: not known.
 */
struct cursor {
	const char *at;
	bool broken;
	unsigned long left, offset, size, line;
};

static char peek(struct cursor *cursor)
{
	/* The next page may not be readable, even if the first byte is. */
	if (!((uintptr_t)cursor->at & (CONFIG_KASAN_PAGE_SIZE - 1)) &&
	    !kasan_port_readable(cursor->at, 1))
		cursor->broken = true;
	return cursor->broken ? '\0' : *cursor->at;
}

static unsigned long next_number(struct cursor *cursor)
{
	unsigned long number = 0;
	unsigned int digits = 0;

	while (peek(cursor) == ' ')
		cursor->at++;
	while (peek(cursor) >= '0' && peek(cursor) <= '9' && digits++ < 18)
		number = number * 10 + (unsigned long)(*cursor->at++ - '0');
	if (!digits)
		cursor->broken = true;
	return number;
}

/* A name of @length characters, to which compilers append ":line" if they know it. */
static void next_name(struct cursor *cursor, unsigned long length, char *name, size_t size)
{
	bool in_line = false;
	size_t kept = 0;

	cursor->line = 0;
	if (peek(cursor) == ' ')
		cursor->at++;
	for (; length && peek(cursor); length--, cursor->at++) {
		const char c = *cursor->at;

		if (c == ':')
			in_line = true;
		else if (in_line && c >= '0' && c <= '9')
			cursor->line = cursor->line * 10 + (unsigned long)(c - '0');
		else if (kept + 1 < size)
			name[kept++] = c >= ' ' && c <= '~' ? c : '?';
	}
	name[kept] = '\0';
}

static void start_cursor(struct cursor *cursor, const struct kasan_frame *frame)
{
	cursor->at = frame->descr;
	cursor->broken = false;
	cursor->left = next_number(cursor);
}

/* Read the next variable, and its name into @name of @size bytes. Return: false if there is none, or it cannot be
 * read. */
static bool next_variable(struct cursor *cursor, char *name, size_t size)
{
	if (cursor->broken || !cursor->left)
		return false;
	cursor->left--;
	cursor->offset = next_number(cursor);
	cursor->size = next_number(cursor);
	next_name(cursor, next_number(cursor), name, size);
	return !cursor->broken;
}

/* --- The frame --- */

static bool is_on_stack(const struct kasan_port_task *task, uintptr_t addr)
{
	return task->stack_start && addr >= task->stack_start && addr < task->stack_end;
}

/* Does the access touch the stack of the task that found the bug, or another task's? An access that leads out of a
 * stack or into one concerns that stack too. */
static void find_stack(struct kasan_report *report)
{
	const struct kasan_port_task *task = &report->task;
	struct kasan_port_task other;

	kasan_clear(&other);
	report->on_stack = is_on_stack(task, report->first_bad) || is_on_stack(task, report->addr);
	if (report->on_stack || !kasan_port_stack_owner((const void *)report->first_bad, &other))
		return;
	report->on_other_stack = true;
	report->other_id = other.id;
	kasan_copy_name(report->other_comm, sizeof(report->other_comm), other.name, "none");
}

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_STACK_OBJECTS
static inline uint8_t shadow_at(uintptr_t addr)
{
	const uint8_t *shadow = kasan_shadow_of((const void *)addr);

	return shadow ? *shadow : 0;
}

/*
 * A frame lies between its left and its right redzone. So there is no right redzone on the way down from a place
 * inside, unless the place itself is in it.
 *
 * Return: lowest address of the left redzone of the frame that holds @addr; 0 if there is none down to @limit.
 */
static uintptr_t find_left_redzone(uintptr_t addr, uintptr_t limit)
{
	uintptr_t at = addr & ~KASAN_GRANULE_MASK;

	while (at > limit && shadow_at(at) == KASAN_STACK_RIGHT)
		at -= KASAN_GRANULE_SIZE;
	while (at > limit && shadow_at(at) != KASAN_STACK_LEFT) {
		if (shadow_at(at) == KASAN_STACK_RIGHT)
			return 0;
		at -= KASAN_GRANULE_SIZE;
	}
	if (shadow_at(at) != KASAN_STACK_LEFT)
		return 0;
	while (at > limit && shadow_at(at - KASAN_GRANULE_SIZE) == KASAN_STACK_LEFT)
		at -= KASAN_GRANULE_SIZE;
	return at;
}

static bool read_frame(struct kasan_frame *frame, uintptr_t base)
{
	const uintptr_t *words = (const uintptr_t *)base;

	if (!base || !kasan_port_readable(words, 3 * sizeof(words[0])) || words[0] != FRAME_MAGIC)
		return false;
	frame->base = base;
	frame->descr = (const char *)words[1];
	frame->function = words[2];
	return kasan_port_readable(frame->descr, 1);
}

/* Return: where the last described variable ends, in bytes from the base; 0 if that cannot be read. */
static uintptr_t described_size(const struct kasan_frame *frame)
{
	struct cursor cursor;
	uintptr_t end = 0;
	char name[2];

	start_cursor(&cursor, frame);
	while (next_variable(&cursor, name, sizeof(name))) {
		if (cursor.offset + cursor.size > end)
			end = cursor.offset + cursor.size;
	}
	return cursor.broken ? 0 : end;
}

/* A later frame may have overwritten the upper part of a dead frame with its right redzone. So only the variables and
 * the redzone right after the last one certainly belong to the frame. */
static bool is_in_frame(const struct kasan_frame *frame, uintptr_t addr)
{
	const uintptr_t size = described_size(frame);
	uintptr_t at;

	if (!size || addr - frame->base < size)
		return true;
	at = (frame->base + size + KASAN_GRANULE_MASK) & ~KASAN_GRANULE_MASK;
	while (at + KASAN_GRANULE_SIZE <= addr &&
	       (shadow_at(at) == KASAN_STACK_MID || shadow_at(at) == KASAN_STACK_RIGHT))
		at += KASAN_GRANULE_SIZE;
	return at + KASAN_GRANULE_SIZE > addr;
}

#if KASAN_FOLLOWS_FRAMES
static bool same_function(uintptr_t entry, uintptr_t pc)
{
	struct kasan_symbol symbol;
	char name[8];

	kasan_clear(&symbol);
	return kasan_port_symbol(pc, name, sizeof(name), &symbol) &&
	       entry - symbol.start < symbol.size;
}

/* Memory of alloca() lies below the fixed part of its frame: below the frame record, which is the lowest one above it,
 * and below the redzone with the three words, which the compiler places. Without watched fixed variables there is no
 * such redzone, and the next one may be a caller's. */
static void describe_alloca(struct kasan_report *report)
{
	const struct kasan_port_task *task = &report->task;
	uintptr_t fp, prev, at, pc = report->ip;
	struct kasan_bounds bounds;

	if (!kasan_get_bounds(task->stack_start, task->stack_end, &bounds))
		return;
	fp = report->at_pc ? report->fp : kasan_skip_to(&bounds, report->ip, report->fp);
	for (;; fp = prev) {
		if (!kasan_is_frame(&bounds, fp))
			return;
		prev = kasan_arch_frame_prev(fp);
		if (fp > report->first_bad)
			break;
		pc = kasan_arch_frame_ra(fp);
		if (prev <= fp)
			return;
	}
	report->alloca_pc = pc;
	at = report->first_bad & ~KASAN_GRANULE_MASK;
	while (at < task->stack_end && shadow_at(at) != KASAN_STACK_LEFT)
		at += KASAN_GRANULE_SIZE;
	/* A return address may lie after the end of a function that ends with a call. */
	report->has_frame = at < task->stack_end && read_frame(&report->frame, at) &&
			    (at < fp || same_function(report->frame.function, pc - 1));
}
#else
/* Without a chain of frames the function cannot be found. */
static void describe_alloca(struct kasan_report *report)
{
	(void)report;
}
#endif

void kasan_describe_stack(struct kasan_report *report)
{
	const struct kasan_port_task *task = &report->task;
	const uint8_t bad = kasan_telling_shadow(report);
	const uintptr_t bad_at = report->first_bad;
	const bool on_stack = is_on_stack(task, bad_at);
	uintptr_t limit;

	find_stack(report);
	if (bad == KASAN_ALLOCA_LEFT || bad == KASAN_ALLOCA_RIGHT) {
		if (on_stack)
			describe_alloca(report);
		return;
	}
	limit = bad_at > FRAME_SEARCH_LIMIT ? bad_at - FRAME_SEARCH_LIMIT : 0;
	if (on_stack) {
		if (limit < task->stack_start)
			limit = task->stack_start;
	} else if ((bad < KASAN_STACK_LEFT || bad > KASAN_STACK_RIGHT) &&
		   bad != KASAN_STACK_AFTER_SCOPE) {
		return;
	}
	report->has_frame = read_frame(&report->frame, find_left_redzone(bad_at, limit)) &&
			    is_in_frame(&report->frame, bad_at);
}
#else
/* Tagged frames have no description. */
void kasan_describe_stack(struct kasan_report *report)
{
	find_stack(report);
}
#endif

void kasan_find_variable(const struct kasan_frame *frame, uintptr_t addr,
			 struct kasan_located *located)
{
	struct cursor cursor;

	start_cursor(&cursor, frame);
	while (next_variable(&cursor, located->name, sizeof(located->name))) {
		if (addr - frame->base < cursor.offset + cursor.size) {
			located->start = frame->base + cursor.offset;
			located->size = cursor.size;
			return;
		}
	}
	located->name[0] = '\0';
}

/* --- The text --- */

void kasan_print_frame(const struct kasan_frame *frame)
{
	struct cursor cursor;
	char name[96];

	start_cursor(&cursor, frame);
	if (cursor.broken)
		return;
	kasan_report_line("This frame has %lu %s:", cursor.left,
			  cursor.left == 1 ? "object" : "objects");
	while (next_variable(&cursor, name, sizeof(name))) {
		if (cursor.line)
			kasan_report_line(" [%lu, %lu) '%s' (line %lu)", cursor.offset,
					  cursor.offset + cursor.size, name, cursor.line);
		else
			kasan_report_line(" [%lu, %lu) '%s'", cursor.offset,
					  cursor.offset + cursor.size, name);
	}
}
