/* SPDX-License-Identifier: MIT */
/* work.h - what a program of ./redzone bench time supplies. */
#ifndef BENCH_TIME_WORK_H
#define BENCH_TIME_WORK_H

/** work() - do what is measured @rounds times. Runs in several threads, which @thread tells apart. Ends the program with
 *  status 1 if a result is wrong. */
void work(unsigned long rounds, unsigned int thread);

/* Keeps a value that nothing else needs. */
#define keep(value) __asm__ volatile("" : : "r"(value) : "memory")

#endif
