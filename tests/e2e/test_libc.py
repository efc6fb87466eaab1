# SPDX-License-Identifier: MIT
"""Where the C library of programs comes from, where it is kept, and what is said if it cannot be had."""

import functools
import http.server
import sys
import threading

import pytest
from redzone.core import apt, base, libc_source, process
from redzone.core.base import ROOT

FLOATING = (
    '#include <math.h>\n#include <stdio.h>\nint main(void)\n{\n\tprintf("%.3f\\n", cos(0));\n\treturn 0;\n}\n'
)
# The command on a machine that has no archive with the library.
OFFLINE = """\
import sys
from pathlib import Path
from redzone.core import apt, doctor, libc_source
from redzone import cli

libc_source.FOLDER = Path(sys.argv[1])
libc_source.SOURCE = libc_source.FOLDER / libc_source.SOURCE.name
libc_source.FAILED = libc_source.FOLDER / libc_source.FAILED.name
libc_source.PLACES = (libc_source.FOLDER,)
apt.pool_file = lambda *ignored: "no such host"
libc_source.SITE = "http://127.0.0.1:9/musl.tar.gz"
sys.exit(doctor.main(sys.argv[3:]) if sys.argv[2] == "doctor" else cli.main(sys.argv[2:]))
"""


@pytest.fixture
def whole():
    """The file of the source, as this machine has it."""
    found = libc_source.kept()
    if found is None:
        pytest.skip("the source of musl is not on this machine")
    return found


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No archive has the library. Returns the list of the files that were asked for."""
    fetched = []
    folder = tmp_path / "libc"
    folder.mkdir()
    monkeypatch.setattr(libc_source, "FOLDER", folder)
    monkeypatch.setattr(libc_source, "SOURCE", folder / libc_source.SOURCE.name)
    monkeypatch.setattr(libc_source, "FAILED", folder / libc_source.FAILED.name)
    monkeypatch.setattr(libc_source, "PLACES", (tmp_path / "cache" / "libc", folder))
    monkeypatch.setattr(apt, "pool_file", lambda name, *rest: fetched.append(name) or "no such host")
    # Nobody listens there.
    monkeypatch.setattr(libc_source, "SITE", "http://127.0.0.1:9/musl.tar.gz")
    monkeypatch.delenv(libc_source.VARIABLE, raising=False)
    monkeypatch.delenv(base.PLACE, raising=False)
    return fetched


def is_there():
    return (
        libc_source.source() == libc_source.SOURCE and (libc_source.SOURCE / "include" / "stdio.h").is_file()
    )


def test_the_error_says_what_to_do(nowhere):
    # It was quick, so the next command tries again; test_full_disk.py has one that took long.
    for times in (1, 2):
        with pytest.raises(libc_source.Unavailable) as error:
            libc_source.source()
        assert len(nowhere) == times * len(libc_source.POOLS)
    said = str(error.value)
    assert "cannot be fetched: no such host; http://127.0.0.1:9/musl.tar.gz: Connection refused. " in said
    assert "./redzone doctor --install gets it" in said
    assert f"name a copy of musl.tar.gz with {libc_source.VARIABLE}=FILE" in said


@pytest.mark.parametrize("place", [0, 1], ids=["cache", "build"])
def test_an_archive_that_was_put_there(whole, nowhere, place):
    """The file alone is enough; a damaged one is not taken."""
    archive = libc_source.PLACES[place] / libc_source.ARCHIVE
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(b"damaged")
    with pytest.raises(libc_source.Unavailable):
        libc_source.source()
    archive.write_bytes(whole.read_bytes())
    assert is_there()


@pytest.fixture
def pool(whole, nowhere, monkeypatch):
    """Only the second archive of Debian has it. Returns the list of the files that were asked for."""

    def fetch(name, digest, target):
        nowhere.append(name)
        return (
            "404  Not Found"
            if name == libc_source.POOLS[0]
            else target.write_bytes(whole.read_bytes()) and None
        )

    monkeypatch.setattr(apt, "pool_file", fetch)
    return nowhere


def test_it_is_fetched_once_for_all_trees(pool, tmp_path, monkeypatch):
    assert is_there()
    assert pool == list(libc_source.POOLS)
    assert libc_source.kept().parent == tmp_path / "cache" / "libc"
    # Another tree, or this one without its build folder.
    other = tmp_path / "other"
    monkeypatch.setattr(libc_source, "FOLDER", other)
    monkeypatch.setattr(libc_source, "SOURCE", other / libc_source.SOURCE.name)
    monkeypatch.setattr(libc_source, "PLACES", (libc_source.PLACES[0], other))
    assert is_there()
    assert pool == list(libc_source.POOLS)


def test_a_folder_that_was_named_has_it(pool, monkeypatch):
    monkeypatch.setenv(base.PLACE, "/somewhere")
    assert libc_source.archive().parent == libc_source.FOLDER


def test_a_home_that_cannot_be_written(pool, tmp_path):
    (tmp_path / "cache").write_text("no folder", encoding="utf-8")
    assert libc_source.archive().parent == libc_source.FOLDER


@pytest.fixture
def server(whole, tmp_path):
    """A web server of this machine with the source, as the library's own site has it. Returns its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "musl.tar.gz").symlink_to(whole)
    (folder / "other.tar.gz").write_bytes(b"something else")
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *ignored):
        pass


def test_the_library_s_own_site(server, nowhere, monkeypatch):
    """Without an archive of Debian; by its checksum."""
    for name, why in (
        ("other", "is another file: its checksum is not that of musl"),
        ("none", "File not found"),
    ):
        monkeypatch.setattr(libc_source, "SITE", f"{server}/{name}.tar.gz")
        with pytest.raises(libc_source.Unavailable, match=f"no such host; {server}/{name}.tar.gz.*{why}"):
            libc_source.source()
        assert [*libc_source.PLACES[0].iterdir()] == [] and libc_source.kept() is None
    monkeypatch.setattr(libc_source, "SITE", f"{server}/musl.tar.gz")
    assert is_there()


@pytest.mark.parametrize("how", ["{file}", "file://{file}", "{server}/musl.tar.gz"])
def test_a_file_that_is_named(server, whole, nowhere, monkeypatch, how):
    """It comes from there alone, and a failure of before does not matter."""
    libc_source.FAILED.write_text("before", encoding="utf-8")
    monkeypatch.setenv(libc_source.VARIABLE, how.format(file=whole, server=server))
    assert is_there()
    assert nowhere == []


@pytest.mark.parametrize(
    ("name", "why"), [("absent.tar.gz", "No such file or directory"), ("other", "is another file")]
)
def test_a_file_that_is_not_it(nowhere, tmp_path, monkeypatch, name, why):
    (tmp_path / "other").write_bytes(b"something else")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(libc_source.VARIABLE, name)
    with pytest.raises(libc_source.Unavailable, match=f"{tmp_path}/{name}.*{why}"):
        libc_source.source()
    assert nowhere == []


def test_default(redzone, source):
    result = redzone("run", source(FLOATING), status=0)
    assert "\n1.000\n" in result.stdout


def test_what_is_missing(redzone, source):
    text = "#include <{}>\nvoid nowhere(void);\nint main(void)\n{{\n\tnowhere();\n\treturn 0;\n}}\n"
    for header, problem, hint in (
        ("stdio.h", "undefined symbol: nowhere", "nor in the C library, musl"),
        ("nowhere.h", "'nowhere.h' file not found", "the C library is musl, with the headers in docs/"),
    ):
        result = redzone("run", source(text.format(header)), status=2)
        assert problem in result.stderr and hint in result.stderr


@pytest.mark.rest
def test_without_a_network(redzone, whole, source, tmp_path):
    """The commands: one error that says what to do, the same from the doctor, and a file that helps."""

    def run(*words, **changes):
        return process.run(
            [sys.executable, "-c", OFFLINE, tmp_path / "libc", *words],
            cwd=tmp_path,
            env=redzone.environment(PYTHONPATH=str(ROOT / "tools"), **changes),
        )

    for words in ((), (source(FLOATING),), ("--each", source(FLOATING))):
        result = run("run", *words)
        assert result.returncode == 2, result.stdout + result.stderr
        assert result.stdout == "" and "Traceback" not in result.stderr
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        assert len(errors) == 1 and errors[0] == result.stderr.splitlines()[-1]
        assert (
            errors[0].startswith("redzone: error: the C library musl") and libc_source.VARIABLE in errors[0]
        )
    result = run("doctor")
    assert result.returncode == 2 and f"missing  libc/{libc_source.ARCHIVE}" in result.stdout
    result = run("doctor", "--install")
    assert result.returncode == 2 and "redzone: error: the C library musl" in result.stderr
    result = run("doctor", "--install", **{libc_source.VARIABLE: str(whole)})
    assert result.returncode == 0 and f"ok       libc/{libc_source.ARCHIVE}" in result.stdout, result.stdout
    result = run("run", source(FLOATING))
    assert result.returncode == 0 and "\n1.000\n" in result.stdout, result.stdout + result.stderr
