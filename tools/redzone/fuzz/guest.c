// SPDX-License-Identifier: MIT
/*
 * guest.c - the emulator: boots it, hands inputs to it through the memory that both share, and waits for results.
 *
 * The guest's whole RAM is a file without a name (memfd). Another such file takes the console. Through two pipes one side
 * wakes the other, if it sleeps. The guest writes a byte to one. The other one has room for a page only: the guest writes a
 * page, and stands still while the page of the time before is in the pipe.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proxy.h"

/* An input that prints more than this is ended. */
#define CONSOLE_MAX (8UL << 20)
/* The console's file is emptied when it is longer than this and nothing in it is needed. */
#define CONSOLE_KEEP (1UL << 20)
/* Boots that fail, one after the other, before the process gives up. */
#define FAILED_BOOTS 3
/* A guest that does nothing may take so many times the time of a hang. */
#define WAITING 20
/* How often a guest looks for an input in a microsecond, roughly. */
#define SPINS_PER_US 50
/* The part of the guest's memory that inputs may leave over before it boots again: 1/LOST_PART. */
#define LOST_PART 8
/* What the allocator adds to the objects of an input, roughly. */
#define LOST_EACH 64
/* No input makes so many reports, so that number is no number of reports. */
#define REPORTS_MAX (1U << 30)
/* What the guest can write at once: kernel/tests/fuzz/port.c. */
#define WAIT_MAX 65536
/* Inputs between two attempts to poll again for as long as at the beginning. */
#define RETRY_POLLING 1024

/* Of the guest's stream: <kernel/host.h>. */
#define MARK	0x10
#define FIRST	0x20
#define KERNEL	0
#define PROGRAM 1

static struct {
	pid_t pid; /* 0: no guest */
	int status;
	int ram, console, wake, woken; /* file descriptors; wake and woken: to read */
	uint8_t *memory;
	struct kasan_fuzz_mailbox *box;
	uint32_t number, input_size;
	off_t console_start;
	uint32_t reports;
	uint64_t lost; /* bytes that inputs have left over since the boot */
	unsigned int boots, spin_us;
	uint64_t boot_ms; /* how long the newest boot took */
	char *text;
} guest = {.ram = -1, .console = -1, .wake = -1, .woken = -1};

bool (*engine_gave_up)(void);
void (*engine_slow)(void);
void (*engine_may_end)(void);

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

struct kasan_fuzz_mailbox *guest_box(void)
{
	return guest.box;
}

uint32_t guest_number(void)
{
	return guest.number;
}

unsigned int guest_boots(void)
{
	return guest.boots;
}

unsigned int guest_reports(void)
{
	return guest.box ? __atomic_load_n(&guest.box->reports, __ATOMIC_RELAXED) : 0;
}

static off_t console_size(void)
{
	return lseek(guest.console, 0, SEEK_END);
}

/*
 * Take what is no text out of @text, which begins with a mark or is the UART's: kernel/include/kernel/host.h. A mark and a
 * byte begin a channel, and two marks are the byte itself.
 *
 * The other functions tell the kernel's lines by the bracket that they begin with, so a line of the target, which could
 * look like a report, begins with a parenthesis instead.
 */
static size_t without_marks(char *text, size_t size)
{
	int channel = KERNEL;
	size_t to = 0;

	for (size_t from = 0; from < size; from++) {
		if (text[from] == MARK && from + 1 < size && text[++from] != MARK) {
			channel = text[from] - FIRST;
			continue;
		}
		if (channel != KERNEL && channel != PROGRAM)
			continue;
		text[to] = text[from];
		if (channel == PROGRAM && text[to] == '[' && (!to || text[to - 1] == '\n'))
			text[to] = '(';
		to++;
	}
	return to;
}

static const char *console_from(off_t start)
{
	off_t size = console_size() - start;
	ssize_t got = 0;

	if (size < 0)
		size = 0;
	if (size > (off_t)CONSOLE_MAX)
		size = CONSOLE_MAX;
	if (!guest.text && !(guest.text = malloc(CONSOLE_MAX + 1)))
		fail("no memory for the console");
	got = pread(guest.console, guest.text, (size_t)size, start);
	got = (ssize_t)without_marks(guest.text, got > 0 ? (size_t)got : 0);
	guest.text[got] = '\0';
	/* The other functions take it as text. */
	for (ssize_t i = 0; i < got; i++)
		if (!guest.text[i])
			guest.text[i] = '?';
	return guest.text;
}

const char *guest_console(void)
{
	return console_from(guest.console_start);
}

void guest_forget_console(void)
{
	if (console_size() > (off_t)CONSOLE_KEEP && ftruncate(guest.console, 0) < 0)
		fail("the console's file cannot be emptied: %s", strerror(errno));
}

static void close_file(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void guest_stop(void)
{
	if (guest.pid) {
		kill(guest.pid, SIGKILL);
		while (waitpid(guest.pid, &guest.status, 0) < 0 && errno == EINTR)
			;
	}
	guest.pid = 0;
	guest.box = NULL;
	close_file(&guest.wake);
	close_file(&guest.woken);
}

/* Return: true if the guest's process has ended by itself. */
static bool guest_ended(void)
{
	if (guest.pid && waitpid(guest.pid, &guest.status, WNOHANG) == guest.pid)
		guest.pid = 0;
	return !guest.pid;
}

/* What @NAME@ in a word of the command stands for: the path of a file descriptor, or @size itself. */
struct place {
	const char *name;
	int file;
	int size;
};

/* Return: an allocated copy of @word with all that the @places name. */
static char *with_places(const char *word, const struct place *places, size_t count)
{
	char *copy = strdup(word);

	for (size_t i = 0; copy && i < count; i++) {
		char *at = strstr(copy, places[i].name), *longer;
		const char *behind;
		int before, length;

		if (!at)
			continue;
		behind = at + strlen(places[i].name);
		before = (int)(at - copy);
		if (places[i].file >= 0)
			length = asprintf(&longer, "%.*s/proc/self/fd/%d%s", before, copy,
					  places[i].file, behind);
		else
			length =
				asprintf(&longer, "%.*s%d%s", before, copy, places[i].size, behind);
		free(copy);
		copy = length < 0 ? NULL : longer;
		i--;
	}
	if (!copy)
		fail("no memory for a command");
	return copy;
}

static void start_emulator(void)
{
	int wait[2], wake[2];
	size_t count = 0;
	char **command;
	pid_t parent = getpid();
	int size;

	if (pipe2(wait, O_CLOEXEC) || pipe2(wake, O_CLOEXEC))
		fail("no pipe: %s", strerror(errno));
	/* A guest that does not sleep has nothing for the host to read. */
	fcntl(wait[0], F_SETFL, O_NONBLOCK);
	fcntl(wake[0], F_SETFL, O_NONBLOCK);
	guest.wake = wait[0];
	guest.woken = wake[0];
	/* It is rounded up to a page. */
	size = fcntl(wait[1], F_SETPIPE_SZ, 1);
	if (size <= 0 || size > WAIT_MAX)
		fail("no pipe of one page: %s",
		     size <= 0 ? strerror(errno) : "pages are too large");
	while (config.command[count])
		count++;
	command = calloc(count + 1, sizeof(*command));
	if (!command)
		fail("no memory for a command");
	const struct place places[] = {
		{"@ram@", guest.ram, 0}, {"@console@", guest.console, 0},
		{"@wait@", wait[1], 0},	 {"@wake@", wake[1], 0},
		{"@page@", -1, size},
	};

	for (size_t i = 0; i < count; i++)
		command[i] =
			with_places(config.command[i], places, sizeof(places) / sizeof(*places));
	guest.pid = fork();
	if (guest.pid < 0)
		fail("no process: %s", strerror(errno));
	if (!guest.pid) {
		int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

		/* Not the terminal's Ctrl-C: this process ends the guest. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		dup2(nothing, 0);
		dup2(guest.console, 1);
		dup2(guest.console, 2);
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			if (places[i].file >= 0)
				fcntl(places[i].file, F_SETFD, 0);
		execvp(command[0], command);
		dprintf(2, "%s cannot be started: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	close(wait[1]);
	close(wake[1]);
	for (size_t i = 0; i < count; i++)
		free(command[i]);
	free(command);
}

/* Return: where the guest says that the mailbox is; NULL if it has not said it, or nonsense. */
static struct kasan_fuzz_mailbox *find_mailbox(void)
{
	const char *at = strstr(console_from(0), "fuzz: mailbox at 0x");
	uint64_t address;

	if (!at || !strchr(at, '\n'))
		return NULL;
	address = strtoull(at + strlen("fuzz: mailbox at "), NULL, 16) - config.ram;
	if (address % 64 || address > config.memory ||
	    config.memory - address < sizeof(struct kasan_fuzz_mailbox))
		return NULL;
	return (struct kasan_fuzz_mailbox *)(guest.memory + address);
}

/* Both sides poll for @microseconds from now on. */
static void set_polling(unsigned int microseconds)
{
	guest.spin_us = microseconds < config.spin_us ? microseconds : config.spin_us;
	__atomic_store_n(&guest.box->spin, guest.spin_us * SPINS_PER_US, __ATOMIC_RELAXED);
}

/* Return: true if the guest runs and waits for its first input. */
static bool boot(void)
{
	const uint64_t start = now_ms(), limit = start + config.boot_ms;
	struct kasan_fuzz_mailbox *box = NULL;

	if (guest.ram < 0) {
		guest.ram = memfd_create("guest-ram", MFD_CLOEXEC);
		guest.console = memfd_create("guest-console", MFD_CLOEXEC);
		if (guest.ram < 0 || guest.console < 0 ||
		    fcntl(guest.console, F_SETFL, O_APPEND) < 0)
			fail("no file in memory: %s", strerror(errno));
		guest.memory =
			mmap(NULL, config.memory, PROT_READ | PROT_WRITE, MAP_SHARED, guest.ram, 0);
		if (guest.memory == MAP_FAILED)
			fail("no address space for the guest's memory: %s", strerror(errno));
	}
	/* All zeroes again. */
	if (ftruncate(guest.console, 0) || ftruncate(guest.ram, 0) ||
	    ftruncate(guest.ram, (off_t)config.memory))
		fail("the guest's memory cannot be emptied: %s", strerror(errno));
	start_emulator();
	guest.boots++;
	guest.number = 0;
	guest.reports = 0;
	guest.lost = 0;
	while (!box || __atomic_load_n(&box->magic, __ATOMIC_ACQUIRE) != KASAN_FUZZ_MAGIC) {
		if (engine_may_end)
			engine_may_end();
		if (guest_ended() || now_ms() > limit)
			return false;
		usleep(1000);
		if (!box)
			box = find_mailbox();
	}
	if (box->version != KASAN_FUZZ_VERSION || box->size != sizeof(*box))
		fail("the kernel was built with another version of the mailbox");
	guest.box = box;
	box->leaks = config.leaks ? KASAN_FUZZ_LEAKS_COUNT : KASAN_FUZZ_LEAKS_IGNORE;
	box->compare = config.compare;
	box->reports_all = config.reports_all;
	set_polling(config.spin_us);
	guest.boot_ms = now_ms() - start;
	return true;
}

void guest_killed(void)
{
	fprintf(stderr, "redzone: the emulator was ended from outside; it boots again\n");
}

static void boot_or_fail(void)
{
	for (int i = 0; i < FAILED_BOOTS; i++) {
		if (boot())
			return;
		if (!guest.pid && WIFSIGNALED(guest.status))
			guest_killed();
		guest_stop();
	}
	fail("the kernel does not come up; its console:\n%s", console_from(0));
}

static void wake_guest(void)
{
	static char page[WAIT_MAX];
	ssize_t ignored = read(guest.wake, page, sizeof(page));

	(void)ignored;
}

/* Sleep until the guest wakes the host, at most @milliseconds. */
static void sleep_some(int milliseconds)
{
	struct pollfd wait = {.fd = guest.woken, .events = POLLIN};
	char bytes[64];

	if (poll(&wait, 1, milliseconds) > 0) {
		/* If the guest is gone the pipe has ended, and would not let anyone sleep. */
		if (read(guest.woken, bytes, sizeof(bytes)) <= 0)
			usleep(1000);
	}
}

static void post(const uint8_t *data, size_t size)
{
	struct kasan_fuzz_mailbox *box = guest.box;

	memcpy(box->input, data, size);
	if (config.counters)
		memset(box->counters, 0, config.counters);
	box->input_size = guest.input_size = (uint32_t)size;
	/* 0 means that nothing was posted. */
	if (!++guest.number)
		guest.number = 1;
	guest.console_start = console_size();
	guest.reports = guest_reports();
	__atomic_store_n(&box->posted, guest.number, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&box->guest_sleeps, __ATOMIC_SEQ_CST))
		wake_guest();
}

static bool finished(void)
{
	return __atomic_load_n(&guest.box->done, __ATOMIC_ACQUIRE) == guest.number;
}

/*
 * Poll for the end. Return: true if it came.
 *
 * Polling pays off while the guest answers at once. On a machine with more to do than CPUs it takes the CPU that the
 * guest waits for. So both sides poll for half as long after each time that it was in vain, and for longer after a
 * success. Now and then they try again from the beginning.
 */
static bool poll_for_end(void)
{
	const uint64_t start = now_us();
	uint64_t spent = 0;

	if (guest.number % RETRY_POLLING == 0)
		set_polling(config.spin_us);
	/* The clock is asked now and then only: it is slower than a look at a word. */
	for (unsigned int i = 1; spent < guest.spin_us; i++) {
		if (finished()) {
			set_polling(guest.spin_us * 2);
			return true;
		}
		if (i % 64 == 0)
			spent = now_us() - start;
	}
	set_polling(guest.spin_us / 2);
	return false;
}

static bool all_zero(const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (words[i])
			return false;
	return true;
}

/*
 * Return: true if the mailbox's words that are not the guest's are what they were, and the guest's own ones have values
 * that it can have given them. Counters and comparisons may have any values.
 */
static bool intact(void)
{
	const struct kasan_fuzz_mailbox *box = guest.box;

	return box->magic == KASAN_FUZZ_MAGIC && box->version == KASAN_FUZZ_VERSION &&
	       box->size == sizeof(*box) &&
	       __atomic_load_n(&box->posted, __ATOMIC_RELAXED) == guest.number &&
	       box->input_size == guest.input_size && box->spin == guest.spin_us * SPINS_PER_US &&
	       box->compare == config.compare && box->reports_all == config.reports_all &&
	       box->leaks <= (config.leaks ? KASAN_FUZZ_LEAKS_REPORT : KASAN_FUZZ_LEAKS_IGNORE) &&
	       __atomic_load_n(&box->host_sleeps, __ATOMIC_RELAXED) <= 1 &&
	       __atomic_load_n(&box->guest_sleeps, __ATOMIC_RELAXED) <= 1 &&
	       guest_reports() - guest.reports < REPORTS_MAX && box->reports_bad < REPORTS_MAX &&
	       all_zero(box->unused, sizeof(box->unused) / sizeof(*box->unused)) &&
	       all_zero(box->unused_host, sizeof(box->unused_host) / sizeof(*box->unused_host)) &&
	       all_zero(box->unused_guest, sizeof(box->unused_guest) / sizeof(*box->unused_guest));
}

/* Return: milliseconds of CPU time that the emulator has used so far. */
static uint64_t emulator_ms(void)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(guest.pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

/* Return: true if the engine has given up for so long that a boot costs less than to wait. @late: 0 at first. */
static bool too_late(uint64_t *late)
{
	if (!engine_gave_up || !engine_gave_up())
		return false;
	if (!*late)
		*late = now_ms();
	return now_ms() - *late > guest.boot_ms;
}

/* Wait for the end of the input. Return: false if it has none. */
static bool wait_for_end(enum end *end)
{
	struct kasan_fuzz_mailbox *box = guest.box;
	const uint64_t start = now_ms();
	uint64_t spent, used = 0, late = 0;

	if (poll_for_end())
		return true;
	if (engine_slow)
		engine_slow();
	for (int nap = 1;;) {
		__atomic_store_n(&box->host_sleeps, 1, __ATOMIC_SEQ_CST);
		if (finished())
			break;
		sleep_some(nap);
		if (finished())
			break;
		if (!intact())
			break;
		/* A guest that fell asleep while the input was posted has missed it. */
		if (__atomic_load_n(&box->guest_sleeps, __ATOMIC_SEQ_CST))
			wake_guest();
		spent = now_ms() - start;
		if (guest_ended()) {
			*end = WIFSIGNALED(guest.status) ? END_KILLED : END_DEAD;
			return false;
		}
		/* CPU time: a busy machine is no hang. A guest that waits for nothing uses none. */
		if (!used)
			used = emulator_ms();
		if ((spent > config.hang_ms && emulator_ms() - used > config.hang_ms) ||
		    spent > WAITING * (uint64_t)config.hang_ms ||
		    console_size() - guest.console_start > (off_t)CONSOLE_MAX) {
			*end = END_HANG;
			return false;
		}
		if (too_late(&late)) {
			*end = END_LATE;
			return false;
		}
		nap = spent > 100 ? 50 : spent > 10 ? 5 : 1;
	}
	__atomic_store_n(&box->host_sleeps, 0, __ATOMIC_SEQ_CST);
	return true;
}

static enum end run_once(const uint8_t *data, size_t size)
{
	enum end end = END_GOOD;

	post(data, size);
	if (!wait_for_end(&end) || !intact()) {
		if (end == END_GOOD)
			end = END_SMASHED;
		guest_stop();
		return end;
	}
	return guest_reports() != guest.reports ? END_REPORT : END_GOOD;
}

bool guest_died_late(const uint8_t **data, size_t *size)
{
	const struct kasan_fuzz_mailbox *box = guest.box;

	if (!guest.pid || !box || !guest_ended())
		return false;
	*data = box->input;
	*size = box->input_size < sizeof(box->input) ? box->input_size : sizeof(box->input);
	if (!WIFSIGNALED(guest.status))
		return true;
	guest_killed();
	return false;
}

bool guest_lost(void)
{
	return guest.lost > config.memory / LOST_PART;
}

void guest_ready(void)
{
	/* While it waited for an input. */
	if (guest.pid && guest_ended() && WIFSIGNALED(guest.status))
		guest_killed();
	/* A system that has lost too much memory to the inputs before asks for a boot. */
	if (!guest.pid || __atomic_load_n(&guest.box->boot_again, __ATOMIC_ACQUIRE)) {
		guest_stop();
		boot_or_fail();
	}
}

enum end guest_run(const uint8_t *data, size_t size)
{
	enum end end;

	guest_ready();
	end = run_once(data, size);
	if (end != END_GOOD || !config.leaks || guest.box->left <= 0)
		return end;
	/* A table that is made once is no leak: only what the same input leaves over again counts. */
	__atomic_store_n(&guest.box->leaks, KASAN_FUZZ_LEAKS_REPORT, __ATOMIC_RELAXED);
	end = run_once(data, size);
	if (guest.box) {
		__atomic_store_n(&guest.box->leaks, KASAN_FUZZ_LEAKS_COUNT, __ATOMIC_RELAXED);
		guest.lost += 2ULL * (guest.box->left_bytes + LOST_EACH);
	}
	return end;
}
