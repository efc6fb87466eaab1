# SPDX-License-Identifier: MIT
"""docs/port/tutorial.md: its file and diffs put examples/firmware under KASAN, and the bug is reported."""

import re
import shutil

from kit import ROOT, call, change, need

PAGE = ROOT / "docs" / "port" / "tutorial.md"


def test_tutorial(tmp_path):
    need("make", "git", "clang-19", "ld.lld-19", "qemu-system-riscv64")
    tree = tmp_path / "my-firmware"
    shutil.copytree(ROOT / "examples" / "firmware", tree)
    assert "firmware: end" in call(["make", "-s", "run"], tree)
    call(["make", "-s", "clean"], tree)

    blocks = dict.fromkeys(("c", "diff"), "")
    for kind, text in re.findall(r"^```(c|diff)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        blocks[kind] += text
    (tree / "port.c").write_text(blocks["c"], encoding="utf-8")
    (tmp_path / "changes.diff").write_text(blocks["diff"], encoding="utf-8")
    call(["git", "apply", "../changes.diff"], tree)

    console = call(["make", "-s", f"REDZONE={ROOT}", "all", "run"], tree)
    assert console.count("BUG: KASAN: slab-out-of-bounds in ") == 1 and "firmware: end" in console
    assert "Write of size 1" in console and " allocated 16-byte region" in console
    excluded = [word for name in ("board.c", "heap.c", "port.c") for word in ("--exclude", name)]
    assert "no findings" in call([ROOT / "redzone", "audit", "firmware.elf", *excluded], tree)

    # The other offset: one message, with the number that is right.
    change(tree / "Makefile", ("0x70800000", "0x70700000"))
    call(["make", "-s", f"REDZONE={ROOT}", "clean"], tree)
    assert "0x70800000" in call(["make", "-s", f"REDZONE={ROOT}", "all", "run"], tree)
