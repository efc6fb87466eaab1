/* SPDX-License-Identifier: MIT */
/*
 * port.h - the porting contract: all that the runtime needs of the system under it.
 *
 * This holds for every function here, except where its own comment says otherwise:
 *
 *  - Context. A function may be called in any context: interrupts on or off, inside an exception handler, on
 *    several CPUs at once, with any lock of the system held. It must not sleep. It must not wait for a lock that
 *    its caller, or the CPU it runs on, may hold: try such a lock, and do without what it guards. It returns with
 *    interrupts as they were.
 *  - Instrumentation. A function must not be instrumented: compile its file without -fsanitize, or give it
 *    __attribute__((no_sanitize_address)). The same is best for what it calls. A bug that is found there during a
 *    report is printed behind that report.
 *  - The runtime. A function may call what takes no lock and reports nothing: kasan_reset_tag(),
 *    kasan_shadow_of(), kasan_memory_state(), kasan_byte_accessible(). It must not call anything else of the
 *    runtime, nor allocate or free memory whose hooks the runtime has: both may want a lock that is held.
 *  - Arguments. Structs to be filled are valid and zeroed, buffers and texts are valid. An address that a
 *    function is asked about (@addr, @pc) may be any number at all: it comes from a bug, or from memory that a bug
 *    has overwritten. Look it up; do not follow it before you know where it leads. Sizes are in bytes.
 *
 * "In reports" means: under the report lock, with interrupts off, on the CPU that prints. There is one report at a
 * time over all CPUs, so such a function may use static buffers. A report that had to wait is printed by another
 * context than the one that found the bug.
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

/* --- REQUIRED, hot: called on allocation paths --- */

/*
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
/** kasan_port_irq_save() - disable interrupts on this CPU. Calls nest. Return: the state before, opaque. */
unsigned long kasan_port_irq_save(void);
/** kasan_port_irq_restore() - undo the last kasan_port_irq_save() that is not undone. @flags: what it
 *  returned. */
void kasan_port_irq_restore(unsigned long flags);
/** kasan_port_cpu() - Return: number of this CPU, below CONFIG_KASAN_NR_CPUS; stable while
 *  interrupts are off. With interrupts on any CPU that the caller was just on will do. */
unsigned int kasan_port_cpu(void);
#endif

/**
 * struct kasan_port_task - who is running, filled by kasan_port_task()
 * @id: number of the task or thread, 0 if there is none.
 * @name: NUL-terminated; NULL if there is none. Reports copy it at once, as far as it can be read.
 * @stack_start: lowest address of the stack that the CPU is on; 0 if not known (then no stack is
 *	unwound and no stack object described).
 * @stack_end: first address above that stack. Traces of allocations and frees read frames anywhere between the
 *	two, so the bounds must be true; reports first look how much of it can be read.
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

/* --- REQUIRED --- */

/** kasan_port_task() - describe the running task. @task: zeroed by the caller. Hot: allocations and frees
 *  call it for the task number and the stack bounds. Reports call it in the context that found the bug. */
void kasan_port_task(struct kasan_port_task *task);

/**
 * kasan_port_alloc() - memory for the runtime's own tables
 * @size: bytes, a multiple of CONFIG_KASAN_PAGE_SIZE.
 *
 * Asked for blocks of the stack depot and of the stack ring, and for pages of the quarantines' queues: by
 * kasan_init(), and inside of any allocation or free of the system, then with interrupts off and perhaps with a lock
 * of the runtime held. Not in reports. A fixed pool is fine, and so are whole pages of the system's page
 * allocator, with or without kasan_alloc_pages() for them. Slab objects and chunks of a heap with hooks are not:
 * their trace would be stored, and the lock for that may be held. Never given back.
 *
 * Return: zeroed memory aligned to 16 bytes, or NULL: the stack is then not kept and the quarantine holds
 * fewer objects, nothing else fails. Asked again when it is needed again.
 */
void *kasan_port_alloc(size_t size);

/**
 * kasan_port_print() - print one line of a report
 * @text: the line, NUL-terminated, without a line feed. At most 255 characters.
 *
 * Called in reports, and in the same way for notices of one line. Lines of one report come in order, from one CPU,
 * and never from two reports at once. The system's own calls of kasan_report_line() outside of reports come here
 * in the context that they are made in. A prefix (timestamp) must have the same width on every line.
 */
void kasan_port_print(const char *text);

/** kasan_port_panic() - stop the system: kasan.fault=panic was given, or code that cannot go on after a report
 *  (built without recovery) has had one. Called behind the report, with no lock of the runtime held: it may call
 *  the runtime. Only code built without recovery that has its bug inside of a report gets here in that report.
 *  @why: one line. */
_Noreturn void kasan_port_panic(const char *why);

/* --- OPTIONAL --- */

/**
 * kasan_port_symbol() - name a code address
 * @pc: address inside a function (not a return address: the runtime has taken 1 off already), or no code at all.
 * @buf: where to write "name", NUL-terminated, without offset.
 * @size: bytes in @buf.
 * @sym: filled with the function's start, its size and, for loadable modules, the module's name, which must
 *	stay what it is until the next call on the same CPU.
 *
 * Called in reports. With kasan.ignore= also before them, with interrupts off and on several CPUs at once. For
 * %pS in the system's own calls of kasan_report_line(), in the context that they are made in.
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

/** kasan_port_seed() - Return: where the sequence of random tags starts (tag modes). Called at the first
 *  allocation of each CPU. Default: 0, every boot has the same. */
uint64_t kasan_port_seed(void);

/** kasan_port_readable() - may @size bytes at @addr be read without a fault? Asked before memory that a bug may
 *  have corrupted is believed: in reports, also under a second lock of the runtime; by a CPU whose report must
 *  wait; and by kasan_heap_free() and its kin for early chunks. The range may wrap around: no. Default: true if
 *  the range has shadow; in the windowed layout also everywhere else but near null. */
bool kasan_port_readable(const void *addr, size_t size);

/** kasan_port_image() - where in RAM the program itself lies: code (unless it runs from flash), data,
 *  bss and the stacks that it is linked with. @start: first byte; @end: behind the last. Called by
 *  kasan_window_add() only, while booting, which refuses shadow on top of the image, and a first window that leaves
 *  part of it out. Default: false, nothing is compared. */
bool kasan_port_image(uintptr_t *start, uintptr_t *end);

/** kasan_port_is_user() - may @addr, which has no shadow, be user memory? In reports. Decides between
 *  user-memory-access and wild-memory-access. A system whose tasks have user memory, or have not, says
 *  true if the running one has and @addr is in that half. Default: false, there is no user memory. */
bool kasan_port_is_user(uintptr_t addr);

/** kasan_port_find_object() - which heap object, live or freed, holds @addr, its redzones included?
 *  @obj: filled, see <kasan/kasan.h>. Called in reports; outside of them by kasan_record_aux_stack(),
 *  kasan_mempool_poison_object() and their kin, in their callers' context, with pointers that may be as wrong.
 *  The runtime finds objects of a kasan_heap by itself, also inside of what this function names. Default: false. */
bool kasan_port_find_object(const void *addr, struct kasan_object *obj);

/** kasan_port_find_area() - which vmalloc area or named region holds @addr? @area: filled. In
 *  reports. Default: false. */
bool kasan_port_find_area(const void *addr, struct kasan_area *area);

/** kasan_port_stack_owner() - which task, other than the running one, has a stack that holds @addr? @task:
 *  zeroed; @id and @name are filled. In reports. Default: false, reports say "another task". */
bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task);

/** kasan_port_task_depth() - where the running task keeps its depth of kasan_disable_current(); 0 in a new
 *  task. Called with interrupts off, before a report and by kasan_disable_current() and kasan_enable_current().
 *  NULL in an interrupt handler: it has a depth of its CPU, so that a bug
 *  in it is reported although it came into a silenced task. Default: NULL, depths belong to CPUs. */
unsigned int *kasan_port_task_depth(void);

/** kasan_port_page_tag() - tag-based modes: which tag have the pointers that kasan_alloc_pages() gave out for
 *  the page at @addr, or had until it was freed? @tag: filled. In reports. Return: false if nobody knows.
 *  Default: false. */
bool kasan_port_page_tag(const void *addr, uint8_t *tag);

/** kasan_port_print_page() - print what the system knows of the page under @addr, by
 *  kasan_report_line(), which it may call. In reports, only where there is room for it. Default: nothing. */
void kasan_port_print_page(const void *addr);

/** kasan_port_print_banner() - print the line "CPU: n PID: n Comm: ..." and others of the system's
 *  own, by kasan_report_line(), which it may call. In reports, if the bug was found in this context.
 *  Default: "CPU: n PID: n Comm: name" from kasan_port_task(). */
void kasan_port_print_banner(void);

/** kasan_port_report_begin() - a report starts: the port may stop other writers of the console. Called in the
 *  report, before its first line. The next report may begin, on another CPU, before kasan_port_report_end() was
 *  called for this one. Default: nothing. */
void kasan_port_report_begin(void);

/** kasan_port_report_end() - a report is complete, whole or a single line (kasan.repeat=). Runs on the CPU that
 *  printed it, after the last line, with the report lock free and interrupts as they were before the report. It
 *  may call the runtime, may panic (panic_on_warn), and need not return (tests that jump out): then it calls
 *  kasan_flush_reports() first.
 *  @info: what was reported. Default: nothing. */
void kasan_port_report_end(const struct kasan_report_info *info);

/* --- OPTIONAL: memory primitives that are not checked. Default: simple portable C. --- */

/*
 * Called by the checked memcpy(), memmove() and memset() after the check, and by the runtime for its own memory,
 * in reports as well. Pointers are valid unless the checked operation's were not.
 */

void *__memcpy(void *dst, const void *src, size_t n);
void *__memmove(void *dst, const void *src, size_t n);
void *__memset(void *dst, int c, size_t n);

#endif /* KASAN_PORT_H */
