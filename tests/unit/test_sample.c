/* SPDX-License-Identifier: MIT */
/*
 * test_sample.c - the counters of kasan.page_alloc.sample=. A draw is interrupted, or its task is moved to another CPU,
 * after each of its instructions; and many threads draw at once.
 *
 * Tests runtime/alloc/hw_sample.c alone, with a port whose CPU number the test sets. A tracer steps a draw by single
 * instructions and then sends a signal. The signal's handler does what may happen meanwhile: others draw, and the task
 * moves to another CPU. As hw_sample.c promises, no ticket may be lost or drawn twice.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kasan/kasan.h>
#include <kasan/port.h>

#include "../../runtime/alloc/hw_sample.h"

#define INTERVAL  5U
#define PAGES	  (8UL * CONFIG_KASAN_PAGE_SIZE)
#define CPUS	  4U
#define MAX_STEPS 400U
#define THREADS	  4U
#define DRAWS	  200000UL

__attribute__((constructor)) static void set_interval(void)
{
	kasan_opt_sample = INTERVAL;
}

static _Thread_local volatile unsigned int cpu_number;

unsigned int kasan_port_cpu(void)
{
	return cpu_number;
}

static unsigned int cases, failures;

static bool result(bool ok, const char *name, const char *what)
{
	cases++;
	failures += !ok;
	printf("%sok %u %s\n", ok ? "" : "not ", cases, name);
	if (!ok)
		printf("# %s\n", what);
	return ok;
}

/* Return: how many of the first @n draws from a counter get a tag. */
static unsigned long due(unsigned long n)
{
	return (n + INTERVAL - 1) / INTERVAL;
}

/* Return: true if the counters say that @draws were made and that @tagged of them got a tag. @what: filled with the
 * figures. */
static bool adds_up(unsigned long draws, unsigned long tagged, char *what, size_t size)
{
	unsigned long drawn = 0, expected = 0;

	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		drawn += kasan_sample_tickets(cpu);
		expected += due(kasan_sample_tickets(cpu));
	}
	snprintf(what, size, "%lu draws took %lu tickets; %lu of them got a tag, not %lu", draws,
		 drawn, tagged, expected);
	return drawn == draws && tagged == expected;
}

/* --- One draw, interrupted -------------------------------------------------------------------- */

/* Shared by the tracer and the task that it steps. */
static struct shared {
	volatile enum { BEFORE, INSIDE, BEHIND } phase;
	bool moves;
	volatile unsigned long draws, tagged;
	bool ok;
	char what[160];
} *shared;

static void draw(void)
{
	const bool tag = kasan_sample(PAGES);

	shared->draws++;
	shared->tagged += tag;
}

/* The draws of others in the meantime. Their number is odd, so that tickets do not match again by chance. */
static void meanwhile(int sig)
{
	const unsigned int cpu = cpu_number;

	(void)sig;
	for (unsigned int i = 0; i < 3; i++)
		draw();
	if (!shared->moves)
		return;
	/* The task moves to another CPU, on which others have drawn as well. */
	cpu_number = (cpu + 1) % CPUS;
	for (unsigned int i = 0; i < 4; i++)
		draw();
}

static _Noreturn void traced_task(void)
{
	bool tag;

	signal(SIGUSR1, meanwhile);
	for (unsigned int i = 0; i < 3; i++)
		draw();
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(2);
	raise(SIGSTOP);
	shared->phase = INSIDE;
	tag = kasan_sample(PAGES);
	shared->phase = BEHIND;
	shared->draws++;
	shared->tagged += tag;
	for (cpu_number = 0; cpu_number < CPUS; cpu_number++) {
		for (unsigned int i = 0; i < 11; i++)
			draw();
	}
	shared->ok = adds_up(shared->draws, shared->tagged, shared->what, sizeof(shared->what));
	_exit(0);
}

static bool step(pid_t task)
{
	int status;

	return !ptrace(PTRACE_SINGLESTEP, task, NULL, NULL) && waitpid(task, &status, 0) == task &&
	       WIFSTOPPED(status);
}

/* Return: 1 if the draw was interrupted after its @steps-th instruction; 0 if it has fewer; -1 if processes cannot be
 * traced here. */
static int interrupt_after(unsigned int steps, bool moves)
{
	int status, found = 0;
	pid_t task;

	memset(shared, 0, sizeof(*shared));
	shared->moves = moves;
	fflush(stdout);
	task = fork();
	if (task == 0)
		traced_task();
	if (task < 0 || waitpid(task, &status, 0) != task || !WIFSTOPPED(status))
		return -1;
	while (shared->phase == BEFORE) {
		if (!step(task))
			return -1;
	}
	while (steps-- && shared->phase == INSIDE) {
		if (!step(task))
			return -1;
	}
	found = shared->phase == INSIDE;
	if (ptrace(PTRACE_CONT, task, NULL, found ? (void *)SIGUSR1 : NULL) ||
	    waitpid(task, &status, 0) != task || !WIFEXITED(status) || WEXITSTATUS(status))
		return -1;
	return found;
}

static void interrupted_draw(const char *name, bool moves)
{
	unsigned int steps, wrong = 0, first = 0;
	char what[256] = "";
	int found = 0;

	for (steps = 0; steps < MAX_STEPS; steps++) {
		found = interrupt_after(steps, moves);
		if (found <= 0)
			break;
		if (shared->ok)
			continue;
		if (!wrong++) {
			first = steps;
			snprintf(what, sizeof(what), "after instruction %u: %s", first,
				 shared->what);
		}
	}
	if (found < 0 && !steps) {
		cases++;
		printf("ok %u %s # SKIP no process can be traced here\n", cases, name);
		return;
	}
	printf("# interrupted behind each of %u instructions, %u times wrongly\n", steps, wrong);
	/* Too few interruptions prove nothing. */
	result(found >= 0 && steps > 10 && !wrong, name, what);
}

/* --- Many at once ----------------------------------------------------------------------------- */

static void *drawer(void *arg)
{
	unsigned long tagged = 0;

	for (unsigned long i = 0; i < DRAWS; i++) {
		cpu_number = (unsigned int)((i / 64) % CPUS);
		tagged += kasan_sample(PAGES);
	}
	*(unsigned long *)arg = tagged;
	return NULL;
}

static void threads_draw_each_ticket_once(void)
{
	unsigned long tagged[THREADS], sum = 0;
	pthread_t threads[THREADS];
	char what[160];
	bool ok;

	for (unsigned int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, drawer, &tagged[i])) {
			result(false, __func__, "no thread");
			return;
		}
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += tagged[i];
	}
	/* The counters include the draws of one_after_the_other(). */
	ok = adds_up(THREADS * DRAWS + 3 * INTERVAL, sum + 3, what, sizeof(what));
	result(ok, __func__, what);
}

/* Alone on a CPU: every fifth allocation gets a tag, starting with the first. Small ones always get one, and take no
 * ticket. */
static void one_after_the_other(void)
{
	const unsigned long before = kasan_sample_tickets(0);
	struct kasan_sample_stats stats;
	bool ok = true;

	cpu_number = 0;
	for (unsigned int i = 0; i < 3 * INTERVAL; i++) {
		ok = ok && kasan_sample(PAGES) == (i % INTERVAL == 0);
		ok = ok && kasan_sample(PAGES / 2);
	}
	kasan_sample_stats(&stats);
	ok = ok && kasan_sample_tickets(0) == before + 3 * INTERVAL;
	ok = ok && stats.interval == INTERVAL && stats.allocations == 6 * INTERVAL &&
	     stats.skipped == 3 * (INTERVAL - 1);
	result(ok, __func__, "not every fifth");
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	printf("TAP version 13\n1..4\n");
	/* First the cases in separate processes: they must start with counters at 0. */
	interrupted_draw("interrupt_after_each_instruction", false);
	interrupted_draw("migration_after_each_instruction", true);
	one_after_the_other();
	threads_draw_each_ticket_once();
	return failures != 0;
}
