/* SPDX-License-Identifier: MIT */
/* One element past an array on the stack is read. */
int main(void)
{
	volatile int array[4] = {1, 2, 3, 4};
	volatile int at = 4;

	return array[at] & 0;
}
