# SPDX-License-Identifier: MIT
"""A tree that the user cannot write to, and REDZONE_BUILD, another folder for all that is made."""

import os
import tempfile
from pathlib import Path

import pytest
from conftest import copy_command
from redzone.core import base, process

NOBODY = 65534


def unprivileged(*command, **changes):
    """Run @command as a user who owns nothing, and return what it gives."""
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", base.PLACE)}
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    # Not the caller's Python, which may lie in a folder of the caller's.
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", **changes}
    return process.run(command, cwd="/usr", env=environment, timeout=120, **options)


@pytest.fixture
def foreign():
    """A tree, and beside it a folder for everybody; another user can read both, and write only the folder."""
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("no /usr/bin/python3, which another user can run")
    with tempfile.TemporaryDirectory() as name:
        tree = copy_command(Path(name) / "tree")
        (tree.parent / "own").mkdir()
        os.chmod(tree.parent / "own", 0o777)
        for folder in (tree.parent, tree, *tree.rglob("*")):
            if folder.is_dir():
                os.chmod(folder, 0o755 if folder == tree.parent else 0o555)
        yield tree
        for folder in [path for path in tree.rglob("*") if path.is_dir()] + [tree]:
            os.chmod(folder, 0o755)


def test_unwritable_tree_is_one_clear_line(foreign):
    result = unprivileged(foreign / "redzone", "run")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr == (
        f"redzone: error: '{foreign}/build' cannot be written: Permission denied. REDZONE_BUILD=DIR chooses "
        "another folder for all that Redzone makes, as in REDZONE_BUILD=~/redzone-build ./redzone run\n"
    )
    # Its owner has made the folder for builds, and not the environment.
    os.chmod(foreign, 0o755)
    (foreign / "build").mkdir()
    os.chmod(foreign / "build", 0o777)
    os.chmod(foreign, 0o555)
    result = unprivileged(foreign / "redzone", "run")
    assert result.returncode == 2 and f"error: '{foreign}' cannot be written" in result.stderr, result.stderr


def test_help_of_the_doctor_needs_no_folder(foreign):
    result = unprivileged(foreign / "redzone", "doctor", "--help")
    assert result.returncode == 0 and "--install" in result.stdout, result.stderr


def test_other_folder_for_the_environment(foreign):
    """Up to the point where the packages come from a network, which this one does not have."""
    own = foreign.parent / "own"
    blocked = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    result = unprivileged(foreign / "redzone", "run", REDZONE_BUILD=own, **blocked)
    assert result.returncode == 2, result.stderr
    assert f"first use: setting up {own}/venv with " in result.stderr
    assert (own / "venv" / "bin" / "python").exists() and not (own / "venv" / "requirements.txt").exists()
    assert sorted(path.name for path in foreign.iterdir()) == [
        "CMakePresets.json", "include", "kernel", "redzone", "tools"
    ]  # fmt: skip


def test_command_in_another_folder(redzone, tmp_path):
    """A relative folder as well; nothing is made in the tree's own folder for that build."""
    (tmp_path / "made of, 'odd' parts").mkdir()
    place = tmp_path / "made of, 'odd' parts"
    (place / "venv").symlink_to(base.VENV)
    # Other tests write to the others meanwhile.
    own = base.BUILD / "runtime-arm64-clang-full"

    def made():
        return {path: path.stat().st_mtime_ns for path in own.rglob("*")}

    before = made()
    redzone("build", "runtime-arm64-clang-full", REDZONE_BUILD=place.name, status=0)
    assert (place / "runtime-arm64-clang-full" / "libkasan.a").exists()
    assert made() == before


def test_written_by_another_user_before(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "BUILD", tmp_path)
    error = PermissionError(13, "Permission denied", str(tmp_path / "arm64" / "build.ninja"))
    assert "REDZONE_BUILD=DIR" in base.refused(error)
    assert base.refused(PermissionError(13, "Permission denied", "/etc/shadow")) is None
    assert base.refused(FileNotFoundError(2, "No such file", str(tmp_path / "x"))) is None
