/* SPDX-License-Identifier: MIT */
/*
 * port.h - the porting contract: everything that the runtime needs from the system under it.
 *
 * This holds for every function here, except where its own comment says otherwise:
 *
 *  - Context. A function may be called in any context: interrupts on or off, inside an exception handler, on
 *    several CPUs at once, with any lock of the system held. It must not sleep. It must not wait for a lock that
 *    its caller, or the CPU it runs on, may hold: use trylock, and do without the data if it fails. It returns
 *    with interrupts as they were.
 *  - Instrumentation. A function must not be instrumented: compile its file without -fsanitize, or give it
 *    __attribute__((no_sanitize_address)). Do the same to the functions that it calls. A bug found in these
 *    functions during a report is printed afterwards.
 *  - The runtime. A function may call those functions of the runtime that take no lock and report nothing:
 *    kasan_reset_tag(), kasan_shadow_of(), kasan_memory_state(), kasan_byte_accessible(). Unless its comment says so,
 *    it must not call anything else of the runtime, and must not allocate or free memory that is under the runtime's
 *    hooks: both may need a runtime lock that is already held.
 *  - NMIs, and other interrupts that kasan_port_irq_save() does not mask. One may come while its CPU holds a lock of
 *    the runtime or runs a function of the port. <kasan/kasan.h> lists what it may call. In these calls the runtime
 *    never waits for a lock that the interrupted code may hold. The port's functions under them must not either:
 *    kasan_port_alloc(), which returns NULL instead, kasan_port_find_object(), kasan_port_clock(), and those that
 *    print a report.
 *  - Arguments. Structs to be filled are valid and zeroed, buffers are valid, strings are NUL-terminated and
 *    readable. An address that a function is asked about (@addr, @pc) may be any number at all: it comes from a
 *    bug, or from memory that a bug has overwritten. Look it up; do not follow it before you know where it leads.
 *    Sizes are in bytes.
 *
 * "In reports" means: under the report lock, with interrupts off, on the CPU that prints. There is one report at a time
 * over all CPUs, so such a function may use static buffers. A report that had to wait is printed in a different context
 * from the one that found the bug.
 *
 * REQUIRED functions have no default: if a port leaves one out, the linker names it. OPTIONAL functions have a weak
 * default in the runtime, stated at each.
 */
#ifndef KASAN_PORT_H
#define KASAN_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kasan/config.h>

struct kasan_object;
struct kasan_area;
struct kasan_report_info;

/* --- REQUIRED, hot: called on allocation paths --- */

/*
 * Write these three functions as ordinary functions, or, for speed, as static inline functions in a header named with
 * -DKASAN_PORT_INLINE_H='"my_kasan_inline.h"'. With #define KASAN_PORT_HAS_TASK_ID that header also supplies uint32_t
 * kasan_port_task_id(void), which returns what kasan_port_task() would put in id. If traces are off, the runtime then
 * calls only this. With #define KASAN_PORT_HAS_TASK_STACK in addition, it also supplies bool
 * kasan_port_task_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end): it returns true and the stack's bounds if @sp,
 * an address on the stack that the CPU is on, lies on the running task's stack. Otherwise, or in an interrupt (see
 * trace_end), it returns false, and the runtime calls kasan_port_task().
 *
 * A system that is compiled with -fsanitize=shadow-call-stack can have traces copied from the shadow stack: this costs
 * less than half as much as following frames, and is right even if a bug has overwritten the ordinary stack. With
 * #define KASAN_PORT_HAS_SHADOW_STACK that header supplies
 *	uintptr_t kasan_port_scs_top(void)		address just above the newest entry of the shadow stack that the CPU
 *							is on: x18 on arm64, gp on riscv64. Return 0 if there is none;
 *							frames are followed instead
 *	uintptr_t kasan_port_scs_base(uintptr_t top)	address of its oldest entry. @top: kasan_port_scs_top()'s result
 * The stack grows up. All words between the two are return addresses and may be read; a 0 among them ends the trace. In
 * an interrupt that uses the interrupted code's shadow stack, the base is where its own entries begin: see trace_end.
 */
#ifdef KASAN_PORT_INLINE_H
#include KASAN_PORT_INLINE_H
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KASAN_PORT_INLINE_H
/** kasan_port_irq_save() - disable interrupts on this CPU. Calls nest. Return: the previous state, opaque. */
unsigned long kasan_port_irq_save(void);
/** kasan_port_irq_restore() - undo the most recent outstanding kasan_port_irq_save(). @flags: its return value. */
void kasan_port_irq_restore(unsigned long flags);
/** kasan_port_cpu() - Return: number of this CPU, below CONFIG_KASAN_NR_CPUS; stable while interrupts are off. With
 *  interrupts on, a CPU number that may already be out of date is fine. */
unsigned int kasan_port_cpu(void);
#endif

/**
 * struct kasan_port_task - the running task, filled by kasan_port_task()
 * @id: number of the task or thread, 0 if there is none. If tasks have no numbers, use part of the descriptor's
 * address.
 * @name: NUL-terminated; NULL if there is none. Reports copy it at once, up to the first unreadable byte.
 * @stack_start: lowest address of the stack that the CPU is on; 0 if not known (then no stack is unwound and no stack
 * object described).
 * @stack_end: first address above that stack. Traces of allocations and frees read frames anywhere between the two, so
 * the bounds must be true; reports first test how much of the stack can be read. In a context switch the running task
 * may already be the next one while the CPU still uses the previous task's stack: if the stack pointer is outside the
 * running task's stack, give 0 for both.
 * @trace_end: 0, or in an interrupt handler that runs on the stack of the interrupted code, the address above the
 * handler's own frames. Traces of allocations and frees end there: if they included the interrupted frames, each trace
 * would be a new one and the depot would fill up. Report traces continue into the interrupted code.
 * @overflowed: true if the stack has overflowed (its canary words were overwritten). Only reports read it, and print
 * it.
 */
struct kasan_port_task {
	uint32_t id;
	const char *name;
	uintptr_t stack_start;
	uintptr_t stack_end;
	uintptr_t trace_end;
	bool overflowed;
};

/** kasan_port_task() - describe the running task. @task: zeroed by the caller. Allocations and frees call it for the
 *  task number and the stack bounds. Reports call it in the context that found the bug. */
void kasan_port_task(struct kasan_port_task *task);

/* --- REQUIRED --- */

/**
 * kasan_port_alloc() - memory for the runtime's own tables
 * @size: bytes, a multiple of CONFIG_KASAN_PAGE_SIZE.
 *
 * Take it from a fixed pool, or as whole pages from the system's page allocator, whether or not that calls
 * kasan_alloc_pages(). Do not take slab objects or chunks of a heap with hooks: storing their trace could need a lock
 * that is held. The runtime never gives the memory back.
 *
 * The memory is for the stack depot, the stack ring, the quarantines' queues and the map of kasan.slack=check.
 * kasan_init() calls this function, and any allocation or free of the system may, with interrupts off and perhaps with
 * a lock of the runtime held. Reports never call it.
 *
 * Return: zeroed memory aligned to 16 bytes, or NULL: then the trace is dropped or the quarantine holds fewer objects,
 * and nothing else fails. The runtime asks again the next time it needs memory.
 */
void *kasan_port_alloc(size_t size);

/**
 * kasan_port_print() - print one line of a report
 * @text: the line, NUL-terminated, without a line feed. At most 255 characters.
 *
 * Called in reports, and under the same conditions for one-line notices. The lines of a report come in order and from
 * one CPU, never mixed with those of another report. Outside reports, calls from your own code to kasan_report_line()
 * also end up here, in their caller's context. A prefix (timestamp) must have the same width on every line.
 */
void kasan_port_print(const char *text);

/** kasan_port_panic() - stop the system: kasan.fault=panic was given, or code built without recovery has reported a
 *  bug. Called after the report, with no lock of the runtime held: it may call the runtime. If code built without
 *  recovery has a bug during a report, however, it is called inside that report. @why: one line. */
__attribute__((__noreturn__)) void kasan_port_panic(const char *why);

/* --- OPTIONAL --- */

/**
 * kasan_port_symbol() - name a code address
 * @pc: address inside a function (not a return address: the runtime has taken 1 off already), or an address that is not
 * code at all.
 * @buf: where to write "name", NUL-terminated, without offset.
 * @size: bytes in @buf.
 * @sym: filled with the function's start, its size (0 if the system does not know it) and, for loadable modules, the
 * module's name, which must stay unchanged until the next call on the same CPU.
 *
 * Called in reports. With kasan.ignore= it is also called before a report, with interrupts off and on several CPUs at
 * once. For %pS in the system's own calls of kasan_report_line() it is called in their caller's context.
 *
 * Default: looks in the table that `./redzone ksyms` has made from the image. Without one it finds nothing, so frames
 * print as bare addresses, to be decoded on the host.
 *
 * Return: true if found.
 */
struct kasan_symbol {
	uintptr_t start;
	size_t size;
	const char *module;
};
bool kasan_port_symbol(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym);

/**
 * struct kasan_ksyms - the functions of an image, ascending: what `./redzone ksyms` writes
 * @base: address of the first function.
 * @count: number of entries; 0: no table. The last entry is the end of the last function.
 * @starts: distance of each from @base.
 * @name_at: where its name is in @names, NUL-terminated. An empty name means that no function is here.
 *
 * kasan_ksyms is weak in the runtime, and empty.
 */
struct kasan_ksyms {
	uintptr_t base;
	uintptr_t count;
	const uint32_t *starts;
	const uint32_t *name_at;
	const char *names;
};
extern const struct kasan_ksyms kasan_ksyms;

/** kasan_port_variable() - name a global variable. Used with software tags, when the compiler did not record the
 *  variable's name. @addr: the variable's first byte, without a tag. @buf, @size: where to write the name,
 *  NUL-terminated. Called in reports, one at a time. Default: finds nothing. Return: true if found. */
bool kasan_port_variable(uintptr_t addr, char *buf, size_t size);

/** kasan_port_clock() - Return: ns since boot, monotonic. With CONFIG_KASAN_EXTRA_INFO every allocation and free calls
 *  it; otherwise it is not called. Default: 0, all times print as 0. */
uint64_t kasan_port_clock(void);

/** kasan_port_seed() - Return: the seed of the random tags (tag modes), and the key of kasan.slack=check. Called at the
 *  first allocation of each CPU. Default: 0, every boot has the same sequence. */
uint64_t kasan_port_seed(void);

/** kasan_port_readable() - can @size bytes at @addr be read without a fault? The runtime asks before it trusts memory
 *  that a bug may have corrupted: in reports, where it may hold a second lock; on a CPU whose report must wait; and in
 *  kasan_heap_free() and related functions for early chunks. A range that wraps around is not readable. Default: true
 *  if the range has shadow; in the windowed layout also everywhere else, except near null. */
bool kasan_port_readable(const void *addr, size_t size);

/** kasan_port_image() - where in RAM the program itself is: code (unless it runs from flash), data, bss and the stacks
 *  that it is linked with. @start: first byte; @end: first byte after it. Only kasan_window_add() calls it, at boot,
 *  so that it can refuse shadow that overlaps the image, or a first window that leaves out a part of the image.
 *  Default: false, nothing is compared. */
bool kasan_port_image(uintptr_t *start, uintptr_t *end);

/** kasan_port_is_user() - may @addr, which has no shadow, be user memory? In reports. Decides between
 *  user-memory-access and wild-memory-access. If only some tasks have user memory, return true if the running task has
 *  some and @addr is in the half of the address space that belongs to users. Default: false, there is no user
 *  memory. */
bool kasan_port_is_user(uintptr_t addr);

/** kasan_port_find_object() - which heap object, live or freed, holds @addr, its redzones included? @obj: filled, see
 *  <kasan/kasan.h>. Called in reports; outside reports by kasan_record_aux_stack(), kasan_cache_check_slack(),
 *  kasan_mempool_poison_object() and related functions, in their callers' context, where the pointer may be wrong too.
 *  The runtime finds objects of a kasan_heap without the port, even inside an object that this function names.
 *  Default: false. */
bool kasan_port_find_object(const void *addr, struct kasan_object *obj);

/** kasan_port_find_area() - which vmalloc area or named region holds @addr? @area: filled. In reports. Default: false.
 *  */
bool kasan_port_find_area(const void *addr, struct kasan_area *area);

/**
 * kasan_port_stack_owner() - which other task's stack holds @addr, or begins at most CONFIG_KASAN_STACK_GUARD bytes
 * above @addr?
 * @task: zeroed. @id and @name are filled. With @stack_start, @stack_end and @overflowed reports can tell the overflow
 * of that stack from other bugs.
 *
 * In reports. A task whose stack holds @addr takes precedence over one whose stack begins above it.
 *
 * Default: false, reports say "another task".
 */
bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task);

/**
 * kasan_port_report_stack() - the stack on which this CPU's reports run, so that a report does not overflow the stack of
 *	the task that it reports on
 * @size: filled: its size in bytes, at least KASAN_REPORT_STACK_MIN of <kasan/report.h>.
 *
 * Each CPU has one, which no task and no interrupt uses for anything else. The function is called, and the stack used,
 * with interrupts off. Interrupts that kasan_port_irq_save() does not mask may use it below the report. All functions
 * called "in reports" run on it. kasan_port_report_end(), report hooks and kasan_port_panic() run on the stack of the
 * context that found the bug.
 *
 * Default: NULL, reports run on the stack of the context that found the bug. If the bounds from kasan_port_task()
 * leave too little room on it, the report is shortened and says so.
 *
 * Return: its lowest address, aligned to 16 bytes; NULL: there is none.
 */
void *kasan_port_report_stack(size_t *size);

/** kasan_port_is_code() - can @pc, an address that was found on a stack, be executable code? Traces in reports end at
 *  the first address that cannot. In reports. Default: true; on Cortex-M true outside of the address ranges that the
 *  processor never executes. */
bool kasan_port_is_code(uintptr_t pc);

/** kasan_port_is_interrupted() - in a trace, is the entry after the return address @before an interrupted instruction,
 *  and not a return address? Then it is looked up as it is, without 1 taken off. In reports. Default: false. */
bool kasan_port_is_interrupted(uintptr_t before);

/** kasan_port_task_depth() - where the running task keeps its depth of kasan_disable_current(); 0 in a new task. Called
 *  with interrupts off, before a report and by kasan_disable_current() and kasan_enable_current(). Return NULL in an
 *  interrupt handler, which then uses its CPU's depth: a bug in it is reported even if it interrupted a silenced task.
 *  Default: NULL, depths belong to CPUs. */
unsigned int *kasan_port_task_depth(void);

/** kasan_port_page_tag() - tag-based modes: find the tag of the pointers that kasan_alloc_pages() returned for the
 *  page at @addr, even if the page has been freed since. @tag: filled. In reports. Return: false if this is not known.
 *  Default: false. */
bool kasan_port_page_tag(const void *addr, uint8_t *tag);

/** kasan_port_print_page() - print what the system knows about the page under @addr, with kasan_report_line(), which it
 *  may call. In reports, only where there is room for it. Default: nothing. */
void kasan_port_print_page(const void *addr);

/** kasan_port_print_banner() - print the line "CPU: n PID: n Comm: ..." and further lines of the system's own, with
 *  kasan_report_line(), which it may call. In reports, if the bug was found in this context. Default: "CPU: n PID: n
 *  Comm: name" from kasan_port_task(). */
void kasan_port_print_banner(void);

/** kasan_port_report_begin() - a report starts: the port may stop other writers of the console. Called in the report,
 *  before its first line. The next report may begin, on another CPU, before kasan_port_report_end() was called for this
 *  one. Default: nothing. */
void kasan_port_report_begin(void);

/** kasan_port_report_end() - a report, whole or a single line (kasan.repeat=), is complete. Runs on the CPU that
 *  printed it, after the last line, with the report lock free and interrupts as they were before the report. It may
 *  call the runtime, may panic (panic_on_warn), and need not return (tests that jump out): in that case it must call
 *  kasan_flush_reports() first. @info: what was reported. Default: nothing. */
void kasan_port_report_end(const struct kasan_report_info *info);

/* --- OPTIONAL: memory primitives that are not checked. Default: simple portable C. --- */

/* Called by the checked memcpy(), memmove() and memset() after the check, and by the runtime for its own memory, in
 * reports too. Pointers are invalid only if the checked call got invalid ones. */

void *__memcpy(void *dst, const void *src, size_t n);
void *__memmove(void *dst, const void *src, size_t n);
void *__memset(void *dst, int c, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PORT_H */
