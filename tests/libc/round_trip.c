/* SPDX-License-Identifier: MIT
 * Random doubles through printf("%.17g") and back through strtod(): every bit must survive. argv[1]: how many. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, done = 0;

	while (done < count) {
		uint64_t bits = next(), again;
		char text[64], *end;
		double number;

		memcpy(&number, &bits, sizeof(number));
		if (!isfinite(number))
			continue;
		snprintf(text, sizeof(text), "%.17g", number);
		number = strtod(text, &end);
		memcpy(&again, &number, sizeof(again));
		if (*end || again != bits) {
			printf("%016" PRIx64 " -> %s -> %016" PRIx64 "\n", bits, text, again);
			return 1;
		}
		done++;
	}
	printf("%lu numbers, all the same\n", done);
	return 0;
}
