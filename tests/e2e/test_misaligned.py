# SPDX-License-Identifier: MIT
"""Accesses of 2, 4 and 8 bytes at every misalignment, of which only the end is bad: each has one report."""

import re

from redzone.testing.needs import first

ACCESSES = [
    (size, offset, access)
    for size in (2, 4, 8)
    for offset in range(17 - size, 16)
    for access in ("Read", "Write")
]
_REPORT = re.compile(r"(Read|Write) of size (\d+) at addr ([0-9a-f]{16})")


def program():
    """Each access is a place of its own, since what is reported twice from one place counts once. The first
    byte of each is in an object of 16 bytes, the last one is after it."""
    bad = []
    for size, offset, access in ACCESSES:
        place = f"*(uint{8 * size}_t *)(p + at + {offset})"
        bad.append(f"\tsum += {place};" if access == "Read" else f"\t{place} = 1;")
        bad.append("\tbarrier();")
    good = []
    for size in (2, 4, 8):
        good.append(f"\tfor (at = 0; at <= {16 - size}; at++)")
        good.append(f"\t\t*(uint{8 * size}_t *)(p + at) += 1;")
    lines = [
        "#include <stdint.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        '#define barrier() __asm__ volatile("" : : : "memory")',
        "int main(void)",
        "{",
        "\tvolatile unsigned long sum = 0, at = 0;",
        "\tchar *p = malloc(16);",
        '\tprintf("object %p\\n", (void *)p);',
        *good,
        "\tat = 0;",
        *bad,
        "\treturn 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


@first(
    4,
    "options",
    [
        ("--mode", "generic", "--inline"),
        ("--mode", "generic", "--outline"),
        ("--mode", "sw_tags", "--inline"),
        ("--mode", "hw_tags"),
        ("--mode", "sw_tags", "--outline", "--cc", "gcc"),
        ("--mode", "generic", "--outline", "--cc", "gcc"),
        ("--mode", "generic", "--inline", "--cc", "gcc"),
        ("--mode", "sw_tags", "--outline"),
    ],
    ids=lambda options: "-".join(word.lstrip("-") for word in options),
)
@first(1, "level", ["-O2", "-O0"])
def test_every_misalignment(redzone, source, tmp_path, options, level):
    # The screen joins reports of one line, and an optimiser may have none for some.
    log = tmp_path / "log"
    result = redzone(
        "run", *options, level, "--max-reports", "100", "--log", log, source(program()), status=1
    )
    start = int(re.search(r"^object 0x([0-9a-f]+)$", result.stdout, re.MULTILINE)[1], 16)
    found = [(int(size), int(addr, 16), access) for access, size, addr in _REPORT.findall(log.read_text())]
    tags = 0xFF << 56
    # The CPU names the first bad byte.
    first = 16 if "hw_tags" in options else 0
    expected = [(size, start + max(offset, first), access) for size, offset, access in ACCESSES]
    assert [(size, addr | tags, access) for size, addr, access in found] == [
        (size, addr | tags, access) for size, addr, access in expected
    ]
