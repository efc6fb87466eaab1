/* SPDX-License-Identifier: MIT */
/*
 * app.c - the instrumented file of the audit's images. It has globals, and so a constructor, and accesses.
 */
int app(int index, char *text);
#ifdef SECOND_BANK
extern long bank[];
#endif

int samples[10];
int scale = 3; /* in .data, which an image in flash copies to RAM */

int app(int index, char *text)
{
	text[index] = 0;
#ifdef SECOND_BANK
	samples[index] += (int)bank[index];
#endif
	return samples[index] * scale;
}
