# SPDX-License-Identifier: MIT
"""The runner of `./redzone test`: a machine that does not start is one failed line, and the suite goes on."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import fake_apt
from redzone.build import builder
from redzone.core import base
from redzone.machine import console, qemu
from redzone.testing import runner
from redzone.testing.suites import _pytest, cases, golden, kunit, kunit_bugs_removed, lockdep

WHY = "QEMU could not start the machine: no module fits"
PASSES = ["KTAP version 1", "1..1", "    KTAP version 1", "    # Subtest: slab", "    1..1", "    ok 1 size"]
PASSES += ["ok 1 slab"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a suite's function(context) whose kernels need not be built, and whose machines with hardware tags
    do not start. Returns the results."""

    def boot(target, on_line=None):
        if target.mode == "hw_tags":
            raise qemu.NotStarted(WHY)
        reader = console.Reader()
        for line in PASSES:
            on_line(line, *reader.feed(line))
        reader.halted = True
        return qemu.Outcome(0, None, 0, reader, 0.0)

    image = SimpleNamespace(image=Path("kernel"), elf=Path(sys.executable))
    monkeypatch.setattr(qemu, "boot", boot)
    monkeypatch.setattr(builder, "build", lambda preset, targets=(), **options: Images(targets, image))
    monkeypatch.setattr(runner.doctor, "require", lambda *words: None)
    monkeypatch.setattr(runner, "LOGS", tmp_path)
    monkeypatch.setattr(qemu, "reason", lambda arch, mode: None)

    def start(function, mode=None):
        names = ("seconds", "rounds", "seed", "filter", "quick", "linux")
        options = {"jobs": 2, "yes": False, "mode": mode, **dict.fromkeys(names)}
        context = runner.Context("suite", base.ROOT / "tests" / "cases", options)
        module = SimpleNamespace(run=function)
        return list(runner._run_suite(SimpleNamespace(module=module, tools=()), context))

    return start


class Images(dict):
    """What builder.build() returns: @image for each of @targets, and for every program."""

    def __init__(self, targets, image):
        super().__init__(dict.fromkeys(targets, image))
        self.image = image

    def __missing__(self, name):
        return self.image


def failed(results):
    return {(result.name, result.detail) for result in results if result.status == runner.FAIL}


def test_kunit_keeps_its_other_results(run):
    """Twice: what can start is started before what cannot, and after it."""
    chosen = [("generic", "inline", "clang-19", 4), ("hw_tags", "sync", "clang-19", 4)]
    for only in (chosen, chosen[::-1]):
        results = run(lambda context, only=only: kunit.run(context, only=only))
        # The first configuration boots on two CPUs.
        passed = sorted(result.name for result in results if result.status == runner.PASS)
        assert passed == ["inline-clang-4cpu-cortex-a72.slab.size", "inline-clang-4cpu.slab.size"]
        assert failed(results) == {("hw_tags-sync-clang-4cpu", WHY)}
        (log,) = [result.log for result in results if result.status == runner.FAIL]
        assert log.read_text(encoding="utf-8").endswith(f"redzone: {WHY}\n")


def test_each_boot_is_one_line(run):
    """Whatever a suite looks for in the console, the reason is all that is said."""
    results = run(lambda context: golden._configuration(context, ("hw_tags", "clang-19", "sync"), False))
    assert len(results) > 5 and {result.status for result in results} == {runner.FAIL}
    assert {result.detail for result in results} == {WHY}
    assert len({result.name for result in results}) == len(results)
    results = run(lambda context: kunit_bugs_removed._compare(context, ("hw_tags", "sync", "clang-19", 4)))
    assert failed(results) == {
        ("hw_tags.redzone", WHY),
        ("hw_tags.redzone-bugs-removed", WHY),
        ("hw_tags.all", "no case expects a report"),
    }
    results = run(lockdep.run, "hw_tags")
    assert results and {result.detail for result in results} == {WHY}


def test_programs_in_one_boot(run):
    chosen = cases.one_of_each(cases.load(base.ROOT / "tests" / "cases"))
    results = run(lambda context: cases._together(context, chosen, ("hw_tags", "clang-19", "sync")))
    assert failed(results) == {("hw_tags.each.clang-19.sync", WHY)} and len(results) == 1


def test_suite_with_a_fault_of_its_own(run):
    """It is one failure with the trace in its log, so the suites after it run."""

    def suite(context):
        yield runner.Result("first", runner.PASS)
        raise TypeError("no such argument")

    results = run(suite)
    assert [result.status for result in results] == [runner.PASS, runner.FAIL]
    assert failed(results) == {("all", "the suite ended with TypeError: no such argument")}
    assert "in suite" in results[1].log.read_text(encoding="utf-8")


def test_skips_that_can_be_installed(capsys):
    printer = runner.Printer(True)
    printer.begin("suite", "A suite")
    skips = (
        "clang-22 not found, needed to run; no archive of this machine has clang-22",
        "make, zstd not found, needed to run; ./redzone doctor --install make zstd installs make zstd",
        "make not found, needed to run; ./redzone doctor --install make installs make",
    )
    for number, text in enumerate(skips):
        printer.result(runner.Result(str(number), runner.SKIP, text))
    printer.finish([printer.end()])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == [
        "# 2 skipped for what can be installed: ./redzone doctor --install make zstd",
        "0 passed, 0 failed, 3 skipped",
    ]
    bare = "cmake not found, needed to run; ./redzone doctor --install installs cmake"
    assert runner.doctor.command_of([bare]) == "./redzone doctor --install"
    assert runner.doctor.command_of([bare, *skips]) == "./redzone doctor --install --for run make zstd"


NEEDS = """
from redzone.testing.needs import need
def test_one():
    need("aarch64-linux-gnu-g++")
def test_two():
    need("aarch64-linux-gnu-g++")
"""


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("yes", [True, False])
def test_what_a_test_needs_is_installed(run, tmp_path, path_without, monkeypatch, yes, there):
    """--yes is for programs as well that only one test calls. Without it, and where the program cannot be
    had, the test is skipped for the reason."""
    folder = Path(path_without("aarch64-linux-gnu-g++", "apt-cache"))
    fake_apt(folder, {"aarch64-linux-gnu-g++": "/bin/true"} if there else {})
    (tmp_path / "test_needs.py").write_text(NEEDS, encoding="utf-8")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(base.ROOT / "tools"))

    def suite(context):
        context.yes = yes
        yield from _pytest.run(context, tmp_path)

    results = run(suite)
    assert len(results) == 2
    if yes and there:
        assert {result.status for result in results} == {runner.PASS}, results
        return
    why = "aarch64-linux-gnu-g++ not found, needed to run this test; "
    if yes:
        why += "g++-aarch64-linux-gnu could not be installed"
    else:
        why += "./redzone doctor --install aarch64-linux-gnu-g++ installs g++-aarch64-linux-gnu"
    assert {(result.status, result.detail) for result in results} == {(runner.SKIP, why)}
    calls = (folder / "calls").read_text().splitlines() if yes else []
    assert len([line for line in calls if "install" in line]) == yes


def test_a_library_installs_cargo(tmp_path, path_without, monkeypatch):
    from redzone.core import crates
    from redzone.libraries import registries

    monkeypatch.setattr(crates, "BUILD", tmp_path)
    folder = Path(path_without("cargo", "apt-cache"))
    fake_apt(folder, {"cargo": "/bin/false"})
    monkeypatch.setenv("PATH", str(folder))
    crate = crates.Crate("libsqlite3-sys", "0.28.0", base.ROOT / "tests" / "libraries" / "sqlite", "sqlite3")
    source = registries.Crate(crate)
    with pytest.raises(registries.Unavailable, match=r"doctor --install cargo installs cargo$"):
        source.fetch(tmp_path)
    with pytest.raises(registries.Unavailable, match="cargo cannot fetch libsqlite3-sys"):
        source.fetch(tmp_path, yes=True)
    assert "install --no-install-recommends cargo" in (folder / "calls").read_text()
