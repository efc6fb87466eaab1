// SPDX-License-Identifier: MIT
/*
 * afl.c - AFL++'s side: answers afl-fuzz and its tools as their fork server, without a fork.
 *
 * A request is a word through one pipe, and the answer two words through another: the process that works on the input,
 * and its exit status. The guest works on it, so that process is a stand-in, which only sleeps. It is killed when AFL++ does not
 * want to wait any longer. AFL++ measures the time from the first word on. So a guest that has to boot does that before, and
 * for an input that ends at once both words are written together, which wakes AFL++ once.
 *
 * Without a folder for findings, a bug is the status of a process that has aborted. With one, the input is stored, and looks to
 * AFL++ as if it reached nothing new.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"

/* The pipes. */
#define REQUESTS 198
#define ANSWERS	 199
/* The words of the first exchange: which extensions there are. The size of the map is in the bits between. */
#define HELLO	    0x80000001U
#define HELLO_SIZE  0x40000000U
#define HELLO_INPUT 0x01000000U /* inputs come through shared memory */
#define HELLO_CMP   0x02000000U /* the newer form of the memory for comparisons */
/*
 * The map: one byte that each input sets, so that it is never empty; then one for each finding, by its key,
 * so that AFL++ takes two bugs for two; then the counters.
 */
#define TITLE_SLOTS 255
#define COUNTERS_AT (1 + TITLE_SLOTS)
/* The status of a process that a signal has ended is the signal's number. */
#define STATUS_GOOD 0

/* afl-fuzz looks for these in the file of the executable: they say that it has a fork server, and takes inputs through memory. */
__attribute__((used)) static const char marks[][24] = {"__AFL_SHM_ID", "##SIG_AFL_PERSISTENT##"};

static struct {
	uint8_t *map;
	const uint32_t *shared; /* the size of the input, and the input; NULL: it comes in a file */
	const char *file;	/* NULL: standard input */
	bool comparisons;
	pid_t stand_in; /* 0: none */
	bool told;	/* AFL++ has it, and waits for the status */
	uint8_t *input;
	uint8_t *seen; /* counters that were not 0 so far */
} afl;

bool afl_wanted(void)
{
	return getenv("__AFL_SHM_ID") != NULL;
}

/* Return: the shared memory that the environment names; NULL if it names none. */
static void *attach(const char *name)
{
	const char *text = getenv(name);
	void *memory;
	char *end;
	long id;

	if (!text)
		return NULL;
	id = strtol(text, &end, 10);
	memory = *text && !*end ? shmat((int)id, NULL, 0) : (void *)-1;
	if (memory == (void *)-1)
		fail("AFL++'s shared memory %s=%s cannot be used: %s", name, text, strerror(errno));
	return memory;
}

/* --- The stand-in ------------------------------------------------------------------------------- */

static void start_stand_in(void)
{
	const pid_t parent = getpid();

	afl.stand_in = fork();
	if (afl.stand_in < 0)
		fail("no process: %s", strerror(errno));
	if (afl.stand_in)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* AFL++ must see that the pipes end when this process's parent does. */
	close_range(0, ~0U, 0);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static bool stand_in_killed(void)
{
	if (afl.stand_in && waitpid(afl.stand_in, NULL, WNOHANG) == afl.stand_in)
		afl.stand_in = 0;
	return !afl.stand_in;
}

/* --- Inputs ------------------------------------------------------------------------------------- */

/* Read the input from its file into @afl.input. Return: its size. */
static size_t read_file_input(void)
{
	int file = 0;
	size_t size = 0;
	ssize_t got;

	if (afl.file)
		file = open(afl.file, O_RDONLY | O_CLOEXEC);
	else
		lseek(0, 0, SEEK_SET);
	while (file >= 0 && size < KASAN_FUZZ_INPUT_MAX &&
	       (got = read(file, afl.input + size, KASAN_FUZZ_INPUT_MAX - size)) > 0)
		size += (size_t)got;
	if (file < 0)
		fail("'%s' cannot be read: %s", afl.file, strerror(errno));
	if (afl.file)
		close(file);
	return size;
}

static const uint8_t *take_input(size_t *size)
{
	if (!afl.shared) {
		*size = read_file_input();
		return afl.input;
	}
	*size = afl.shared[0];
	if (*size > KASAN_FUZZ_INPUT_MAX)
		*size = KASAN_FUZZ_INPUT_MAX;
	return (const uint8_t *)&afl.shared[1];
}

static void take_counters(const struct kasan_fuzz_mailbox *box)
{
	const size_t used = box->counters_used;
	const size_t count = used < config.counters ? used : config.counters;

	memcpy(afl.map + COUNTERS_AT, box->counters, count);
	for (size_t i = 0; i < count; i++)
		afl.seen[i] |= afl.map[COUNTERS_AT + i];
}

static size_t count_edges(void)
{
	size_t edges = 0;

	for (size_t i = 0; i < config.counters; i++)
		edges += afl.seen[i] != 0;
	return edges;
}

/* Tell AFL++ about a bug. Return: the status. */
static int say_crash(enum end end)
{
	static struct verdict list[VERDICTS];
	const char *console = guest_console();
	const size_t count = verdict_list(end, console, list, VERDICTS);

	fprintf(stderr, "%s\nredzone: %s\n", console, list[0].title);
	for (size_t i = 0; i < count; i++)
		afl.map[1 + list[i].key % TITLE_SLOTS] = 1;
	return SIGABRT;
}

/* Let the guest work on the next input. Return: its status for AFL++. */
static int one_input(void)
{
	const struct kasan_fuzz_mailbox *box;
	const uint8_t *data;
	int status = STATUS_GOOD;
	bool counts;
	size_t size;
	enum end end;

	data = take_input(&size);
	end = input_run(data, size);
	afl.map[0] = 1;
	if (end == END_LATE)
		return SIGKILL;
	box = guest_box();
	counts = box && box->result != -1;
	if (counts)
		take_counters(box);
	if (box && afl.comparisons)
		afl_cmplog_take(box);
	if (end != END_GOOD && config.findings)
		input_store(end, data, size);
	else if (end != END_GOOD)
		status = say_crash(end);
	if (!input_goes_on(end) && config.findings)
		memset(afl.map + COUNTERS_AT, 0, config.counters);
	return status;
}

/* --- The exchange ------------------------------------------------------------------------------- */

static void answer(const uint32_t *words, size_t count)
{
	const size_t size = count * sizeof(*words);

	if (write(ANSWERS, words, size) != (ssize_t)size)
		fail("AFL++ does not take answers: %s", strerror(errno));
}

/* Let AFL++ measure the time. */
static void tell_stand_in(void)
{
	const uint32_t word = (uint32_t)afl.stand_in;

	if (!afl.told)
		answer(&word, 1);
	afl.told = true;
}

static void answer_request(void)
{
	uint32_t words[2];

	input_expect();
	if (!afl.stand_in)
		start_stand_in();
	afl.told = false;
	words[0] = (uint32_t)afl.stand_in;
	words[1] = (uint32_t)one_input();
	if (afl.told)
		answer(&words[1], 1);
	else
		answer(words, 2);
}

/* Return: the next word of AFL++. Ends the process if AFL++ has ended. */
static uint32_t request(void)
{
	uint32_t word;
	ssize_t got;

	while ((got = read(REQUESTS, &word, sizeof(word))) < 0 && errno == EINTR)
		;
	if (got == sizeof(word))
		return word;
	guest_stop();
	_exit(0);
}

/* Without a fork server: one input, and the end that it has. */
static __attribute__((noreturn)) void run_alone(void)
{
	int status;

	status = one_input();
	guest_stop();
	if (status) {
		signal(status, SIG_DFL);
		raise(status);
	}
	_exit(0);
}

void afl_serve(const char *file)
{
	const size_t size = COUNTERS_AT + config.counters;
	const uint32_t hello = HELLO | HELLO_SIZE | HELLO_CMP | (uint32_t)(size - 1) << 1;
	void *comparisons = attach("__AFL_CMPLOG_SHM_ID");
	void *shared = attach("__AFL_SHM_FUZZ_ID");
	uint32_t first = hello | (shared ? HELLO_INPUT : 0);
	bool pending = false;

	afl.map = attach("__AFL_SHM_ID");
	afl.file = file;
	afl.input = malloc(KASAN_FUZZ_INPUT_MAX);
	afl.seen = calloc(config.counters + 1, 1);
	if (!afl.input || !afl.seen)
		fail("no memory for an input");
	if (comparisons) {
		config.compare = KASAN_FUZZ_COMPARE_LOG;
		config.quiet = true;
		afl.comparisons = true;
		afl_cmplog_start(comparisons);
	}
	engine_edges = count_edges;
	/* The emulator must not have the pipes: see start_stand_in(). */
	fcntl(REQUESTS, F_SETFD, FD_CLOEXEC);
	fcntl(ANSWERS, F_SETFD, FD_CLOEXEC);
	if (write(ANSWERS, &first, sizeof(first)) != sizeof(first))
		run_alone();
	engine_gave_up = stand_in_killed;
	engine_slow = tell_stand_in;
	if (shared) {
		const uint32_t reply = request();

		pending = (reply & (HELLO | HELLO_INPUT)) != (HELLO | HELLO_INPUT);
		if (!pending)
			afl.shared = shared;
	}
	for (;;) {
		const uint32_t killed = pending ? 0 : request();

		pending = false;
		/* It was killed when the input had just ended. */
		if (killed && afl.stand_in) {
			waitpid(afl.stand_in, NULL, 0);
			afl.stand_in = 0;
		}
		answer_request();
	}
}
