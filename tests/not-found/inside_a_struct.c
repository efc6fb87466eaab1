/* SPDX-License-Identifier: MIT */
/* A write past an array hits the next member of the same structure. */
#include <stdlib.h>

struct message {
	char name[16];
	char password[16];
};

int main(void)
{
	struct message *m = calloc(1, sizeof(*m));
	volatile int at = 16;

	((volatile char *)m->name)[at] = 1;
	free(m);
	return 0;
}
