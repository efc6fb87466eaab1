/* SPDX-License-Identifier: MIT */
/* core.h - life cycle, options, shadow and explicit checks: the part of <kasan/kasan.h> that every port needs. */
#ifndef KASAN_CORE_H
#define KASAN_CORE_H

#include <kasan/hook.h>
#include <kasan/tag.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Life cycle --- */

/**
 * kasan_init() - start reporting
 * @memory: bytes of memory under management; the quarantine's bound is 1/32 of it (CONFIG_KASAN_QUARANTINE_SHIFT).
 *
 * Call once, on the boot CPU, after real shadow is in place. Until then a failed check is ignored.
 */
KASAN_REPORT_HOOK void kasan_init(size_t memory) KASAN_REPORT_OFF();

/** kasan_enabled() - Return: true while bad accesses are reported: from kasan_init() on, unless kasan=off. */
KASAN_REPORT_HOOK bool kasan_enabled(void) KASAN_REPORT_OFF(return false);

/**
 * kasan_on() - Return: false if kasan=off was given before kasan_init()
 *
 * After kasan=off the hooks of slabs, pages, vmalloc areas and pools return at once, as in a kernel without KASAN, and
 * allocators need no redzones and no room for metadata. The answer does not change after kasan_init(), so it may decide
 * how memory is laid out.
 */
#ifdef CONFIG_KASAN
extern bool kasan_hooks_off;
static inline bool kasan_on(void)
{
	return __builtin_expect(!kasan_hooks_off, 1);
}
#else
static inline bool kasan_on(void)
{
	return false;
}
#endif

/* --- Options --- */

#define KASAN_OPTION_NO_EFFECT 1
#define KASAN_OPTION_UNKNOWN   (-1)
#define KASAN_OPTION_INVALID   (-2)

/**
 * kasan_option() - set one option by its boot parameter name
 * @name: "kasan.fault", "kasan_multi_shot", "kasan.stacktrace", ...
 * @value: its text; NULL if the parameter came without "=".
 *
 * Every build knows the parameters of every mode. "kasan=off" before kasan_init() cannot be undone: see kasan_on().
 *
 * Return: 0; KASAN_OPTION_NO_EFFECT: name and value are right, but the option is for another mode;
 * KASAN_OPTION_UNKNOWN: no option has this name; KASAN_OPTION_INVALID: the value was not accepted, and the option keeps
 * the one it had (kasan_option_values() says what is accepted).
 */
KASAN_REPORT_HOOK int kasan_option(const char *name, const char *value)
	KASAN_REPORT_OFF(return KASAN_OPTION_UNKNOWN);

/** kasan_option_values() - Return: the values that option @name accepts as text, "report|panic"; NULL if no option has
 *  this name. */
KASAN_REPORT_HOOK const char *kasan_option_values(const char *name) KASAN_REPORT_OFF(return NULL);

/** kasan_option_number() - @number: filled with what option @name is set to: a number, or which of its words, from 0 on;
 *  for "on|off" 1 or 0. Return: false if no option has this name, or if it sets something else. */
KASAN_REPORT_HOOK bool kasan_option_number(const char *name, unsigned int *number)
	KASAN_REPORT_OFF(return false);

/**
 * struct kasan_option_doc - one option, for help texts
 * @values: as kasan_option_values() returns them. @help: one line. @fallback: the value without the parameter.
 * @modes: those in which the option has an effect.
 */
struct kasan_option_doc {
	const char *name, *values, *help, *fallback, *modes;
};

/** kasan_options() - Return: the table of all options. @count: filled with their number. */
KASAN_REPORT_HOOK const struct kasan_option_doc *kasan_options(size_t *count)
	KASAN_REPORT_OFF(*count = 0; return NULL);

/* --- Shadow --- */

#ifdef CONFIG_KASAN_TAGS
/* All memory that no pointer may access has this one tag, whatever the reason; reports find the reason in other
 * ways. */
#define KASAN_PAGE_FREE		KASAN_TAG_INVALID
#define KASAN_PAGE_REDZONE	KASAN_TAG_INVALID
#define KASAN_SLAB_REDZONE	KASAN_TAG_INVALID
#define KASAN_SLAB_FREE		KASAN_TAG_INVALID
#define KASAN_GLOBAL_REDZONE	KASAN_TAG_INVALID
#define KASAN_VMALLOC_INVALID	KASAN_TAG_INVALID
#define KASAN_HEAP_LEFT_REDZONE KASAN_TAG_INVALID
/* A program's own poison inside an object: the tag of memory without tags, which no pointer to an object has. */
#define KASAN_USER_POISON KASAN_TAG_KERNEL
#else
/* Values of Generic mode. 00: all 8 bytes of the granule are accessible; 01..07: the first N; negative: none, and why.
 * The compilers' ABI names or writes F1-F3, F8, CA and CB; the other values are customary. */
#define KASAN_PAGE_FREE		0xFF /* page given back to the page allocator */
#define KASAN_PAGE_REDZONE	0xFE /* after a large allocation, up to the end of its pages */
#define KASAN_SLAB_REDZONE	0xFC /* slab memory that no object owns */
#define KASAN_SLAB_FREE		0xFB /* freed slab object */
#define KASAN_SLAB_FREE_META	0xFA /* same, and its first bytes hold a valid kasan_free_meta */
#define KASAN_GLOBAL_REDZONE	0xF9
#define KASAN_STACK_AFTER_SCOPE 0xF8 /* compiler */
#define KASAN_VMALLOC_INVALID	0xF7 /* vmalloc space that no area owns */
#define KASAN_HEAP_LEFT_REDZONE 0xF6 /* simple heap: before the object */
#define KASAN_USER_POISON	0xF4 /* a program's own: "use-after-poison" */
#define KASAN_STACK_LEFT	0xF1 /* compiler */
#define KASAN_STACK_MID		0xF2 /* compiler */
#define KASAN_STACK_RIGHT	0xF3 /* compiler */
#define KASAN_ALLOCA_LEFT	0xCA
#define KASAN_ALLOCA_RIGHT	0xCB
#endif

#if defined(CONFIG_KASAN_SHADOW_WINDOWED) || !defined(CONFIG_KASAN)
/**
 * kasan_window_add() - give a range of memory its shadow
 * @start: first byte, aligned to 8.
 * @size: bytes, a multiple of 8.
 * @shadow: @size / 8 bytes, outside the range; zeroed here.
 *
 * Inline checks and stack instrumentation use the first window: its shadow must lie at (start >> 3) +
 * CONFIG_KASAN_SHADOW_OFFSET where that is defined.
 *
 * May be called at any time, also after kasan_init() and while other CPUs run, for memory that is not in use yet: a
 * second mapping, a region found late. Calls must not overlap.
 *
 * Return: NULL, or a message that says what is wrong and which number would be right.
 */
KASAN_HOOK const char *kasan_window_add(uintptr_t start, size_t size, void *shadow)
	KASAN_OFF(return NULL);

/** kasan_window_shadow() - where the shadow of a further window at @start must lie, so that instrumented stacks,
 *  globals and inline checks find it. @start: aligned to 8. Call it after the first window was added. Return: the
 *  address; map memory there before kasan_window_add(). */
KASAN_HOOK void *kasan_window_shadow(uintptr_t start) KASAN_OFF(return (void *)start);

/**
 * kasan_check_stack() - can instrumented code run on the stack [@low, @high)?
 *
 * For stacks outside the image: in another window, or at another mapping. kasan_check_offset() tests only the stack
 * that it is called on.
 *
 * Return: NULL, or what is wrong and which number would be right: the stack has no shadow, or its window has its shadow
 * where compiled code does not look.
 */
KASAN_HOOK const char *kasan_check_stack(const void *low, const void *high) KASAN_OFF(return NULL);
#endif

#if defined(CONFIG_KASAN_SHADOW_DYNAMIC) || !defined(CONFIG_KASAN)
/**
 * kasan_shadow_place() - say where the shadow lies, with CONFIG_KASAN_SHADOW_DYNAMIC
 * @offset: the shadow of address a lies at (a >> 3) + @offset, with software tags at (a >> 4) + @offset.
 * @low, @high: the lowest and the last address that has shadow, of whole granules.
 *
 * Call it once, on the boot CPU, while all of that shadow is mapped and holds 0, and before other CPUs run. Inline checks
 * of the dynamic kind (Clang's -asan-force-dynamic-shadow) and its stack poison use @offset from then on. Before it they
 * use 0, so no function that is compiled so may run earlier.
 *
 * Return: NULL, or a message that says what is wrong.
 */
KASAN_HOOK const char *kasan_shadow_place(uintptr_t offset, uintptr_t low, uintptr_t high)
	KASAN_OFF(return NULL);
#endif

/**
 * kasan_check_offset() - does instrumented code see the shadow where the runtime keeps it?
 *
 * Call it from an instrumented file once shadow is in place (after kasan_window_add()), and stop with its message if
 * there is one: without this call a wrong offset shows only as strange behaviour. CONFIG_KASAN_STACK=0 leaves out the
 * part that needs stack instrumentation. In the tag-based modes the first tagged access that is refused proves the
 * same.
 *
 * Return: NULL if all is well or the caller is not instrumented; else what is wrong and which number would be right.
 */
#ifdef CONFIG_KASAN_GENERIC
#ifdef __SANITIZE_ADDRESS__
#define KASAN_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KASAN_INSTRUMENTED 1
#endif
#endif
const char *kasan_probe_begin(const volatile void *object, size_t size, bool has_redzones);
const char *kasan_probe_end(const volatile void *object);
#endif

static __attribute__((__noinline__, __unused__)) const char *kasan_check_offset(void)
{
#ifdef KASAN_INSTRUMENTED
	char object[16] __attribute__((__aligned__(8)));
	volatile char *touched = object;
	const char *wrong;

	/* Hide the address from the compiler: it would otherwise prove that no check is needed. */
	__asm__ volatile("" : "+r"(touched) : : "memory");
	wrong = kasan_probe_begin(touched, sizeof(object), CONFIG_KASAN_STACK);
	if (wrong)
		return wrong;
	(void)touched[0];
	return kasan_probe_end(touched);
#else
	return NULL;
#endif
}

/** kasan_shadow_of() - Return: address of the shadow byte of @addr, NULL if it has none (with CONFIG_KASAN_HW_TAGS:
 *  always). */
KASAN_HOOK uint8_t *kasan_shadow_of(const void *addr) KASAN_OFF(return NULL);

/** kasan_memory_state() - read the state of the granule at @addr that a report would print: its shadow byte or its
 *  memory tag. @state: filled. Return: false if it has none. */
KASAN_HOOK bool kasan_memory_state(const void *addr, uint8_t *state) KASAN_OFF(return false);

/** kasan_shadow_fault_to_access() - find the memory address whose shadow lies at @shadow. For fault handlers: an inline
 *  check of a wild pointer faults on the shadow load. Return: false if @shadow is below the shadow of address 0, or if
 *  the layout has no offset that holds for all addresses. */
KASAN_HOOK bool kasan_shadow_fault_to_access(uintptr_t shadow, uintptr_t *addr)
	KASAN_OFF(return false);

/** kasan_poison() - make [@addr, @addr + @size) inaccessible. @addr, @size: aligned to a granule; the whole range must
 *  have shadow. @value: KASAN_* above; in tag modes the tag that the memory gets. */
KASAN_HOOK void kasan_poison(const void *addr, size_t size, uint8_t value) KASAN_OFF();

/** kasan_unpoison() - make [@addr, @addr + @size) accessible to the byte: the rest of the last granule becomes
 *  inaccessible. @addr: aligned to a granule. In tag modes the memory becomes accessible to pointers with @addr's tag;
 *  with CONFIG_KASAN_HW_TAGS up to the end of the granule. */
KASAN_HOOK void kasan_unpoison(const void *addr, size_t size) KASAN_OFF();

/** kasan_poison_tail() - poison the memory after an object inside [@addr, @addr + @span): the first @size bytes stay
 *  (or become) accessible, the rest gets @value. @addr, @span: aligned to a granule. */
KASAN_HOOK void kasan_poison_tail(const void *addr, size_t size, size_t span, uint8_t value)
	KASAN_OFF();

/* --- Explicit checks --- */

/** kasan_check_read(), kasan_check_write() - report unless all of [@addr, @addr + @size) is accessible. For
 *  uninstrumented code that touches memory on behalf of its caller. Return: true if it is accessible. */
KASAN_HOOK bool kasan_check_read(const volatile void *addr, size_t size) KASAN_OFF(return true);
KASAN_HOOK KASAN_READS_NOTHING bool kasan_check_write(const volatile void *addr, size_t size)
	KASAN_OFF(return true);

/** kasan_check_overlap() - report unless [@dst, @dst + @size) and [@src, @src + @size) are apart: for functions whose
 *  ranges must not overlap. memcpy() of the runtime calls it. Return: false if it was reported; always true without
 *  CONFIG_KASAN_OVERLAP. */
#if defined(CONFIG_KASAN) && defined(CONFIG_KASAN_OVERLAP)
bool kasan_check_overlap(const void *dst, const void *src, size_t size);
#else
static inline bool kasan_check_overlap(const void *dst, const void *src, size_t size)
{
	(void)dst;
	(void)src;
	(void)size;
	return true;
}
#endif

/** kasan_check_byte() - report if the byte at @addr is not accessible. Return: true if it is. */
KASAN_HOOK bool kasan_check_byte(const void *addr) KASAN_OFF(return true);

/** kasan_check_byte_for() - the same for an allocator's function that checks on behalf of its caller. @ip: the code
 *  address that the report names, a return address on this stack. */
KASAN_HOOK bool kasan_check_byte_for(const void *addr, uintptr_t ip) KASAN_OFF(return true);

/** kasan_check_access_for() - kasan_check_read(), or with @is_write kasan_check_write(), for a system's function that
 *  checks on behalf of its caller. @ip: the code address that the report names, a return address on this stack. */
KASAN_HOOK bool kasan_check_access_for(const volatile void *addr, size_t size, bool is_write,
				       uintptr_t ip) KASAN_OFF(return true);

/** kasan_byte_accessible() - the same without a report. */
KASAN_HOOK bool kasan_byte_accessible(const void *addr) KASAN_OFF(return true);

/**
 * kasan_disable_current(), kasan_enable_current() - do not report bugs of the running task in between
 *
 * Its bad accesses and frees still take place. Pairs nest, and the task may sleep, be preempted and move to another
 * CPU. Bugs of other tasks and of interrupt handlers are still reported, including those in work that this task starts.
 * Without kasan_port_task_depth() the silence belongs to the CPU: do not let it schedule in between.
 */
KASAN_REPORT_HOOK void kasan_disable_current(void) KASAN_REPORT_OFF();
KASAN_REPORT_HOOK void kasan_enable_current(void) KASAN_REPORT_OFF();

#ifdef __cplusplus
}
#endif

#endif /* KASAN_CORE_H */
