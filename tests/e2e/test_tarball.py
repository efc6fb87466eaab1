# SPDX-License-Identifier: MIT
"""Archives from outside: all of their files, and nothing outside of the folder."""

import io
import tarfile

import pytest
from redzone.core import tarball
from redzone.core.base import Failure


def member(name, kind=tarfile.REGTYPE, link="", mode=0o644):
    one = tarfile.TarInfo(name)
    one.type, one.linkname, one.mode = kind, link, mode
    return one


def pack(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for one in members:
            one.size = 4 if one.isfile() else 0
            archive.addfile(one, io.BytesIO(b"text"))
    return path


def test_files(tmp_path):
    file = pack(
        tmp_path / "a.tar.gz",
        member("a/", tarfile.DIRTYPE),
        member("a/b.c"),
        member("a/configure", mode=0o755),
        member("a/same.c", tarfile.SYMTYPE, "b.c"),
        member("new/c.c"),
    )
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "old").touch()
    tarball.unpack(file, folder)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    assert files == {"a/b.c", "a/configure", "a/same.c", "new/c.c"}
    assert (folder / "a/same.c").read_text() == "text"
    assert (folder / "a/configure").stat().st_mode & 0o777 == 0o755


def test_nothing_outside(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    file = pack(
        tmp_path / "a.tar.gz",
        member("../outside/up"),
        member(f"{outside}/absolute"),
        member("link", tarfile.SYMTYPE, "../outside"),
        member("link/through"),
        member("pipe", tarfile.FIFOTYPE),
        member("good"),
    )
    tarball.unpack(file, tmp_path / "new")
    assert list(outside.iterdir()) == []
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["good", "link"]
    assert (tmp_path / "new/link").is_dir() and not (tmp_path / "new/link").is_symlink()


def test_places(tmp_path):
    file = pack(tmp_path / "a.tar.gz", member("top/a.c"), member("top/docs/a.txt"), member("top/x"))
    tarball.unpack(file, tmp_path / "new", {"top/a.c": "src/a.c", "top/x": "../x"}.get)
    assert [path.name for path in (tmp_path / "new").rglob("*")] == ["src", "a.c"]
    assert not (tmp_path / "x").exists()


def test_damaged(tmp_path):
    file = pack(tmp_path / "a.tar.gz", member("a"))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(Failure, match=r"a\.tar\.gz cannot be unpacked: "):
        tarball.unpack(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()
