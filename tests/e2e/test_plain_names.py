# SPDX-License-Identifier: MIT
"""Systems where LLVM's programs have no number in their names: ./redzone, CMake alone, and make."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from redzone.core import base, outside, process
from redzone.core.base import ROOT
from redzone.testing.needs import need

NUMBERED = ("clang-19", "ld.lld-19", "llvm-nm-19", "llvm-objcopy-19", "llvm-objdump-19", "llvm-symbolizer-19")


@pytest.fixture
def plain(path_without, tmp_path):
    """A PATH with clang, ld.lld and the like of version 19, and no name with a number."""
    need("clang-19", "make")
    known = {
        entry.name
        for folder in os.get_exec_path()
        if Path(folder).is_dir()
        for entry in Path(folder).iterdir()
    }
    numbered = [
        name for name in known if outside._plain(name)[0] and name.startswith(("clang", "llvm", "ld.lld"))
    ]
    hidden = [*numbered, *(outside._plain(name)[0] for name in numbered)]
    path = path_without(*hidden)
    for name in NUMBERED:
        (Path(path) / outside._plain(name)[0]).symlink_to(os.path.realpath(shutil.which(name)))
    return path


def old(path, name, version="18.1.8"):
    """Put a program @name in the folder @path that says that it is of @version."""
    program = Path(path) / name
    program.unlink(missing_ok=True)
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)


def place(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "venv").symlink_to(base.VENV)
    return tmp_path / "made"


def test_command(redzone, tmp_path, plain):
    made = place(tmp_path)
    redzone("build", "runtime-arm64-clang-full", PATH=plain, REDZONE_BUILD=made, status=0)
    # A cache in the compiler's place looks for it by the name that it is called by.
    cache = tmp_path / "cache"
    cache.mkdir()
    old(cache, "ccache", "clang version 19.1.7")
    (cache / "clang").symlink_to("ccache")
    result = redzone("doctor", PATH=f"{cache}:{plain}", REDZONE_BUILD=made)
    row = next(line for line in result.stdout.splitlines() if " clang-19 " in line)
    assert row.split()[:3] == ["ok", "clang-19", "19.1.7"], row
    assert os.readlink(made / "bin" / "clang-19") == f"{plain}/clang"


@pytest.mark.parametrize(
    "said", ["clang version 18.1.8", "Apple clang version 19.0.0 (clang-1900.1.2.3)", "no clang at all"]
)
def test_too_old(redzone, tmp_path, plain, said):
    made = place(tmp_path)
    # It was new enough before.
    redzone("doctor", "--help", PATH=plain, REDZONE_BUILD=made, status=0)
    assert (made / "bin" / "clang-19").exists()
    old(plain, "clang", said)
    result = redzone("doctor", PATH=plain, REDZONE_BUILD=made)
    row = next(line for line in result.stdout.splitlines() if " clang-19 " in line)
    assert row.startswith("  too old  clang-19" if "18" in said else "  missing  clang-19"), row
    assert ("(at least 19)" in row) == ("18" in said)
    result = redzone("build", "runtime-arm64-clang-full", PATH=plain, REDZONE_BUILD=made)
    assert result.returncode == 2 and "clang-19 not found" in result.stderr
    printed = process.output(
        ["make", "-s", "-f", "-", f"ROOT={ROOT}"],
        input="include $(ROOT)/llvm.mk\nnames = $(call redzone_llvm,$(1))\n"
        "all:\n\t@echo $(call names,clang) $(call names,ld.lld)\n",
        env={**os.environ, "PATH": plain},
    )
    assert printed == "clang-19 ld.lld\n"


def cmake(tmp_path, path, *words):
    environment = {**os.environ, "PATH": path}
    return process.run(["cmake", *words, "-B", tmp_path / "cmake"], cwd=ROOT, env=environment)


@pytest.mark.parametrize("preset", ["arm64-generic-inline-clang", "host-unit"])
def test_cmake_alone(tmp_path, plain, preset):
    result = cmake(tmp_path, plain, "--preset", preset)
    assert result.returncode == 0, result.stderr
    cache = (tmp_path / "cmake" / "CMakeCache.txt").read_text()
    assert f"={plain}/clang\n" in cache
    assert (f"\nREDZONE_LINKER:FILEPATH={plain}/ld.lld\n" in cache) == (preset != "host-unit")
    shutil.rmtree(tmp_path / "cmake")
    old(plain, "clang", "clang version 18.1.8")
    result = cmake(tmp_path, plain, "--preset", preset)
    assert result.returncode != 0 and "clang-19, clang" in " ".join(result.stderr.split()), result.stderr


@pytest.mark.rest
def test_template(tmp_path, plain):
    """With make and with CMake, as a porter calls them."""
    tree = tmp_path / "template"
    shutil.copytree(ROOT / "ports" / "template", tree)
    environment = {**os.environ, "PATH": plain}
    subprocess.run(
        ["make", "-s", f"REDZONE={ROOT}", "build/template.elf"], cwd=tree, env=environment, check=True
    )
    words = ("-S", tree, "-G", "Ninja", "--toolchain", tree / "toolchain.cmake", f"-DREDZONE_DIR={ROOT}")
    result = cmake(tmp_path, plain, *words)
    assert result.returncode == 0, result.stderr
    cache = (tmp_path / "cmake" / "CMakeCache.txt").read_text()
    assert f"={plain}/clang\n" in cache and f"\nTEMPLATE_LLD:FILEPATH={plain}/ld.lld\n" in cache
