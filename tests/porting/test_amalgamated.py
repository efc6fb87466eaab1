# SPDX-License-Identifier: MIT
"""kasan.c and kasan.h, the two files to copy into another tree: they work, they are the whole runtime, and
every compiler compiles them for every architecture without a warning."""

import itertools

from kit import HIGH_END, ROOT, call, compiler, expect_all_reported, few, need, place, two_files_template
from redzone.kit import amalgamate, flags
from redzone.testing.needs import first


@first(
    1,
    ("mode", "arch", "cc", "inline"),
    [
        ("generic", "arm64", "gcc", True),
        ("generic", "riscv64", "clang-19", False),
        ("sw_tags", "arm64", "clang-19", True),
        ("sw_tags", "arm64", "gcc", False),
        ("hw_tags", "arm64", "clang-19", None),
        ("hw_tags", "arm64", "gcc", None),
    ],
)
def test_two_copied_files(tree, amalgamated, mode, arch, cc, inline):
    ram, _, offset = place(arch, mode)
    choice = flags.Choice(cc=cc, mode=mode, arch=arch, inline=inline)
    if mode != "hw_tags":
        choice.offset = int(offset, 0)
    if mode == "sw_tags":
        choice.layout, choice.low, choice.high = "full", int(ram, 0), int(HIGH_END, 0)
    expect_all_reported(arch, two_files_template(tree, amalgamated, choice), mode)


WARNINGS = [
    *("-std=gnu17", "-O2", "-ffreestanding", "-fno-stack-protector", "-Wall", "-Wextra", "-Werror"),
    *("-Wmissing-prototypes", "-Wstrict-prototypes", "-Wshadow", "-Wvla"),
]
WORDS_32 = ("0x20000000UL", "0x0UL", "0xffffffffUL")
WORDS_64 = ("0xdfff800000000000UL", "0xffff000000000000UL", "0xffffffffffffffffUL")


# A Cortex-M has only Thumb. One stands for all: their runtime is the same.
CORTEX_M = ["-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft"]


@few(
    ("arch", "cc"),
    itertools.product(
        ("arm64", "riscv64", "x86_64", "arm", "riscv32", "cortex-m3"), ("clang-19", "clang-22", "gcc")
    ),
    pairs=False,
    most=2,
)
def test_the_pair_compiles_without_a_warning(amalgamated, tmp_path, arch, cc):
    """In every mode and layout, and without KASAN. GCC's warnings depend on the optimisation level."""
    machine_options = CORTEX_M if arch == "cortex-m3" else []
    offset, low, high = WORDS_64 if arch in ("arm64", "riscv64", "x86_64") else WORDS_32
    full = [
        "-DCONFIG_KASAN_SHADOW_FULL=1",
        f"-DCONFIG_KASAN_SHADOW_OFFSET={offset}",
        f"-DCONFIG_KASAN_SHADOW_LOW={low}",
        f"-DCONFIG_KASAN_SHADOW_HIGH={high}",
    ]
    windowed = ["-DCONFIG_KASAN_GENERIC=1", "-DCONFIG_KASAN_SHADOW_WINDOWED=1"]
    variants = [["-DCONFIG_KASAN_GENERIC=1", *full], windowed, []]
    if cc == "gcc":
        variants += [[*windowed, "-O0"], [*windowed, "-Os"]]
    if arch == "arm64":
        variants += [["-DCONFIG_KASAN_SW_TAGS=1", *full], ["-DCONFIG_KASAN_HW_TAGS=1"]]
    user = tmp_path / "user.c"
    user.write_text('#include "kasan.h"\nint use(void);\nint use(void) { return kasan_enabled(); }\n')
    for variant in variants:
        command = [*compiler(cc, arch), *machine_options, *WARNINGS, *variant, "-I", amalgamated, "-c"]
        for source in (amalgamated / "kasan.c", user):
            assert not call([*command, source, "-o", tmp_path / "out.o"], tmp_path).strip()


@first(1, "mode", ["GENERIC", "SW_TAGS", "HW_TAGS"])
def test_the_pair_defines_what_the_runtime_does(amalgamated, tmp_path, mode):
    """No function is lost, and none becomes public: the global symbols are those of the separate objects."""
    need("llvm-nm-19")
    clang = [*compiler("clang-19", "arm64"), "-std=gnu17", "-O2", "-ffreestanding", "-c"]
    options = [f"-DCONFIG_KASAN_{mode}=1"]
    if mode == "GENERIC":
        options.append("-DCONFIG_KASAN_SHADOW_WINDOWED=1")
    elif mode == "SW_TAGS":
        words = ("OFFSET", "LOW", "HIGH")
        options.append("-DCONFIG_KASAN_SHADOW_FULL=1")
        options += [f"-DCONFIG_KASAN_SHADOW_{n}={v}" for n, v in zip(words, WORDS_64, strict=True)]
    objects = []
    for source in amalgamate.sources():
        objects.append(tmp_path / (source.parent.name + source.stem + ".o"))
        call([*clang, *options, "-I", ROOT / "include", source, "-o", objects[-1]], tmp_path)
    call([*clang, *options, amalgamated / "kasan.c", "-o", "kasan.o"], tmp_path)

    def names(*files):
        text = call(
            ["llvm-nm-19", "--defined-only", "--extern-only", "--format=just-symbols", *files], tmp_path
        )
        return {line for line in text.splitlines() if line and not line.endswith(":")}

    assert names("kasan.o") == names(*objects)
