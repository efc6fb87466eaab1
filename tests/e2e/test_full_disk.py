# SPDX-License-Identifier: MIT
"""A full disk, and other reasons for which something cannot be fetched: said once, with its cause and place,
and not remembered."""

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest
from redzone.core import apt, base, crates, libc_source, process
from redzone.testing.needs import first

# $1: the folder, $2: its size. The rest is the command.
MOUNT = 'mount -t tmpfs -o size="$2" none "$1" && shift 2 && exec "$@"'


@pytest.fixture
def small(redzone, tmp_path):
    """Run ./redzone where its folder for what it builds is a disk of @size. @before: shell commands for it.
    Returns (status, stderr)."""
    disk = tmp_path / "disk"
    disk.mkdir()
    inside = ["unshare", "-m", "sh", "-ec", MOUNT, "sh", str(disk)]
    tried = process.run([*inside, "64k", "true"])
    if tried.returncode != 0:
        pytest.skip(f"no small disk can be made here: {process.last_line(tried.stderr)}")

    def run(size, *arguments, before="true"):
        # Not by ./redzone, which would first make its Python environment there.
        command = ["sh", "-ec", f'{before}; exec "$@"', "sh", sys.executable, "-m", "redzone", *arguments]
        environment = redzone.environment(REDZONE_BUILD=str(disk), PYTHONPATH=str(base.ROOT / "tools"))
        result = process.run([*inside, size, *command], cwd=tmp_path, env=environment, timeout=300)
        return result.returncode, result.stderr

    return run


def judge(status, said):
    lines = said.splitlines()
    assert status == 2, said
    assert [line for line in lines if "full" in line] == lines[-1:], said
    assert lines[-1].startswith("redzone: error: the disk is full: no space left for 'disk"), said
    for wrong in ("Traceback", "ninja: error", "still dirty"):
        assert wrong not in said


@pytest.fixture
def unpacked():
    """Shell commands that put the source of musl where the build folder has it."""
    try:
        return f"mkdir $REDZONE_BUILD/libc; ln -s {libc_source.source()} $REDZONE_BUILD/libc/"
    except libc_source.Unavailable as error:
        pytest.skip(str(error))


@first(1, "size", ["200k", "3m"])
def test_build_on_a_full_disk(small, source, unpacked, size):
    """CMake cannot write build.ninja, or a compiler its output."""
    program = source("int main(void) { return 0; }")
    judge(*small(size, "run", program, before=unpacked))


def test_the_description_of_a_build_cannot_be_written_again(small, source, unpacked):
    """Ninja has CMake write build.ninja again and again, and then calls it still dirty."""
    program = source("int main(void) { return 0; }")
    fake = "#!/bin/sh\necho \"ninja: error: manifest 'build.ninja' still dirty after 100 tries\"; exit 1\n"
    folder = program.parent / "fake"
    folder.mkdir()
    (folder / "ninja").write_text(fake, encoding="utf-8")
    (folder / "ninja").chmod(0o755)
    preset = "$REDZONE_BUILD/arm64-generic-inline-clang"
    before = f"mkdir -p {preset}; touch {preset}/build.ninja {preset}/CMakeCache.txt; PATH={folder}:$PATH"
    judge(*small("1200k", "run", program, before=f"{unpacked}; {before}"))


def test_unpacking_musl_on_a_full_disk(small, source):
    if libc_source.kept() is None:
        pytest.skip("the source of musl is not on this machine")
    program = source("int main(void) { return 0; }")
    judge(*small("3m", "run", program))


APT = {
    "full": (
        "Err:1 http://x.example/musl.tar.gz\n  Error writing to file - write (28: No space left on device)\n"
        "E: Failed to fetch http://x.example/musl.tar.gz  Error writing to file - write (28: No space left "
        "on device) [IP: 192.0.2.1 80]\nE: Download Failed\n"
    ),
    "no network": (
        "E: Failed to fetch http://x.example/musl.tar.gz  Could not resolve 'x.example'\nE: Download Failed\n"
    ),
    "proxy": (
        "E: Failed to fetch http://x.example/musl.tar.gz  Could not connect to 127.0.0.1:9 (127.0.0.1). - "
        "connect (111: Connection refused)\nE: Download Failed\n"
    ),
    "checksum": (
        "E: Failed to fetch http://x.example/musl.tar.gz  Hash Sum mismatch\n   Hashes of expected file:\n"
        "    - SHA256:aaa\n   Last modification reported: Fri, 27 Nov 2026 00:09:36 +0000\n"
        "E: Download Failed\n"
    ),
}


@pytest.fixture
def musl_by(tmp_path, monkeypatch):
    """musl is to be fetched, and apt says what the test chooses."""
    for name, value in (("FOLDER", tmp_path), ("SOURCE", tmp_path / "source"), ("PLACES", (tmp_path,))):
        monkeypatch.setattr(libc_source, name, value)
    monkeypatch.setattr(libc_source, "FAILED", tmp_path / "not-fetched")
    monkeypatch.setattr(libc_source, "SITE", "http://127.0.0.1:9/musl.tar.gz")
    monkeypatch.setattr(apt, "codename", lambda: "bookworm")
    monkeypatch.setattr(apt, "targets", lambda: [("http://x.example", "bookworm")])
    calls = []

    def choose(said):
        def call(command, **options):
            calls.append(command)
            Path(command[-2]).write_bytes(b"half")
            return 100, said

        monkeypatch.setattr(apt, "call", call)
        return calls

    return choose


@pytest.mark.parametrize("cause", APT)
def test_musl_cannot_be_fetched(musl_by, tmp_path, cause):
    calls = musl_by(APT[cause])
    expected = base.DiskFull if cause == "full" else libc_source.Unavailable
    for count in (1, 2):
        with pytest.raises(expected) as error:
            libc_source.source()
        assert len(calls) == count * (1 if cause == "full" else len(libc_source.POOLS)), "it was remembered"
        assert sorted(path.name for path in tmp_path.iterdir()) == [".redzone.lock"]
    why = APT[cause].splitlines()[0].split("gz  ")[-1]
    assert (f"no space left for '{tmp_path}'" if cause == "full" else why) in str(error.value)


def test_a_fetch_that_took_long_is_remembered(musl_by, monkeypatch):
    calls = musl_by(APT["no network"])
    monkeypatch.setattr(libc_source, "LONG", 0)
    for _ in range(2):
        with pytest.raises(libc_source.Unavailable) as error:
            libc_source.source()
    assert len(calls) == len(libc_source.POOLS)
    said = str(error.value)
    assert "Could not resolve 'x.example'; http://127.0.0.1:9/musl.tar.gz: Connection refused " in said
    assert "refused (tried 0 minutes ago)" in said
    with pytest.raises(libc_source.Unavailable):
        libc_source.archive()
    assert len(calls) == 2 * len(libc_source.POOLS)


def test_half_of_a_crate_is_not_kept(tmp_path, monkeypatch):
    """cargo writes a crate's list of checksums last; it may be cut as well."""
    monkeypatch.setattr(crates, "BUILD", tmp_path)
    crate = crates.Crate("libz-sys", "1.1.6", base.ROOT / "tests" / "zlib", "src/zlib")
    fake = tmp_path / "bin" / "cargo"
    fake.parent.mkdir()
    script = "#!/bin/sh\nmkdir -p vendor/libz-sys-1.1.6\n: >vendor/libz-sys-1.1.6/.cargo-checksum.json\n"
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    for said, expected in (
        ("Caused by:\\n  No space left on device (os error 28)", base.DiskFull),
        ("Caused by:\\n  [6] Could not resolve host: x.example", crates.Unavailable),
    ):
        fake.write_text(script + f"printf '{said}\\n' >&2; exit 101\n", encoding="utf-8")
        fake.chmod(0o755)
        with pytest.raises(expected) as error:
            crate.source()
        assert not crate.folder.exists()
    assert str(error.value).endswith(": [6] Could not resolve host: x.example")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("fatal: unable to access 'https://x.example/': no host\nfatal: x\n", "unable to access 'https"),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError('Cannot connect to "
            "proxy.', OSError(111))': /simple/a/\nERROR: No matching distribution found for a\n",
            "ProxyError('Cannot connect to proxy.', OSError(111))",
        ),
        ("error: failed\n\nCaused by:\n  checksum changed\n", "  checksum changed"),
        ("", "no output"),
    ],
)
def test_the_line_that_says_why(tmp_path, said, why):
    assert process.reason(said, tmp_path).startswith(why)


def test_the_disk_that_is_full_is_named(tmp_path, monkeypatch):
    other = str(tmp_path / "temporary")
    monkeypatch.setattr(base.tempfile, "gettempdir", lambda: other)
    free = {str(tmp_path): 5 << 20, other: 2 << 20}
    monkeypatch.setattr(base, "_free", lambda folder: free[str(folder)])
    base.check_room(tmp_path, "error: something else")
    with pytest.raises(base.DiskFull, match=f"no space left for '{tmp_path}'"):
        # Both are on one disk, and a neighbour has written to it between two looks.
        base.check_room(tmp_path, "No space left on device")
    monkeypatch.setattr(base, "_disk", str)
    for cause in ("LLVM ERROR: IO failure: No space left on device", OSError(errno.ENOSPC, "no")):
        with pytest.raises(base.DiskFull, match=f"no space left for '{other}'"):
            base.check_room(tmp_path, cause)
    with pytest.raises(base.DiskFull, match="no space left for '/a/b'"):
        base.check_room(tmp_path, OSError(errno.ENOSPC, "no", "/a/b"))
    with pytest.raises(base.DiskFull, match=f"no space left for '{tmp_path}'"):
        base.check_room(tmp_path, megabytes=6)
    assert base.explain(OSError(errno.EDQUOT, "no", "/a/b")).endswith("no space left for '/a/b'")
    assert base.explain(OSError(errno.ENOTDIR, "Not a directory", "/a/b")) == "Not a directory '/a/b'"
    # As of shutil.copytree().
    assert base.explain(shutil.Error([("a", "b", "gone")])) == "[('a', 'b', 'gone')]"


def test_a_test_run_goes_on_after_a_full_disk(tmp_path, monkeypatch):
    from types import SimpleNamespace

    from redzone.testing import runner

    def run(context):
        yield runner.Result("first", runner.PASS)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a/b")

    def write_log(name, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    suite = SimpleNamespace(module=SimpleNamespace(run=run), tools=())
    results = list(runner._run_suite(suite, SimpleNamespace(not_started={}, write_log=write_log)))
    assert [result.status for result in results] == [runner.PASS, runner.FAIL]
    assert results[1].detail == "the disk is full: no space left for '/a/b'"
