// SPDX-License-Identifier: MIT
/*
 * read_file.c - reads a file of the host and counts its lines, words and bytes.
 *
 *	./redzone run examples/read_file.c --file notes=/etc/os-release -- notes
 *
 * The host's file travels in the boot image and is opened by the name before the "=". Files are
 * read-only: opening one for writing fails with EROFS.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct counts {
	unsigned long lines, words, bytes;
};

static void count(struct counts *counts, FILE *file)
{
	bool in_word = false;
	int c;

	while ((c = fgetc(file)) != EOF) {
		counts->bytes++;
		counts->lines += c == '\n';
		counts->words += !isspace(c) && !in_word;
		in_word = !isspace(c);
	}
}

int main(int argc, char **argv)
{
	int i, status = 0;

	if (argc < 2) {
		fprintf(stderr,
			"usage: %s NAME...   (each given to ./redzone run as --file NAME=PATH)\n",
			argv[0]);
		return 2;
	}
	for (i = 1; i < argc; i++) {
		struct counts counts = {0};
		FILE *file = fopen(argv[i], "r");

		if (!file) {
			fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
			status = 1;
			continue;
		}
		count(&counts, file);
		printf("%8lu %8lu %8lu %s\n", counts.lines, counts.words, counts.bytes, argv[i]);
		fclose(file);
	}
	return status;
}
