/* SPDX-License-Identifier: MIT */
/*
 * main.c - for ./redzone bench time: does work(@rounds) in each of @threads threads at once, and prints what a round takes.
 *
 *	PROGRAM ROUNDS THREADS
 *	time WALL CPU        nanoseconds: of the slowest thread, and of a thread's own CPU time in the mean
 *
 * As many rounds come before, so that pages, caches and the quarantine are as in a program that runs for long.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

#define MOST 64

static pthread_barrier_t start;
static unsigned long rounds;

struct worker {
	pthread_t thread;
	unsigned int number;
	double wall, cpu;
};

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	double wall, cpu;

	work(rounds, worker->number);
	pthread_barrier_wait(&start);
	wall = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	work(rounds, worker->number);
	worker->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	worker->wall = now(CLOCK_MONOTONIC) - wall;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[MOST];
	unsigned int threads = argc > 2 ? (unsigned int)atoi(argv[2]) : 1, i;
	double wall = 0, cpu = 0;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	if (!rounds || !threads || threads > MOST)
		return 2;
	pthread_barrier_init(&start, NULL, threads);
	for (i = 0; i < threads; i++) {
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			return 3;
	}
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		wall = workers[i].wall > wall ? workers[i].wall : wall;
		cpu += workers[i].cpu;
	}
	printf("time %.3f %.3f\n", wall / (double)rounds, cpu / (double)threads / (double)rounds);
	return 0;
}
