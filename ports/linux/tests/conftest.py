# SPDX-License-Identifier: MIT
"""A small tree of Linux and a build folder, for the tests of the port."""

import pytest
from redzone.core import base
from redzone.kit.ports.linux.host import apply, build, source


@pytest.fixture
def tree(tmp_path):
    """The few files of a source tree of Linux that the port looks at."""
    folder = tmp_path / "linux"
    for name in {*apply.OWN, *apply.KEPT, "quarantine.c"}:
        path = folder / "mm/kasan" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Linux's {name}\n", encoding="utf-8")
    (folder / "include/linux").mkdir(parents=True)
    (folder / "include/linux/kasan.h").write_text("the interface\n", encoding="utf-8")
    (folder / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n", encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A build folder of its own, with a build of another tree in it."""
    folder = tmp_path / "build"
    for name, value in (("HOME", folder), ("TREES", {line: folder / line for line in apply.LINES})):
        monkeypatch.setattr(source, name, value)
    monkeypatch.setattr(build, "HOME", folder)
    monkeypatch.setattr(base, "check_room", lambda *_, **__: None)
    (folder / "arm64-generic-inline").mkdir(parents=True)
    (folder / "arm64-generic-inline/fragments").touch()
    (folder / "arm64-generic-inline/source").symlink_to(folder / apply.LINES[0])
    (folder / f"{apply.LINES[0]}.source").write_text("linux-source-6.12 1", encoding="utf-8")
    return folder
