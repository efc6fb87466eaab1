# SPDX-License-Identifier: MIT
"""Commands of the port that run at the same time: they share a tree, and kernels begin with one another."""

from pathlib import Path

import pytest
from redzone.core import base
from redzone.kit.ports.linux import suite
from redzone.kit.ports.linux.host import apply, build, disk

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("own", [True, False])
def test_modules_are_built_beside_the_kasan_of_their_kernel(tree, home, own):
    """Another command may have changed the tree since the kernel was built."""
    (apply.apply if own else apply.revert)(tree)
    seen = []

    class Recorder(build.Make):
        def __call__(self, *targets):
            seen.append(apply.Tree(tree).is_applied())
            assert base.lock(home / base.LOCK, wait=False) is None

    make = Recorder(tree, "generic-inline")
    path = make.output / "mm/kasan/kasan_test.ko"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"module")
    image = build.Image(tree / "Image", tree / "vmlinux", make, own)
    assert disk.modules(image, "mm/kasan/kasan_test.ko") == {"kasan_test.ko": b"module"}
    assert seen == [not own]


def test_the_ports_modules_do_not_change_the_folder_of_the_kernel(home):
    """Another command may copy it meanwhile: one whose kernel begins with it."""

    class Recorder(build.Make):
        def __call__(self, *targets):
            folder = Path(next(text for text in targets if text.startswith("M=")).removeprefix("M="))
            assert self.output not in folder.parents
            (folder / "bugs.ko").write_bytes(b"module")

    make = Recorder(home / "tree", "generic-inline")
    before = sorted(make.output.rglob("*"))
    assert disk.own_modules(make) == {"bugs.ko": b"module"}
    assert sorted(make.output.rglob("*")) == before


def test_the_trial_of_apply_has_the_tree_to_itself(tree, home, monkeypatch):
    revert, held = apply.revert, []

    def recorded(folder):
        held.append(base.lock(home / base.LOCK, wait=False) is None)
        return revert(folder)

    monkeypatch.setattr(apply, "revert", recorded)
    assert suite._user_tree(tree).status == suite.PASS
    assert held == [True, True]
