/* SPDX-License-Identifier: MIT */
/*
 * bug.h - BUG, WARN and panic.
 */
#ifndef KERNEL_BUG_H
#define KERNEL_BUG_H

#include <kernel/types.h>
#include <asm/bug.h>

/* Boot parameters of the same names. */
extern bool panic_on_warn;
extern bool panic_on_oops;

/**
 * panic() - stop the system
 *
 * Prints "Kernel panic - not syncing: <message>" with a trace, stops the other CPUs, ends with
 * "---[ end Kernel panic - not syncing: <message> ]---" and machine_exit(): 1 if a KASAN report was
 * printed before, else 3. Any context. A panic inside a panic prints one line and exits.
 */
_Noreturn void panic(const char *fmt, ...) __printf(1, 2);
_Noreturn void vpanic(const char *fmt, va_list args) __printf(1, 0);

/** panic_in_progress() - Return: true once panic() was called on any CPU. */
bool panic_in_progress(void);

/** bug_print() - print the "kernel BUG at" line of BUG(). */
void bug_print(const char *file, int line);

/** warn_slowpath() - print a warning with a trace; panics if panic_on_warn is set. @fmt: the message, or NULL. */
void warn_slowpath(const char *file, int line, const char *fmt, ...) __printf(3, 4);

/** BUG() - for states that cannot happen: print the place and trap. Like an oops, the trap ends the task or
 *  panics. */
#define BUG()                                  \
	do {                                   \
		bug_print(__FILE__, __LINE__); \
		arch_bug();                    \
	} while (0)

#define BUG_ON(condition)                \
	do {                             \
		if (unlikely(condition)) \
			BUG();           \
	} while (0)

/** WARN() - if @condition: print a warning with a message. Return: @condition. */
#define WARN(condition, fmt, ...)                                              \
	({                                                                     \
		bool __warn = !!(condition);                                   \
		if (unlikely(__warn))                                          \
			warn_slowpath(__FILE__, __LINE__, fmt, ##__VA_ARGS__); \
		unlikely(__warn);                                              \
	})

#define WARN_ON(condition)                                       \
	({                                                       \
		bool __warn = !!(condition);                     \
		if (unlikely(__warn))                            \
			warn_slowpath(__FILE__, __LINE__, NULL); \
		unlikely(__warn);                                \
	})

/* Warns the first time only. */
#define WARN_ONCE(condition, fmt, ...)                                                           \
	({                                                                                       \
		static bool __warned;                                                            \
		bool __once = !!(condition);                                                     \
		if (unlikely(__once) && !__atomic_exchange_n(&__warned, true, __ATOMIC_RELAXED)) \
			WARN(1, fmt, ##__VA_ARGS__);                                             \
		unlikely(__once);                                                                \
	})

#define WARN_ON_ONCE(condition)                                                                  \
	({                                                                                       \
		static bool __warned;                                                            \
		bool __once = !!(condition);                                                     \
		if (unlikely(__once) && !__atomic_exchange_n(&__warned, true, __ATOMIC_RELAXED)) \
			WARN_ON(1);                                                              \
		unlikely(__once);                                                                \
	})

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), "BUILD_BUG_ON: " #condition)

#endif
