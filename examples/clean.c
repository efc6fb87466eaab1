// SPDX-License-Identifier: MIT
/*
 * clean.c - a program without a bug: it uses every byte that it owns and none that it does not.
 *
 * `./redzone run examples/clean.c` prints no report and ends with status 0.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 8

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *copy_word(const char *word)
{
	/* The size of the text and of its NUL: exactly full. */
	size_t size = strlen(word) + 1;
	char *copy = malloc(size);

	if (copy)
		memcpy(copy, word, size);
	return copy;
}

int main(int argc, char **argv)
{
	static const char *const words[WORDS] = {"quarantine", "shadow", "redzone", "granule",
						 "depot",      "poison", "kernel",  "address"};
	char *copies[WORDS];
	size_t total = 0;
	int i;

	for (i = 0; i < WORDS; i++) {
		copies[i] = copy_word(words[i]);
		if (!copies[i])
			return 1;
		total += strlen(copies[i]);
	}
	qsort(copies, WORDS, sizeof(copies[0]), compare_words);
	for (i = 0; i < WORDS; i++) {
		printf("%d. %s\n", i + 1, copies[i]);
		assert(i == 0 || strcmp(copies[i - 1], copies[i]) < 0);
	}
	for (i = 0; i < WORDS; i++)
		free(copies[i]);
	printf("%zu characters in %d words, no bug\n", total, WORDS);
	return 0;
}
