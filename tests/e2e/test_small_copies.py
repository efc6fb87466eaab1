# SPDX-License-Identifier: MIT
"""Copies of 1, 2, 4, 8 and 16 bytes in programs: no call with Clang, and checked all the same."""

import re

from redzone.testing.needs import first

# The program's own functions take the place of the kernel's, and count. The C library calls them as well.
COUNTS = """\
#include <stddef.h>

unsigned long copies, moves, sets;

void *memcpy(void *dst, const void *src, size_t n)
{
	copies += n;
	for (size_t i = 0; i < n; i++)
		((volatile char *)dst)[i] = ((const char *)src)[i];
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	moves += n;
	for (size_t i = 0; i < n; i++)
		((volatile char *)dst)[i] = ((const char *)src)[i];
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	sets += n;
	for (size_t i = 0; i < n; i++)
		((volatile char *)dst)[i] = (char)c;
	return dst;
}
"""
CALLS = """\
#include <stdio.h>
#include <string.h>

extern unsigned long copies, moves, sets;
static char text[] = "0123456789abcdefghijklmnopqrstuvwxyz", out[64];
void *(*volatile pointer)(void *, const void *, size_t) = memcpy;

static void show(unsigned long copied, unsigned long moved, unsigned long set)
{
	printf("calls %lu %lu %lu\\n", copied, moved, set);
	copies = moves = sets = 0;
}

int main(int argc, char **argv)
{
	unsigned char one = 0;
	unsigned short two = 0;
	unsigned int four = 0;
	unsigned long eight = 0, sixteen[2] = {0};

	copies = moves = sets = 0;
	memcpy(&one, text + argc, 1);
	memcpy(&two, text + argc, 2);
	memcpy(&four, text + argc, 4);
	memmove(text + argc + 3, text + argc, 8);
	memcpy(&eight, text + argc + 3, sizeof(eight));
	memset(out + argc, 0x1234, 8);
	memcpy(sixteen, text + argc, 16);
	memmove(out + argc + 20, text + argc, sizeof(sixteen));
	memset(out + argc + 38, 0x4321, 16);
	show(copies, moves, sets);
	printf("%c %x %x %lx %d\\n", one, two, four, eight, out[argc + 7]);
	printf("%lx %lx %.16s ", sixteen[0], sixteen[1], out + argc + 20);
	printf("%d %d %d\\n", out[argc + 37], out[argc + 53], out[argc + 54]);
	copies = moves = sets = 0;
	memcpy(out, text, 3);
	memmove(out, text, 32);
	memset(out, 0, (size_t)argc);
	pointer(out, text, 8);
	(memcpy)(out, text, 5);
	show(copies, moves, sets);
	return 0;
}
"""
VALUES = "1 3231 34333231 3837363534333231 52\n"
# The text has moved by three bytes by then.
WIDE = "3534333231333231 6766656463383736 12312345678cdefg 0 33 0\n"


def test_only_sizes_of_a_word_are_no_calls(redzone, source, tmp_path):
    other = tmp_path / "counts.c"
    other.write_text(COUNTS, encoding="utf-8")
    result = redzone("run", "--mode", "off", source(CALLS), str(other), status=0)
    assert VALUES + WIDE in result.stdout
    assert re.findall(r"calls (\d+) (\d+) (\d+)", result.stdout) == [("0", "0", "0"), ("16", "32", "1")]


BAD = """\
#include <stdlib.h>
#include <string.h>

#define apart __attribute__((noinline))

volatile unsigned short sink;

static apart void put8(char *p, unsigned long word) { memcpy(p, &word, 8); } /* bad: the last four bytes */
static apart unsigned short get2(const char *p)
{
	unsigned short word;

	memcpy(&word, p, 2); /* bad */
	return word;
}
static apart void set4(char *p, int c) { memset(p, c, 4); } /* bad: the last three bytes */
static apart void set16(char *p, int c) { memset(p, c, 16); } /* bad: the last six bytes */
static apart void move1(char *p, const char *q) { memmove(p, q, 1); } /* bad: the write */

int main(int argc, char **argv)
{
	char *p = malloc(13);

	put8(p + 5, 5);
	set4(p + 9, argc);
	put8(p + 9, 5);
	sink = get2(p + 14);
	set4(p + 12, argc);
	set16(p + 3, argc);
	move1(p + 13, p);
	free(p);
	return 0;
}
"""


@first(1, "where", ["--inline", "--outline"])
def test_small_copies_are_checked(redzone, source, where):
    path = source(BAD)
    result = redzone("run", where, path, status=1)
    found = re.findall(r"slab-out-of-bounds, (\w+) of (\d+) bytes?, \S+:(\d+) in", result.stderr)
    lines = [number for number, line in enumerate(BAD.splitlines(), 1) if "/* bad" in line]
    assert [(kind, int(size), int(line)) for kind, size, line in dict.fromkeys(found)] == [
        ("write", 8, lines[0]),
        ("read", 2, lines[1]),
        ("write", 4, lines[2]),
        ("write", 16, lines[3]),
        ("write", 1, lines[4]),
    ]
