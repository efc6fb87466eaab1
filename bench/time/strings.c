/* SPDX-License-Identifier: MIT */
/* strings.c - for ./redzone bench time: strlen(), strcpy(), strcmp() and strchr() of strings of 8 to 512 bytes. */
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define LENGTHS 7

void work(unsigned long rounds, unsigned int thread)
{
	char *text[LENGTHS], *to = malloc(1024);
	unsigned long i;

	(void)thread;
	for (i = 0; i < LENGTHS; i++) {
		text[i] = malloc((8UL << i) + 1);
		if (!text[i] || !to)
			exit(1);
		memset(text[i], 'a', 8UL << i);
		text[i][8UL << i] = 0;
	}
	for (i = 0; i < rounds; i++) {
		char *one = text[i % LENGTHS];
		size_t length;

		keep(one);
		length = strlen(one);
		strcpy(to, one);
		if (length != 8UL << i % LENGTHS || strcmp(to, one) || strchr(to, 'b'))
			exit(1);
	}
	for (i = 0; i < LENGTHS; i++)
		free(text[i]);
	free(to);
}
