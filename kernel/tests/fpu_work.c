// SPDX-License-Identifier: MIT
/*
 * fpu_work.c - a computation in doubles for fpu_test.c. Compiled as programs are: only threads that have floating point
 * may call it. Results come as bits, because the code that compares them has no doubles.
 */
#include "fpu_work.h"

/* Each step needs the last one's exact result, so one wrong bit is never lost: the map is chaotic. */
static double logistic(double x, unsigned int steps)
{
	for (unsigned int i = 0; i < steps; i++)
		x = 3.9990234375 * x * (1.0 - x);
	return x;
}

u64 fpu_work(unsigned int seed, unsigned int steps)
{
	double sums[8], sum = 0.0;
	union {
		double number;
		u64 bits;
	} result;

	for (unsigned int i = 0; i < 8; i++)
		sums[i] = logistic(1.0 / (double)(seed + i + 3), steps);
	for (unsigned int i = 0; i < 8; i++)
		sum += sums[i] / (double)(i + 1);
	result.number = sum;
	return result.bits;
}

/* Variadic functions store the registers of their arguments. */
int fpu_work_variadic(int count, ...)
{
	double sum = 0.0;
	va_list args;

	va_start(args, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(args, double);
	va_end(args);
	return (int)sum;
}

int fpu_work_arguments(void)
{
	return fpu_work_variadic(10, 1.5, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0);
}
