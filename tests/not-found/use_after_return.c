/* SPDX-License-Identifier: MIT */
/* A local variable is read through a pointer after its function has returned. */
static __attribute__((noinline)) volatile int *dangling(void)
{
	volatile int local[4] = {1, 2, 3, 4};
	volatile int *volatile p = local;

	return p;
}

int main(void)
{
	volatile int *p = dangling();

	return p[1] & 0;
}
