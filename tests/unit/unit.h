/* SPDX-License-Identifier: MIT */
/*
 * unit.h - the harness of the host unit tests: cases, checks, and captured reports.
 *
 * A test program is a list of cases. It prints TAP version 13, and its exit status is 0 if all cases passed. Name cases
 * as arguments to run only those. Nothing here is instrumented.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kasan/kasan.h>
#include <kasan_posix.h>

struct unit_case {
	const char *name;
	void (*run)(void);
};

/* UNIT_CASES(a, b, ...) is {"a", a}, {"b", b}, ... The preprocessor calls no macro inside of itself, but looks again at
 * what it has left: each UNIT_AGAIN() does so four times more. */
#define UNIT_CASES(fn, ...) {#fn, fn}, __VA_OPT__(UNIT_MORE UNIT_PARENTHESES(__VA_ARGS__))
#define UNIT_MORE()	    UNIT_CASES
#define UNIT_PARENTHESES    ()
#define UNIT_AGAIN(...)	    UNIT_AGAIN2(UNIT_AGAIN2(UNIT_AGAIN2(UNIT_AGAIN2(__VA_ARGS__))))
#define UNIT_AGAIN2(...)    UNIT_AGAIN3(UNIT_AGAIN3(UNIT_AGAIN3(UNIT_AGAIN3(__VA_ARGS__))))
#define UNIT_AGAIN3(...)    UNIT_AGAIN4(UNIT_AGAIN4(__VA_ARGS__))
#define UNIT_AGAIN4(...)    __VA_ARGS__

/** UNIT_MAIN() - define main() for these functions, as cases. */
#define UNIT_MAIN(...)                                                                         \
	int main(int argc, char **argv)                                                        \
	{                                                                                      \
		static const struct unit_case cases[] = {UNIT_AGAIN(UNIT_CASES(__VA_ARGS__))}; \
		return unit_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);          \
	}

int unit_run(const struct unit_case *cases, size_t count, int argc, char **argv);

/* --- Checks: after a failed CHECK the case goes on; a failed REQUIRE ends it ------------------ */

bool unit_check(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
_Noreturn void unit_abandon(void);
/** unit_skip() - end the running case as skipped. */
_Noreturn void unit_skip(const char *reason);

#define CHECK(cond)	  unit_check(!!(cond), __FILE__, __LINE__, "%s", #cond)
#define CHECKF(cond, ...) unit_check(!!(cond), __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_EQ(got, want)                                                                     \
	({                                                                                      \
		long long __got = (long long)(got), __want = (long long)(want);                 \
		unit_check(__got == __want, __FILE__, __LINE__, "%s is %lld (%#llx), not %lld", \
			   #got, __got, (unsigned long long)__got, __want);                     \
	})
#define REQUIRE(cond)                                                       \
	do {                                                                \
		if (!unit_check(!!(cond), __FILE__, __LINE__, "%s", #cond)) \
			unit_abandon();                                     \
	} while (0)

/* --- Reports ---------------------------------------------------------------------------------- */

/** unit_clear() - forget all captured lines and reports. Done before every case. */
void unit_clear(void);

/** unit_reports() - Return: how many reports ended since unit_clear(). */
unsigned int unit_reports(void);

/** unit_last() - Return: summary of the last report; its bug_type is "" if there was none. */
const struct kasan_report_info *unit_last(void);

/** unit_lines() - Return: the number of captured lines. unit_line() - Return: line @i; "" past the end. */
size_t unit_lines(void);
const char *unit_line(size_t i);

/** unit_find() - Return: the index of the first line from @from on that starts with @prefix; -1: none. */
int unit_find(size_t from, const char *prefix);

/** unit_saw() - Return: true if a captured line equals the formatted text. */
bool unit_saw(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** unit_dump() - print the captured lines as TAP comments. */
void unit_dump(void);

/** EXPECT_REPORT() - the statement must give exactly one report, of type @type. */
#define EXPECT_REPORT(type, ...)                                     \
	({                                                           \
		unit_clear();                                        \
		__VA_ARGS__;                                         \
		unit_expect(type, __FILE__, __LINE__, #__VA_ARGS__); \
	})
#define EXPECT_NO_REPORT(...)                                        \
	({                                                           \
		unit_clear();                                        \
		__VA_ARGS__;                                         \
		unit_expect(NULL, __FILE__, __LINE__, #__VA_ARGS__); \
	})
bool unit_expect(const char *type, const char *file, int line, const char *what);

/** EXPECT_PANIC() - the statement must end in kasan_port_panic(). Leaves the runtime usable. */
#define EXPECT_PANIC(...)                                                                      \
	({                                                                                     \
		if (!setjmp(unit_panic_env)) {                                                 \
			unit_panic_armed = true;                                               \
			__VA_ARGS__;                                                           \
		}                                                                              \
		unit_check(unit_panicked(), __FILE__, __LINE__, "no panic: %s", #__VA_ARGS__); \
	})
extern jmp_buf unit_panic_env;
extern volatile bool unit_panic_armed;
/** unit_panicked() - Return: true if the statement in EXPECT_PANIC() has panicked. Disarms. */
bool unit_panicked(void);
/** unit_panic_text() - Return: the message of the last panic. */
const char *unit_panic_text(void);

/* --- Memory and numbers ----------------------------------------------------------------------- */

/** unit_arena() - Return: @size bytes of zeroed pages, aligned to CONFIG_KASAN_PAGE_SIZE, with accessible shadow; ends the program on failure. It is never
 *  freed. */
void *unit_arena(size_t size);

/** unit_watched() - Return: the first @size bytes, at most 1 MiB, of one arena that has shadow in every layout. All of
 *  them are accessible. Every call returns the same memory. */
void *unit_watched(size_t size);

/** unit_poison_below() - Return: how many granules are poisoned in the @bytes of unused stack below the caller. */
size_t unit_poison_below(size_t bytes);

/** unit_random() - Return: the next number of a fixed sequence. unit_below() - Return: the same, in [0, @n). */
uint64_t unit_random(void);
uint64_t unit_below(uint64_t n);

#endif /* UNIT_H */
