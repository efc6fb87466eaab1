/* SPDX-License-Identifier: MIT */
/*
 * report.c - the life of a report: permission, capture, the order of phases, and the end.
 *
 * There is one report at a time over all CPUs, and a second CPU waits. A bug that the report path itself runs into is
 * captured, and printed after the report that found it. The lock is held with interrupts off from capture to the last
 * line, because any context may find a bug, and the report must not move to another CPU in the middle.
 */
#include "captured.h"

#include "../tags/tags.h"
#include "../track/ring.h"
#include "../track/exidx.h"

static unsigned long report_count;
static kasan_report_hook_fn report_hook;
static kasan_report_filter_fn report_filter;
/* The filter is running on that CPU. */
static bool asking[CONFIG_KASAN_NR_CPUS];

/* Too large for a stack that the bug may have nearly used up. The lock guards it. */
static struct kasan_report the_report;

/* Reports that wait for the lock's owner: bugs inside its report, and those of CPUs that could not wait longer. A few
 * are enough, because further ones are mostly the same bug again. */
#if CONFIG_KASAN_WAITING_REPORTS
enum slot_state {
	SLOT_FREE,
	SLOT_TAKEN, /* by the context that fills it */
	SLOT_READY,
};

static struct slot {
	unsigned int state;
	unsigned long order;
	struct kasan_report report;
} waiting[CONFIG_KASAN_WAITING_REPORTS];
static unsigned long next_order;
#endif

/* Bugs that were not reported: found inside of reports, or with no stack left. */
static unsigned long left_out, no_room;
/* One of them should have ended the system, which the next context that may print does. A word, because RISC-V has no
 * atomic exchange of bytes. */
static unsigned int unprinted_panic;
/* A waiting report is being printed. The lock guards this. */
static bool printing_waiting;

/* Not inlined, because an atomic addition is a loop on most small CPUs. */
static kasan_noinline void count_one(unsigned long *number)
{
	__atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

/* --- The sequence --- */

/* Return: NULL if the system goes on after such a bug. */
static const char *why_panic(bool may_write)
{
	if (kasan_opt_fault == KASAN_PANIC)
		return KASAN_PANIC_WHY;
	if (kasan_opt_fault == KASAN_PANIC_ON_WRITE && may_write)
		return "kasan.fault=panic_on_write: bad write or free";
	return NULL;
}

/* Wait for another CPU's report, but not for ever: it may wait for a lock of the console that this CPU held when it ran
 * into its bug. A report takes milliseconds, on a serial line tenths of a second; this many tries take longer on any
 * processor. */
#define REPORT_TRIES (1U << 26)

/* Interrupts are off on this CPU, @cpu. Return: false if the lock was not freed. */
static bool lock_reports(unsigned int cpu)
{
	unsigned int tries;

	for (tries = REPORT_TRIES; tries; tries--) {
		/* Reading costs the owner nothing, and a try takes about the same time on every CPU. */
		if (kasan_lock_owner(&kasan_report_lock) < 0 &&
		    kasan_trylock_here(&kasan_report_lock, cpu))
			return true;
		kasan_arch_relax();
	}
	return false;
}

static void fill_info(struct kasan_report_info *info, const struct kasan_report *report)
{
	kasan_clear(info);
	info->bug_type = report->type;
	info->addr = report->pointer;
	info->size = report->size;
	info->is_write = report->is_write;
	info->is_unclear = report->is_unclear;
	info->is_free = report->is_free;
	info->is_async = KASAN_IS_ASYNC(report);
	info->is_undefined = KASAN_IS_UNDEFINED(report);
	info->ip = report->ip;
#if CONFIG_KASAN_CALLBACKS
	info->text = kasan_text_take();
#endif
}

/* A report that ends the system is printed whole, whatever its place. */
static bool is_brief(bool may_write)
{
	return !kasan_opt_repeat_full && __atomic_load_n(&kasan_opt_multi_shot, __ATOMIC_RELAXED) &&
	       !why_panic(may_write);
}

/* @count: as from kasan_count_repeats(). */
static void print_counted(const struct kasan_report *report, unsigned long count)
{
	const bool whole = count == 1 || !is_brief(report->is_write || report->is_free);

	kasan_tell_error(report, whole || kasan_repeat_has_line(count));
	/* The console may never come to the end. */
	kasan_record_report(report, count);
	if (whole)
		kasan_print_report(report);
	else if (kasan_repeat_has_line(count))
		kasan_print_again(report, count);
	count_one(&report_count);
}

/* Runs the phases in order, with interrupts off, the lock held, and kasan_port_report_begin() called. */
static void print_captured(struct kasan_report *report)
{
#if CONFIG_KASAN_CHEAP_REPEATS
	report->given = report->type;
#endif
	if (!KASAN_IS_NOT_OF_MEMORY(report))
		kasan_explain(report);
	print_counted(report, kasan_count_repeats(report));
}

/* The same from the start, for a bug that need not wait. */
static void print_bug(struct kasan_report *report, const struct kasan_bug *bug, bool may_write)
{
#if CONFIG_KASAN_CHEAP_REPEATS
	const unsigned long count = is_brief(may_write) && kasan_capture_place(report, bug)
					    ? kasan_count_silently(report)
					    : 0;

	if (count) {
		print_counted(report, count);
		return;
	}
#endif
	(void)may_write;
	kasan_capture(report, bug);
	/* No return address of a call to a bad one is on a shadow stack. */
	if (!report->at_pc && !report->is_call)
		kasan_compare_reported(report->pcs, report->depth, report->task.trace_end, bug->ip,
				       bug->fp);
	print_captured(report);
}

/* After the last line, with the lock free. May not return. */
static void after_report(const struct kasan_report_info *info)
{
	const kasan_report_hook_fn hook = __atomic_load_n(&report_hook, __ATOMIC_ACQUIRE);

	kasan_text_give(info->text, info->bug_type);
	if (hook)
		hook(info);
	kasan_port_report_end(info);
}

static void panic_if_wanted(bool is_write)
{
	const char *why = why_panic(is_write);

	if (why)
		kasan_end_system(why);
}

/* --- Reports that wait --- */

#if CONFIG_KASAN_WAITING_REPORTS
static struct slot *take_slot(void)
{
	unsigned int i, expected;

	for (i = 0; i < CONFIG_KASAN_WAITING_REPORTS; i++) {
		expected = SLOT_FREE;
		if (__atomic_compare_exchange_n(&waiting[i].state, &expected, SLOT_TAKEN, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &waiting[i];
	}
	return NULL;
}

/*
 * Interrupts are off. The slot is taken first: if the capture itself meets the bug again, fewer slots are left each
 * time. While a report that waited is printed, nothing new may wait, or a bug in the console would be reported for
 * ever.
 *
 * Return: will the report be printed?
 */
static bool put_off(const struct kasan_bug *bug, bool inside)
{
	struct slot *slot = inside && printing_waiting ? NULL : take_slot();

	if (!slot) {
		count_one(&left_out);
		return false;
	}
	kasan_capture(&slot->report, bug);
	slot->report.was_put_off = true;
	slot->order = __atomic_fetch_add(&next_order, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->state, SLOT_READY, __ATOMIC_RELEASE);
	return true;
}

static struct slot *oldest_ready(void)
{
	struct slot *oldest = NULL;
	unsigned int i;

	for (i = 0; i < CONFIG_KASAN_WAITING_REPORTS; i++) {
		if (__atomic_load_n(&waiting[i].state, __ATOMIC_ACQUIRE) == SLOT_READY &&
		    (!oldest || waiting[i].order < oldest->order))
			oldest = &waiting[i];
	}
	return oldest;
}

struct waiting_report {
	struct kasan_report_info info;
	bool printed;
};

/* Runs on the stack for reports, under the lock. */
static void print_oldest(void *argument)
{
	struct waiting_report *const waiter = argument;
	struct slot *const slot = oldest_ready();

	if (!slot)
		return;
	__memcpy(&the_report, &slot->report, sizeof(the_report));
	__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELEASE);
	printing_waiting = true;
	kasan_port_report_begin();
	print_captured(&the_report);
	printing_waiting = false;
	fill_info(&waiter->info, &the_report);
	waiter->printed = true;
}

/* Print the report that has waited longest. Return: false if none waits, or if another context has the lock, which will
 * look when it frees it. Otherwise the caller looks again, because reports that came meanwhile found the lock taken. */
static bool print_waiting(void)
{
	struct waiting_report waiter;
	unsigned long flags;

	kasan_clear(&waiter);
	/* A context that puts a report off tries the lock afterwards, and one that frees the lock looks for reports
	 * afterwards, so one of the two sees the other. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (kasan_likely(!oldest_ready()) || !kasan_trylock(&kasan_report_lock, &flags))
		return false;
	kasan_on_own_stack(print_oldest, &waiter);
	kasan_unlock(&kasan_report_lock, flags);
	if (waiter.printed) {
		after_report(&waiter.info);
		panic_if_wanted(waiter.info.is_write || waiter.info.is_free);
	}
	return true;
}

#else

static bool put_off(const struct kasan_bug *bug, bool inside)
{
	(void)bug;
	(void)inside;
	count_one(&left_out);
	return false;
}

static bool print_waiting(void)
{
	return false;
}

#endif

/* Return: true if the lock was taken and freed: the caller looks for reports that came meanwhile. */
static bool say_left_out(void)
{
	unsigned long flags, n;

	if (kasan_likely(!__atomic_load_n(&left_out, __ATOMIC_RELAXED) &&
			 !__atomic_load_n(&no_room, __ATOMIC_RELAXED)) ||
	    !kasan_trylock(&kasan_report_lock, &flags))
		return false;
	n = __atomic_exchange_n(&left_out, 0, __ATOMIC_RELAXED);
	printing_waiting = true;
	if (n)
		kasan_report_line("kasan: %lu %s left out", n,
				  n == 1 ? "bug that was found inside of a report is"
					 : "bugs that were found inside of reports are");
	n = __atomic_exchange_n(&no_room, 0, __ATOMIC_RELAXED);
	if (n)
		kasan_report_line("kasan: %lu %s left out: the stack had no room for a report "
				  "(kasan_port_report_stack())",
				  n, n == 1 ? "bug is" : "bugs are");
	printing_waiting = false;
	kasan_unlock(&kasan_report_lock, flags);
	return true;
}

void kasan_flush_reports(void)
{
	while (print_waiting())
		;
	/* Once only, because this line may find the console's bug again, for ever. */
	if (say_left_out()) {
		while (print_waiting())
			;
		if (__atomic_exchange_n(&unprinted_panic, 0, __ATOMIC_RELAXED))
			panic_if_wanted(true);
	}
}

/* --- The sequence, from the start --- */

/* Does the system want this report? Interrupts are off. */
static bool is_wanted(const struct kasan_bug *bug)
{
	const kasan_report_filter_fn filter = __atomic_load_n(&report_filter, __ATOMIC_ACQUIRE);
	const unsigned int cpu = kasan_port_cpu();
	struct kasan_report_info info;
	bool wanted;

	/* The filter does not judge its own bugs. */
	if (kasan_likely(!filter) || asking[cpu])
		return true;
	asking[cpu] = true;
	kasan_clear(&info);
	info.addr = bug->addr;
	info.size = bug->size;
	info.is_write = bug->how & KASAN_HOW_WRITE;
	info.is_unclear = bug->how & KASAN_HOW_UNCLEAR;
	info.is_free = bug->how & KASAN_HOW_FREE;
	info.is_async = bug->how & KASAN_HOW_ASYNC;
	info.is_undefined = KASAN_BUG_IS_UNDEFINED(bug);
	info.ip = bug->ip;
	wanted = filter(&info);
	asking[cpu] = false;
	return wanted;
}

/**
 * struct passage - one bug on its way through the lock, shared by the two stacks that it uses
 * @bug: complete.
 * @room, @left: of the stack that the report runs on.
 * @accepted: the report was printed, or will be. @printed: it was, and @info is what was reported.
 * @inside: it was found inside a report. @tried: the lock was asked for.
 */
struct passage {
	const struct kasan_bug *bug;
	enum kasan_room room;
	size_t left;
	bool accepted, printed, inside, tried;
	struct kasan_report_info info;
};

/* Capture only what a short report prints. */
static void print_short(const struct kasan_bug *bug, size_t left)
{
	kasan_capture_short(&the_report, bug);
	kasan_tell_error(&the_report, true);
	kasan_record_report(&the_report, 1);
	kasan_print_short(&the_report, left);
	count_one(&report_count);
}

/* Runs on the stack for reports, with interrupts off. */
static void pass(void *argument)
{
	struct passage *const passage = argument;
	const struct kasan_bug *const bug = passage->bug;
	const bool is_write = bug->how & (KASAN_HOW_WRITE | KASAN_HOW_FREE);

	if (kasan_ignored(bug) || !is_wanted(bug))
		return;
	if (!kasan_take_shot(is_write))
		return;
	passage->tried = true;
	passage->inside = kasan_lock_owned(&kasan_report_lock);
	if (passage->inside || !lock_reports(kasan_port_cpu())) {
		if (passage->room == KASAN_ROOM_WHOLE)
			passage->accepted = put_off(bug, passage->inside);
		else
			count_one(&no_room);
		/* It will not be printed, but the system must not go on after the report that is being printed. */
		if (!passage->accepted && why_panic(is_write))
			__atomic_store_n(&unprinted_panic, 1, __ATOMIC_RELAXED);
		return;
	}
	passage->accepted = passage->printed = true;
	kasan_port_report_begin();
	if (passage->room == KASAN_ROOM_WHOLE)
		print_bug(&the_report, bug, is_write);
	else
		print_short(bug, passage->left);
	fill_info(&passage->info, &the_report);
	kasan_remember_check(&the_report);
	kasan_unlock_here(&kasan_report_lock);
}

/* What happens after a report, on the stack of the context that found the bug. May not return. */
static void leave(const struct passage *passage)
{
	if (passage->printed)
		after_report(&passage->info);
	/* The lock's owner may have left meanwhile, and reports may have come to wait during this one. No other context
	 * prints a report that was put off. */
	if (!passage->inside)
		kasan_flush_reports();
	if (passage->printed)
		panic_if_wanted(passage->info.is_write || passage->info.is_free);
}

/* Did kasan_check_offset() provoke the check of @addr? It wants to know whether the check is made. */
static inline bool is_probe(uintptr_t addr)
{
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_START_CHECKS
	return addr && addr == __atomic_load_n(&kasan_probe_addr, __ATOMIC_RELAXED);
#else
	(void)addr;
	return false;
#endif
}

/* Return: was the report printed, or will it be? */
static kasan_noinline bool report_it(struct kasan_bug *bug)
{
	struct passage passage;
	const struct kasan_regs *old;
	unsigned long irq;
#if KASAN_ARCH_UNWINDS
	struct kasan_regs here;

	kasan_clear(&here);
#endif
	kasan_clear(&passage);
	passage.bug = bug;
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_START_CHECKS
	if (kasan_unlikely(is_probe(bug->addr))) {
		__atomic_store_n(&kasan_probe_addr, 0, __ATOMIC_RELAXED);
		return false;
	}
#endif
#ifdef CONFIG_KASAN_HW_TAGS
	/* Report a fault that this CPU has noted earlier first, so that the report path is not blamed for it. */
	if (!(bug->how & KASAN_HOW_ASYNC))
		kasan_report_async_faults(bug->ip, bug->fp);
#endif
#ifdef CONFIG_KASAN_TAGS
	bug->newest_record = kasan_ring_mark();
#endif
	/* From here on the CPU must not change. */
	irq = kasan_port_irq_save();
	if (!kasan_may_report()) {
		kasan_port_irq_restore(irq);
		return false;
	}
	kasan_port_task(&bug->task);
	bug->sp = bug->regs ? bug->regs->sp : (uintptr_t)__builtin_frame_address(0);
	passage.room = kasan_room_here(&bug->task, &passage.left);
	if (passage.room == KASAN_ROOM_NONE) {
		count_one(&no_room);
		kasan_port_irq_restore(irq);
		/* Only the port prints here. There is not even room to ask whether the bug is ignored. */
		panic_if_wanted(bug->how & (KASAN_HOW_WRITE | KASAN_HOW_FREE));
		return false;
	}
	/* The room was that of the handler's stack; all else is about the interrupted one. */
	if (bug->regs && bug->regs->stack_end) {
		bug->task.stack_start = bug->regs->stack_start;
		bug->task.stack_end = bug->regs->stack_end;
	}
#if KASAN_ARCH_UNWINDS
	kasan_unwind_here(&here);
	old = kasan_start_traces(bug->regs ? bug->regs : &here);
#else
	old = kasan_start_traces(NULL);
#endif
	kasan_on_own_stack(pass, &passage);
	kasan_start_traces(old);
	kasan_port_irq_restore(irq);
	if (passage.tried)
		leave(&passage);
	return passage.accepted;
}

static void fill_bug(struct kasan_bug *bug, const char *type, uintptr_t addr, unsigned int how,
		     uintptr_t ip, uintptr_t fp)
{
	kasan_clear(bug);
	bug->type = type;
	bug->addr = addr;
	bug->how = how;
	bug->ip = ip;
	bug->fp = fp;
}

static bool report_bug(const char *type, uintptr_t addr, size_t size, unsigned int how,
		       uintptr_t ip, uintptr_t fp)
{
	struct kasan_bug bug;

	fill_bug(&bug, type, addr, how, ip, fp);
	bug.size = size;
	return report_it(&bug);
}

/* --- Ways in --- */

bool kasan_report_access(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
	/* Where checked code runs before kasan_init(), it comes here often. */
	if (__atomic_load_n(&kasan_reporting, __ATOMIC_RELAXED) == KASAN_NOT_YET && !is_probe(addr))
		return false;
	return report_bug(NULL, addr, size, is_write ? KASAN_HOW_WRITE : 0, ip, fp);
}

/* An unclear access may be a write, and a user who asked for a panic at writes must get one. */
static unsigned int how_of_fault(int direction)
{
	return KASAN_HOW_FAULT | (direction == KASAN_FAULT_READ ? 0 : KASAN_HOW_WRITE) |
	       (direction == KASAN_FAULT_UNKNOWN ? KASAN_HOW_UNCLEAR : 0);
}

bool kasan_report_fault(uintptr_t addr, size_t size, int direction, uintptr_t ip, uintptr_t fp)
{
	return report_bug(NULL, addr, size, how_of_fault(direction), ip, fp);
}

bool kasan_report_fault_at(uintptr_t addr, size_t size, int direction,
			   const struct kasan_regs *regs)
{
	struct kasan_bug bug;

	/* No check comes before a call. */
	if (addr != regs->pc && kasan_was_checked(addr))
		return false;
	fill_bug(&bug, NULL, addr, how_of_fault(direction), regs->pc, regs->fp);
	bug.size = size;
	bug.regs = regs;
	return report_it(&bug);
}

kasan_noinline bool kasan_report_stack_overflow(const struct kasan_port_task *task, uintptr_t addr,
						const struct kasan_regs *regs)
{
	struct kasan_bug bug;

	fill_bug(&bug, "stack-overflow", addr ? addr : task->stack_start - 1,
		 KASAN_HOW_WRITE | (regs ? KASAN_HOW_AT_PC : 0),
		 regs ? regs->pc : KASAN_CALLER_IP(), regs ? regs->fp : KASAN_CALLER_FP());
	bug.regs = regs;
	bug.owner = task;
	return report_it(&bug);
}

bool kasan_report_bad_free(const char *type, const void *addr, uintptr_t ip, uintptr_t fp)
{
	return report_bug(type, (uintptr_t)addr, 0, KASAN_HOW_FREE, ip, fp);
}

bool kasan_report_call(const char *type, uintptr_t addr, size_t size, const char *note,
		       uintptr_t source, uintptr_t ip, uintptr_t fp)
{
	struct kasan_bug bug;

	fill_bug(&bug, type, addr, KASAN_HOW_WRITE, ip, fp);
	bug.size = size;
	bug.note = note;
	bug.source = source;
	return report_it(&bug);
}

#if defined(CONFIG_KASAN_HW_TAGS) || defined(CONFIG_KASAN_SAMPLE) || defined(CONFIG_KASAN_DMA)
/* The write is taken for one access, from the first to the last byte that it has changed. */
bool kasan_report_slack(const char *type, const struct kasan_slack *slack, uint8_t tag,
			uintptr_t ip, uintptr_t fp)
{
	unsigned int first = KASAN_GRANULE_SIZE - slack->unused, last = KASAN_GRANULE_SIZE - 1;
	struct kasan_bug bug;

	while (slack->is[first] == slack->was[first])
		first++;
	while (slack->is[last] == slack->was[last])
		last--;
	fill_bug(&bug, type, kasan_tag_addr(slack->granule + first, tag), KASAN_HOW_WRITE, ip, fp);
	bug.slack = slack;
	bug.size = last - first + 1;
	return report_it(&bug);
}
#endif

#ifdef CONFIG_KASAN_UBSAN
bool kasan_report_undefined(const char *type, const struct kasan_undefined *found)
{
	struct kasan_bug bug;

	fill_bug(&bug, type, 0, found->regs ? KASAN_HOW_AT_PC : 0, found->ip, found->fp);
	bug.regs = found->regs;
	bug.undefined = found;
	return report_it(&bug);
}
#endif

kasan_noinline void kasan_report_double_free(const void *addr, uintptr_t ip)
{
	kasan_report_bad_free("double-free", addr, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

#ifdef CONFIG_KASAN_TAGS
bool kasan_report_tag_mismatch(uintptr_t addr, size_t size, bool is_write, uintptr_t ip,
			       uintptr_t fp)
{
	return report_bug(NULL, addr, size, is_write ? KASAN_HOW_WRITE : 0, ip, fp);
}
#endif

#ifdef CONFIG_KASAN_HW_TAGS
bool kasan_report_tag_fault(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp,
			    bool at_pc)
{
	return report_bug(NULL, addr, size,
			  (is_write ? KASAN_HOW_WRITE : 0) | (at_pc ? KASAN_HOW_AT_PC : 0), ip, fp);
}

/* It may have been a write, and a user who asked for a panic at writes must get one. */
void kasan_report_async_faults(uintptr_t ip, uintptr_t fp)
{
	if (kasan_tags_take_async_fault())
		report_bug("invalid-access", 0, 0, KASAN_HOW_ASYNC | KASAN_HOW_WRITE, ip, fp);
}

kasan_noinline void kasan_check_async_faults(void)
{
	kasan_report_async_faults(KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

void kasan_check_async_faults_at(uintptr_t ip, uintptr_t fp)
{
	if (kasan_tags_take_async_fault())
		report_bug("invalid-access", 0, 0,
			   KASAN_HOW_ASYNC | KASAN_HOW_AT_PC | KASAN_HOW_WRITE, ip, fp);
}
#endif

/* --- Around reports --- */

/* This only watches the lock: a context that held it, even for a moment, would have to look for reports that came to
 * wait. Interrupts are on between the tries, and a CPU inside its own report does not wait. */
void kasan_wait_for_report(void)
{
	unsigned int tries;
	unsigned long irq;
	bool taken = true;

	for (tries = 4 * REPORT_TRIES; taken && tries; tries--) {
		irq = kasan_port_irq_save();
		taken = kasan_lock_taken(&kasan_report_lock);
		kasan_port_irq_restore(irq);
		kasan_arch_relax();
	}
}

kasan_report_filter_fn kasan_report_filter(kasan_report_filter_fn filter)
{
	return __atomic_exchange_n(&report_filter, filter, __ATOMIC_ACQ_REL);
}

kasan_report_hook_fn kasan_report_hook(kasan_report_hook_fn hook)
{
	return __atomic_exchange_n(&report_hook, hook, __ATOMIC_ACQ_REL);
}

unsigned long kasan_report_count(void)
{
	return __atomic_load_n(&report_count, __ATOMIC_RELAXED);
}
