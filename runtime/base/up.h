/* SPDX-License-Identifier: MIT */
/*
 * up.h - the calls that go up. All others go down (base.h), which the suite freestanding checks in the objects.
 *
 * Code that finds a bug, or has something to say, lies below the code that prints it.
 */
#ifndef KASAN_UP_H
#define KASAN_UP_H

#include "base.h"

/* --- To report/ --- */

/** kasan_report_bad_free() - @type: "double-free" or "invalid-free". */
bool kasan_report_bad_free(const char *type, const void *addr, uintptr_t ip, uintptr_t fp);

/** kasan_end_system() - kasan_port_panic() after the callback of __sanitizer_set_death_callback(). */
#if CONFIG_KASAN_CALLBACKS
_Noreturn void kasan_end_system(const char *why);
#else
#define kasan_end_system kasan_port_panic
#endif

/** kasan_report_slack() - report @slack: bytes past the end of an object that were overwritten some time ago. @type:
 *  constant. @tag: of the object's pointer. */
struct kasan_slack;
bool kasan_report_slack(const char *type, const struct kasan_slack *slack, uint8_t tag,
			uintptr_t ip, uintptr_t fp);

/** kasan_report_call() - report a call of a function with bad arguments. @type: constant. @addr, @size: the memory that it
 *  writes. @note: a constant sentence for the line below the access; NULL: none. @source: where it reads as many bytes;
 *  0: it reads none. Return: false if it was suppressed. */
bool kasan_report_call(const char *type, uintptr_t addr, size_t size, const char *note,
		       uintptr_t source, uintptr_t ip, uintptr_t fp);

/** kasan_wait_for_report() - wait for a report that another CPU is printing: it may point to an entry that the caller
 *  has removed from a registry. The wait is bounded, see lock_reports(). */
void kasan_wait_for_report(void);

/** kasan_notice() - print one line that is not a report, from any hook, with no lock held. Also prints the reports that
 *  came to wait meanwhile, and like a report may not return. Return: false if nothing was printed because a report is
 *  being printed. */
bool kasan_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#ifdef CONFIG_KASAN_SAMPLE
struct kasan_regs;
/** kasan_report_fault_at() - <kasan/report.h> describes it. For accesses to sampled objects, which the MMU has refused. */
bool kasan_report_fault_at(uintptr_t addr, size_t size, int direction,
			   const struct kasan_regs *regs);
#endif

#ifdef CONFIG_KASAN_DMA
/* For buffers that devices have: <kasan/core.h> and <kasan/asan_interface.h> describe them. The poison is that of
 * programs, in abi/. */
bool kasan_check_access_for(const volatile void *addr, size_t size, bool is_write, uintptr_t ip);
void __asan_poison_memory_region(const volatile void *addr, size_t size);
void __asan_unpoison_memory_region(const volatile void *addr, size_t size);
#endif

/* --- From shadow/ to alloc/ --- */

/** kasan_last_bytes() - Return: if @granule is the last one of a live object, how many of its bytes are accessible, 1
 *  to 7; else 0. The object's header knows; a compact shadow does not. */
unsigned int kasan_last_bytes(uintptr_t granule);

#endif /* KASAN_UP_H */
