/* SPDX-License-Identifier: MIT */
/*
 * report.c - the life of a report: who may report, capture, the order of phases, what follows.
 *
 * One report at a time, over all CPUs: a second CPU waits. A bug that the report path itself runs
 * into, or an interrupt on the reporting CPU, is dropped: reporting it would recurse. The lock is
 * held with interrupts off from capture to the last line, because a context that found a bug may be
 * any, and must not move to another CPU in the middle.
 */
#include "report.h"

#include "../core/lock.h"
#include "../track/track.h"

static struct kasan_lock report_lock;
static unsigned long report_count;
static kasan_report_hook_fn report_hook;
static kasan_report_filter_fn report_filter;

/* Too large for the stack that the bug may have nearly used up. Guarded by the lock. */
static struct kasan_report the_report;

/* --- Capture ---------------------------------------------------------------------------------- */

static void capture_task(struct kasan_report *report)
{
	kasan_port_task(&report->task);
	if (!report->task.name ||
	    !kasan_copy_string(report->comm, report->task.name, sizeof(report->comm)))
		__memcpy(report->comm, "none", 5);
	if (report->is_fault)
		report->depth = kasan_stack_walk_fault(&report->task, report->ip, report->fp,
						       report->pcs, CONFIG_KASAN_STACK_DEPTH);
	else
		report->depth = kasan_stack_walk_in(&report->task, report->ip, report->fp,
						    report->pcs, CONFIG_KASAN_STACK_DEPTH);
}

static void capture_first_bad(struct kasan_report *report)
{
	size_t size = report->size;
	uintptr_t bad = 0;

	report->has_shadow = kasan_has_shadow(report->addr);
	/* Of a wrapped range only the start means anything. */
	if (report->addr + size < report->addr || size > (size_t)PTRDIFF_MAX)
		size = 0;
	if (report->has_shadow && !report->is_free)
		bad = kasan_first_bad(report->addr, size ? size : 1);
	report->first_bad = bad ? bad : report->addr;
}

static void capture_shadow(struct kasan_report *report)
{
	const uintptr_t row = KASAN_REPORT_ROW_SIZE * KASAN_GRANULE_SIZE;
	const uint8_t *shadow = kasan_shadow_of((const void *)report->first_bad);
	uintptr_t addr;
	unsigned int i, j;

	/* The first bad byte may lie behind the last that has shadow, where the range leads out of
	 * it. */
	report->bad_shadow = shadow ? *shadow : 0;
	addr = (report->first_bad & ~(row - 1)) - KASAN_REPORT_ROWS / 2 * row;
	report->rows_base = addr;
	for (i = 0; i < KASAN_REPORT_ROWS; i++, addr += row) {
		/* Windows and address spaces end at granules, perhaps not at rows: all of it or
		 * nothing. */
		report->row_valid[i] = true;
		for (j = 0; j < KASAN_REPORT_ROW_SIZE; j++) {
			shadow = kasan_shadow_of((const void *)(addr + j * KASAN_GRANULE_SIZE));
			if (!shadow) {
				report->row_valid[i] = false;
				break;
			}
			report->rows[i][j] = __atomic_load_n(shadow, __ATOMIC_RELAXED);
		}
	}
}

/* --- The sequence ----------------------------------------------------------------------------- */

static const char *why_panic(const struct kasan_report_info *info)
{
	if (kasan_opt_fault == KASAN_FAULT_PANIC)
		return "kasan.fault=panic: bad access or free";
	if (kasan_opt_fault == KASAN_FAULT_PANIC_ON_WRITE && (info->is_write || info->is_free))
		return "kasan.fault=panic_on_write: bad write or free";
	return NULL;
}

/*
 * Wait for the report of another CPU, but not for ever: it may wait for a lock of the console that
 * this CPU held when it ran into its bug. Then this report is the one to drop. A report takes
 * milliseconds, on a serial line tenths of a second; so many tries take longer on any processor.
 */
static bool lock_reports(unsigned long *flags)
{
	unsigned int tries;

	for (tries = 1U << 28; tries; tries--) {
		if (kasan_trylock(&report_lock, flags))
			return true;
		kasan_arch_relax();
	}
	return false;
}

/* Interrupts off and the lock held: the phases in their order. */
static void make_report(struct kasan_report *report)
{
	kasan_port_report_begin();
	capture_task(report);
	capture_first_bad(report);
	capture_shadow(report);
	if (!report->is_free)
		kasan_classify(report);
	if (report->has_shadow)
		kasan_describe(report);
	if (!report->is_free)
		kasan_classify_by_owner(report);
	kasan_print_report(report);
	__atomic_fetch_add(&report_count, 1, __ATOMIC_RELAXED);
}

#define HOW_WRITE 1U
#define HOW_FREE  2U
#define HOW_FAULT 4U

/* Does the system want this report? */
static bool is_wanted(uintptr_t addr, size_t size, unsigned int how, uintptr_t ip)
{
	const kasan_report_filter_fn filter = __atomic_load_n(&report_filter, __ATOMIC_ACQUIRE);
	const struct kasan_report_info info = {
		.addr = addr,
		.size = size,
		.is_write = how & HOW_WRITE,
		.is_free = how & HOW_FREE,
		.ip = ip,
	};

	return !filter || filter(&info);
}

/* Return: true if the report was printed. */
static __attribute__((__noinline__)) bool report_bug(const char *type, uintptr_t addr, size_t size,
						     unsigned int how, uintptr_t ip, uintptr_t fp)
{
	struct kasan_report *report = &the_report;
	struct kasan_report_info info;
	kasan_report_hook_fn hook;
	unsigned long irq, flags;
	const char *why;

	/* The check that kasan_check_offset() provokes: seen, which is all that was asked. */
	if (kasan_unlikely(addr == __atomic_load_n(&kasan_probe_addr, __ATOMIC_RELAXED)) && addr) {
		__atomic_store_n(&kasan_probe_addr, 0, __ATOMIC_RELAXED);
		return false;
	}
	/* From here to the lock this CPU must stay the same one. */
	irq = kasan_port_irq_save();
	if (kasan_lock_owned(&report_lock) || !kasan_may_report() ||
	    !is_wanted(addr, size, how, ip) || !kasan_take_shot(how & (HOW_WRITE | HOW_FREE)) ||
	    !lock_reports(&flags)) {
		kasan_port_irq_restore(irq);
		return false;
	}
	__memset(report, 0, sizeof(*report));
	report->type = type;
	report->addr = addr;
	report->size = size;
	report->is_write = how & HOW_WRITE;
	report->is_free = how & HOW_FREE;
	report->is_fault = how & HOW_FAULT;
	report->ip = ip;
	report->fp = fp;
	make_report(report);

	info.bug_type = report->type;
	info.addr = addr;
	info.size = size;
	info.is_write = report->is_write;
	info.is_free = report->is_free;
	info.ip = ip;
	kasan_unlock(&report_lock, flags);
	kasan_port_irq_restore(irq);

	hook = __atomic_load_n(&report_hook, __ATOMIC_ACQUIRE);
	if (hook)
		hook(&info);
	kasan_port_report_end(&info);
	why = why_panic(&info);
	if (why)
		kasan_port_panic(why);
	return true;
}

/* --- Ways in ---------------------------------------------------------------------------------- */

bool kasan_report_access(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
	return report_bug(NULL, addr, size, is_write ? HOW_WRITE : 0, ip, fp);
}

bool kasan_report_fault(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
	return report_bug(NULL, addr, size, HOW_FAULT | (is_write ? HOW_WRITE : 0), ip, fp);
}

bool kasan_report_bad_free(const char *type, const void *addr, uintptr_t ip, uintptr_t fp)
{
	return report_bug(type, (uintptr_t)addr, 0, HOW_FREE, ip, fp);
}

/* --- Around reports --------------------------------------------------------------------------- */

bool kasan_notice(const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	/* Try only: the caller may be the allocator that the reporting CPU waits for. */
	if (!kasan_trylock(&report_lock, &flags))
		return false;
	va_start(args, fmt);
	kasan_format_line(fmt, args);
	va_end(args);
	kasan_unlock(&report_lock, flags);
	return true;
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
