# SPDX-License-Identifier: MIT
"""`./redzone build`: build folders whose programs have moved, compilers that no test has."""

import os
import shutil
import subprocess
import sys

import pytest
from redzone.core import base
from redzone.testing.needs import need


@pytest.mark.rest
def test_programs_that_have_moved(redzone, path_without):
    """A folder is configured again, not given up, if its programs have moved since."""
    preset = "runtime-arm-clang-windowed"
    folder = redzone.root / "build" / preset
    shutil.rmtree(folder, ignore_errors=True)
    other = path_without()
    redzone("build", preset, PATH=other, status=0)
    assert f"={other}/ninja\n" in (folder / "CMakeCache.txt").read_text()
    shutil.rmtree(other)
    redzone("build", preset, status=0)
    assert other not in (folder / "CMakeCache.txt").read_text()


@pytest.mark.parametrize("major", ["", "99"])
def test_warnings_of_an_unknown_compiler_are_no_errors(tmp_path, major):
    """GCC as it is, and one that says it is of another version: it may warn where the tested ones do not."""
    name = "aarch64-linux-gnu-gcc"
    need(name)
    if major:
        wrapper = tmp_path / name
        options = f"-Wno-builtin-macro-redefined -D__GNUC__={major}"
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which(name)} {options} "$@"\n')
        wrapper.chmod(0o755)
    command = ["cmake", "--preset", "runtime-arm64-gcc-full", "-B", str(tmp_path / "build")]
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(
        [*command, f"-DREDZONE_PYTHON={sys.executable}"],
        cwd=base.ROOT,
        env={**os.environ, "PATH": path},
        check=True,
        capture_output=True,
    )
    rules = (tmp_path / "build" / "build.ninja").read_text()
    assert "-Wall" in rules
    assert ("-Werror" in rules) == (not major)
