# SPDX-License-Identifier: MIT
"""Sources that ports fetch by git: the pinned commit, once; anything else is refused and not kept."""

import dataclasses

import pytest
from redzone.core import gitsource, process
from redzone.core.base import Failure
from redzone.testing.needs import need

pytestmark = pytest.mark.quick


def git(folder, *words):
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    run = process.run(["git", *identity, *words], cwd=folder, check=True)
    return run.stdout.strip()


def digest(folder):
    return gitsource.digest_of(
        folder, sorted(path.relative_to(folder) for path in folder.glob("*.c") if path.is_file())
    )


@pytest.fixture
def pinned(tmp_path, monkeypatch):
    """A repository to fetch from by file://, pinned by its first of two commits."""
    need("git")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.c").write_text("/* one */\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "one")
    source = gitsource.Source(
        name="Kernel 1",
        repository="file:///absent/repository",
        commit=git(folder, "rev-parse", "HEAD"),
        hash=digest(folder),
        digest=digest,
        mirror="REDZONE_TEST_GIT",
        advice="give a folder",
    )
    (folder / "a.c").write_text("/* two */\n")
    git(folder, "commit", "--quiet", "-a", "-m", "two")
    monkeypatch.setenv("REDZONE_TEST_GIT", f"file://{folder}")
    return source


def obtain(source, tmp_path):
    return source.obtain(tmp_path / "home" / "source", tmp_path / "lock")


def left(tmp_path):
    return sorted(path.name for path in (tmp_path / "home").glob("*"))


def test_names_and_contents_count(tmp_path):
    (tmp_path / "a.c").write_text("one\n")
    first = digest(tmp_path)
    (tmp_path / "a.c").write_text("two\n")
    second = digest(tmp_path)
    (tmp_path / "a.c").rename(tmp_path / "b.c")
    assert len({first, second, digest(tmp_path)}) == 3


def test_the_pinned_commit_is_fetched_once(pinned, tmp_path):
    folder = obtain(pinned, tmp_path)
    assert (folder / "a.c").read_text() == "/* one */\n"
    (tmp_path / "repository").rename(tmp_path / "gone")
    assert obtain(pinned, tmp_path) == folder
    (folder / "a.c").write_text("/* changed */\n")
    with pytest.raises(Failure, match="was changed; remove it"):
        obtain(pinned, tmp_path)


def test_files_with_another_hash_are_refused_and_not_kept(pinned, tmp_path):
    with pytest.raises(Failure, match=r"gave other files .* expected 0000000000000000") as caught:
        obtain(dataclasses.replace(pinned, hash="0" * 64), tmp_path)
    assert not isinstance(caught.value, gitsource.Unavailable)
    assert not left(tmp_path)


def test_a_commit_that_is_not_there_is_unavailable(pinned, tmp_path):
    with pytest.raises(gitsource.Unavailable, match="cannot be fetched from file://"):
        obtain(dataclasses.replace(pinned, commit="1" * 40), tmp_path)
    assert not left(tmp_path)


def test_without_a_mirror_the_repository_is_asked_and_the_text_says_what_to_do(pinned, tmp_path, monkeypatch):
    monkeypatch.delenv("REDZONE_TEST_GIT")
    with pytest.raises(
        gitsource.Unavailable, match=r"absent/repository.*give a folder, .*REDZONE_TEST_GIT=URL"
    ):
        obtain(pinned, tmp_path)
