/* SPDX-License-Identifier: MIT
 * Bugs that happen inside of the library, on the program's behalf, one after the other. The suite libc has the list of
 * the reports. The program ends as a program does that has called abort(). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* A compiler must not see that these objects are too small. */
static char *volatile text;
static int *volatile array;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void bug(const char *name)
{
	printf("bug: %s\n", name);
}

int main(void)
{
	char *small, *other = malloc(17);
	size_t sum = 0;
	FILE *file = fopen("data.txt", "r");
	int null = open("/dev/null", O_WRONLY);

	text = malloc(16);
	array = calloc(8, sizeof(int));
	small = memset(text, '1', 16);
	memset(other, '2', 17);
	bug("strlen");
	sum += strlen(small);
	bug("sprintf");
	sprintf(small, "%.16f", 1.0 / 3);
	bug("puts");
	memset(small, '3', 16);
	puts(small);
	bug("strtod");
	sum += strtod(small, NULL) > 0;
	bug("qsort");
	qsort(array, 9, sizeof(int), compare);
	bug("memcpy");
	memcpy(small, other, 17);
	bug("memcmp");
	small[0] = '3'; /* The first bytes say the result; C wants all 17 all the same. */
	sum += memcmp(small, other, 17) > 0;
	bug("null");
	sum += write(null, small, 17) == 17;
	bug("wcslen");
	sum += wcslen((wchar_t *)(void *)small);
	bug("fileno");
	fclose(file);
	sum += (size_t)fileno(file);
	bug("free");
	free(small);
	free(text);
	bug("none");
	printf("%d\n", sum != 0);
	abort();
}
