# SPDX-License-Identifier: MIT
"""./redzone run --arch riscv64: the same program, reports and refusals as on the other machine."""

import pytest
from redzone.core import maskqemu

# A kernel and a C library of its own.
pytestmark = pytest.mark.rest

BUG = """
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char *text = malloc(13);

	printf("%.3f\\n", 1.0 / (argc + 2));
	text[argc + 12] = 'x';
	free(text);
	return 0;
}
"""


@pytest.mark.parametrize("where", ["--inline", "--outline"])
def test_a_program_is_reported(redzone, tmp_path, where):
    source = tmp_path / "bug.c"
    source.write_text(BUG)
    result = redzone("run", "--arch", "riscv64", where, source, status=1)
    assert "0.333" in result.stdout
    assert "BUG: KASAN: slab-out-of-bounds in main" in result.stdout
    assert "Write of size 1" in result.stdout
    assert "bug.c:10" in result.stdout


@pytest.mark.skipif(maskqemu.reason() is not None, reason=str(maskqemu.reason()))
def test_tags(redzone, tmp_path):
    source = tmp_path / "bug.c"
    source.write_text(BUG)
    result = redzone("run", "--arch", "riscv64", "--mode", "sw_tags", source, status=1)
    assert "BUG: KASAN: slab-out-of-bounds in main" in result.stdout
    assert "memory tag: [0d]" in result.stdout and "bug.c:10" in result.stdout
    # The CPU of other modes, which ignores no part of an address.
    result = redzone("run", "--arch", "riscv64", "--mode", "sw_tags", "--cpu", "rv64", source)
    assert "BUG: KASAN" not in result.stdout
    assert "redzone: KASAN is off: nothing was checked; the kernel said: no pointer masking" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mode", "hw_tags"), "its kernel has the modes generic, sw_tags, off"),
        (("--mode", "sw_tags", "--outline", "--cc", "gcc"), "--cc gcc: it takes clang-19"),
        (("--shadow-call-stack",), "--shadow-call-stack with --arch riscv64"),
    ],
)
def test_what_it_does_not_have_is_refused(redzone, options, said):
    result = redzone("run", "--arch", "riscv64", *options, status=2)
    assert said in result.stderr
