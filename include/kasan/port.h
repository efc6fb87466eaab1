/* SPDX-License-Identifier: MIT */
/*
 * port.h - the porting contract: all that the runtime needs of the system under it.
 *
 * Said once, for every function here:
 *  - It may be called in any context: interrupts on or off, inside an exception handler, on any CPU,
 *    with any lock of the system held. It must not sleep and must not take a lock that its caller
 *    may hold.
 *  - It must not be instrumented (compile its file without -fsanitize, or give it
 *    __attribute__((no_sanitize_address))), and it must not call the runtime.
 *  - Pointers handed to the port are valid; sizes are in bytes.
 *
 * REQUIRED functions have no default: a port that forgets one fails at link time with its name.
 * OPTIONAL functions have a weak default in the runtime, stated at each.
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

/* --- REQUIRED, hot: called on allocation paths ---------------------------------------------------
 *
 * A port that cares gives these three as static inline functions in a header that it names with
 * -DKASAN_PORT_INLINE_H='"my_kasan_inline.h"'; one that does not writes ordinary functions. With
 * #define KASAN_PORT_HAS_TASK_ID that header also gives uint32_t kasan_port_task_id(void), the number
 * that kasan_port_task() would fill in: all that is asked for when no stacks are stored. With
 * #define KASAN_PORT_HAS_TASK_STACK, besides, it gives bool kasan_port_task_stack(uintptr_t sp, uintptr_t
 * *start, uintptr_t *end): the running task's stack if @sp, an address on the stack that the CPU is on, lies
 * in it; false if not, or in an interrupt (see trace_end), and then kasan_port_task() is asked.
 */
#ifdef KASAN_PORT_INLINE_H
#include KASAN_PORT_INLINE_H
#else
/** kasan_port_irq_save() - disable interrupts on this CPU. Return: the state before, opaque. */
unsigned long kasan_port_irq_save(void);
/** kasan_port_irq_restore() - undo kasan_port_irq_save(). @flags: what it returned. */
void kasan_port_irq_restore(unsigned long flags);
/** kasan_port_cpu() - Return: number of this CPU, below CONFIG_KASAN_NR_CPUS; stable while
 *  interrupts are off. */
unsigned int kasan_port_cpu(void);
#endif

/**
 * struct kasan_port_task - who is running, filled by kasan_port_task()
 * @id: number of the task or thread, 0 if there is none.
 * @name: NUL-terminated, valid until the report is printed; NULL if there is none.
 * @stack_start: lowest address of the stack that the CPU is on; 0 if not known (then no stack is
 *	unwound and no stack object described).
 * @stack_end: first address above that stack.
 * @trace_end: in an interrupt handler that runs on the stack of what it interrupted: address above the
 *	handler's own frames, else 0. Traces of allocations and frees end there: with what was interrupted
 *	behind them each would be a new one, and the depot fill up. Those in reports go on.
 */
struct kasan_port_task {
	uint32_t id;
	const char *name;
	uintptr_t stack_start;
	uintptr_t stack_end;
	uintptr_t trace_end;
};

/* --- REQUIRED ---------------------------------------------------------------------------------- */

/** kasan_port_task() - describe the running task. @task: zeroed by the caller. Hot: allocations
 *  call it for the task number and the stack bounds. */
void kasan_port_task(struct kasan_port_task *task);

/**
 * kasan_port_alloc() - memory for the runtime's own tables
 * @size: bytes, a multiple of CONFIG_KASAN_PAGE_SIZE.
 *
 * Called for blocks of the depot and pages of the quarantine's queues, so also inside allocations and
 * frees of the system, with interrupts off and a lock of the runtime held: it must not recurse into a
 * hooked allocator's locks. A fixed pool is fine. Never given back.
 *
 * Return: zeroed memory aligned to 16 bytes, or NULL: the stack is then not kept and the quarantine holds
 * fewer objects, nothing else fails. Asked again when it is needed again.
 */
void *kasan_port_alloc(size_t size);

/**
 * kasan_port_print() - print one line of a report
 * @text: the line, NUL-terminated, without a line feed. At most 255 characters.
 *
 * Lines of one report come in order, from one CPU, and never from two reports at once. A prefix
 * (timestamp) must have the same width on every line.
 */
void kasan_port_print(const char *text);

/** kasan_port_panic() - stop the system: kasan.fault=panic was given. @why: one line. */
_Noreturn void kasan_port_panic(const char *why);

/* --- OPTIONAL ---------------------------------------------------------------------------------- */

/**
 * kasan_port_symbol() - name a code address
 * @pc: address inside a function (not a return address: the runtime has taken 1 off already).
 * @buf: where to write "name", NUL-terminated, without offset.
 * @size: bytes in @buf.
 * @sym: filled with the function's start, its size and, for loadable modules, the module's name.
 *
 * Default: finds nothing, frames print as bare addresses for host-side decoding.
 *
 * Return: true if found.
 */
struct kasan_symbol {
	uintptr_t start;
	size_t size;
	const char *module;
};
bool kasan_port_symbol(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym);

/** kasan_port_clock() - Return: ns since boot, monotonic. Hot with CONFIG_KASAN_EXTRA_INFO, else not
 *  called. Default: 0, all times print as 0. */
uint64_t kasan_port_clock(void);

/** kasan_port_seed() - Return: where the sequence of random tags starts (tag modes). Default: 0, every
 *  boot has the same. */
uint64_t kasan_port_seed(void);

/** kasan_port_readable() - may @size bytes at @addr be read without a fault? Used only in reports,
 *  before memory that the bug may have corrupted is believed. Default: true if the range has
 *  shadow; in the windowed layout also everywhere else but near null. */
bool kasan_port_readable(const void *addr, size_t size);

/** kasan_port_image() - where in RAM the program itself lies: code (unless it runs from flash), data,
 *  bss and the stacks that it is linked with. @start: first byte; @end: behind the last. Used by
 *  kasan_window_add() only, which refuses shadow on top of the image, and a first window that leaves
 *  part of it out. Default: false, nothing is compared. */
bool kasan_port_image(uintptr_t *start, uintptr_t *end);

/** kasan_port_is_user() - may @addr, which has no shadow, be user memory? Decides between
 *  user-memory-access and wild-memory-access. A system whose tasks have user memory, or have not, says
 *  true if the running one has and @addr is in that half. Default: false, there is no user memory. */
bool kasan_port_is_user(uintptr_t addr);

/** kasan_port_find_object() - which heap object, live or freed, holds @addr, its redzones included?
 *  @obj: filled, see <kasan/kasan.h>. The runtime finds objects of a kasan_heap by itself, also inside of what this
 *  function names. Default: false. */
bool kasan_port_find_object(const void *addr, struct kasan_object *obj);

/** kasan_port_find_area() - which vmalloc area or named region holds @addr? Default: false. */
bool kasan_port_find_area(const void *addr, struct kasan_area *area);

/** kasan_port_stack_owner() - which task, other than the running one, has a stack that holds @addr? @task:
 *  zeroed; @id and @name are filled. Runs inside reports. Default: false, reports say "another task". */
bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task);

/** kasan_port_task_depth() - where the running task keeps its depth of kasan_disable_current(); 0 in a new
 *  task. Called with interrupts off. NULL in an interrupt handler: it has a depth of its CPU, so that a bug
 *  in it is reported although it came into a silenced task. Default: NULL, depths belong to CPUs. */
unsigned int *kasan_port_task_depth(void);

/** kasan_port_page_tag() - tag-based modes: which tag have the pointers that kasan_alloc_pages() gave out for
 *  the page at @addr, or had until it was freed? @tag: filled. Return: false if nobody knows. Default: false. */
bool kasan_port_page_tag(const void *addr, uint8_t *tag);

/** kasan_port_print_page() - print what the system knows of the page under @addr, by
 *  kasan_report_line(). Called only where the report has room for it. Default: nothing. */
void kasan_port_print_page(const void *addr);

/** kasan_port_print_banner() - print the line "CPU: n PID: n Comm: ..." and others of the system's
 *  own, by kasan_report_line(). Default: "CPU: n PID: n Comm: name" from kasan_port_task(). */
void kasan_port_print_banner(void);

/** kasan_port_report_begin() - a report starts: the port may stop other writers of the console.
 *  Default: nothing. */
void kasan_port_report_begin(void);

/** kasan_port_report_end() - a report is complete. Runs after the last line, with the report lock
 *  released; may panic (panic_on_warn) or not return (tests that jump out), after kasan_flush_reports().
 *  @info: what was reported. Default: nothing. */
void kasan_port_report_end(const struct kasan_report_info *info);

/* --- OPTIONAL: memory primitives that are not checked. Default: simple portable C. --------------- */

void *__memcpy(void *dst, const void *src, size_t n);
void *__memmove(void *dst, const void *src, size_t n);
void *__memset(void *dst, int c, size_t n);

#endif /* KASAN_PORT_H */
