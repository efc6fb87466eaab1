/* SPDX-License-Identifier: MIT */
/* test_record.c - the crash record after a reset between any two stores, after bytes that were overwritten, and when it
 * is full. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <kasan/port.h>
#include <kasan/record.h>

#include "abi.h"
#include "unit.h"

#define SIZE  512
#define UNIT  8
#define WORDS 8	    /* of the header */
#define TRAP  0x100 /* EFLAGS.TF */

enum word { MAGIC, SHAPE, ALL, USED, BEGUN, LOST, AGAIN, BOOTS };

/* Nothing is sampled here. */
bool kasan_port_sample_open(void *page)
{
	(void)page;
	return false;
}

void kasan_port_sample_close(void *page)
{
	(void)page;
}

static uint8_t *memory;
static uintptr_t bad;

/* @which: its place, so that the runtime takes it for another bug. */
static __attribute__((noinline)) void bug(unsigned int which)
{
	kasan_report_fault(bad, 4, KASAN_FAULT_WRITE, (uintptr_t)bug + which,
			   (uintptr_t)__builtin_frame_address(0));
}

/* A place that no case has used. */
static void new_bug(void)
{
	static unsigned int place = 100;

	bug(place++);
}

static uint32_t word(enum word which)
{
	return ((uint32_t *)memory)[which] & 0xffff;
}

static void set_up(void)
{
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(memory != MAP_FAILED);
	bad = (uintptr_t)unit_watched(4096);
	kasan_poison((void *)bad, 64, KASAN_SLAB_REDZONE);
	kasan_option("kasan.repeat", "full");
	kasan_option("kasan_multi_shot", "on");
}

/* Return: number of entries with this state; -1: the used part has other things in it. */
static int entries(char wanted)
{
	size_t at = WORDS / 2;
	int count = 0;

	while (at < word(USED)) {
		const uint32_t state = ((uint32_t *)memory)[2 * at];

		if (((state & 0xff) != 'D' && (state & 0xff) != 'T') || !(state >> 8 & 0xffff))
			return -1;
		count += (char)state == wanted;
		at += state >> 8 & 0xffff;
	}
	return at == word(USED) ? count : -1;
}

/* --- One store at a time: each faults, is made alone, and is counted --------------------------------- */

static unsigned int stores, last_store;

static void before_store(int number, siginfo_t *info, void *context)
{
	(void)number;
	if ((uintptr_t)info->si_addr - (uintptr_t)memory >= 4096)
		_exit(2);
	mprotect(memory, 4096, PROT_READ | PROT_WRITE);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP;
}

static void after_store(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	mprotect(memory, 4096, PROT_READ);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
	/* The reset. */
	if (++stores == last_store)
		_exit(1);
}

static void boot_and_work(unsigned int reports)
{
	unsigned int i;

	kasan_record_start(memory, SIZE);
	for (i = 0; i < reports; i++)
		bug(i);
}

/* Return: was there a reset, after the store @last? */
static bool reset_at(unsigned int last, unsigned int reports)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};
	const pid_t child = fork();
	int status;

	if (!child) {
		last_store = last;
		action.sa_sigaction = before_store;
		sigaction(SIGSEGV, &action, NULL);
		action.sa_sigaction = after_store;
		sigaction(SIGTRAP, &action, NULL);
		mprotect(memory, 4096, PROT_READ);
		boot_and_work(reports);
		_exit(0);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status);
}

static void a_reset_between_any_two_stores(void)
{
	unsigned int last, seen_torn = 0;
	int done = 0, before = 0;

	set_up();
	/* The first ones clear the memory. */
	for (last = 1; last < 5000; last += last < SIZE - 20 ? 13 : 1) {
		memset(memory, 0xa5, SIZE);
		if (!reset_at(last, 2))
			break;
		kasan_record_start(memory, SIZE);
		done = entries('D');
		CHECKF(done >= before && done <= 2, "store %u: %d reports, %d before", last, done,
		       before);
		before = done;
		CHECKF(entries('T') >= 0 && entries('T') + done <= 2, "store %u: %d torn", last,
		       entries('T'));
		seen_torn += (unsigned int)entries('T');
		/* The next boot adds to it. */
		new_bug();
		CHECKF(entries('D') == done + 1, "store %u: %d reports", last, entries('D'));
		CHECK_EQ(word(LOST), 0);
	}
	CHECK(last > 200 && last < 5000);
	CHECK_EQ(done, 2);
	CHECK(seen_torn > 100);
}

/* A reset while a boot settles what an earlier reset has left: nothing gets lost either. */
static void a_reset_after_a_reset(void)
{
	unsigned int last;

	set_up();
	for (last = 1; last < 100; last++) {
		memset(memory, 0, SIZE);
		kasan_record_start(memory, SIZE);
		new_bug();
		/* As if the second report had been torn. */
		((uint32_t *)memory)[2 * word(USED)] = 'O' | 2U << 24;
		memory[word(USED) * UNIT + 20] = 1;
		if (!reset_at(last, 0))
			break;
		kasan_record_start(memory, SIZE);
		CHECK_EQ(entries('D'), 1);
		CHECK_EQ(entries('T'), 1);
	}
	CHECK(last > 1 && last < 100);
}

static void what_is_there_is_kept_and_counted(void)
{
	unsigned int times = 3, i;
	uint8_t copy[SIZE];
	size_t length;

	set_up();
	CHECK_EQ(kasan_record_start(memory, SIZE), 0);
	CHECK_EQ(kasan_record_start(memory, SIZE), 0);
	CHECK_EQ(word(BOOTS), 1);
	new_bug();
	length = kasan_record_read(copy, sizeof(copy));
	CHECK_EQ(length, word(USED) * UNIT);
	CHECK(!memcmp(copy, memory, length));
	CHECK_EQ(kasan_record_read(copy, 10), 10);
	CHECK_EQ(kasan_record_start(memory, SIZE), length);
	CHECK_EQ(word(BEGUN), 1);
	/* The same place again is counted, and takes no room. */
	for (i = 0; i < *(volatile unsigned int *)&times; i++)
		bug(50);
	CHECK_EQ(word(AGAIN), 2);
	CHECK_EQ(entries('D'), 2);
	CHECK(kasan_record_clear());
	CHECK_EQ(entries('D'), 0);
	CHECK_EQ(kasan_record_start(memory, SIZE), 0);
}

static void a_full_record_counts(void)
{
	unsigned int i;

	set_up();
	memset(memory + SIZE, 0x5a, 64);
	kasan_record_start(memory, SIZE);
	for (i = 0; i < 40; i++)
		new_bug();
	CHECK(entries('D') >= 3);
	CHECK_EQ(word(BEGUN), entries('D'));
	CHECK_EQ(word(BEGUN) + word(LOST), 40);
	CHECK(word(USED) * UNIT <= SIZE);
	for (i = 0; i < 64; i++)
		CHECK_EQ(memory[SIZE + i], 0x5a);
}

/* No byte that a bug changes leads the runtime out of the memory, or to write over it. */
static void overwritten_bytes(void)
{
	uint8_t good[SIZE], copy[SIZE];
	size_t at;

	set_up();
	kasan_record_start(memory, SIZE);
	new_bug();
	new_bug();
	memcpy(good, memory, SIZE);
	for (at = 0; at < SIZE; at++) {
		memcpy(memory, good, SIZE);
		memset(memory + SIZE, 0x5a, 64);
		memory[at] ^= 0x81;
		kasan_record_start(memory, SIZE);
		new_bug();
		CHECKF(memory[SIZE] == 0x5a && !memcmp(memory + SIZE, memory + SIZE + 1, 63),
		       "byte %zu: written beyond the end", at);
		/* The bytes that the flip left alone are still there, unless the record itself was not recognized. */
		if (at >= 4)
			CHECKF(!memcmp(memory + 4 * WORDS + 8, good + 4 * WORDS + 8, 16) ||
				       (at >= 4 * WORDS + 8 && at < 4 * WORDS + 24),
			       "byte %zu: the first report was overwritten", at);
		CHECK(kasan_record_read(copy, SIZE) <= SIZE);
	}
}

static void wrong_memory(void)
{
	uint8_t copy[SIZE];

	set_up();
	CHECK_EQ(kasan_record_start(memory, 127), 0);
	CHECK_EQ(kasan_record_start(memory + 4, SIZE), 0);
	CHECK_EQ(kasan_record_start(NULL, SIZE), 0);
	CHECK_EQ(memory[0], 0);
	/* Another size than at the last boot: all of it can be read, and nothing is added. */
	kasan_record_start(memory, SIZE);
	new_bug();
	CHECK_EQ(kasan_record_start(memory, 2 * SIZE), 2 * SIZE);
	new_bug();
	CHECK_EQ(entries('D'), 1);
	CHECK_EQ(kasan_record_read(copy, SIZE), SIZE);
	CHECK(kasan_record_clear());
	CHECK_EQ(word(ALL), 2 * SIZE / UNIT);
}

UNIT_MAIN(a_reset_between_any_two_stores, a_reset_after_a_reset, what_is_there_is_kept_and_counted,
	  a_full_record_counts, overwritten_bytes, wrong_memory)
