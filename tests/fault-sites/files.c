// SPDX-License-Identifier: MIT
/* files.c - a program that opens a file and reads a line. If it is refused memory, it tries once more. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *open_input(void)
{
	errno = 0;
	return fopen("input", "r");
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;
	FILE *file = open_input();

	if (!file) {
		printf("fopen: refused, %s\n",
		       errno == ENOMEM ? "no memory" : "and it does not say why");
		file = open_input();
	}
	if (!file)
		return 1;
	if (getline(&line, &capacity, file) < 0) {
		printf("getline: refused, %s\n",
		       feof(file) ? "and it says that the file ends" : "no memory");
		rewind(file);
		if (getline(&line, &capacity, file) < 0)
			return 1;
	}
	printf("the line is %s", line);
	free(line);
	fclose(file);
	return 0;
}
