# SPDX-License-Identifier: MIT
"""`./redzone build`: build folders whose programs have moved, compilers that no test has."""

import os
import shutil
import subprocess
import sys

import pytest
from redzone.build import prebuilt
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


def test_objects_of_a_wheel_are_for_their_sources(tmp_path, monkeypatch):
    """A folder of objects is found by preset and sources, and by CMake if the compiler is theirs too."""
    preset = "arm64-generic-inline-clang"
    need("clang-19")
    place = tmp_path / preset
    (place / "CMakeFiles" / "runtime.dir").mkdir(parents=True)
    monkeypatch.setattr(prebuilt, "PREBUILT", tmp_path)
    assert prebuilt.folder(preset) is None
    (place / "key").write_text(prebuilt.key(preset))
    assert prebuilt.folder(preset) == place
    assert prebuilt.key(preset) != prebuilt.key(f"{preset}+lockdep")
    assert prebuilt.folder(f"{preset}+lockdep") is None
    (place / "key").write_text(prebuilt.key("arm64-off-clang"))
    assert prebuilt.folder(preset) is None
    for compiler, used in (("Clang 19", True), ("Clang 18", False)):
        (place / "compiler").write_text(compiler)
        folder = tmp_path / compiler.replace(" ", "-")
        words = [f"-DREDZONE_PYTHON={sys.executable}", f"-DREDZONE_PREBUILT={place}"]
        command = ["cmake", "--preset", preset, "-B", str(folder), *words]
        subprocess.run(command, cwd=base.ROOT, check=True, capture_output=True)
        rules = (folder / "build.ninja").read_text()
        assert (f"{place}/CMakeFiles/runtime.dir/runtime/shadow/shadow_check.c.obj" in rules) == used
        assert ("build CMakeFiles/runtime.dir/runtime/shadow/shadow_check.c.obj:" in rules) != used
        # Whatever did not come along is built.
        assert "build CMakeFiles/kernel.dir/kernel/mm/slub.c.obj:" in rules


def test_names_in_the_objects_of_a_wheel():
    for name, path in (
        ("/redzone.tree/kernel/mm/slub.c", base.ROOT / "kernel/mm/slub.c"),
        ("/redzone.tree/build/libc/musl/src/a.c", base.BUILD / "libc/musl/src/a.c"),
        ("/redzone.trees/a.c", "/redzone.trees/a.c"),
        ("a.c", "a.c"),
    ):
        assert base.placed(name) == str(path)
