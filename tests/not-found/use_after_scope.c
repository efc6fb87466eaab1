/* SPDX-License-Identifier: MIT */
/* A block's array is read through a pointer after the block has ended. */
int main(void)
{
	volatile int *volatile p;
	volatile int at = 1;

	{
		volatile int inner[4] = {1, 2, 3, 4};

		p = inner;
	}
	return p[at] & 0;
}
