/* SPDX-License-Identifier: MIT */
/* report.h - bugs that the system finds itself, its descriptions of memory for reports, and hooks that let ports and
 * tests handle reports. */
#ifndef KASAN_PUBLIC_REPORT_H
#define KASAN_PUBLIC_REPORT_H

#include <kasan/pages.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Bugs that the system finds --- */

struct kasan_port_task; /* <kasan/port.h> */

/** KASAN_REPORT_STACK_MIN - the most stack that a report takes, with 256 bytes for the port's functions. A stack from
 *  kasan_port_report_stack() has at least this size; bench/stack-use.md has measurements. If the task's own stack has
 *  less left, but at least KASAN_REPORT_STACK_SHORT, a report has three lines and no trace. */
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ > 4
#define KASAN_REPORT_STACK_MIN	 3072UL
#define KASAN_REPORT_STACK_SHORT 1024UL
#elif defined(__riscv)
#define KASAN_REPORT_STACK_MIN	 1408UL
#define KASAN_REPORT_STACK_SHORT 640UL
#else
#define KASAN_REPORT_STACK_MIN	 1280UL
#define KASAN_REPORT_STACK_SHORT 512UL
#endif

/** enum kasan_fault_direction - what the CPU says about an access that it refused. Any other value means a write, so a
 *  masked bit of a status register can be passed as it is. */
enum kasan_fault_direction {
	KASAN_FAULT_UNKNOWN = -1, /* a read or a write: Cortex-M does not say */
	KASAN_FAULT_READ = 0,
	KASAN_FAULT_WRITE = 1,
};

/** kasan_report_fault() - report an access that the MMU, the MPU or the bus refused (null, user, wild, or the guard
 *  below a stack). @addr: address of the access; @size: bytes, 0 if not known; @direction: enum kasan_fault_direction;
 *  @ip: code address of the access; @fp: frame pointer there, for the call trace, 0 if unknown. Return: true if a
 *  report was printed. */
KASAN_HOOK bool kasan_report_fault(uintptr_t addr, size_t size, int direction, uintptr_t ip,
				   uintptr_t fp) KASAN_OFF(return false);

/**
 * struct kasan_regs - registers of interrupted code, where its trace starts
 * @pc: the instruction that was interrupted. @sp: as it was before the interrupt. @lr: return address of a function
 * that calls no other; on x86_64 ignored, because calls leave it at @sp.
 * @fp: frame pointer: arm64 x29, riscv64 s0, x86_64 rbp, loongarch64 $r22, 32-bit Arm r7 (Thumb) or r11. s390x and
 * powerpc64le have none: the back chain of the interrupted function, which is its caller's stack pointer.
 * @r11: 32-bit Arm only: r11.
 * @stack_start, @stack_end: the stack that @sp is on, for a handler that runs on another one, such as x86_64's IST
 * stacks; 0: it is the one from kasan_port_task().
 */
struct kasan_regs {
	uintptr_t pc, sp, lr, fp, r11;
	uintptr_t stack_start, stack_end;
};

/** kasan_report_fault_at() - kasan_report_fault() with all registers: for handlers that run on a stack of their own, for
 *  calls of what is not code, and for processors whose traces need more than a frame pointer: 32-bit Arm, GCC. @regs: of
 *  the context that made the access. If a check has just reported this access, to memory without shadow, the fault is
 *  not reported again. */
KASAN_HOOK bool kasan_report_fault_at(uintptr_t addr, size_t size, int direction,
				      const struct kasan_regs *regs) KASAN_OFF(return false);

/**
 * kasan_report_stack_overflow() - report that a task's stack has overflowed, as "stack-overflow"
 * @task: whose: @id, @name, @stack_start, @stack_end.
 * @addr: lowest address that is known to be overwritten or that was refused; 0: not known.
 * @regs: of the running task, if it is @task and was interrupted by a fault; NULL: the trace is the caller's.
 *
 * For a context switch that finds the pattern at the lowest words of the stack overwritten, and for a handler of a
 * fault at a stack's limit. An overflow of the running task's stack that a check or a free runs into needs no call:
 * reports compare the stack pointer with the bounds.
 *
 * Return: true if a report was printed.
 */
KASAN_HOOK bool kasan_report_stack_overflow(const struct kasan_port_task *task, uintptr_t addr,
					    const struct kasan_regs *regs) KASAN_OFF(return false);

#ifdef CONFIG_KASAN_TAGS
/** kasan_report_tag_mismatch() - report an access whose check by tags failed, for the handler of an inline check's
 *  trap or of the CPU's tag check fault. @addr: of the access, with its tag. @ip: code address after the instruction.
 *  The others as above. */
bool kasan_report_tag_mismatch(uintptr_t addr, size_t size, bool is_write, uintptr_t ip,
			       uintptr_t fp);
#endif

/** kasan_report_invalid_free() - the allocator found that @addr is not an object of its own. @ip: code address that
 *  frees it, 0: the caller. */
KASAN_HOOK void kasan_report_invalid_free(const void *addr, uintptr_t ip) KASAN_OFF();

/** kasan_report_double_free() - the allocator knows that @addr was freed before. @ip: as above. */
KASAN_HOOK void kasan_report_double_free(const void *addr, uintptr_t ip) KASAN_OFF();

/* --- What the port says about memory: kasan_port_find_object(), kasan_port_find_area() --- */

enum kasan_object_kind {
	KASAN_OBJECT_NONE,
	KASAN_OBJECT_SLAB,  /* slot of a kasan_cache */
	KASAN_OBJECT_LARGE, /* page-level kmalloc */
	KASAN_OBJECT_HEAP,  /* chunk of a kasan_heap */
};

/**
 * struct kasan_object - an object as kasan_port_find_object() describes it
 * @kind: which members are valid.
 * @cache: SLAB: its cache.
 * @start: first byte of the object (not of its slot's redzone).
 * @size: LARGE and HEAP: bytes asked for; SLAB: ignored (the runtime knows better).
 * @freed: LARGE: true if it has been freed, even if its first page has a new owner by now. False: the state of its
 * first page decides.
 * @large: LARGE: its tracks, may be NULL.
 * @name: LARGE and HEAP: name of the allocator or heap for the report, may be NULL.
 */
struct kasan_object {
	enum kasan_object_kind kind;
	struct kasan_cache *cache;
	void *start;
	size_t size;
	bool freed;
	struct kasan_large_meta *large;
	const char *name;
};

/** struct kasan_area - a vmalloc area. @start, @size: without guard pages. @caller: code address that asked for it, 0
 *  if unknown. */
struct kasan_area {
	uintptr_t start;
	size_t size;
	uintptr_t caller;
};

/* --- Before, inside and after a report --- */

/** struct kasan_report_info - summary of one report, for hooks and tests */
struct kasan_report_info {
	const char *bug_type; /* "slab-out-of-bounds", ... */
	uintptr_t addr;	      /* of the access or free, in tag modes with the tag of the pointer */
	size_t size;	      /* of the access, 0 for a free */
	bool is_write;	      /* or may be one: see @is_unclear */
	bool is_unclear; /* a fault, and the CPU does not say whether it was a read or a write */
	bool is_free;
	bool is_async;	   /* hardware tags: some access, some time before; @addr and @size are 0 */
	bool is_undefined; /* found by UBSan: not an access; @addr and @size are 0 */
	uintptr_t ip;	   /* code address of the access */
	/* All its lines, if __asan_set_error_report_callback() has a callback; NULL: not known. */
	const char *text;
};

/** kasan_report_filter() - ask @filter before every report; if it returns false nothing is printed and the report is
 *  not counted. For systems that must not be flooded by a bug in a loop. @info has no bug_type yet. The filter runs
 *  before the report lock is taken, and is not asked about reports that the runtime drops anyway. NULL removes it.
 *  Return: the previous filter. */
typedef bool (*kasan_report_filter_fn)(const struct kasan_report_info *info);
KASAN_REPORT_HOOK kasan_report_filter_fn kasan_report_filter(kasan_report_filter_fn filter)
	KASAN_REPORT_OFF(return NULL);

/** kasan_report_line() - print one formatted line inside a report, for kasan_port_print_*(). Formats: %s %c %d %u %x
 *  %lx %lu %zu %p (16 hex digits, 8 on 32-bit) %pS (name+0xoff/0xsize; 0x and hex digits if it has no name) %pB (the
 *  same for a return address), with width and zero padding; %.*s. */
KASAN_REPORT_HOOK __attribute__((format(printf, 1, 2))) void kasan_report_line(const char *fmt, ...)
	KASAN_REPORT_OFF();

/** kasan_report_hook() - call @hook at the end of every report, whole, a single line or only counted, before
 *  kasan_port_report_end(). NULL removes it. Return: the previous hook. */
typedef void (*kasan_report_hook_fn)(const struct kasan_report_info *info);
KASAN_REPORT_HOOK kasan_report_hook_fn kasan_report_hook(kasan_report_hook_fn hook)
	KASAN_REPORT_OFF(return NULL);

/** kasan_call_death_callback() - a system that ends because of a report, other than by kasan_port_panic(), calls this
 *  before: what __sanitizer_set_death_callback() has set is called, once. */
KASAN_HOOK void kasan_call_death_callback(void) KASAN_OFF();

/**
 * kasan_flush_reports() - print the reports that wait
 *
 * Call this first in a kasan_port_report_end() or a hook that does not return, or the reports that wait come with the
 * next report. While a report is printed, a bug in the port's own functions waits until that report is complete; so
 * does a bug of a CPU that holds something the reporting CPU waits for. The runtime normally prints them right after
 * it. Any context; does nothing inside a report.
 */
KASAN_REPORT_HOOK void kasan_flush_reports(void) KASAN_REPORT_OFF();

/** kasan_report_count() - Return: reports printed since boot; a single-line report counts too. */
KASAN_REPORT_HOOK unsigned long kasan_report_count(void) KASAN_REPORT_OFF(return 0);

/** kasan_save_multi_shot(), kasan_restore_multi_shot() - let every bug be reported for a while, as tests need. Return:
 *  what to restore. */
KASAN_REPORT_HOOK bool kasan_save_multi_shot(void) KASAN_REPORT_OFF(return false);
KASAN_REPORT_HOOK void kasan_restore_multi_shot(bool saved) KASAN_REPORT_OFF();

/* --- Stacks for allocators that keep records of their own --- */

/**
 * kasan_stack_save() - remember the calling stack
 * @ip: return address where the trace shall start, the caller's own or one further out; 0: the caller.
 *
 * Return: a handle, the same for equal stacks; 0 if there is no room for it.
 */
KASAN_HOOK uint32_t kasan_stack_save(uintptr_t ip) KASAN_OFF(return 0);

/** kasan_stack_print() - inside a report, print the stack of @handle as reports do. Any value is safe. */
KASAN_HOOK void kasan_stack_print(uint32_t handle) KASAN_OFF();

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PUBLIC_REPORT_H */
