// SPDX-License-Identifier: MIT
/*
 * harness.c - the main() of a program that has libFuzzer's LLVMFuzzerTestOneInput() instead of one.
 *
 * With files as arguments it calls the function with the contents of each: that is how `./redzone run` repeats a finding.
 * In a kernel that is fuzzed it takes the inputs from the fuzzer. The input is an object of exactly its size, so reading
 * behind its end is a bug that KASAN reports. After the argument --leaks, objects that an input leaves over are reported
 * as well, if the input leaves them over a second time.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define NO_COVERAGE __attribute__((no_sanitize("coverage")))
#else
#define NO_COVERAGE __attribute__((no_sanitize_coverage))
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
/* Only in a kernel that is fuzzed: kernel/tests/fuzz/port.c. */
int redzone_fuzz(int (*target)(const uint8_t *data, size_t size)) __attribute__((weak));
/* The kernel's: kernel/program/leaks.c. */
void redzone_leaks_begin(void);
unsigned long redzone_leaks_end(unsigned long *bytes);

NO_COVERAGE static int one_input(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	int result;

	if (!copy && size) {
		fprintf(stderr, "no memory for an input of %lu bytes\n", (unsigned long)size);
		abort();
	}
	memcpy(copy, data, size);
	result = LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	return result;
}

NO_COVERAGE static int one_file(const char *name, int leaks)
{
	FILE *file = fopen(name, "rb");
	size_t size = 0, room = 0;
	uint8_t *data = NULL;

	if (!file) {
		fprintf(stderr, "'%s' cannot be read\n", name);
		return 1;
	}
	for (;;) {
		if (size == room) {
			uint8_t *more = realloc(data, room = room ? 2 * room : 4096);

			if (!more) {
				fprintf(stderr, "no memory for '%s'\n", name);
				abort();
			}
			data = more;
		}
		size_t got = fread(data + size, 1, room - size, file);

		if (!got)
			break;
		size += got;
	}
	fclose(file);
	printf("%s: %lu bytes\n", name, (unsigned long)size);
	one_input(data, size);
	if (leaks) {
		unsigned long bytes;

		redzone_leaks_begin();
		one_input(data, size);
		leaks = redzone_leaks_end(&bytes) != 0;
	}
	free(data);
	return leaks;
}

NO_COVERAGE int main(int argc, char **argv)
{
	int failed = 0, leaks = argc > 1 && !strcmp(argv[1], "--leaks");

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	if (redzone_fuzz)
		return redzone_fuzz(one_input);
	if (argc < 2)
		one_input((const uint8_t *)"", 0);
	for (int i = 1 + leaks; i < argc; i++)
		failed |= one_file(argv[i], leaks);
	return failed;
}
