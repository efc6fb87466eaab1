/* SPDX-License-Identifier: MIT */
/*
 * captured.h - one report on its way from capture to text.
 *
 * report.c fills struct kasan_report in phases; each group of members names the file that fills it. Everything that may
 * change while the report is printed is copied first.
 */
#ifndef KASAN_CAPTURED_H
#define KASAN_CAPTURED_H

#include "check.h"
#include "facts.h"

#include "../alloc/globals.h"
#include "../alloc/hw_slack.h"
#include "../alloc/mapped.h"
#include "../alloc/meta.h"
#include "../base/format.h"
#include "../base/lock.h"
#include "../base/up.h"
#include "../track/track.h"

/* The bad access and its callers, which identify a place that was reported before. */
#define KASAN_PLACE_FRAMES 3

#define KASAN_REPORT_ROWS     5
#define KASAN_REPORT_ROW_SIZE 16 /* granules */

/* What a report knows about an object's state. */
enum kasan_owner_state {
	KASAN_OWNER_UNKNOWN, /* metadata overwritten */
	KASAN_OWNER_NEVER,   /* the slot was never allocated */
	KASAN_OWNER_LIVE,
	KASAN_OWNER_FREED,
};

/**
 * struct kasan_owner - the heap object that an address belongs to, in terms that all kinds share
 * @kind: KASAN_OBJECT_NONE if there is none.
 * @start, @size: the bytes asked for.
 * @cache_size: its size for the allocator.
 * @slot_size: SLAB: distance to the next object; else 0.
 * @corrupt: its metadata was overwritten: @size comes from the shadow, and tracks are left out.
 * @name: of cache or heap, checked and copied.
 * @has_alloc, @has_free: @alloc, @free hold credible tracks.
 */
struct kasan_owner {
	enum kasan_object_kind kind;
	enum kasan_owner_state state;
	uintptr_t start;
	size_t size;
	size_t cache_size;
	size_t slot_size;
	bool corrupt;
	bool has_alloc, has_free;
	struct kasan_track alloc, free;
	uint32_t aux_stack[2];
	char name[48];
};

/**
 * struct kasan_frame - the stack frame that an address lies in
 * @base: lowest address of its instrumented part, where offsets start.
 * @function: code address in its function.
 * @descr: the compiler's description, "n off size namelen name ...", readable up to its NUL.
 */
struct kasan_frame {
	uintptr_t base;
	uintptr_t function;
	const char *descr;
};

#if defined(CONFIG_KASAN_HW_TAGS) && CONFIG_KASAN_STACK
#define KASAN_TAGGED_FRAMES 1
#endif

/**
 * struct kasan_tagged_frame - the frame that an address on a stack with tagged variables lies in
 * @fp: its record; 0: not found. @pc: code address in its function. @is_return: @pc comes after a call.
 * @is_dead: the address lies below the stack pointer, so its frame is gone.
 * @low, @high: the nearest memory with the pointer's tag, in whole granules; 0: there is none.
 */
struct kasan_tagged_frame {
	uintptr_t fp, pc;
	bool is_return, is_dead;
	uintptr_t low, high;
};

#define KASAN_HOW_WRITE	  1U
#define KASAN_HOW_FREE	  2U
#define KASAN_HOW_FAULT	  4U
#define KASAN_HOW_AT_PC	  8U
#define KASAN_HOW_ASYNC	  16U
#define KASAN_HOW_UNCLEAR 32U

#ifdef CONFIG_KASAN_UBSAN
struct ubsan_type;

/**
 * struct kasan_undefined - a bug of UBSan, from one of its functions
 * @file, @line, @column: where the source does it; NULL: not known.
 * @add: appends the sentence that says what was wrong, while the report is captured; NULL: there is none. It gets
 * @sentence, @types and @values: ubsan/data.h.
 * @ip, @fp: where the trace starts.
 * @regs: registers of the code that has trapped; NULL: it has called a function.
 */
struct kasan_undefined {
	const char *file;
	uint32_t line, column;
	void (*add)(struct kasan_line *line, const struct kasan_undefined *bug);
	const char *sentence;
	const struct ubsan_type *const *types;
	uintptr_t values[3];
	uintptr_t ip, fp;
	const struct kasan_regs *regs;
};

/** kasan_report_undefined() - report.c: report @found. @type: constant. Return: false if it was suppressed. */
bool kasan_report_undefined(const char *type, const struct kasan_undefined *found);
#endif

/**
 * struct kasan_bug - the facts of a bug, as in struct kasan_report
 * @how: KASAN_HOW_*.
 * @slack: copied into the report; NULL: none.
 * @regs: registers of the interrupted code, where @ip comes from; NULL: not interrupted, or not known.
 * @owner: the task whose stack has overflowed, if that was found.
 * @note, @source: as for kasan_report_call().
 * @undefined: what UBSan has found; NULL: it is a bug of memory.
 * @sp: from report.c: stack pointer of the context that found it; 0: not known.
 * @task: from report.c: that context's task, as the port describes it.
 */
struct kasan_bug {
	const char *type;
	uintptr_t addr;
	size_t size;
	unsigned int how;
	uintptr_t ip, fp;
	const struct kasan_slack *slack;
	const struct kasan_regs *regs;
	const struct kasan_port_task *owner;
	const char *note;
	uintptr_t source;
#ifdef CONFIG_KASAN_UBSAN
	const struct kasan_undefined *undefined;
#endif
	uintptr_t sp;
	struct kasan_port_task task;
#ifdef CONFIG_KASAN_TAGS
	uint64_t newest_record;
#endif
};

struct kasan_report {
	/* From capture.c: the arguments of kasan_report_access() and the other entry functions. */
	const char *type; /* frees: given; accesses: kasan_classify() */
#if CONFIG_KASAN_CHEAP_REPEATS
	const char *given; /* @type before kasan_explain(); NULL: that classifies it */
#endif
	uintptr_t addr;	   /* without tag */
	uintptr_t pointer; /* as it was used */
	size_t size;	   /* 0: not known, or a free */
	bool is_write, is_free, is_fault;
	bool is_call;	  /* a fault: the CPU went to @addr, which is not code */
	bool is_unclear;  /* a fault, read or write: @is_write is set, because it may be one */
	bool is_overflow; /* of a stack: given by the system, or found by kasan_capture() */
	bool at_pc;	  /* @ip is the access itself, not a return address */
	bool is_async;	  /* found by the CPU some time ago: nothing but @ip is known */
	/* A write that was found later by its result (kasan.slack=check); @slack.found is NULL if it is not one. */
	struct kasan_slack slack;
	uintptr_t ip, fp;
	const char *note; /* a line of its own; NULL: none */
	uintptr_t source; /* of a copy; 0: it is not one */
#if CONFIG_KASAN_CALLBACKS
	uintptr_t sp; /* of the context that found it; 0: not known */
#endif

#ifdef CONFIG_KASAN_TAGS
	uint64_t newest_record; /* of the stack ring, when the bug was found */
#endif

#ifdef CONFIG_KASAN_UBSAN
	bool is_undefined; /* a bug of UBSan: nothing is known of memory */
	const char *file;
	uint32_t line, column;
	struct kasan_line sentence; /* empty: there is none */
#endif

	/* From capture.c: task, call trace, and the state of memory. */
	unsigned int cpu;
	bool was_put_off; /* printed by another context than the one that found it */
	struct kasan_port_task task;
	char comm[32];
	size_t depth;
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	bool has_shadow;
	uintptr_t
		first_bad;  /* first byte that may not be accessed; @addr where that is not known */
	uint8_t bad_shadow; /* shadow of its granule */
	uintptr_t rows_base; /* address of the first row */
	bool row_valid[KASAN_REPORT_ROWS];
	uint8_t rows[KASAN_REPORT_ROWS][KASAN_REPORT_ROW_SIZE];
	struct kasan_tagged_frame tagged;

	/* From capture.c, if @is_overflow: whose stack it is. How far below it, or else below the task's stack, the stack
	 * pointer is; 0: not below it, or not known. */
	struct kasan_port_task overflow_task;
	char overflow_comm[32];
	size_t overflow_by;

	/* From describe.c: the owner of the memory. */
	bool is_sampled,
		sampled_at_end; /* the owner lies on a page of its own; it ends where that does */
	struct kasan_owner owner;
	const struct kasan_global *global;
	bool left_global; /* software tags: the pointer was made for @global, and the access is not inside */
	bool on_stack;	     /* of @task */
	bool on_other_stack; /* of task @other_comm with number @other_id */
	uint32_t other_id;
	char other_comm[32];
	uintptr_t alloca_pc; /* in the function whose alloca() it is; 0: none, or not known */
	bool has_frame;
	struct kasan_frame frame;
	bool has_area;
	struct kasan_area area;
#ifdef CONFIG_KASAN_DMA
	bool has_dma;
	struct kasan_dma_mapping dma;
#endif
#ifdef CONFIG_KASAN_PERCPU
	bool has_percpu;
	struct kasan_percpu percpu;
	char percpu_name[48];
#endif
};

/* Only hardware tags find a bug some time after the access. */
#ifdef CONFIG_KASAN_HW_TAGS
#define KASAN_IS_ASYNC(report) ((report)->is_async)
#else
#define KASAN_IS_ASYNC(report) ((void)(report), false)
#endif

#ifdef CONFIG_KASAN_SAMPLE
#define KASAN_IS_SAMPLED(report) ((report)->is_sampled)
#else
#define KASAN_IS_SAMPLED(report) ((void)(report), false)
#endif

/* Can bytes around an object be found overwritten? */
#if CONFIG_KASAN_SLAB || defined(CONFIG_KASAN_SAMPLE) || defined(CONFIG_KASAN_DMA)
#define KASAN_HAS_SLACK 1
#else
#define KASAN_HAS_SLACK 0
#endif

/* A constant where only one kind of bug is reported, so that the code for the other kind is not there. */
#if !defined(CONFIG_KASAN_UBSAN)
#define KASAN_IS_UNDEFINED(report)  ((void)(report), false)
#define KASAN_BUG_IS_UNDEFINED(bug) ((void)(bug), false)
#define KASAN_IS_NOT_OF_MEMORY	    KASAN_IS_ASYNC
#define KASAN_PANIC_WHY		    "kasan.fault=panic: bad access or free"
#else
#ifdef KASAN_UBSAN_ALONE
#define KASAN_IS_UNDEFINED(report) ((void)(report), true)
#else
#define KASAN_IS_UNDEFINED(report) ((report)->is_undefined)
#endif
#define KASAN_BUG_IS_UNDEFINED(bug)    ((bug)->undefined != NULL)
/* Nothing is known of an access. */
#define KASAN_IS_NOT_OF_MEMORY(report) (KASAN_IS_ASYNC(report) || KASAN_IS_UNDEFINED(report))
#define KASAN_PANIC_WHY		       "kasan.fault=panic: bad access or free, or undefined behaviour"
#endif

/* --- notice.c --- */

/* Held by a context that prints. First in the order of locks, see lock.h. */
extern struct kasan_lock kasan_report_lock;

/** kasan_line_print() - print @line through the port. */
void kasan_line_print(struct kasan_line *line);

/** kasan_lines_printed() - Return: how many lines were printed, to see whether the port printed any. */
unsigned long kasan_lines_printed(void);

/* --- lifecycle.c --- */

/** kasan_may_report() - is reporting on, and not switched off here? Interrupts are off. */
bool kasan_may_report(void);

/** kasan_take_shot() - Return: true if this is the first report, multi-shot is on, or kasan.fault=panic_on_write makes
 *  a panic follow. @is_write: bad write or free. */
bool kasan_take_shot(bool is_write);

/* --- checked.c --- */

/** kasan_remember_check() - @report has been made on this CPU. Interrupts are off. */
void kasan_remember_check(const struct kasan_report *report);

/** kasan_was_checked() - has a check in this task just reported the access at @addr? */
bool kasan_was_checked(uintptr_t addr);

/* --- capture.c --- */

/** kasan_capture() - fill @report with what may change. Interrupts are off. */
void kasan_capture(struct kasan_report *report, const struct kasan_bug *bug);

/** kasan_capture_place() - fill @report with what kasan_count_silently() needs. Return: false if this bug cannot be
 *  counted without the rest. */
bool kasan_capture_place(struct kasan_report *report, const struct kasan_bug *bug);

/** kasan_capture_short() - kasan_capture() for a short report, with its type: no trace, and no memory but that of the
 *  access. */
void kasan_capture_short(struct kasan_report *report, const struct kasan_bug *bug);

/** kasan_is_return() - is @pc an address in code, after a call? */
bool kasan_is_return(uintptr_t pc);

/** kasan_clip_stack() - reduce the bounds of @task's stack to the readable part around a place that is certainly in it.
 *  The bounds may be garbage, and frames are read anywhere inside. @sp, @fp: of the context that found the bug. */
void kasan_clip_stack(struct kasan_port_task *task, uintptr_t sp, uintptr_t fp);

/* --- own_stack.c --- */

/** enum kasan_room - how much of the stack is left for a report */
enum kasan_room {
	KASAN_ROOM_WHOLE,
	KASAN_ROOM_SHORT, /* for a few lines */
	KASAN_ROOM_NONE,
};

/** kasan_room_here() - can a report run on the stack that the CPU is on, or does it have its own? @task: the running
 *  one. @left: filled with the bytes left, unless KASAN_ROOM_WHOLE. Interrupts are off. */
enum kasan_room kasan_room_here(const struct kasan_port_task *task, size_t *left);

/** kasan_on_own_stack() - call @function on the stack for reports if there is one and it is free, else here. Interrupts
 *  are off. */
void kasan_on_own_stack(void (*function)(void *argument), void *argument);

/* --- repeat.c --- */

/** kasan_count_repeats() - count a report of @report's place. The type is known, and the report lock is held. Return:
 *  reports of this place so far, with this one; 1 if it is new or was forgotten. */
unsigned long kasan_count_repeats(const struct kasan_report *report);

/** kasan_count_silently() - count a bug of a known place if its number has no line (kasan_repeat_has_line()), so that the
 *  rest need not be captured. @report: filled by kasan_capture_place(); gets the type of the place. The report lock is
 *  held. Return: as kasan_count_repeats(); 0: it was not counted. */
unsigned long kasan_count_silently(struct kasan_report *report);

/** kasan_repeat_has_line() - does kasan.repeat=brief print a line for report number @count of a place? For the 2nd, 4th,
 *  8th and so on: a bug in a loop must not fill the console. */
static inline bool kasan_repeat_has_line(unsigned long count)
{
	return !(count & (count - 1));
}

/** kasan_is_place() - is entry @i of the trace @pcs an instruction itself, and not one after a call? @first_is_exact:
 *  for the first entry. */
static inline bool kasan_is_place(const uintptr_t *pcs, size_t i, bool first_is_exact)
{
	return i ? kasan_port_is_interrupted(pcs[i - 1]) : first_is_exact;
}

/* --- record.c --- */

/** kasan_record_report() - write @report, of which everything is known, to the crash record. @count: from
 *  kasan_count_repeats(). The report lock is held. */
#ifdef CONFIG_KASAN_RECORD
void kasan_record_report(const struct kasan_report *report, unsigned long count);
#else
#define kasan_record_report(report, count) ((void)(report), (void)(count))
#endif

/* --- ignore.c --- */

/** kasan_ignore_set() - replace the list of kasan.ignore=. @value: names separated by commas, each perhaps with a '*'
 *  at its end for any rest; "" for none. Return: false if it is not such a list; the list is unchanged then. */
bool kasan_ignore_set(const char *value);

/** kasan_ignored() - is a function of the list in this bug's call trace? Interrupts are off. */
#if CONFIG_KASAN_IGNORE
bool kasan_ignored(const struct kasan_bug *bug);
#else
#define kasan_ignored(bug) ((void)(bug), false)
#endif

/* --- options.c --- */

/* What happens after a report. */
enum kasan_fault_mode {
	KASAN_GO_ON,
	KASAN_PANIC,
	KASAN_PANIC_ON_WRITE,
};
extern unsigned int kasan_opt_fault;	   /* enum kasan_fault_mode */
extern unsigned int kasan_opt_multi_shot;  /* read and written with atomics */
extern unsigned int kasan_opt_repeat_full; /* kasan.repeat=full */

/* --- classify.c --- */

/** kasan_classify() - set @report->type from address, size and shadow. */
void kasan_classify(struct kasan_report *report);

/** kasan_classify_by_owner() - correct the type if the shadow did not help but an object was found. */
void kasan_classify_by_owner(struct kasan_report *report);

/** kasan_telling_shadow() - Generic mode. Return: the shadow byte that determines the type: that of the first bad byte,
 *  or of the next granule if the first bytes of its own are accessible. */
uint8_t kasan_telling_shadow(const struct kasan_report *report);

/* --- describe.c, describe_stack.c --- */

/** kasan_describe_object() - the part of kasan_describe() for heap objects. */
void kasan_describe_object(struct kasan_report *report);

/** kasan_copy_name() - fill @to, of @size bytes, with @name if it can be read and is not empty, else with @otherwise, a
 *  shorter constant. */
void kasan_copy_name(char *to, size_t size, const char *name, const char *otherwise);

/** kasan_owner_name() - the same for @owner->name. */
static inline void kasan_owner_name(struct kasan_owner *owner, const char *name,
				    const char *otherwise)
{
	kasan_copy_name(owner->name, sizeof(owner->name), name, otherwise);
}

/** kasan_owner_large() - fill @owner with a large allocation. */
void kasan_owner_large(struct kasan_owner *owner, const struct kasan_object *object);

/** kasan_owner_heap() - fill @owner, which is zeroed, with the chunk of a simple heap. */
void kasan_owner_heap(struct kasan_owner *owner, const struct kasan_heap_chunk *chunk);

/** kasan_type_without_shadow() - Return: the bug type of an address that has no owner. */
const char *kasan_type_without_shadow(uintptr_t addr);

/** kasan_size_is_absurd() - does @report's range wrap around, or is its size negative? Never true for faults: they have
 *  sizes of single accesses, and an error code used as a pointer lies just below the wrap-around. */
bool kasan_size_is_absurd(const struct kasan_report *report);

/** kasan_describe() - find the owner of @report->addr, of any kind. */
void kasan_describe(struct kasan_report *report);

/** kasan_explain() - classify and describe a report of memory, of which all has been captured. */
void kasan_explain(struct kasan_report *report);

/* hw_frame.c: hardware tags, if the compiler tags stack variables. */
#ifdef KASAN_TAGGED_FRAMES
/** kasan_capture_frame() - fill @report->tagged if the address lies on the stack that the CPU is on. */
void kasan_capture_frame(struct kasan_report *report);

/** kasan_has_tagged_frame() - Return: did that find where the address lies? */
bool kasan_has_tagged_frame(const struct kasan_report *report);

/** kasan_print_tagged_frame() - print it, after the line that names the stack. */
void kasan_print_tagged_frame(const struct kasan_report *report);
#else
#define kasan_capture_frame(report)	 ((void)(report))
#define kasan_has_tagged_frame(report)	 ((void)(report), false)
#define kasan_print_tagged_frame(report) ((void)(report))
#endif

/** kasan_describe_stack() - the part of kasan_describe() for stacks. */
void kasan_describe_stack(struct kasan_report *report);

/** kasan_print_frame() - print the lines of "This frame has N objects:". */
void kasan_print_frame(const struct kasan_frame *frame);

/** kasan_find_variable() - fill name and place of @located with the variable of @frame that @addr lies in, or else with
 *  the next one above. */
struct kasan_located;
void kasan_find_variable(const struct kasan_frame *frame, uintptr_t addr,
			 struct kasan_located *located);

/** kasan_copy_string() - copy a string that may be garbage: at most @size - 1 characters, up to memory that cannot be
 *  read; unprintable characters become '?'. Return: characters copied. */
size_t kasan_copy_string(char *to, const char *from, size_t size);

/* --- print.c --- */

void kasan_print_report(const struct kasan_report *report);

/** kasan_print_tracks() - print the stacks of @owner's allocation and free, and of work that has to do with it. */
void kasan_print_tracks(const struct kasan_owner *owner);

/** kasan_print_short() - print what needs little stack. @left: bytes of stack left. */
void kasan_print_short(const struct kasan_report *report, size_t left);

/** kasan_print_again() - print the one line for a report whose place is known. @count: reports of this place so far,
 *  with this one. */
void kasan_print_again(const struct kasan_report *report, unsigned long count);

#endif /* KASAN_CAPTURED_H */
