/* SPDX-License-Identifier: MIT */
/*
 * asan_interface.h - what code may tell and ask the sanitizer under the names of LLVM's and GCC's
 * <sanitizer/asan_interface.h> and <sanitizer/allocator_interface.h>: a library, a test or a debugger script that knows
 * those needs no change. Kernels include either name; <kasan/kasan.h> has more hooks, and does not need this file.
 *
 * All functions work in every mode, within what the mode knows; without a mode they are empty (see hook.h). Where a
 * function takes any pointer, any value is safe. Unless its comment says otherwise, a function may be called in any
 * context, also in a callback of this file, but not in the port's own functions that a report calls.
 *
 * Not here: what only makes sense in a process of a hosted system. tests/unit/interface.py has the list, with reasons.
 */
#ifndef KASAN_ASAN_INTERFACE_H
#define KASAN_ASAN_INTERFACE_H

/* Programs of the reference kernel are linked with the functions in every mode, also without one. */
#ifdef KASAN_INTERFACE_LINKED
#include <stddef.h>
#ifndef KASAN_ASK
#define KASAN_ASK
#define KASAN_NO_ANSWER(...)
#endif
#else
#include <kasan/hook.h>
#define KASAN_ASK	KASAN_HOOK
#define KASAN_NO_ANSWER KASAN_OFF
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Poison --- */

/**
 * __asan_poison_memory_region() - an access to [@addr, @addr + @size) is reported from now on, as "use-after-poison"
 *
 * The contents stay. The granule at the end, and in the tag modes also the one at the start, is poisoned if the region
 * has all of its bytes that belong to the object. A compact shadow (CONFIG_KASAN_SHADOW_COMPACT) has no value for
 * poison, so nothing is poisoned there. Two calls must not change the same granule at the same time.
 */
KASAN_ASK void __asan_poison_memory_region(void const volatile *addr, size_t size)
	KASAN_NO_ANSWER();

/** __asan_unpoison_memory_region() - it may be accessed again. Neighbours in the same granules may be too. In the tag
 *  modes @addr must have the tag of the pointer that the allocator returned. */
KASAN_ASK void __asan_unpoison_memory_region(void const volatile *addr, size_t size)
	KASAN_NO_ANSWER();

/** __asan_address_is_poisoned() - Return: 1 if an access to the byte at @addr would be reported, else 0. */
KASAN_ASK int __asan_address_is_poisoned(void const volatile *addr) KASAN_NO_ANSWER(return 0);

/** __asan_region_is_poisoned() - Return: the first byte of [@beg, @beg + @size) whose access would be reported; NULL if
 *  there is none. */
KASAN_ASK void *__asan_region_is_poisoned(void *beg, size_t size) KASAN_NO_ANSWER(return NULL);

/* Without a sanitizer for addresses in the compiler these need not be calls, but the CPU may check the memory. */
#define ASAN_POISON_MEMORY_REGION(addr, size)	__asan_poison_memory_region((addr), (size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) __asan_unpoison_memory_region((addr), (size))

/* --- Whose memory it is --- */

/* These wait for a report that is being printed. */

/** __asan_describe_address() - print what is known about @addr: its object, with the stacks of its allocation and free,
 *  and whether it may be accessed. Lines go to kasan_port_print(). */
KASAN_ASK void __asan_describe_address(void *addr) KASAN_NO_ANSWER();

/**
 * __asan_locate_address() - find the object that the memory at @addr belongs to, redzones included
 * @name: filled with the name of a variable, "" if there is none; NULL: not wanted. @name_size: bytes there.
 * @region_address, @region_size: filled with the object, 0 if it is not known; NULL: not wanted. In the tag modes the
 * address has the tag of @addr.
 *
 * Return: a constant. "heap": an object, live or freed; "heap-invalid": an allocator's memory without an object, or with
 * one whose metadata is overwritten; "stack", "global"; "high shadow": the shadow itself; "shadow gap": where its own
 * shadow would be; "unknown".
 */
KASAN_ASK const char *__asan_locate_address(void *addr, char *name, size_t name_size,
					    void **region_address, size_t *region_size)
	KASAN_NO_ANSWER(if (name && name_size) *name = '\0';
			if (region_address) *region_address = NULL;
			if (region_size) *region_size = 0; return "unknown");

/** __asan_get_alloc_stack() - fill @trace with up to @size code addresses of the stack that allocated the object at
 *  @addr, and @thread_id with its task's number. Return: how many; 0: not known. */
KASAN_ASK size_t __asan_get_alloc_stack(void *addr, void **trace, size_t size, int *thread_id)
	KASAN_NO_ANSWER(return 0);

/** __asan_get_free_stack() - the same for the stack that freed it. Return: 0 also if it was not freed. */
KASAN_ASK size_t __asan_get_free_stack(void *addr, void **trace, size_t size, int *thread_id)
	KASAN_NO_ANSWER(return 0);

/** __asan_update_allocation_context() - take the caller's stack for the one that allocated the live object that starts
 *  at @addr, as for an object of a pool that has a new owner. Return: 1; 0 if there is no such object. */
KASAN_ASK int __asan_update_allocation_context(void *addr) KASAN_NO_ANSWER(return 0);

/** __sanitizer_get_ownership() - Return: 1 if a live object starts at @p, else 0. */
KASAN_ASK int __sanitizer_get_ownership(const volatile void *p) KASAN_NO_ANSWER(return 0);

/** __sanitizer_get_allocated_begin() - Return: the start of the live object that has the byte at @p, NULL if there is
 *  none. In the tag modes with the tag of @p. */
KASAN_ASK const void *__sanitizer_get_allocated_begin(const void *p) KASAN_NO_ANSWER(return NULL);

/** __sanitizer_get_allocated_size() - Return: bytes asked for of the live object that starts at @p; 0 if there is
 *  none. */
KASAN_ASK size_t __sanitizer_get_allocated_size(const volatile void *p) KASAN_NO_ANSWER(return 0);
/** __sanitizer_get_allocated_size_fast() - the same for a @p that certainly starts one. It is not faster here. */
KASAN_ASK size_t __sanitizer_get_allocated_size_fast(const volatile void *p)
	KASAN_NO_ANSWER(return 0);

/** __sanitizer_get_estimated_allocated_size() - Return: what the above would say of an object of @size bytes: exactly
 *  that. */
KASAN_ASK size_t __sanitizer_get_estimated_allocated_size(size_t size) KASAN_NO_ANSWER(return size);

/* --- The last report --- */

/* Also while it is printed, in callbacks and in a debugger. All are 0 if there was none. */

/** __asan_report_present() - Return: 1 if there was a report, else 0. */
KASAN_ASK int __asan_report_present(void) KASAN_NO_ANSWER(return 0);

/** __asan_get_report_pc() - Return: code address of the access or free; a return address unless the CPU found it. */
KASAN_ASK void *__asan_get_report_pc(void) KASAN_NO_ANSWER(return NULL);
/** __asan_get_report_bp() - Return: frame pointer there. __asan_get_report_sp() - its stack pointer, or the one of the check
 *  that the access called. */
KASAN_ASK void *__asan_get_report_bp(void) KASAN_NO_ANSWER(return NULL);
KASAN_ASK void *__asan_get_report_sp(void) KASAN_NO_ANSWER(return NULL);

/** __asan_get_report_address() - Return: address of the access or free, in the tag modes as it was used, with its tag:
 *  so the functions above find the object that the pointer was made for. */
KASAN_ASK void *__asan_get_report_address(void) KASAN_NO_ANSWER(return NULL);

/** __asan_get_report_access_type() - Return: 1 for a write, 0 for a read and a free. __asan_get_report_access_size() -
 *  Return: its bytes, 0 for a free. */
KASAN_ASK int __asan_get_report_access_type(void) KASAN_NO_ANSWER(return 0);
KASAN_ASK size_t __asan_get_report_access_size(void) KASAN_NO_ANSWER(return 0);

/** __asan_get_report_description() - Return: the bug type, as in the title: "slab-use-after-free"; "" if there was no
 *  report. */
KASAN_ASK const char *__asan_get_report_description(void) KASAN_NO_ANSWER(return "");

/* --- Callbacks --- */

/* With CONFIG_KASAN_CALLBACKS. kasan_port_callback() calls all of them. */

/** __asan_on_error() - yours: called for each report, before its first line, when the functions above know it. Interrupts
 *  are off, and the report lock is held: it must not sleep, nor wait for another CPU. */
void __asan_on_error(void);

/**
 * __asan_set_error_report_callback() - call @callback after each report with its text
 * @callback: gets the lines of the report, each with a line feed, which stay valid until it returns; NULL: none.
 *
 * The text has at most CONFIG_KASAN_REPORT_TEXT bytes, and longer lines or further ones are left out. For a report of
 * another CPU while the callback runs, for one inside of it, and for one without a line (kasan.repeat=brief), it is only
 * the bug type. The callback is called
 * before the hook of kasan_report_hook(), in the context that found the bug, with no lock held.
 */
KASAN_ASK void __asan_set_error_report_callback(void (*callback)(const char *text))
	KASAN_NO_ANSWER();

/** __sanitizer_set_death_callback() - call @callback, once, before the system ends because of a report: before
 *  kasan_port_panic(), or when the port calls kasan_call_death_callback(). NULL: none. */
KASAN_ASK void __sanitizer_set_death_callback(void (*callback)(void)) KASAN_NO_ANSWER();
/** __asan_set_death_callback() - the same, by its older name. */
KASAN_ASK void __asan_set_death_callback(void (*callback)(void)) KASAN_NO_ANSWER();

/* --- The rest --- */

/** __asan_report_error() - report a bad access of @access_size bytes to @addr, as if code at @pc with frame pointer @bp
 *  had made it. @sp is not needed. A breakpoint for a debugger is better set on kasan_port_report_begin(), which all
 *  reports call. */
KASAN_ASK void __asan_report_error(void *pc, void *bp, void *sp, void *addr, int is_write,
				   size_t access_size) KASAN_NO_ANSWER();

/** __asan_get_shadow_mapping() - the shadow of address a is at (a >> @shadow_scale) + @shadow_offset: of the first window
 *  in the windowed layout. Both are filled with 0 if there is no shadow. */
KASAN_ASK void __asan_get_shadow_mapping(size_t *shadow_scale, size_t *shadow_offset)
	KASAN_NO_ANSWER(*shadow_scale = *shadow_offset = 0);

/** __asan_handle_no_return() - the frames of this stack will not run to their ends: remove their redzones. Compilers call
 *  it before functions that do not return. The tag modes need nothing: the next frame sets its own tags. */
KASAN_ASK void __asan_handle_no_return(void) KASAN_NO_ANSWER();

/** __asan_print_accumulated_stats() - print how much stacks and quarantine hold. */
KASAN_ASK void __asan_print_accumulated_stats(void) KASAN_NO_ANSWER();

/** __asan_get_current_fake_stack() - Return: NULL: a kernel's frames are on its stacks.
 *  __asan_addr_is_in_fake_stack() - Return: NULL, for the same reason. */
KASAN_ASK void *__asan_get_current_fake_stack(void) KASAN_NO_ANSWER(return NULL);
KASAN_ASK void *__asan_addr_is_in_fake_stack(void *fake_stack, void *addr, void **beg, void **end)
	KASAN_NO_ANSWER(return NULL);

#ifdef __cplusplus
}
#endif

#endif /* KASAN_ASAN_INTERFACE_H */
