/* SPDX-License-Identifier: MIT
 * Large stacks, whose memory comes when it is touched. Without a bug, but for stack overflows that a handler catches. With
 * the argument "overflow" there is no handler, with "memory" a stack grows until the machine has no memory left: both end
 * the program. Needs 256 MiB of memory. */
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define THREADS 64
#define MIB	(1UL << 20)

static volatile int sink;

/* Touch @bytes of stack, a little more than one page in each call. Return: the number of calls. */
static long descend(long bytes)
{
	volatile char space[5000];

	memset((char *)space, 1, sizeof(space));
	if (bytes <= (long)sizeof(space))
		return space[17];
	/* The kernel's own functions run down there as well. */
	if (bytes % 64 == 0)
		free(malloc(100));
	return descend(bytes - (long)sizeof(space)) + space[sizeof(space) - 1];
}

static void deep(void)
{
	/* With checks a frame is twice as large. */
	CHECK(descend(2 * MIB) == (long)(2 * MIB + 4999) / 5000);
	/* Once more, over memory that is there, and frames that are gone. */
	CHECK(descend(3 * MIB) == (long)(3 * MIB + 4999) / 5000);
}

static void *fill(void *arg)
{
	memset(arg, 7, 3 * MIB);
	return NULL;
}

/* Memory of a stack that somebody else touches first. */
static void large(void)
{
	char *block = alloca(4 * MIB), *other = alloca(64 << 10);
	pthread_t thread;
	int fd;

	block[4 * MIB - 1] = 1;
	block[2 * MIB] = 2;
	CHECK(block[4 * MIB - 1] == 1 && block[2 * MIB] == 2);
	CHECK(!pthread_create(&thread, NULL, fill, block) && !pthread_join(thread, NULL));
	CHECK(block[0] == 7 && block[3 * MIB - 1] == 7 && block[4 * MIB - 1] == 1);
	fd = open("/dev/zero", O_RDONLY);
	CHECK(read(fd, other, 64 << 10) == 64 << 10 && !other[0] && !other[(64 << 10) - 1]);
	close(fd);
}

/* --- Threads ------------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *small_use(void *arg)
{
	long calls = descend(100000);

	/* All at once: their stacks together are larger than the machine's memory. */
	pthread_barrier_wait(&barrier);
	calls += descend(150000);
	return (void *)(intptr_t)calls;
}

static void *large_use(void *arg)
{
	return (void *)(intptr_t)descend(7 * MIB);
}

static void threads(void)
{
	pthread_t thread[THREADS];
	pthread_attr_t attr;
	void *result;

	pthread_attr_init(&attr);
	CHECK(!pthread_attr_setstacksize(&attr, 8 * MIB));
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], &attr, small_use, NULL));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], &result) && (intptr_t)result == 20 + 30);
	/* The memory of a thread goes back: one after the other, they use more than the machine has. */
	for (int i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&thread[0], &attr, large_use, NULL));
		CHECK(!pthread_join(thread[0], &result) &&
		      (intptr_t)result == (long)(7 * MIB + 4999) / 5000);
	}
}

/* --- Overflow ------------------------------------------------------------------------------------ */

static _Thread_local sigjmp_buf back;
static _Thread_local int handled;

static void on_overflow(int sig, siginfo_t *info, void *context)
{
	volatile char here;

	/* The address is on the other stack. */
	CHECK(sig == SIGSEGV && (uintptr_t)info->si_addr - (uintptr_t)&here > 65536);
	handled++;
	siglongjmp(back, 1);
}

static long endless(long n)
{
	volatile char space[1000];

	space[0] = (char)n;
	if (n < 0)
		return 0;
	return endless(n + 1) + space[0];
}

static void *overflow(void *arg)
{
	stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};

	CHECK(!sigaltstack(&stack, NULL));
	/* A compiler may count before the fault. */
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			sink = (int)endless(0);
	CHECK(handled == 3 && descend(100000) == 20);
	free(stack.ss_sp);
	return arg;
}

static void overflows(void)
{
	struct sigaction action = {.sa_sigaction = on_overflow,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};
	pthread_t thread;

	CHECK(!sigaction(SIGSEGV, &action, NULL));
	overflow(NULL);
	CHECK(!pthread_create(&thread, NULL, overflow, NULL) && !pthread_join(thread, NULL));
	signal(SIGSEGV, SIG_DFL);
}

static void *use_all(void *arg)
{
	sink = (int)descend(1000 * MIB);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "overflow"))
		sink = (int)endless(0);
	if (argc > 1 && !strcmp(argv[1], "memory")) {
		pthread_attr_init(&attr);
		CHECK(!pthread_attr_setstacksize(&attr, 256 * MIB));
		CHECK(!pthread_create(&thread, &attr, use_all, NULL) &&
		      !pthread_join(thread, NULL));
	}
	deep();
	large();
	threads();
	overflows();
	puts(failed ? "stack: bad" : "stack: good");
	return failed;
}
