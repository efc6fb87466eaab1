/* SPDX-License-Identifier: MIT */
/* bench.h - the parts of the benchmark's program in user mode that main.c does not have itself. */
#ifndef BENCH_USER_BENCH_H
#define BENCH_USER_BENCH_H

/* mix.c. Each returns the program's exit code. */
int compute(unsigned long steps);
int cc(unsigned long job);
int make(unsigned long jobs, unsigned long maker);

#endif
