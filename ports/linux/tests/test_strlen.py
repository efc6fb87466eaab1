# SPDX-License-Identifier: MIT
"""kasan/strlen.h on the host: each length at each place in a granule, with bytes of all kinds around it."""

import subprocess
from pathlib import Path

HEADER = Path(__file__).parents[1] / "kasan/strlen.h"
PROGRAM = """
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "strlen.h"

int main(void)
{
	/* No page comes after it. */
	unsigned char *const page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		return 2;
	for (int round = 0; round < 200; round++) {
		for (size_t length = 0; length < 100; length++) {
			for (size_t after = 0; after < 32; after++) {
				unsigned char *const string = page + 4096 - 1 - after - length;

				for (unsigned char *at = page + 3900; at < page + 4096; at++)
					*at = rand() % 4 ? (unsigned char)rand() : 0;
				for (size_t i = 0; i < length; i++)
					string[i] |= string[i] ? 0 : rand() % 2 ? 0x01 : 0x80;
				string[length] = 0;
				if (kasan_strlen_by_granules((const char *)string) != length)
					return 1;
			}
		}
	}
	return 0;
}
"""


def test_strlen_by_granules(tmp_path):
    source, program = tmp_path / "test.c", tmp_path / "test"
    source.write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{HEADER.parent}"]
    subprocess.run(["clang-19", *flags, "-o", program, source], check=True)
    assert subprocess.run([program], check=False).returncode == 0
