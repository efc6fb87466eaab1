/* SPDX-License-Identifier: MIT */
/*
 * mix.c - the programs of the build-like mix: "make" starts compilers one after the other, and "cc" is one.
 * ../mix.h says what a job consists of; the kernel's side of the files is ../files.c.
 */
#include "../../user/user.h"
#include "../mix.h"
#include "bench.h"

/* cc's ends of the two pipes, under numbers that make does not use. */
#define IN  10
#define OUT 11

static char buffer[MIX_SOURCE];

static long call_file(enum mix_file_op op, const char *name, void *data, size_t n)
{
	return syscall6(MIX_CALL, op, (unsigned long)name, (unsigned long)data, n, 0, 0);
}

/* @prefix and the digits of @n. */
static const char *name_of(char prefix, unsigned long n, char name[MIX_NAME])
{
	char text[24];
	const char *digits = decimal(n, text);
	size_t at = 0;

	name[at++] = prefix;
	while (*digits)
		name[at++] = *digits++;
	name[at] = '\0';
	return name;
}

/* As a compiler computes: loads, stores, shifts and branches. The pause lets QEMU go on to the next CPU, which it does
 * only where a CPU waits: so the CPUs take turns as often as on a machine. */
int compute(unsigned long steps)
{
	static unsigned long table[64];

	for (; steps; steps--) {
		for (size_t i = 0; i < 64; i++) {
			unsigned long value = table[i] ^ random_number();

			table[i] = value & 1 ? value >> 1 : value * 3;
		}
		pause_cpu();
	}
	return 0;
}

/* --- cc ------------------------------------------------------------------------------------------- */

static void read_source(void)
{
	size_t done = 0;
	long n;

	while ((n = syscall3(NR_read, IN, buffer + done, sizeof(buffer) - done)) > 0)
		done += (size_t)n;
	CHECK(n == 0 && done == sizeof(buffer));
}

static void read_headers(unsigned long job)
{
	char name[MIX_NAME];

	for (unsigned long i = 0; i < MIX_MISSES; i++)
		CHECK(call_file(MIX_LOOK_UP, name_of('n', job + i, name), NULL, 0) < 0);
	for (unsigned long i = 0; i < MIX_HEADERS_READ; i++) {
		const size_t size = MIX_HEADER_BLOCKS * MIX_BLOCK;

		name_of('h', (job + i) % MIX_HEADERS, name);
		CHECK(call_file(MIX_LOOK_UP, name, NULL, 0) == (long)size);
		CHECK(call_file(MIX_READ, name, buffer, size) == (long)size);
		compute(MIX_STEPS);
	}
}

static void write_object(unsigned long job)
{
	char name[MIX_NAME];

	CHECK(call_file(MIX_CREATE, name_of('o', job, name), NULL, 0) == 0);
	for (size_t done = 0; done < MIX_OBJECT; done += MIX_BLOCK)
		CHECK(call_file(MIX_APPEND, name, buffer + done, MIX_BLOCK) == 0);
	CHECK(call_file(MIX_SYNC, name, NULL, 0) == 0);
}

int cc(unsigned long job)
{
	const size_t size = 16 * PAGE_SIZE;
	long memory = map(size, 3);

	CHECK(memory > 0 && syscall0(NR_getpid) > 0);
	for (size_t at = 0; at < size; at += PAGE_SIZE)
		*(volatile char *)(memory + at) = 1;
	read_source();
	CHECK(syscall1(NR_brk, syscall1(NR_brk, 0) + 4 * (long)PAGE_SIZE) > 0);
	read_headers(job);
	write_object(job);
	CHECK(syscall2(NR_munmap, memory, size) == 0);
	CHECK(syscall3(NR_write, OUT, buffer, MIX_ANSWER) == MIX_ANSWER);
	return 0;
}

/* --- make ----------------------------------------------------------------------------------------- */

/* Start cc for @job. Return: its number; @to, @from: make's ends of the pipes. */
static long start_compiler(unsigned long job, int *to, int *from)
{
	char digits[24];
	const char *const argv[] = {"bench", "cc", decimal(job, digits), NULL};
	int there[2], back[2];
	long child;

	CHECK(syscall2(NR_pipe2, there, O_CLOEXEC) == 0);
	CHECK(syscall2(NR_pipe2, back, O_CLOEXEC) == 0);
	CHECK(syscall3(NR_dup3, there[0], IN, 0) == IN);
	CHECK(syscall3(NR_dup3, back[1], OUT, 0) == OUT);
	child = syscall2(NR_spawn, argv[0], argv);
	CHECK(child > 0);
	CHECK(syscall1(NR_close, IN) == 0 && syscall1(NR_close, OUT) == 0);
	CHECK(syscall1(NR_close, there[0]) == 0 && syscall1(NR_close, back[1]) == 0);
	*to = there[1];
	*from = back[0];
	return child;
}

static void run_job(unsigned long job)
{
	int to, from, status = -1;
	char name[MIX_NAME];
	size_t done = 0;
	long child, n;

	child = start_compiler(job, &to, &from);
	for (size_t at = 0; at < MIX_SOURCE; at += MIX_BLOCK)
		CHECK(syscall3(NR_write, to, buffer + at, MIX_BLOCK) == MIX_BLOCK);
	CHECK(syscall1(NR_close, to) == 0);
	while ((n = syscall3(NR_read, from, buffer, sizeof(buffer))) > 0)
		done += (size_t)n;
	CHECK(n == 0 && done == MIX_ANSWER);
	CHECK(syscall1(NR_close, from) == 0);
	CHECK(syscall3(NR_wait4, child, &status, 0) == child && status == 0);
	name_of('o', job, name);
	CHECK(call_file(MIX_READ, name, buffer, MIX_OBJECT) == MIX_OBJECT);
	CHECK(call_file(MIX_REMOVE, name, NULL, 0) == 0);
}

int make(unsigned long jobs, unsigned long maker)
{
	for (unsigned long i = 0; i < jobs; i++)
		run_job(i * MIX_MAKERS + maker);
	return 0;
}
