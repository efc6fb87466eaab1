# SPDX-License-Identifier: MIT
"""UBSan without KASAN in other people's builds: it links nothing of KASAN's, and a system with KASAN alone
nothing of it."""

import pytest
from kit import ROOT, need
from redzone.core import process
from redzone.elf.file import File
from redzone.elf.symbols import symbols

IMAGE = ROOT / "tests" / "porting" / "images" / "ubsan_alone.c"
# Bytes of code on a Cortex-M0+ at -Os, with what libgcc divides with; docs/use/ubsan.md says how many.
MOST = 16 << 10
MACHINE = "-mcpu=cortex-m0plus -mthumb"
MAKEFILE = f"""\
CC := arm-none-eabi-gcc
KASAN_ARCH := arm
KASAN_OPTIMIZE := s
KASAN_RUNTIME_CFLAGS := {MACHINE}
include {ROOT}/redzone.mk
image.elf: image.o $(KASAN_OBJS)
\t$(CC) {MACHINE} -nostdlib -Wl,--gc-sections $^ -lgcc -o $@
image.o: {IMAGE}
\t$(CC) {MACHINE} -Os $(KASAN_CPPFLAGS) $(KASAN_CODE_FLAGS) $(KASAN_CFLAGS) -c $< -o $@
"""


def image(folder, *variables):
    (folder / "Makefile").write_text(MAKEFILE)
    ended = process.run(["make", "-j2", *variables], cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder / "image.elf"


def names(path):
    return {symbol.name for symbol in symbols(File.open(path)) if symbol.section}


def test_alone_with_make(tmp_path):
    need("make", "arm-none-eabi-gcc")
    path = image(tmp_path, "KASAN_MODE=none", "KASAN_UBSAN=1")
    found = names(path)
    assert {"__ubsan_handle_add_overflow", "__ubsan_handle_divrem_overflow"} <= found
    foreign = ("__asan_", "kasan_heap_", "kasan_slab_", "kasan_depot_", "kasan_describe", "kasan_find_bad")
    # A system may define __asan_on_error(), which every report calls.
    assert not [name for name in found - {"__asan_on_error"} if name.startswith(foreign)]
    text = int(process.output(["arm-none-eabi-size", str(path)]).splitlines()[1].split()[0])
    assert text < MOST


def test_not_linked_without(tmp_path):
    """Where nothing calls it, CONFIG_KASAN_UBSAN adds no function of UBSan."""
    need("make", "arm-none-eabi-gcc")
    # The image is compiled without the checks, the runtime with the option.
    path = image(tmp_path, "KASAN_MODE=none", "KASAN_UBSAN=1", "KASAN_EXCLUDE=image.o")
    assert not [name for name in names(path) if name.startswith(("__ubsan", "ubsan_add", "ubsan_small"))]


@pytest.mark.rest
def test_alone_with_cmake(tmp_path):
    need("cmake", "ninja", "clang-19")
    source = ROOT / "tests" / "ubsan"
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(kinds LANGUAGES C)\n"
        f"add_subdirectory({ROOT} redzone)\n"
        f"redzone_add_runtime(kasan MODE none UBSAN PORT {source}/port.c)\n"
        f"add_executable(kinds {source}/kinds.c)\n"
        "target_compile_options(kinds PRIVATE -DHOSTED -w)\n"
        "redzone_instrument(kinds RUNTIME kasan)\ntarget_link_options(kinds PRIVATE -Wl,--gc-sections)\n"
    )
    words = ["cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b", "-DCMAKE_C_COMPILER=clang-19"]
    for command in (words, ["cmake", "--build", tmp_path / "b"]):
        ended = process.run(command)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    said = process.run([tmp_path / "b" / "kinds", "add"]).stdout
    assert "2147483647 + 1 cannot be represented in type 'int'" in said
