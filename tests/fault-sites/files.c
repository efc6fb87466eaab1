// SPDX-License-Identifier: MIT
/* files.c - a program that reads a line of a file. */
#include <stdio.h>

int main(void)
{
	char line[16];
	FILE *file = fopen("input", "r");

	if (!file || !fgets(line, sizeof(line), file))
		return 1;
	printf("the line is %s", line);
	return fclose(file);
}
