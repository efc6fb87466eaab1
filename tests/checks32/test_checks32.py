# SPDX-License-Identifier: MIT
"""A 32-bit runtime's checks, on a Cortex-M3 against an oracle of bytes, and its fills at the last address."""

import re

import pytest
from kit import ROOT, call, compiler, need

HERE = ROOT / "tests" / "checks32"
# The runtime's files that check, and nothing of reports.
FILES = [
    "abi/asan_access.c",
    "abi/asan_mem.c",
    "report/check.c",
    "shadow/compact.c",
    "shadow/poison.c",
    "shadow/shadow_check.c",
    "base/mem.c",
    "base/state.c",
    "shadow/window.c",
]

# Those that write.
FILLS = ["shadow/poison.c", "base/mem.c", "base/state.c"]


def full(low, high, offset, *pieces):
    return {
        "CONFIG_KASAN_SHADOW_FULL": 1,
        "CONFIG_KASAN_SHADOW_LOW": f"{low}UL",
        "CONFIG_KASAN_SHADOW_HIGH": f"{high}UL",
        "CONFIG_KASAN_SHADOW_OFFSET": f"{offset}UL",
        "PIECES": ", ".join(pieces),
    }


def windowed(windows, *pieces, **more):
    rows = ", ".join("{" + ", ".join(row) + "}" for row in windows)
    return {"CONFIG_KASAN_SHADOW_WINDOWED": 1, "PIECES": ", ".join(pieces), "WINDOWS": rows, **more}


def constants(windows, offset=None):
    """The numbers of the first window, known when the runtime is compiled."""
    start, size, _ = windows[0]
    found = {"CONFIG_KASAN_WINDOW_START": f"{start}UL", "CONFIG_KASAN_WINDOW_SIZE": f"{size}UL"}
    return found | ({"CONFIG_KASAN_SHADOW_OFFSET": f"{offset}UL"} if offset else {})


# (start, size, shadow)
ONE = [("0x20000000", "0x400", "0x21000000")]
# Two neighbours, one where null pointers point, and one that ends with the address space.
FOUR = [
    ("0x20000400", "0x400", "0x21000000"),
    ("0x20000000", "0x400", "0x21001000"),
    ("0x100", "0x200", "0x21002000"),
    ("0xfffffc00", "0x400", "0x21003000"),
]
BETWEEN = ("0x20000000", "0x20000340", "0x20000740", "0x1fffff80", "0x100", "0x240", "0x300", "0xffffff40")

LAYOUTS = {
    # The shadow's two ends are real memory: 0x200000 to 0x3fffff, and 0x20000000 to 0x201fffff.
    "full-all": full("0x0", "0xffffffff", "0x200000", "0x0", "0x800000", "0xffffff40", "0xff000040"),
    "full-upper-half": full("0x80000000", "0xffffffff", "0x200000", "0xffffff40", "0xff000040"),
    "full-power-of-two": full(
        "0x20000000", "0x20ffffff", "0x1d000000", "0x20000000", "0x20ffff40", "0x1fffff80", "0x20ffff80"
    ),
    "full-odd": full(
        "0x20001008", "0x2000abc7", "0x1d000000", "0x20001008", "0x2000ab08", "0x20000f88", "0x2000ab80"
    ),
    "one-window": windowed(ONE, "0x20000000", "0x20000340", "0x1fffff80", "0x200003c0"),
    "one-window-constants": windowed(
        ONE, "0x20000000", "0x20000340", "0x1fffff80", "0x200003c0", **constants(ONE, "0x1d000000")
    ),
    "four-windows": windowed(FOUR, *BETWEEN),
    "four-windows-constants": windowed(FOUR, *BETWEEN, **constants(FOUR, "0x1cffff80")),
    "four-windows-null-allowed": windowed(FOUR, *BETWEEN, CONFIG_KASAN_NULL_CHECK=0),
    "compact-one-window": windowed(
        ONE, "0x20000000", "0x20000340", "0x1fffff80", "0x200003c0", CONFIG_KASAN_SHADOW_COMPACT=1
    ),
    "compact-four-windows-constants": windowed(
        FOUR, *BETWEEN, CONFIG_KASAN_SHADOW_COMPACT=1, **constants(FOUR)
    ),
    "compact-four-windows": windowed(FOUR, *BETWEEN, CONFIG_KASAN_SHADOW_COMPACT=1),
}


def build(folder, cc, arch, machine, sources, script, defines):
    """Compile and link a program of @sources for @arch. Return its name in @folder."""
    need("ld.lld-19")
    defines = {"CONFIG_KASAN_GENERIC": 1, "CONFIG_KASAN_START_CHECKS": 0, **defines}
    call(
        [
            *compiler(cc, arch),
            *machine,
            *("-std=gnu17", "-O2", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-Wno-type-limits"),
            *("-fno-strict-aliasing", "-ffunction-sections", "-c"),
            *(f"-D{name}={value}" for name, value in defines.items()),
            *("-I", ROOT / "include"),
            *sources,
        ],
        folder,
    )
    objects = sorted(folder.glob("*.o"))
    call(["ld.lld-19", "--gc-sections", "-T", HERE / script, "-o", "program.elf", *objects], folder)
    return "program.elf"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_against_the_oracle(tmp_path, cc, layout):
    need("qemu-system-arm")
    program = build(
        tmp_path,
        cc,
        "cortex-m3",
        ["-mcpu=cortex-m3", "-mthumb"],
        [HERE / "checks.c", *(ROOT / "runtime" / name for name in FILES)],
        "checks.lds",
        {"CONFIG_KASAN_MAX_WINDOWS": 8, **LAYOUTS[layout]},
    )
    console = call(
        [
            *("qemu-system-arm", "-machine", "mps2-an385", "-semihosting", "-nic", "none"),
            *("-display", "none", "-monitor", "none", "-kernel", program),
        ],
        tmp_path,
    )
    passed = re.search(r"^checks32: passed, ([0-9a-f]{8})$", console, re.MULTILINE)
    assert passed, console
    # A loop that does nothing passes as well.
    assert int(passed[1], 16) > 1000000


@pytest.mark.parametrize("known", [False, True], ids=["variables", "constants"])
@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_the_fast_path(tmp_path, cc, known):
    """With constants no check reads the table of windows, and GCC saves no register.

    test_small.py counts instructions."""
    defines = {
        "CONFIG_KASAN_GENERIC": 1,
        "CONFIG_KASAN_SHADOW_WINDOWED": 1,
        "CONFIG_KASAN_SHADOW_OFFSET": "0x1c00e380UL",
        **(constants([("0x20000000", "0xe380", "")]) if known else {}),
    }
    text = call(
        [
            *compiler(cc, "cortex-m3"),
            *(
                "-mcpu=cortex-m3",
                "-mthumb",
                "-std=gnu17",
                "-O2",
                "-ffreestanding",
                "-fno-optimize-sibling-calls",
            ),
            *(f"-D{name}={value}" for name, value in defines.items()),
            *("-I", ROOT / "include", "-S", ROOT / "runtime/abi/asan_access.c", "-o", "-"),
        ],
        tmp_path,
    )
    found = re.findall(r"(?ms)^(__asan_(?:load|store)(?:1|2|4|8|16)(?:_noabort)?):$(.*?)^\s*\.size\s", text)
    assert len(found) == 20
    for name, body in found:
        assert ("kasan_windows" in body) != known, name
        if cc == "gcc":
            assert not re.search(r"(?m)^\s*(push|stm|str)", body), f"{name}: {body}"


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_end_of_the_address_space(tmp_path, cc):
    """Memory, and shadow, whose last byte is at 0xffffffff."""
    need("qemu-system-riscv32")
    program = build(
        tmp_path,
        cc,
        "riscv32",
        ["-march=rv32imac_zicsr", "-mabi=ilp32", "-fno-pic"],
        [HERE / "fill.c", *(ROOT / "runtime" / name for name in FILLS)],
        "fill.lds",
        full("0xf0000000", "0xffffffff", "0xe0000000"),
    )
    console = call(
        [
            *("qemu-system-riscv32", "-machine", "virt", "-m", "2G", "-bios", "none", "-nic", "none"),
            *("-nographic", "-monitor", "none", "-kernel", program),
        ],
        tmp_path,
    )
    assert console == "fill: passed\n"
