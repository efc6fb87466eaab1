/* SPDX-License-Identifier: MIT */
/* A calculation has no defined result. */
int main(void)
{
	volatile int most = 0x7fffffff, shift = 40;
	volatile int sum = most + shift, shifted = 1 << shift;

	return (sum + shifted) & 0;
}
