// SPDX-License-Identifier: MIT
/* stackleak.c - system calls for the suite stackleak: in a given order, and at random. */
#include "user.h"

/* calls N...: make the kernel's test system calls with these numbers. Returns the result of the last one. */
int case_calls(int argc, char **argv)
{
	long result = 0;

	for (int i = 2; i < argc; i++)
		result = syscall0(NR_own + (long)number(argv[i]));
	return (int)result;
}

/* spin_calls: compute until the kernel's test call 2 says that it is enough. Returns the result of call 0. */
int case_spin_calls(int argc, char **argv)
{
	do {
		for (volatile unsigned int turns = 0; turns < 100000; turns++)
			;
	} while (!syscall0(NR_own + 2));
	return (int)syscall0(NR_own);
}

/* The complement of the marker. */
static volatile unsigned long hidden;

/* One call with the marker in registers and memory. It is in no register that the caller keeps: the kernel's functions
 * store those registers on its stack. */
static __attribute__((noinline)) void random_call(unsigned long *page)
{
	static const short calls[] = {
		NR_openat,	NR_close, NR_lseek,	NR_read,   NR_write,  NR_clock_gettime,
		NR_sched_yield, NR_kill,  NR_uname,	NR_getcpu, NR_getpid, NR_brk,
		NR_mmap,	NR_wait4, NR_getrandom, NR_spawn,  NR_pipe2,  NR_dup};
	long nr = calls[random_number() % (sizeof(calls) / sizeof(calls[0]))];
	unsigned long args[3], marker = ~hidden;

	for (size_t i = 0; i < 2 * PAGE_SIZE / sizeof(*page); i++)
		page[i] = marker;
	/* A string ends somewhere. */
	((char *)page)[PAGE_SIZE + random_number() % PAGE_SIZE] = '\0';
	for (size_t i = 0; i < 3; i++) {
		unsigned long at = random_number() % PAGE_SIZE;

		args[i] = random_number() % 4 == 0 ? marker : (unsigned long)page + at;
	}
	/* Descriptors that are not the console. */
	if (nr == NR_write)
		args[0] = random_number() % 2 ? 3 + random_number() % 13 : marker;
	if (nr == NR_read)
		args[0] = random_number() % 16;
	/* This program has both ends of a pipe, so a wait for the other end would not end. */
	if (nr == NR_pipe2)
		args[1] = O_NONBLOCK;
	syscall6(nr, args[0], args[1], args[2], marker, marker, marker);
}

/*
 * random_calls SEED ROUNDS MARKER: system calls with the marker, a number, in registers and memory. Every second time
 * the kernel's test call 1 puts some on the kernel stack instead. After each call the test call 0 looks for it. Returns
 * the number of rounds after which there was one, 255 at most.
 */
int case_random_calls(int argc, char **argv)
{
	unsigned long rounds = number(argv[3]), left = 0;
	unsigned long *page = (unsigned long *)map(2 * PAGE_SIZE, 3);

	hidden = ~number(argv[4]);
	random_seed(number(argv[2]));
	for (unsigned long round = 0; round < rounds; round++) {
		if (round % 2)
			syscall1(NR_own + 1, random_number());
		else
			random_call(page);
		left += syscall0(NR_own) != 0;
	}
	return left < 255 ? (int)left : 255;
}
