# SPDX-License-Identifier: MIT
"""Which C library a program gets, and what happens where the large one cannot be had."""

import functools
import http.server
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))

from redzone import apt, libc
from redzone.base import BUILD, ROOT

FLOATING = (
    '#include <math.h>\n#include <stdio.h>\nint main(void)\n{\n\tprintf("%.3f\\n", cos(0));\n\treturn 0;\n}\n'
)
INTEGERS = '#include <stdio.h>\nint main(void)\n{\n\tprintf("%d\\n", 12345);\n\treturn 0;\n}\n'
# The command on a machine that has no archive with the library.
OFFLINE = """\
import sys
from pathlib import Path
from redzone import apt, cli, libc

libc.FOLDER = Path(sys.argv[1])
libc.SOURCE, libc.FAILED = libc.FOLDER / libc.SOURCE.name, libc.FOLDER / libc.FAILED.name
apt.pool_file = lambda *ignored: "no such host"
libc.SITE = "http://127.0.0.1:9/musl.tar.gz"
cli.main(sys.argv[2:])
"""


def asked(**given):
    """Options of ./redzone run, as far as they choose a library."""
    values = {"libc": "auto", "files": ["a.c"], "project": None, "kernel_headers": False, "save": []}
    return SimpleNamespace(**{**values, **given})


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No archive has the library. Returns the list of the files that were asked for."""
    fetched = []
    folder = tmp_path / "libc"
    monkeypatch.setattr(libc, "FOLDER", folder)
    monkeypatch.setattr(libc, "SOURCE", folder / libc.SOURCE.name)
    monkeypatch.setattr(libc, "FAILED", folder / libc.FAILED.name)
    monkeypatch.setattr(apt, "pool_file", lambda name, *rest: fetched.append(name) or "no such host")
    # Nobody listens there.
    monkeypatch.setattr(libc, "SITE", "http://127.0.0.1:9/musl.tar.gz")
    monkeypatch.delenv(libc.VARIABLE, raising=False)
    return fetched


@pytest.mark.parametrize(
    ("given", "large"),
    [
        ({}, True),
        ({"files": [], "project": "compile_commands.json"}, True),
        ({"files": []}, False),
        ({"kernel_headers": True}, False),
        ({"libc": "small"}, False),
        ({"libc": "musl", "files": []}, True),
    ],
    ids=str,
)
def test_what_gets_the_large_one(given, large):
    assert libc.large(asked(**given)) is large


def test_auto_does_without(nowhere, capsys):
    assert libc.choose(asked()) is None
    assert len(nowhere) == len(libc.POOLS)
    said = capsys.readouterr().err
    assert (
        "cannot be fetched: no such host; http://127.0.0.1:9/musl.tar.gz: Connection refused. The small "
        "library takes its place" in said
    )
    assert f"name the file musl.tar.gz with {libc.VARIABLE}=FILE" in said
    # It was quick, so the next command tries again; test_full_disk.py has one that took long.
    assert libc.choose(asked()) is None
    assert len(nowhere) == 2 * len(libc.POOLS)


@pytest.mark.parametrize("given", [{"libc": "musl"}, {"save": [("a", "b")]}], ids=str)
def test_whoever_needs_it_hears_of_it(nowhere, given):
    for times in (1, 2):
        with pytest.raises(libc.Unavailable, match=r"no such host; .* refused\. Name .*--libc small"):
            libc.choose(asked(**given))
        assert len(nowhere) == times * len(libc.POOLS)


def test_an_archive_that_was_put_there(musl, nowhere):
    """The file alone is enough; a damaged one is not taken."""
    archive = libc.FOLDER / libc.ARCHIVE
    assert libc.choose(asked()) is None
    archive.write_bytes(b"damaged")
    with pytest.raises(libc.Unavailable):
        libc.choose(asked(libc="musl"))
    assert not archive.exists()
    archive.write_bytes((BUILD / "libc" / libc.ARCHIVE).read_bytes())
    assert libc.choose(asked()) == libc.SOURCE
    assert (libc.SOURCE / "include" / "stdio.h").is_file()


def test_the_second_archive(musl, nowhere, monkeypatch):
    """One archive may have it where another has not."""
    whole = (BUILD / "libc" / libc.ARCHIVE).read_bytes()

    def fetch(name, digest, target):
        return "404  Not Found" if name == libc.POOLS[0] else target.write_bytes(whole) and None

    monkeypatch.setattr(apt, "pool_file", fetch)
    assert libc.choose(asked()) == libc.SOURCE


@pytest.fixture
def server(musl, tmp_path):
    """A web server of this machine with the source, as the library's own site has it. Returns its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "musl.tar.gz").symlink_to(BUILD / "libc" / libc.ARCHIVE)
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
    archive = libc.FOLDER / libc.ARCHIVE
    for name, why in (
        ("other", "is another file: its checksum is not that of musl"),
        ("none", "File not found"),
    ):
        monkeypatch.setattr(libc, "SITE", f"{server}/{name}.tar.gz")
        with pytest.raises(libc.Unavailable, match=f"no such host; {server}/{name}.tar.gz.*{why}"):
            libc.choose(asked(libc="musl"))
        assert not archive.exists()
    monkeypatch.setattr(libc, "SITE", f"{server}/musl.tar.gz")
    assert libc.choose(asked()) == libc.SOURCE
    assert (libc.SOURCE / "include" / "stdio.h").is_file()


@pytest.mark.parametrize("how", ["{file}", "file://{file}", "{server}/musl.tar.gz"])
def test_a_file_that_is_named(server, nowhere, monkeypatch, how):
    """It comes from there alone, and a failure of before does not matter."""
    assert libc.choose(asked()) is None
    del nowhere[:]
    libc.FAILED.write_text("before", encoding="utf-8")
    where = how.format(file=BUILD / "libc" / libc.ARCHIVE, server=server)
    monkeypatch.setenv(libc.VARIABLE, where)
    assert libc.choose(asked()) == libc.SOURCE
    assert nowhere == []


@pytest.mark.parametrize(
    ("name", "why"), [("absent.tar.gz", "No such file or directory"), ("other", "is another file")]
)
def test_a_file_that_is_not_it(nowhere, tmp_path, monkeypatch, capsys, name, why):
    (tmp_path / "other").write_bytes(b"something else")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(libc.VARIABLE, name)
    with pytest.raises(libc.Unavailable, match=f"{tmp_path}/{name}.*{why}"):
        libc.choose(asked(libc="musl"))
    assert libc.choose(asked()) is None and why in capsys.readouterr().err
    assert nowhere == []


def test_default(redzone, source, musl):
    result = redzone("run", source(FLOATING))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n1.000\n" in result.stdout
    result = redzone("run", "--libc", musl, source(FLOATING))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n1.000\n" in result.stdout


def test_small(redzone, source):
    result = redzone("run", "--libc", "small", source(INTEGERS))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n12345\n" in result.stdout
    result = redzone("run", "--libc", "small", source(FLOATING))
    assert result.returncode == 2, result.stdout + result.stderr
    assert "math.h" in result.stderr and "--libc musl has more" in result.stderr


def test_what_is_missing_for_both(redzone, source, musl):
    """The hint is about the library that the program has."""
    file = source(
        "#include <stdio.h>\nvoid nowhere(void);\nint main(void)\n{\n\tnowhere();\n\treturn 0;\n}\n"
    )
    result = redzone("run", file)
    assert result.returncode == 2, result.stdout + result.stderr
    assert "undefined symbol: nowhere" in result.stderr
    assert "nor in the C library, musl" in result.stderr


def test_without_an_archive(redzone, source, tmp_path):
    """The whole command: it says so in one line, and the program runs with the small library."""

    def run(*words):
        return subprocess.run(
            [sys.executable, "-c", OFFLINE, str(tmp_path / "libc"), "run", *map(str, words)],
            cwd=tmp_path,
            env=redzone.environment(PYTHONPATH=str(ROOT / "tools")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    file = source(INTEGERS)
    result = run(file)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n12345\n" in result.stdout
    assert (
        len([line for line in result.stderr.splitlines() if "The small library takes its place" in line]) == 1
    )
    result = run("--each", file)
    assert "ok 1" in result.stdout and "The small library takes its place" in result.stderr
    result = run("--libc", "musl", file)
    assert result.returncode == 2
    assert "redzone: error: the C library musl" in result.stderr and "Traceback" not in result.stderr
