# SPDX-License-Identifier: MIT
"""Fixtures of the porting kit's tests: copies of the example, an installed Redzone, the amalgamated pair."""

import shutil

import pytest
from kit import ROOT, TEMPLATE, call, need


@pytest.fixture
def tree(tmp_path):
    """A copy of the example, outside the repository."""
    copy = tmp_path / "tree"
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns("build"))
    return copy


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    """Redzone, installed and then moved: no file in it may contain the path that it was installed to."""
    need("cmake")
    work = tmp_path_factory.mktemp("install")
    options = ["-DREDZONE_BUILD=kit", f"-DCMAKE_INSTALL_PREFIX={work / 'first'}"]
    call(["cmake", "-S", ROOT, "-B", work / "build", *options], work)
    call(["cmake", "--install", work / "build"], work)
    (work / "first").rename(work / "moved")
    return work / "moved"


@pytest.fixture(scope="session")
def amalgamated(tmp_path_factory):
    """kasan.c and kasan.h."""
    from redzone.kit import amalgamate

    folder = tmp_path_factory.mktemp("amalgamated")
    amalgamate.write(folder)
    return folder
