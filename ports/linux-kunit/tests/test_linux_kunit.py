# SPDX-License-Identifier: MIT
"""The decisions of the suite linux-kunit: which source it takes, and how it reads what Linux's tools said."""

import tarfile
from pathlib import Path

import pytest
from redzone import ktap
from redzone.base import Failure
from redzone.ports.linux_kunit import source as linuxsource
from redzone.ports.linux_kunit import suite as linux_kunit
from redzone.runner import FAIL, PASS, SKIP

KUNIT = "tools/testing/kunit/kunit.py"
SCRIPT = "scripts/decode_stacktrace.sh"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with the files that install() puts there, and an archive with one version (None: without
    any)."""
    package = linuxsource.PINS["package"]
    state = {"installed": None, "archive": None}
    monkeypatch.setattr(linuxsource, "FOLDER", tmp_path / "build")
    monkeypatch.setattr(linuxsource, "USR_SRC", tmp_path / "src")
    monkeypatch.setattr(linuxsource, "newer_lists", lambda folder: None)
    real = linuxsource.call

    def tar(path, text):
        top = tmp_path / "tree" / package
        for name in (*linuxsource.PINS["tests"], KUNIT, SCRIPT):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(f"{name} {text}\n", encoding="utf-8")
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w:xz") as archive:
            archive.add(tmp_path / "tree" / package, package)

    def call(command, **options):
        if command[0] == "dpkg-query":
            return (0, f"installed {state['installed']}") if state["installed"] else (1, "no packages found")
        if command[0] == "apt-get":
            version = state["archive"]
            if version is None or "=" in command[-1]:
                return 100, f"E: Version for '{command[-1]}' was not found"
            (linuxsource.FOLDER / f"{package}_{version}_all.deb").write_text(version, encoding="utf-8")
            return 0, ""
        if command[0] == "dpkg-deb":
            return 0, state["archive"] + "\n"
        if command[0] == "sh":
            tar(Path(command[-2]), "fetched")
            return 0, ""
        return real(command, **options)

    def install(version, text):
        tar(linuxsource.USR_SRC / f"{package}.tar.xz", text)
        state["installed"] = version

    monkeypatch.setattr(linuxsource, "call", call)
    state["install"] = install
    return state


def test_whatever_version_is_installed(machine):
    machine["install"]("6.12.999-1", "a")
    source = linuxsource.unpacked()
    assert source.version == "6.12.999-1"
    assert source.differing == list(linuxsource.PINS["tests"])
    assert len(source.digests[linux_kunit.TEST]) == 64
    assert (source.folder / linux_kunit.TEST).read_text(encoding="utf-8").endswith(" a\n")
    # Another package with that version is not mistaken for this one.
    machine["install"]("6.12.999-1", "other")
    assert (linuxsource.unpacked().folder / linux_kunit.TEST).read_text(encoding="utf-8").endswith(" other\n")


def test_no_command_is_needed_to_unpack(machine, tmp_path, monkeypatch):
    """A minimal system has tar, but not xz, which it calls."""
    monkeypatch.setenv("PATH", str(tmp_path))
    machine["install"]("6.12.999-1", "a")
    source = linuxsource.unpacked()
    assert (source.folder / KUNIT).read_text(encoding="utf-8").endswith(" a\n")
    assert sorted(path.name for path in source.folder.iterdir() if not path.name.startswith(".")) == sorted(
        {name.partition("/")[0] for name in (*linuxsource.PINS["tests"], KUNIT, SCRIPT)}
    )


def test_a_damaged_archive_is_named(machine):
    machine["install"]("6.12.999-1", "a")
    archive = linuxsource.USR_SRC / f"{linuxsource.PINS['package']}.tar.xz"
    whole = archive.read_bytes()
    # Wherever it is cut off: some beginnings are archives themselves, and the end is only checksums.
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        archive.write_bytes(whole[:length])
        with pytest.raises(Failure, match=r"tar\.xz cannot be unpacked: "):
            linuxsource.unpacked()


def test_an_archive_without_a_file_is_named(machine):
    machine["install"]("6.12.999-1", "a")
    archive = linuxsource.USR_SRC / f"{linuxsource.PINS['package']}.tar.xz"
    with tarfile.open(archive, "w:xz"):
        pass
    with pytest.raises(Failure, match=rf"tar\.xz cannot be unpacked: {linux_kunit.TEST} is not in it"):
        linuxsource.unpacked()


def test_the_known_version_is_the_known_file(machine):
    machine["install"](linuxsource.PINS["version"], "changed")
    with pytest.raises(Failure, match=r"kasan_test_c\.c is not that of linux-source-6\.12"):
        linuxsource.unpacked()


def test_what_the_archive_has(machine):
    machine["archive"] = "6.12.998-1"
    source = linuxsource.unpacked()
    assert source.version == "6.12.998-1"
    assert (source.folder / SCRIPT).is_file()


def test_no_source_is_a_failure(machine):
    results = list(linux_kunit.run(None))
    assert [result.status for result in results] == [FAIL]
    assert "apt-get install linux-source-6.12" in results[0].detail


def test_cases_of_another_test_file():
    lines = [
        "KTAP version 1",
        "1..1",
        "    1..2",
        "    ok 1 new",
        "    ok 2 old # SKIP changed",
        "ok 1 kasan",
    ]
    parsed = ktap.parse(lines)
    skips = {"new": "recorded"}
    known = [result.status for result in linux_kunit.judge("x", parsed, skips, None)]
    other = [result.status for result in linux_kunit.judge("x", parsed, skips, None, known=False)]
    assert (known, other) == ([FAIL, FAIL], [PASS, SKIP])


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("[10:00:00] Testing complete. Ran 2 tests: passed: 1, skipped: 1", True),
        ("[10:00:00] Testing complete. Ran 2 tests: passed: 1, skipped: 1, errors: 3", False),
        ("[10:00:00] Testing complete. Ran 2 tests: passed: 1, skipped: 10", False),
        ("Ran 2 tests: passed: 1, skipped: 1", False),
    ],
)
def test_kunit_counts(tmp_path, said, right):
    (tmp_path / KUNIT).parent.mkdir(parents=True)
    (tmp_path / KUNIT).write_text(f"print({said!r})\n", encoding="utf-8")
    parsed = ktap.parse(["KTAP version 1", "1..2", "ok 1 a", "ok 2 b # SKIP c"])
    assert (linux_kunit.kunit_parse(tmp_path, tmp_path / "log", parsed) is None) == right


@pytest.mark.parametrize(
    ("frame", "right"),
    [
        ("fill (kernel/mm/fill.c:12)", True),
        ("fill (kernel/mm/a.c:96 kernel/mm/b.c:104 (discriminator 1))", True),
        ("fill (examples/m.c:12) module_oob", True),
        ("fill (??:?)", False),
        ("fill (kernel/mm/a.c:96 ??:0)", False),
        ("fill+0x4/0x8", False),
    ],
)
def test_decoded_frames(tmp_path, frame, right):
    (tmp_path / "scripts").mkdir()
    (tmp_path / SCRIPT).write_text(
        f"cat > /dev/null; echo 'Call trace:'; echo '{frame} '\n", encoding="utf-8"
    )

    class Context:
        def write_log(self, name, text):
            pass

    lines = ["[    0.1] Call trace:", "[    0.1]  fill+0x4/0x8"]
    log = tmp_path / "log"
    log.write_text("\n".join(lines), encoding="utf-8")
    wrong = linux_kunit.decode(tmp_path, "elf", log, lines, Context(), "x")
    assert (wrong is None) == right
