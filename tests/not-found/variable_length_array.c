/* SPDX-License-Identifier: MIT */
/* One element past an array on the stack, whose size is known when the program runs, is written. */
static __attribute__((noinline)) void work(unsigned long size, volatile unsigned long *at)
{
	volatile char array[size];

	array[0] = 1;
	array[*at] = 1;
}

int main(void)
{
	volatile unsigned long size = 32;

	work(size, &size);
	return 0;
}
