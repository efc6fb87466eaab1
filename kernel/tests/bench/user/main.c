/* SPDX-License-Identifier: MIT */
/* main.c - the benchmark's program in user mode. Its first argument says what it does, the
 * second how often. */
#include "../../user/user.h"
#include "bench.h"

/* A small program's life: some memory, some output, its start parameters. */
static int work(unsigned long unused)
{
	const size_t size = 4 * PAGE_SIZE;
	long memory = map(size, 3);
	char bytes[16];

	CHECK(memory > 0);
	for (size_t at = 0; at < size; at += PAGE_SIZE)
		*(volatile char *)(memory + at) = 1;
	CHECK(syscall0(NR_getpid) > 0);
	CHECK(syscall2(NR_getrandom, bytes, sizeof(bytes)) == sizeof(bytes));
	for (int i = 0; i < 8; i++)
		print("a line of output, as programs print them\n");
	CHECK(syscall2(NR_munmap, memory, size) == 0);
	return 0;
}

/* Begins or ends what is measured: kernel/tests/bench/calls.c. */
static void mark(void)
{
	CHECK(syscall0(NR_own) == 0);
}

/* The cheapest system call: nothing but the way into the kernel and back. */
static int getpid(unsigned long rounds)
{
	const long self = syscall0(NR_getpid);

	mark();
	for (unsigned long i = 0; i < rounds; i++) {
		if (syscall0(NR_getpid) != self)
			return 1;
	}
	mark();
	return 0;
}

/* The child's ends of the two pipes, under numbers that the parent does not use. */
#define IN  10
#define OUT 11

/* Sends every byte back, until there are no more. */
static int echo(unsigned long unused)
{
	char byte;
	long n;

	while ((n = syscall3(NR_read, IN, &byte, 1)) == 1)
		CHECK(syscall3(NR_write, OUT, &byte, 1) == 1);
	return n == 0 ? 0 : 1;
}

static void ping_pong(const int *there, const int *back, unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		char byte = (char)i;

		CHECK(syscall3(NR_write, there[1], &byte, 1) == 1);
		CHECK(syscall3(NR_read, back[0], &byte, 1) == 1 && byte == (char)i);
	}
}

/* A byte goes to another process and comes back: four transfers and two switches of processes. */
static int pipe(unsigned long rounds)
{
	static const char *const argv[] = {"bench", "echo", "0", NULL};
	int there[2], back[2], status = -1;
	long child;

	CHECK(syscall2(NR_pipe2, there, O_CLOEXEC) == 0);
	CHECK(syscall2(NR_pipe2, back, O_CLOEXEC) == 0);
	CHECK(syscall3(NR_dup3, there[0], IN, 0) == IN);
	CHECK(syscall3(NR_dup3, back[1], OUT, 0) == OUT);
	child = syscall2(NR_spawn, argv[0], argv);
	CHECK(child > 0);
	CHECK(syscall1(NR_close, IN) == 0 && syscall1(NR_close, OUT) == 0);
	ping_pong(there, back, 16);
	mark();
	ping_pong(there, back, rounds);
	mark();
	CHECK(syscall1(NR_close, there[0]) == 0 && syscall1(NR_close, there[1]) == 0);
	CHECK(syscall3(NR_wait4, child, &status, 0) == child);
	return status;
}

/* What user/mix.c's compute() costs, for the share of user mode in the mix. */
static int computes(unsigned long steps)
{
	mark();
	compute(steps);
	mark();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(unsigned long rounds);
} parts[] = {
	{"work", work}, {"getpid", getpid},    {"pipe", pipe},
	{"echo", echo}, {"compute", computes}, {"cc", cc},
};

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make"))
		return make(number(argv[2]), number(argv[3]));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && argc > 1; i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run(argc > 2 ? number(argv[2]) : 0);
	return 98;
}
