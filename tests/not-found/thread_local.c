/* SPDX-License-Identifier: MIT */
/* A write past a thread-local array hits the next one. */
static __thread volatile char first[16], second[16];

int main(void)
{
	volatile int at = 16;

	second[0] = 1;
	first[at] = 1;
	return second[0] & 0;
}
