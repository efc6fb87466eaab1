/* SPDX-License-Identifier: MIT */
/*
 * locate.c - whose memory an address is, for those who ask outside of reports. The answer is that of a report of a read
 * of one byte there, which is described, and not printed.
 *
 * What describes memory is made for one report at a time, so the report lock is held meanwhile.
 */
#include "locate.h"

#include "captured.h"
#include "facts.h"

#include "../shadow/shadow.h"
#include "../tags/tags.h"
#include "../track/ring.h"

#ifdef CONFIG_KASAN

/* Too large for a stack. The report lock guards it. */
static struct kasan_report asked;

/**
 * struct question - from one stack to the other
 * @bug: the read. @located: filled; NULL: it is printed.
 */
struct question {
	struct kasan_bug bug;
	struct kasan_located *located;
};

/* --- Kinds --- */

/* Is @addr in the shadow of other memory? */
static bool is_shadow(uintptr_t addr)
{
#if defined(CONFIG_KASAN_SHADOW_PIECES)
	uintptr_t described;

	return kasan_shadow_fault_to_access(addr, &described);
#elif defined(CONFIG_KASAN_SHADOW_FULL)
	return addr - ((KASAN_FULL_LOW >> KASAN_SHADOW_SCALE_SHIFT) + KASAN_FULL_OFFSET) <=
	       KASAN_FULL_SPAN >> KASAN_SHADOW_SCALE_SHIFT;
#elif defined(CONFIG_KASAN_SHADOW_WINDOWED)
	unsigned int i;

	for (i = 0; i < kasan_window_count; i++) {
		const struct kasan_window *const window = &kasan_windows[i];

		if (addr - ((window->start >> KASAN_WINDOW_SHIFT) + window->offset) <
		    window->size >> KASAN_WINDOW_SHIFT)
			return true;
	}
	return false;
#else
	(void)addr;
	return false;
#endif
}

/* Is @addr where the shadow of the shadow would be? Nothing is mapped there. */
static bool is_shadow_of_shadow(uintptr_t addr)
{
#ifdef KASAN_FULL_LINEAR
	return is_shadow((addr - KASAN_FULL_OFFSET) << KASAN_SHADOW_SCALE_SHIFT);
#else
	(void)addr;
	return false;
#endif
}

static bool is_heap_state(enum kasan_owner_state state)
{
	return state == KASAN_OWNER_LIVE || state == KASAN_OWNER_FREED;
}

static const char *fill_heap(struct kasan_located *located, const struct kasan_owner *owner)
{
	located->start = owner->start;
	located->size = owner->size;
	located->is_live = owner->state == KASAN_OWNER_LIVE;
	__memcpy(located->name, owner->name, sizeof(located->name));
	if (owner->has_alloc)
		located->alloc = owner->alloc;
	if (owner->has_free)
		located->free = owner->free;
	/* In the tag modes the state of an object that the ring has forgotten is not known. */
	return is_heap_state(owner->state) && !owner->corrupt ? "heap" : "heap-invalid";
}

static const char *fill_global(struct kasan_located *located, const struct kasan_global *global)
{
	located->start = kasan_untag_addr(global->beg);
	located->size = global->size;
	kasan_copy_name(located->name, sizeof(located->name), global->name, "?");
	return "global";
}

static const char *fill_area(struct kasan_located *located, const struct kasan_area *area)
{
	located->start = kasan_untag_addr(area->start);
	located->size = area->size;
	located->is_live = true;
	located->alloc_pc = area->caller;
	return "heap";
}

/* Software tags: the registry may also know a variable whose pointers have the tag, but which lies elsewhere. */
static bool is_of_global(const struct kasan_report *report)
{
	return report->global && !report->left_global;
}

static void fill(struct kasan_located *located, const struct kasan_report *report)
{
	if (report->on_stack || report->on_other_stack || report->has_frame) {
		located->kind = "stack";
		if (report->has_frame)
			kasan_find_variable(&report->frame, report->addr, located);
	} else if (report->owner.kind != KASAN_OBJECT_NONE) {
		located->kind = fill_heap(located, &report->owner);
	} else if (is_of_global(report)) {
		located->kind = fill_global(located, report->global);
	} else if (CONFIG_KASAN_SLAB && report->has_area) {
		located->kind = fill_area(located, &report->area);
	} else if (is_shadow(report->addr)) {
		/* The words of compiler-rt, which differ from those in the header's comment. */
		located->kind = is_shadow_of_shadow(report->addr) ? "shadow gap" : "high shadow";
	}
}

/* --- The question --- */

static void print_place(uintptr_t addr, const struct kasan_located *located)
{
	const void *const at = (const void *)addr, *const start = (const void *)located->start;
	const uintptr_t end = located->start + located->size;
	const char *const state = located->free.pid || located->free.stack ? "a freed"
				  : located->is_live			   ? "an allocated"
									   : "a";

	if (addr < located->start)
		kasan_report_line("%p is %zu bytes before %s %zu-byte region [%p, %p)", at,
				  (size_t)(located->start - addr), state, located->size, start,
				  (const void *)end);
	else if (addr < end)
		kasan_report_line("%p is %zu bytes inside of %s %zu-byte region [%p, %p)", at,
				  (size_t)(addr - located->start), state, located->size, start,
				  (const void *)end);
	else
		kasan_report_line("%p is %zu bytes after %s %zu-byte region [%p, %p)", at,
				  (size_t)(addr - end), state, located->size, start,
				  (const void *)end);
}

static void print(const struct kasan_report *report, const struct kasan_located *located)
{
	const void *const at = (const void *)report->addr;
	uint8_t state;

	if (located->size || located->start)
		print_place(report->addr, located);
	if (!located->name[0])
		kasan_report_line("%p belongs to: %s", at, located->kind);
	else if (report->owner.kind != KASAN_OBJECT_NONE)
		kasan_report_line("%p belongs to the cache %s", at, located->name);
	else
		kasan_report_line("%p belongs to the %s variable %s", at, located->kind,
				  located->name);
	if (report->owner.kind != KASAN_OBJECT_NONE)
		kasan_print_tracks(&report->owner);
	else if (located->alloc_pc)
		kasan_report_line(" allocated at %pB", (const void *)located->alloc_pc);
	if (kasan_memory_state((const void *)report->pointer, &state))
		kasan_report_line("%p: memory state %02x, %s", at, state,
				  kasan_byte_accessible((const void *)report->pointer)
					  ? "accessible"
					  : "not accessible");
}

static void clear(struct kasan_located *located)
{
	kasan_clear(located);
	located->kind = "unknown";
}

/* Runs on the stack for reports, under the report lock. */
static void answer(void *argument)
{
	struct question *const question = argument;
	struct kasan_located located;

	kasan_capture_short(&asked, &question->bug);
	kasan_clip_stack(&asked.task, question->bug.sp, 0);
	kasan_describe(&asked);
	clear(&located);
	fill(&located, &asked);
	if (question->located)
		kasan_copy(question->located, &located);
	else
		print(&asked, &located);
}

static kasan_noinline bool ask(uintptr_t addr, struct kasan_located *located)
{
	struct question question;
	unsigned long flags;

	kasan_clear(&question);
	question.located = located;
	question.bug.addr = addr;
	question.bug.size = 1;
	question.bug.sp = (uintptr_t)__builtin_frame_address(0);
#ifdef CONFIG_KASAN_TAGS
	question.bug.newest_record = KASAN_RING_NOW;
#endif
	kasan_port_task(&question.bug.task);
	/* The report that is being printed has been described, so its callback may ask. */
	if (kasan_in_callback()) {
		answer(&question);
		return true;
	}
	if (!kasan_lock_for_report(&kasan_report_lock, &flags))
		return false;
	kasan_on_own_stack(answer, &question);
	kasan_unlock(&kasan_report_lock, flags);
	kasan_flush_reports();
	return true;
}

bool kasan_locate(uintptr_t addr, struct kasan_located *located)
{
	clear(located);
	return kasan_on() && ask(addr, located);
}

void kasan_print_located(uintptr_t addr)
{
	if (!kasan_on() || !ask(addr, NULL))
		kasan_report_line("%p: nothing is known now", (const void *)addr);
}

#endif /* CONFIG_KASAN */
