# SPDX-License-Identifier: MIT
"""kernel/ext/: a kernel builds when its folders are taken away, and says so if one is asked for."""

import shutil
import sys

import pytest
from conftest import ROOT
from redzone.core import process

PRESET = "arm64-off-clang"
# {folder: the option that needs it}.
OPTIONS = {"lockdep": "REDZONE_LOCKDEP", "rt": "REDZONE_PREEMPT_RT", "stackleak": "REDZONE_KSTACK_ERASE"}
PARTS = ("cmake", "fuzz", "include", "kernel", "runtime", "tools", "CMakeLists.txt", "CMakePresets.json")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The tree without the extensions."""
    tree = tmp_path_factory.mktemp("bare")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, tree / part)
    shutil.rmtree(tree / "kernel" / "ext")
    return tree


def configure(tree, *options):
    command = ["cmake", "--preset", PRESET, f"-DREDZONE_PYTHON={sys.executable}", *options]
    return process.run(command, cwd=tree)


def test_every_extension_is_known():
    assert {path.name for path in (ROOT / "kernel" / "ext").iterdir()} == set(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_absent_extension_is_named(bare, name):
    result = configure(bare, f"-D{OPTIONS[name]}=ON")
    assert result.returncode != 0
    assert f"{OPTIONS[name]} needs kernel/ext/{name}, which is not there" in " ".join(result.stderr.split())
    shutil.rmtree(bare / "build")


# A kernel of its own, which no other test uses.
@pytest.mark.rest
def test_the_kernel_and_its_tests_need_no_extension(bare):
    result = configure(bare)
    assert result.returncode == 0, result.stderr
    build = ["cmake", "--build", "build/" + PRESET, "--target", "redzone", "redzone-bench", "redzone-soak"]
    result = process.run(build, cwd=bare)
    assert result.returncode == 0, result.stdout[-4000:]
    assert (bare / "build" / PRESET / "redzone.Image").stat().st_size > 100_000
