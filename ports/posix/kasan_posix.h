/* SPDX-License-Identifier: MIT */
/*
 * kasan_posix.h - the POSIX port's interface for programs that link it, beyond <kasan/kasan.h>.
 *
 * The port puts the runtime under an ordinary Linux process: for the host unit tests, for fuzzers,
 * and as an example of a port to a hosted system.
 */
#ifndef KASAN_POSIX_H
#define KASAN_POSIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kasan/kasan.h>
#include <kasan/port.h>

/**
 * struct kasan_posix_hooks - port functions that a program may take over; a NULL member keeps the default
 * @print: one line of a report. Default: standard error.
 * @panic: kasan_port_panic() was called. It may jump out; if it returns, the process aborts.
 * @find_object: default: no object (those of a kasan_heap are found by the runtime itself).
 * @find_area: default: no area.
 * @print_page: default: nothing.
 * @report_begin, @report_end: default: nothing. @report_end may jump out.
 * @alloc: memory for the runtime's tables. Default: anonymous memory.
 * @task: called after the default has filled @task; may change it.
 * @readable: default: asks the kernel whether the bytes are mapped.
 * @is_user: default: no address is another's user memory.
 * @task_depth: default: NULL, kasan_disable_current() silences the virtual CPU.
 * @locked: called under each lock of the runtime that is taken, as an NMI may come there. Default: nothing.
 *
 * Set the members while no other thread can be in the runtime. The port's contract holds for the
 * hooks too: they are not instrumented and do not call the runtime's checks.
 */
struct kasan_posix_hooks {
	void (*print)(const char *text);
	void (*panic)(const char *why);
	bool (*find_object)(const void *addr, struct kasan_object *obj);
	bool (*find_area)(const void *addr, struct kasan_area *area);
	void (*print_page)(const void *addr);
	void (*report_begin)(void);
	void (*report_end)(const struct kasan_report_info *info);
	void *(*alloc)(size_t size);
	void (*task)(struct kasan_port_task *task);
	bool (*readable)(const void *addr, size_t size);
	bool (*is_user)(uintptr_t addr);
	unsigned int *(*task_depth)(void);
	void (*locked)(void);
};
extern struct kasan_posix_hooks kasan_posix_hooks;

/**
 * kasan_posix_set_cpu() - run this thread on virtual CPU @cpu from now on
 * @cpu: below CONFIG_KASAN_NR_CPUS. Not while "interrupts" are off.
 *
 * Threads are spread over the virtual CPUs as they first enter the runtime; tests choose.
 */
void kasan_posix_set_cpu(unsigned int cpu);

/** kasan_posix_irq_depth() - Return: nesting of kasan_port_irq_save() in this thread; 0 outside. */
unsigned int kasan_posix_irq_depth(void);

/** kasan_posix_locks_held() - Return: locks of the runtime that this thread holds. */
unsigned int kasan_posix_locks_held(void);

/** kasan_posix_locks_taken() - Return: how often this thread has taken a lock of the runtime so far. */
unsigned long kasan_posix_locks_taken(void);

/** kasan_posix_leave() - forget this thread's nesting and release its virtual CPU: for a hook that
 *  jumps out of the runtime. */
void kasan_posix_leave(void);

#ifdef CONFIG_KASAN_SHADOW_PIECES
/** kasan_posix_split_shadow() - move the border between the two pieces of shadow to the address @at, a multiple of 8. What
 *  changes its piece becomes accessible, or is as when it was last there. */
void kasan_posix_split_shadow(uintptr_t at);
#endif

/** kasan_posix_stack() - bounds of the running thread's stack. Return: false if not known. */
bool kasan_posix_stack(uintptr_t *start, uintptr_t *end);

/**
 * kasan_posix_malloc() and the others - libc's allocator under the runtime's simple-heap hooks
 *
 * Errors are malloc's own: NULL and errno ENOMEM. A bad free is reported and ignored. malloc(0)
 * gives a distinct pointer with no accessible byte.
 */
void *kasan_posix_malloc(size_t size);
void *kasan_posix_calloc(size_t count, size_t size);
void *kasan_posix_realloc(void *ptr, size_t size);
void kasan_posix_free(void *ptr);

/** kasan_posix_catch_faults() - turn SIGSEGV and SIGBUS into reports (null-ptr-deref,
 *  wild-memory-access). After the report the signal's default action ends the process. */
void kasan_posix_catch_faults(void);

#endif /* KASAN_POSIX_H */
