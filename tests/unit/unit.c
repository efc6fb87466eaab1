/* SPDX-License-Identifier: MIT */
/* unit.c - the harness: runs cases, prints TAP, and keeps the lines that the runtime prints. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "unit.h"

#define MAX_LINES  4096
#define MAX_NOTES  20
#define STACK_SIZE (512UL << 10)

static char lines[MAX_LINES][256];
static size_t line_count;
static unsigned int report_count;
static struct kasan_report_info last_report;

static bool case_failed;
static unsigned int notes;
static const char *skip_reason;
static jmp_buf case_env;

jmp_buf unit_panic_env;
volatile bool unit_panic_armed;
static bool panicked;
static char panic_text[256];

/* --- The runtime's output --------------------------------------------------------------------- */

static void capture(const char *text)
{
	/* A line that is longer than the contract allows must not look like one that fits. */
	if (line_count < MAX_LINES) {
		strncpy(lines[line_count], text, sizeof(lines[0]) - 1);
		lines[line_count][sizeof(lines[0]) - 1] = '\0';
		line_count++;
	}
}

static void report_ended(const struct kasan_report_info *info)
{
	report_count++;
	last_report = *info;
}

static void panic(const char *why)
{
	snprintf(panic_text, sizeof(panic_text), "%s", why);
	kasan_posix_leave();
	if (unit_panic_armed) {
		panicked = true;
		longjmp(unit_panic_env, 1);
	}
	printf("# unexpected panic: %s\n", why);
	unit_dump();
	fflush(stdout);
}

bool unit_panicked(void)
{
	bool was = panicked;

	unit_panic_armed = false;
	panicked = false;
	return was;
}

const char *unit_panic_text(void)
{
	return panic_text;
}

void unit_clear(void)
{
	line_count = 0;
	report_count = 0;
	last_report = (struct kasan_report_info){.bug_type = ""};
}

unsigned int unit_reports(void)
{
	return report_count;
}

const struct kasan_report_info *unit_last(void)
{
	return &last_report;
}

size_t unit_lines(void)
{
	return line_count;
}

const char *unit_line(size_t i)
{
	return i < line_count ? lines[i] : "";
}

int unit_find(size_t from, const char *prefix)
{
	for (size_t i = from; i < line_count; i++)
		if (!strncmp(lines[i], prefix, strlen(prefix)))
			return (int)i;
	return -1;
}

bool unit_saw(const char *fmt, ...)
{
	char want[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < line_count; i++)
		if (!strcmp(lines[i], want))
			return true;
	return false;
}

void unit_dump(void)
{
	for (size_t i = 0; i < line_count && i < 80; i++)
		printf("#   | %s\n", lines[i]);
}

/* --- Checks ----------------------------------------------------------------------------------- */

bool unit_check(bool ok, const char *file, int line, const char *fmt, ...)
{
	const char *slash = strrchr(file, '/');
	va_list ap;

	if (ok)
		return true;
	case_failed = true;
	/* Print the first few only: a loop over thousands of states would hide them. */
	if (notes++ < MAX_NOTES) {
		printf("# %s:%d: ", slash ? slash + 1 : file, line);
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		putchar('\n');
	}
	return false;
}

void unit_abandon(void)
{
	longjmp(case_env, 1);
}

void unit_skip(const char *reason)
{
	skip_reason = reason;
	longjmp(case_env, 1);
}

bool unit_expect(const char *type, const char *file, int line, const char *what)
{
	bool ok;

	if (!type)
		ok = unit_check(report_count == 0, file, line, "%s: unexpected %s", what,
				last_report.bug_type);
	else if (report_count == 0)
		ok = unit_check(false, file, line, "%s: no report, expected %s", what, type);
	else
		ok = unit_check(report_count == 1 && !strcmp(last_report.bug_type, type), file,
				line, "%s: %u report(s), last %s, expected %s", what, report_count,
				last_report.bug_type, type);
	if (!ok && notes <= 2)
		unit_dump();
	return ok;
}

/* --- Memory and numbers ----------------------------------------------------------------------- */

void *unit_arena(size_t size)
{
	/* The process's own pages may be smaller than those that the runtime is built for. */
	const size_t more = CONFIG_KASAN_PAGE_SIZE > 4096 ? CONFIG_KASAN_PAGE_SIZE : 0;
	char *p = mmap(NULL, size + more, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if ((void *)p == MAP_FAILED) {
		printf("Bail out! no memory for an arena of %zu bytes\n", size);
		exit(1);
	}
	return more ? (char *)(((uintptr_t)p + more - 1) & ~(more - 1)) : p;
}

void *unit_watched(size_t size)
{
	static char *arena;
	const size_t max = 1 << 20;

	if (!arena) {
		arena = unit_arena(max);
#ifdef CONFIG_KASAN_SHADOW_WINDOWED
		const char *wrong = kasan_window_add((uintptr_t)arena, max, unit_arena(max / 8));

		if (wrong) {
			printf("Bail out! %s\n", wrong);
			exit(1);
		}
#endif
	}
	if (size > max) {
		printf("Bail out! %zu watched bytes asked for\n", size);
		exit(1);
	}
	kasan_unpoison(arena, max);
	return arena;
}

__attribute__((noinline)) size_t unit_poison_below(size_t bytes)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~7UL;
	size_t poisoned = 0;

	for (uintptr_t at = here - bytes; at < here; at += 8)
		poisoned += !kasan_byte_accessible((void *)at);
	return poisoned;
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

uint64_t unit_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

uint64_t unit_below(uint64_t n)
{
	return unit_random() % n;
}

/* --- Running ---------------------------------------------------------------------------------- */

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 1;
}

/* Every report asks for each page of the stack if it can be read. The main thread has 8 MiB; that would take longer
 * than everything else in a test. */
static void small_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur < STACK_SIZE)
		return;
	limit.rlim_cur = STACK_SIZE;
	setrlimit(RLIMIT_STACK, &limit);
}

int unit_run(const struct unit_case *cases, size_t count, int argc, char **argv)
{
	static unsigned int passed, failed, skipped;

	small_stack();
	/* Reports have it. Under an emulator the process has the emulator's. */
	prctl(PR_SET_NAME, program_invocation_short_name);
	/* Tests of the text must see every report: an earlier one may not suppress it. */
	kasan_save_multi_shot();
	kasan_option("kasan.repeat", "full");
	kasan_posix_hooks.print = capture;
	kasan_posix_hooks.report_end = report_ended;
	kasan_posix_hooks.panic = panic;
	printf("TAP version 13\n1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		if (!wanted(cases[i].name, argc, argv)) {
			printf("ok %zu - %s # SKIP not named on the command line\n", i + 1,
			       cases[i].name);
			skipped++;
			continue;
		}
		case_failed = false;
		skip_reason = NULL;
		notes = 0;
		unit_clear();
		if (!setjmp(case_env))
			cases[i].run();
		if (notes > MAX_NOTES)
			printf("# and %u more failed checks\n", notes - MAX_NOTES);
		if (skip_reason && !case_failed) {
			printf("ok %zu - %s # SKIP %s\n", i + 1, cases[i].name, skip_reason);
			skipped++;
		} else {
			printf("%sok %zu - %s\n", case_failed ? "not " : "", i + 1, cases[i].name);
			*(case_failed ? &failed : &passed) += 1;
		}
		fflush(stdout);
	}
	printf("# %u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}
