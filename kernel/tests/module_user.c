// SPDX-License-Identifier: MIT
/* module_user.c - a module that uses another one: module_sample's functions and constants. */
#include "module_sample.h"

int user_product(int a, int b)
{
	int product = 0;

	while (b-- > 0)
		product = sample_sum(product, a);
	return product * (int)(sample_table[0] - 1);
}

MODULE_LICENSE("MIT");
