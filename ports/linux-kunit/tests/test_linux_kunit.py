# SPDX-License-Identifier: MIT
"""The decisions of the suite linux-kunit: which source it takes, and how it reads what Linux's tools said."""

import hashlib
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from redzone.core import apt
from redzone.core.base import Failure
from redzone.kit.ports.linux_kunit import source as linuxsource
from redzone.kit.ports.linux_kunit import suite as linux_kunit
from redzone.machine import ktap
from redzone.testing.runner import FAIL, PASS, SKIP

pytestmark = pytest.mark.quick

KUNIT = "tools/testing/kunit/kunit.py"
SCRIPT = "scripts/decode_stacktrace.sh"
PINS = linuxsource.PINS["6.12"]
PINS_7 = linuxsource.PINS["7"]
VERSIONS = ["7.2.9-1", "7.2.13-1", "7.10~rc1-1~exp1", "7.10-1"]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with the files that install() puts there, an archive with one version of the pinned package
    (None: without any), and a suite `unstable` (None: not reachable) with {version: text in its files} of the
    others, whose index has the wrong checksum of the versions in `damaged`."""
    state = SimpleNamespace(installed=None, archive=None, unstable=None, damaged=(), fetched=[])
    monkeypatch.setattr(linuxsource, "FOLDER", tmp_path / "build")
    monkeypatch.setattr(linuxsource, "USR_SRC", tmp_path / "src")
    monkeypatch.setattr(linuxsource, "newer_lists", lambda folder: None)
    monkeypatch.setattr(linuxsource, "suite_lists", lambda folder, suite: ["-o", f"suite={suite}"])
    real = linuxsource.call

    def tar(path, text, package):
        top = tmp_path / "tree" / package
        for name in (*PINS["tests"], KUNIT, SCRIPT):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(f"{name} {text}\n", encoding="utf-8")
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w:xz") as archive:
            archive.add(tmp_path / "tree" / package, package)

    def package_of(version):
        return "linux-source-" + version.partition("-")[0].partition("~")[0].rpartition(".")[0]

    def stanza(version):
        digest = hashlib.sha256(b"other" if version in state.damaged else version.encode()).hexdigest()
        return f"Package: linux-source-7.2\nVersion: {version}\nDescription: some\n text\nSHA256: {digest}\n"

    def unstable(command):
        if state.unstable is None:
            return 100, "E: Could not resolve 'archive.example'"
        if "update" in command:
            return 0, "Reading package lists..."
        if "pkgnames" in command:
            return 0, "linux-source-7.2\nlinux-source-7.2-rt-notes\n" if state.unstable else ""
        if "show" in command:
            return 0, "\n".join(stanza(version) for version in state.unstable)
        package, _, version = command[-1].partition("=")
        state.fetched.append(version)
        (linuxsource.FOLDER / f"{package}_{version}_all.deb").write_text(version, encoding="utf-8")
        return 0, ""

    def call(command, **options):
        if command[0] == "dpkg-query":
            if state.installed and state.installed[0].startswith(command[-1].rstrip("*")):
                return 0, f"deinstalled linux-source-7.1 \ninstalled {' '.join(state.installed)}\n"
            return 1, "no packages found"
        if any(part.startswith("suite=") for part in command):
            return unstable(command)
        if command[0] == "apt-get":
            version = state.archive
            if version is None or "=" in command[-1]:
                return 100, f"E: Version for '{command[-1]}' was not found"
            (linuxsource.FOLDER / f"{PINS['package']}_{version}_all.deb").write_text(
                version, encoding="utf-8"
            )
            return 0, ""
        if command[0] == "dpkg-deb":
            return 0, state.archive + "\n"
        if command[0] == "sh":
            package = Path(command[-2]).name.removesuffix(".tar.xz")
            tar(
                Path(command[-2]),
                (state.unstable or {}).get(Path(command[-3]).read_text(), "fetched"),
                package,
            )
            return 0, ""
        return real(command, **options)

    def install(version, text):
        package = package_of(version)
        tar(linuxsource.USR_SRC / f"{package}.tar.xz", text, package)
        state.installed = (package, version)

    monkeypatch.setattr(linuxsource, "call", call)
    state.install = install
    return state


def test_whatever_version_is_installed(machine):
    machine.install("6.12.999-1", "a")
    source = linuxsource.unpacked("6.12")
    assert source.version == "6.12.999-1"
    assert source.differing == list(PINS["tests"])
    assert len(source.digests[linux_kunit.TEST]) == 64
    assert (source.folder / linux_kunit.TEST).read_text(encoding="utf-8").endswith(" a\n")
    # Another package with that version is not mistaken for this one.
    machine.install("6.12.999-1", "other")
    assert (
        (linuxsource.unpacked("6.12").folder / linux_kunit.TEST)
        .read_text(encoding="utf-8")
        .endswith(" other\n")
    )


def test_no_command_is_needed_to_unpack(machine, tmp_path, monkeypatch):
    """A minimal system has tar, but not xz, which it calls."""
    monkeypatch.setenv("PATH", str(tmp_path))
    machine.install("6.12.999-1", "a")
    source = linuxsource.unpacked("6.12")
    assert (source.folder / KUNIT).read_text(encoding="utf-8").endswith(" a\n")
    assert sorted(path.name for path in source.folder.iterdir() if not path.name.startswith(".")) == sorted(
        {name.partition("/")[0] for name in (*PINS["tests"], KUNIT, SCRIPT)}
    )


def test_a_damaged_archive_is_named(machine):
    machine.install("6.12.999-1", "a")
    archive = linuxsource.USR_SRC / f"{PINS['package']}.tar.xz"
    whole = archive.read_bytes()
    # Wherever it is cut off: some beginnings are archives themselves, and the end is only checksums.
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        archive.write_bytes(whole[:length])
        with pytest.raises(Failure, match=r"tar\.xz cannot be unpacked: "):
            linuxsource.unpacked("6.12")


def test_an_archive_without_a_file_is_named(machine):
    machine.install("6.12.999-1", "a")
    archive = linuxsource.USR_SRC / f"{PINS['package']}.tar.xz"
    with tarfile.open(archive, "w:xz"):
        pass
    with pytest.raises(Failure, match=rf"tar\.xz cannot be unpacked: {linux_kunit.TEST} is not in it"):
        linuxsource.unpacked("6.12")


def test_the_known_version_is_the_known_file(machine):
    machine.install(PINS["version"], "changed")
    with pytest.raises(Failure, match=r"kasan_test_c\.c is not that of linux-source-6\.12"):
        linuxsource.unpacked("6.12")


def test_what_the_archive_has(machine):
    machine.archive = "6.12.998-1"
    source = linuxsource.unpacked("6.12")
    assert source.version == "6.12.998-1"
    assert (source.folder / SCRIPT).is_file()


def test_no_source_is_a_failure(machine):
    results = list(linux_kunit.run(SimpleNamespace(linux=None)))
    assert [(result.name, result.status) for result in results] == [("6.12.all", FAIL), ("7.all", SKIP)]
    assert "apt-get install linux-source-6.12" in results[0].detail
    assert results[1].detail == (
        "linux-source-7.* is not installed and cannot be fetched from Debian's suite unstable: "
        "Could not resolve 'archive.example'"
    )


def test_a_line_that_is_named_must_be_there(machine):
    (result,) = linux_kunit.run(SimpleNamespace(linux="7"))
    assert (result.name, result.status) == ("7.all", FAIL)
    machine.unstable = {}
    (result,) = linux_kunit.run(SimpleNamespace(linux="7"))
    assert (result.status, result.detail.rpartition(": ")[2]) == (FAIL, "there is no such package now")


def test_the_newest_that_the_suite_has(machine):
    machine.unstable = dict.fromkeys(VERSIONS, "new")
    source = linuxsource.unpacked("7")
    assert (source.package, source.version) == ("linux-source-7.2", "7.10-1")
    assert (source.folder / linux_kunit.TEST).read_text(encoding="utf-8").endswith(" new\n")
    assert list(source.digests) == list(PINS_7["tests"])
    assert not list(linuxsource.FOLDER.glob("*.deb"))
    # Without the archive it is still there.
    machine.unstable = None
    assert linuxsource.unpacked("7").folder == source.folder
    assert machine.fetched == ["7.10-1"]


def test_a_package_that_is_not_the_indexs(machine):
    machine.unstable, machine.damaged = {"7.2.13-1": "bad"}, ["7.2.13-1"]
    with pytest.raises(Failure, match=r"not the package whose checksum the suite's index has"):
        linuxsource.unpacked("7")
    assert not list(linuxsource.FOLDER.glob("*.deb"))


def test_an_installed_package_of_the_other_line(machine):
    machine.install("7.1.8-2", "a")
    assert linuxsource.unpacked("7").version == "7.1.8-2"
    with pytest.raises(linuxsource.Unavailable):
        linuxsource.unpacked("6.12")


def test_a_machine_without_debian(machine, monkeypatch):
    monkeypatch.setattr(linuxsource, "suite_lists", lambda folder, suite: None)
    with pytest.raises(linuxsource.Unavailable, match="this machine uses no archive of Debian"):
        linuxsource.unpacked("7")


@pytest.mark.parametrize(
    ("targets", "lines"),
    [
        (
            "http://a/debian/ bookworm\nhttp://a/debian/ bookworm-updates\nhttp://b/ nodistro\n",
            "deb http://a/debian/ unstable main\n",
        ),
        ("http://a/debian/ unstable\nhttp://a/debian/ unstable\n", "deb http://a/debian/ unstable main\n"),
        ("http://b/ nodistro\n", None),
        ("", None),
    ],
)
def test_lists_of_another_suite(tmp_path, monkeypatch, targets, lines):
    monkeypatch.setattr(apt, "call", lambda command: (0, targets))
    monkeypatch.setattr(apt, "codename", lambda: "bookworm")
    options = apt.suite_lists(tmp_path, "unstable")
    assert (options is None) == (lines is None)
    if lines:
        assert (tmp_path / "parts" / "unstable.list").read_text(encoding="utf-8") == lines


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
    assert known == [FAIL, FAIL]
    for stated, wanted in (({"old": {"changed", "b"}}, SKIP), ({"new": {"changed"}}, FAIL), ({}, FAIL)):
        other = [result.status for result in linux_kunit.judge("x", parsed, skips, None, stated)]
        assert other == [PASS, wanted], stated


def test_reasons_that_a_test_file_states():
    text = """
static void one(struct kunit *test)
{
	KASAN_TEST_NEEDS_CONFIG_ON(test, CONFIG_A);
	if (x) {
		KASAN_TEST_NEEDS_CONFIG_OFF(test, CONFIG_B);
	}
}

static void two(struct kunit *test)
{
}
"""
    assert linux_kunit.stated_reasons(text) == {
        "one": {"Test requires CONFIG_A=y", "Test requires CONFIG_B=n"},
        "two": set(),
    }


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        (["kasan: hardware tags, mode sync, writes only"], True),
        (
            ["kasan.write_only=on: CPU 0 cannot do that (FEAT_MTE_STORE_ONLY); reads are checked as well"],
            True,
        ),
        (["kasan: hardware tags, mode sync"], False),
        (["kasan: mode sync, writes only", "kasan.write_only=on: CPU 1 cannot do that"], False),
    ],
)
def test_what_the_kernel_says_of_writes_only(lines, right):
    assert (linux_kunit.write_only_error(["kasan.write_only=on"], lines) is None) == right
    assert linux_kunit.write_only_error([], lines) is None


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
