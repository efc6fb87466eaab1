/* SPDX-License-Identifier: MIT */
/* One element past a global array is read. */
static volatile int array[4] = {1, 2, 3, 4};

int main(void)
{
	volatile int at = 4;

	return array[at] & 0;
}
