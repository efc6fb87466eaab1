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
 *    __attribute__((no_sanitize_address)). Do the same to the functions that it calls. If they still find a bug
 *    during a report, for example through the checked memcpy(), it is printed afterwards.
 *  - The runtime. A function may call those functions of the runtime that take no lock and report nothing:
 *    kasan_reset_tag(), kasan_shadow_of(), kasan_memory_state(), kasan_byte_accessible(). Unless its comment says so,
 *    it must not call any other function of the runtime, and must not use an allocator that has the runtime's hooks:
 *    both may need a runtime lock that is already held.
 *  - NMIs, and any other interrupt that kasan_port_irq_save() does not mask. Such an interrupt can arrive while its CPU
 *    holds a lock of the runtime or runs a function of the port. Its handler may call only the functions of the runtime
 *    that <kasan/kasan.h> lists for NMIs. In those, the runtime never waits for a lock that the interrupted code may
 *    hold. The functions of the port that it calls there must not wait for one either: kasan_port_alloc() (which
 *    returns NULL instead),
 *    kasan_port_find_object(), kasan_port_clock(), and all that are called in reports.
 *  - Arguments. Structs to be filled are valid and zeroed, buffers are valid, strings are NUL-terminated and
 *    readable. An address that a function is asked about (@addr, @pc) may be any number at all: it comes from a
 *    bug, or from memory that a bug has overwritten. Look it up; do not follow it before you know where it leads.
 *    Sizes are in bytes.
 *
 * "In reports" means: under the report lock, with interrupts off, on the CPU that prints. Only one report is printed at
 * a time, across all CPUs, so such a function may use static buffers. A report that had to wait is printed in a
 * different context from the one that found the bug.
 *
 * REQUIRED functions have no default: if a port leaves one out, the linker names it. OPTIONAL functions have a weak
 * default in the runtime, stated at each.
 */
#ifndef KASAN_PORT_H
#define KASAN_PORT_H

#include <kasan/config.h>
#include <kasan/types.h>

struct kasan_object;
struct kasan_area;
struct kasan_report_info;

/* --- REQUIRED, hot: called on allocation paths --- */

/*
 * Write kasan_port_irq_save(), kasan_port_irq_restore() and kasan_port_cpu() as ordinary functions, or, for speed, as
 * static inline functions in a header named with -DKASAN_PORT_INLINE_H='"my_kasan_inline.h"'. With #define
 * KASAN_PORT_HAS_TASK_ID that header also supplies uint32_t kasan_port_task_id(void), which returns what
 * kasan_port_task() would put in id. If traces are off, the runtime calls it instead of kasan_port_task(). With #define
 * KASAN_PORT_HAS_TASK_STACK in addition, the header also supplies bool kasan_port_task_stack(uintptr_t sp, uintptr_t
 * *start, uintptr_t *end). @sp is an address on the stack that the CPU uses. If it lies on the running task's stack,
 * the function sets the bounds of that stack and returns true. If not, or in an interrupt (see trace_end), it returns
 * false, and the runtime calls kasan_port_task().
 *
 * A system that is compiled with -fsanitize=shadow-call-stack can have traces copied from the shadow stack: this costs
 * less than half as much as following frames, and is right even if a bug has overwritten the ordinary stack. With
 * #define KASAN_PORT_HAS_SHADOW_STACK that header supplies
 *	uintptr_t kasan_port_scs_top(void)		address just above the newest entry of the shadow stack that the CPU
 *							uses: x18 on arm64, gp on riscv64. If there is none, return 0.
 *							The runtime then follows frames
 *	uintptr_t kasan_port_scs_base(uintptr_t top)	address of its oldest entry. @top: kasan_port_scs_top()'s result
 * The stack grows up. All words between the two are return addresses and may be read; a 0 among them ends the trace. If
 * an interrupt handler shares the interrupted code's shadow stack, return the address of the handler's first entry as
 * the base (see trace_end).
 *
 * On 32-bit Arm a system that has several exception index tables, or is not Thumb code of GCC, can define
 * KASAN_PORT_HAS_EXIDX in KASAN_PORT_CONFIG_H, and supply kasan_port_exidx(). Traces then come from these tables. Any
 * other system that is compiled without frame pointers, but can unwind its stacks by tables of its own, defines
 * KASAN_PORT_HAS_WALK, in that header or in KASAN_PORT_CONFIG_H, and supplies kasan_port_walk().
 *
 * With CONFIG_KASAN_SHADOW_PIECES each check calls kasan_port_shadow(). If that header defines KASAN_PORT_HAS_SHADOW, it
 * supplies this function too.
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

#if defined(CONFIG_KASAN_SHADOW_PIECES) && !defined(KASAN_PORT_HAS_SHADOW)
/**
 * kasan_port_shadow() - find the shadow of an address
 * @addr: any number.
 * @last: set to the last address of @addr's piece, or of the gap that it lies in. The shadow of [@addr, *@last] follows
 *	that of @addr. Pieces and gaps end before a multiple of 8.
 *
 * Every check, allocation and free calls it, perhaps before the system knows where its shadow lies: then no address has
 * any, and every access passes. It takes no lock.
 *
 * Return: the address of @addr's shadow byte, at (addr >> 3) plus the offset of the piece; 0 if it has none.
 */
uintptr_t kasan_port_shadow(uintptr_t addr, uintptr_t *last);
#endif

#ifdef KASAN_PORT_HAS_EXIDX
/**
 * kasan_port_exidx() - find the exception index table for code (32-bit Arm)
 * @pc: any number.
 * @start, @end: set to the table's first byte and the first one after it. Its entries are sorted by the functions' addresses.
 *
 * Called for traces, in any context, NMIs included. It takes no lock, and the table stays as long as the code.
 *
 * Return: false if @pc is not in code that has a table.
 */
bool kasan_port_exidx(uintptr_t pc, const void **start, const void **end);
#endif

#ifdef KASAN_PORT_HAS_WALK
/* See below. */
#define KASAN_PATH_WORDS 7U
#define KASAN_PATH_MOST	 (3 * CONFIG_KASAN_STACK_DEPTH)
/**
 * kasan_port_walk() - collect a stack trace
 * @start: lowest address of the stack. @end: first address above it. Nothing outside may be read.
 * @ip: a return address that is not 0: into the caller of a function of the runtime, or further up.
 * @fp: __builtin_frame_address(0) of that function of the runtime, or of a newer one. It may be a bad address. Compile the
 *	runtime with -fno-optimize-sibling-calls, so that this frame still exists.
 * @pcs: filled: @ip, then the return address of @ip's function, and so on.
 * @max: entries in @pcs, at least 1.
 * @path: NULL, or KASAN_PATH_MOST entries, filled: for each return address after the first, its distance in bytes from the
 *	previous one, both on the stack, a multiple of 8. If saved registers on the stack say where the return address is, their
 *	number is added to the distance, at most KASAN_PATH_WORDS. For each of them two entries follow: how far below the return
 *	address it is saved, and how far below the end of the return address its value points. After the last entry comes a 0.
 *
 * Called for each trace of an allocation, a free or a report, in any context, NMIs included, and perhaps on another stack
 * than the one that is walked. It takes no lock, and must cope with a stack that a bug has overwritten.
 *
 * The runtime compares later stacks with the path of a trace that it knows, instead of walking them. So everything else must
 * depend only on the return addresses before it: the size of each frame that no saved register tells, and that the last
 * function has no caller. If this is not true of a trace, or if it does not start with the return address of @fp's
 * function, set @path[0] to 0.
 *
 * Return: the number of entries in @pcs, at least 1. If @ip is not found, it comes in front of the trace from @fp on.
 */
size_t kasan_port_walk(uintptr_t start, uintptr_t end, uintptr_t ip, uintptr_t fp, uintptr_t *pcs,
		       size_t max, uint16_t *path);
#endif

/**
 * struct kasan_port_task - the running task, filled by kasan_port_task()
 * @id: number of the task or thread, 0 if there is none. If tasks have no numbers, use part of the descriptor's
 * address.
 * @name: NUL-terminated; NULL if there is none. Reports copy it at once, up to the first unreadable byte.
 * @stack_start: lowest address of the stack that the CPU uses; 0 if not known. The runtime then neither unwinds the
 * stack nor describes stack objects.
 * @stack_end: first address above that stack. Traces of allocations and frees read frames anywhere between the two, so
 * the bounds must be accurate. Reports first test how much of the stack can be read. In a context switch the running task
 * may already be the next one while the CPU still uses the previous task's stack: then give 0 for both, and also on any
 * other stack whose bounds are not known. A stack pointer below the running task's own stack means that this stack has
 * overflowed: give its bounds all the same, because reports compare them with the stack pointer and say so.
 * @trace_end: normally 0. In an interrupt handler that runs on the interrupted code's stack: the address just above the
 * handler's own frames. Traces of allocations and frees end there; otherwise every trace would be a new one, and the
 * stack depot would fill up. The traces of reports continue into the interrupted code.
 * @overflowed: true if the stack has overflowed (its canary words were overwritten). Only reports read it,
 * to print it. If finding out takes long, use kasan_port_stack_overflowed() instead.
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
 * Take it from a fixed pool, or as whole pages from the system's page allocator, which may have the hook
 * kasan_alloc_pages(). Do not take slab objects or chunks of a heap with hooks: allocating them would store a trace,
 * which may need a lock that is already held. The runtime never gives the memory back.
 *
 * The memory is for the stack depot, the stack ring (tag modes: recent allocations and frees), the queues of the
 * quarantines, and the map that the boot parameter kasan.slack=check needs. kasan_init() calls this function. An
 * allocation or a free may call it too, with interrupts off and perhaps with a lock of the runtime held. Reports never
 * call it.
 *
 * Return: zeroed memory aligned to 16 bytes, or NULL. On NULL the runtime drops the trace, or holds fewer objects in the
 * quarantine, and nothing else is affected. It asks again the next time it needs memory.
 */
void *kasan_port_alloc(size_t size);

/**
 * kasan_port_print() - print one line of a report
 * @text: the line, NUL-terminated, without a line feed. At most 255 characters.
 *
 * Called in reports. One-line notices are printed under the same conditions. The lines of a report come in order and from
 * one CPU, never mixed with those of another report. Outside reports, calls from your own code to kasan_report_line()
 * also end up here, in their caller's context. If you add a prefix, such as a timestamp, give it the same width on
 * every line.
 */
void kasan_port_print(const char *text);

/** kasan_port_panic() - stop the system. Called if kasan.fault=panic was given, or if a bug was found in code that was
 *  compiled without -fsanitize-recover, which cannot go on after a report. @why: one line. Called after the report,
 *  with no lock of the runtime held, so it may call the runtime. There is one exception: if code that was compiled
 *  without -fsanitize-recover has a bug while a report is printed, this function is called inside that report. */
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
 * once. If your own code prints %pS with kasan_report_line(), it is called
 * in the context of that call.
 *
 * Default: looks in the table that `./redzone ksyms` made from the image. Without one it finds nothing, so frames
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
 * @starts: for each function, its distance from @base.
 * @name_at: where its name is in @names, NUL-terminated. An empty name means that no function is here.
 *
 * The runtime supplies an empty, weak kasan_ksyms.
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
 *  it; otherwise it is not called. Default: 0 (all times print as 0). */
uint64_t kasan_port_clock(void);

/** kasan_port_seed() - Return: the seed of the random tags (tag modes), and of the pattern that kasan.slack=check
 *  writes. Called at the first allocation of each CPU. Default: 0 (every boot has the same sequence). */
uint64_t kasan_port_seed(void);

/** kasan_port_readable() - can @size bytes at @addr be read without a fault? The runtime asks before it trusts memory
 *  that a bug may have corrupted. It calls this function in three cases: in reports, where the runtime may hold another
 *  of its locks besides the report lock; on a CPU whose report has to wait; and in kasan_heap_free() and its relatives
 *  for early chunks (see kasan_heap_adopt()). A range that wraps around is not readable. Default: true if the range has
 *  shadow. If only some windows of memory have shadow (see kasan_window_add()), it is also true for all other
 *  addresses, except those near null. */
bool kasan_port_readable(const void *addr, size_t size);

/** kasan_port_image() - where in RAM the program itself is: code (unless it runs from flash), data, bss and the stacks
 *  that it is linked with. @start: first byte; @end: first byte after it. Only kasan_window_add() calls it, at boot,
 *  so that it can refuse shadow that overlaps the image, or a first window that leaves out a part of the image.
 *  Default: false (nothing is compared). */
bool kasan_port_image(uintptr_t *start, uintptr_t *end);

/** kasan_port_is_user() - may @addr, which has no shadow, be user memory? Called in reports, to decide between
 *  user-memory-access and wild-memory-access. If only some tasks have user memory, return true if the running task has
 *  some and @addr is in the half of the address space that belongs to users. Default: false (there is no user
 *  memory). */
bool kasan_port_is_user(uintptr_t addr);

/** kasan_port_find_object() - which heap object, live or freed, contains @addr? An object's redzones belong to it.
 *  @obj: filled, see
 *  <kasan/kasan.h>. Called in reports; outside reports by kasan_record_aux_stack(), kasan_cache_check_slack(),
 *  kasan_mempool_poison_object() and related functions, in their callers' context, where the pointer may be wrong too.
 *  Leave out the objects of a kasan_heap: the runtime finds them without this function, even if the heap's own memory
 *  came from an allocator that this function covers. Default: false. */
bool kasan_port_find_object(const void *addr, struct kasan_object *obj);

/** kasan_port_find_area() - which vmalloc area or named region holds @addr? @area: filled. Called in reports.
 *  Default: false. */
bool kasan_port_find_area(const void *addr, struct kasan_area *area);

#ifdef CONFIG_KASAN_PERCPU
/** kasan_port_find_percpu() - with CONFIG_KASAN_PERCPU: which per-CPU variable is @addr in, or in its redzones? @addr:
 *  without a tag. @found: zeroed; filled, of memory that was freed also, as long as the system knows. Called in reports.
 *  Default: false. */
bool kasan_port_find_percpu(uintptr_t addr, struct kasan_percpu *found);
#endif

/**
 * kasan_port_stack_owner() - which other task's stack holds @addr, or begins at most CONFIG_KASAN_STACK_GUARD bytes
 * above @addr?
 * @task: zeroed. Fill @id and @name. Also fill @stack_start, @stack_end and @overflowed if you can: reports then tell
 * the overflow of that stack from other bugs.
 *
 * Called in reports. A task whose stack holds @addr takes precedence over one whose stack begins above it.
 *
 * Default: false (reports say "another task").
 */
bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task);

/** kasan_port_stack_overflowed() - has the stack of the running task, @task as kasan_port_task() gave it, overflowed at
 *  some time? For kasan_stack_overflowed() of <kasan/stack.h>. Called in reports, which then say so. Default: false. */
bool kasan_port_stack_overflowed(const struct kasan_port_task *task);

/**
 * kasan_port_report_stack() - the stack on which this CPU's reports run, so that a report does not overflow the stack of
 *	the task that it reports on
 * @size: filled: its size in bytes, at least KASAN_REPORT_STACK_MIN of <kasan/report.h>.
 *
 * Each CPU has one, which is not the stack of any task or of interrupts. The function is called, and the stack used,
 * with interrupts off. Interrupts that kasan_port_irq_save() does not mask may use it below the report's frames. All
 * functions called "in reports" run on it. kasan_port_report_end(), report hooks and kasan_port_panic() run on the
 * stack of the context that found the bug.
 *
 * Default: NULL (reports run on the stack of the context that found the bug). If the bounds from kasan_port_task()
 * leave too little room on it, the report is shortened and says so.
 *
 * Return: its lowest address, aligned to 16 bytes; NULL: there is none.
 */
void *kasan_port_report_stack(size_t *size);

/** kasan_port_is_code() - can @pc, an address that was found on a stack, be executable code? Traces in reports end at
 *  the first address that is not code. Called in reports. Default: true; on Cortex-M true outside the address ranges
 *  that the processor never executes. */
bool kasan_port_is_code(uintptr_t pc);

/** kasan_port_is_interrupted() - @previous is a return address in a trace. Is the entry after it the address of an
 *  interrupted instruction, rather than another return address? If so, it is looked up as it is, without subtracting 1.
 *  Called in reports. Default: false. */
bool kasan_port_is_interrupted(uintptr_t previous);

/** kasan_port_task_depth() - Return: pointer to the running task's nesting count for
 *  kasan_disable_current(). The count is 0 in a new task. Called with interrupts off, before a report and by
 *  kasan_disable_current() and kasan_enable_current(). Return NULL in an interrupt handler, which then uses the count of
 *  its CPU: a bug in it is reported even if it interrupted a silenced task. Default: NULL (each CPU has one count). */
unsigned int *kasan_port_task_depth(void);

/** kasan_port_page_tag() - tag-based modes: find the tag of the pointers that kasan_alloc_pages() returned for the
 *  page at @addr, even if the page has been freed since. @tag: filled. Called in reports. Return: false if this is not
 *  known. Default: false. */
bool kasan_port_page_tag(const void *addr, uint8_t *tag);

/** kasan_port_print_page() - print what the system knows about the page under @addr, with kasan_report_line(), which it
 *  may call. Called in reports, but only if enough of the stack is left for it. Default: nothing. */
void kasan_port_print_page(const void *addr);

/** kasan_port_print_banner() - print the line "CPU: n PID: n Comm: ..." and further lines of the system's own, with
 *  kasan_report_line(), which it may call. Called in reports, but not for a report that had to wait. Default: "CPU: n
 *  PID: n Comm: name" from kasan_port_task(). */
void kasan_port_print_banner(void);

/** kasan_port_report_begin() - a report starts: the port may stop other writers of the console. Called in the report,
 *  before its first line, if it has any. The next report may begin, on another CPU, before kasan_port_report_end() has been called for
 *  this one. Default: nothing. */
void kasan_port_report_begin(void);

/** kasan_port_report_end() - a report is complete, whether full, the single line of kasan.repeat=brief, or counted without
 *  a line. Called on the CPU that printed it, after the last line, with the report lock free and interrupts as they were before the report. It
 *  may call the runtime, and may panic (panic_on_warn). It need not return: a test may longjmp() out of it. In that case
 *  call kasan_flush_reports() first. @info: what was reported. Default: nothing. */
void kasan_port_report_end(const struct kasan_report_info *info);

/** kasan_port_callback() - call(@with): a callback that somebody has set, or __asan_on_error(), which runs in the report.
 *  If such code uses more registers than the kernel does, save them around the call, or do not call it where it has none.
 *  Default: calls it. */
void kasan_port_callback(void (*call)(const void *with), const void *with);

#ifdef CONFIG_KASAN_SAMPLE
/* --- REQUIRED with CONFIG_KASAN_SAMPLE: see <kasan/sample.h> --- */

/**
 * kasan_port_sample_open() - let the page at @page of the pool be read and written
 *
 * It keeps its memory while it is closed, and may be open already. Called when an object is placed, and after a report of a
 * bad access, which then is carried out. Interrupts may be off; no lock of the runtime is held.
 *
 * Return: false if that is not possible now: the object then comes from the allocator, or the access stays a fault.
 */
bool kasan_port_sample_open(void *page);

/** kasan_port_sample_close() - let each access to the page at @page of the pool fault, on all CPUs. Context as above. */
void kasan_port_sample_close(void *page);
#endif

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
