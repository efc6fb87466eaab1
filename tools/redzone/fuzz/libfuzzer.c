// SPDX-License-Identifier: MIT
/*
 * libfuzzer.c - the target of libFuzzer: hands each input to the guest, and gives libFuzzer what the guest has counted and
 * compared. The process begins here, also if AFL++ has started it.
 *
 * Without a folder for findings a bug ends the process, as with any libFuzzer target: the console goes to stderr, and
 * libFuzzer stores the input. With one, the input is stored and fuzzing goes on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

/* libFuzzer's. */
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);
void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __sanitizer_weak_hook_memcmp(void *pc, const void *a, const void *b, size_t size, int result);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *counters;

/* --- Coverage for libFuzzer ---------------------------------------------------------------------- */

/* libFuzzer takes the counters as those of a compiled file, with a table of places: address and flags of each. */
static void register_counters(void)
{
	uintptr_t *places;

	/* It wants at least one. */
	if (!config.counters)
		config.counters = 1;
	counters = calloc(config.counters, 1);
	places = calloc(config.counters, 2 * sizeof(*places));
	if (!counters || !places)
		fail("no memory for %zu counters", config.counters);
	for (size_t i = 0; i < config.counters; i++)
		places[2 * i] = config.places ? (uintptr_t)config.places[i] : i + 1;
	__sanitizer_cov_8bit_counters_init(counters, counters + config.counters);
	__sanitizer_cov_pcs_init(places, places + 2 * config.counters);
}

static void take_counters(const struct kasan_fuzz_mailbox *box)
{
	size_t used = box->counters_used;

	memcpy(counters, box->counters, used < config.counters ? used : config.counters);
}

static void take_comparisons(const struct kasan_fuzz_mailbox *box)
{
	for (size_t i = 0; i < KASAN_FUZZ_CMPS; i++) {
		struct kasan_fuzz_cmp cmp;
		uint64_t a, b;

		if (box->cmps[i].input != guest_number())
			continue;
		cmp = box->cmps[i];
		if (cmp.size > KASAN_FUZZ_CMP_MAX)
			continue;
		memcpy(&a, cmp.a, sizeof(a));
		memcpy(&b, cmp.b, sizeof(b));
		if (cmp.memory)
			__sanitizer_weak_hook_memcmp((void *)(uintptr_t)(i + 1), cmp.a, cmp.b,
						     cmp.size, 1);
		else if (cmp.size == 8)
			__sanitizer_cov_trace_cmp8(a, b);
		else
			__sanitizer_cov_trace_cmp4((uint32_t)a, (uint32_t)b);
	}
}

/* --- Ctrl-C -------------------------------------------------------------------------------------- */

/*
 * libFuzzer ends the process in its handler of the signal, wherever that comes. A bug that was seen but is not stored
 * would be lost. So the signal waits until there is no input at work.
 */
static volatile sig_atomic_t busy, waiting;
static struct sigaction engines[2];
static const int ends[2] = {SIGINT, SIGTERM};

static void note_signal(int number, siginfo_t *info, void *context)
{
	const struct sigaction *engine = &engines[number == ends[1]];

	waiting = number;
	if (busy)
		return;
	if (engine->sa_flags & SA_SIGINFO)
		engine->sa_sigaction(number, info, context);
	else if (engine->sa_handler != SIG_DFL && engine->sa_handler != SIG_IGN)
		engine->sa_handler(number);
	else if (engine->sa_handler == SIG_DFL)
		_exit(128 + number);
}

static void may_end(void)
{
	const int was = busy;

	busy = 0;
	if (waiting)
		raise(waiting);
	busy = was;
}

/* libFuzzer has set its own handlers before the first input, and later sets none. */
static void take_signals(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
	static bool done;

	if (done)
		return;
	done = true;
	engine_may_end = may_end;
	action.sa_sigaction = note_signal;
	for (int i = 0; i < 2; i++)
		if (sigaction(ends[i], &action, &engines[i]))
			fail("no handler of signals: %s", strerror(errno));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *from = getenv("REDZONE_FUZZ_MINIMIZE"), *to = getenv("REDZONE_FUZZ_TO");
	const char *limit = getenv("REDZONE_FUZZ_MS"), *key = getenv("REDZONE_FUZZ_KEY");

	/* The guest may end when it is to be woken. */
	signal(SIGPIPE, SIG_IGN);
	read_config();
	if (from && to) {
		int status = findings_minimize(from, to, key ? strtoull(key, NULL, 16) : 0,
					       limit ? strtoull(limit, NULL, 10) : 10000);

		guest_stop();
		_exit(status);
	}
	if (config.findings)
		findings_begin();
	if (afl_wanted())
		afl_serve(*argc > 1 ? (*argv)[*argc - 1] : NULL);
	register_counters();
	atexit(guest_stop);
	return 0;
}

/* The console of the bug that ends the process, and the bug. */
static const char *last_console;
static struct verdict last_verdict;

void __wrap___sanitizer_print_stack_trace(void);

/* libFuzzer calls it below its own headline. The stack of this process says nothing about the bug, the guest's does. */
void __wrap___sanitizer_print_stack_trace(void)
{
	if (!last_console)
		return;
	verdict_print(last_console, stderr);
	/* By this -minimize_crash=1 sees that a smaller input runs into another bug. */
	fprintf(stderr, "DEDUP_TOKEN: %016llx\n", (unsigned long long)last_verdict.key);
}

/* A bug ends the process. */
static __attribute__((noreturn)) void crash(enum end end)
{
	static struct verdict list[VERDICTS];

	last_console = guest_console();
	verdict_list(end, last_console, list, VERDICTS);
	last_verdict = list[0];
	fprintf(stderr, "%s\nredzone: %s\n", last_console, last_verdict.title);
	guest_stop();
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kasan_fuzz_mailbox *box;
	enum end end;
	int result = 0;

	if (size > KASAN_FUZZ_INPUT_MAX)
		return -1;
	take_signals();
	busy = 1;
	end = input_run(data, size);
	box = guest_box();
	if (box) {
		take_counters(box);
		take_comparisons(box);
		result = box->result == -1 ? -1 : 0;
	}
	if (end != END_GOOD) {
		if (!config.findings)
			crash(end);
		input_store(end, data, size);
		result = 0;
	}
	if (!input_goes_on(end))
		result = -1;
	may_end();
	busy = 0;
	return result;
}
