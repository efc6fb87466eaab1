# SPDX-License-Identifier: MIT
"""The suite fuzz-own counts the inputs of all its runs, also of those that were interrupted."""

import signal
from types import SimpleNamespace

import pytest
from redzone.testing.suites import _fuzz, fuzz_own

# Stands for `./redzone fuzz`: it says how far it is, and interrupts the suite when that waits for its end.
INTERRUPTED = """\
#!/bin/sh
trap 'echo "redzone: 7 s, 250 inputs, 35 a second"; exit 130' INT
echo "redzone: 5 s, 100 inputs, 20 a second"
while ! rm go 2>/dev/null; do sleep 0.1; done
kill -{signal} $PPID
while :; do sleep 0.1; done
"""
WHOLE = """\
#!/bin/sh
echo "redzone: 9 s, 5000 inputs, 555 a second"
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Return (a function that runs the suite with a script as the command, [note], the file of the count)."""
    notes = []
    context = SimpleNamespace(filter=None, seed=None, rounds=None, seconds=None, note=notes.append)

    def write_log(name, text):
        path = tmp_path / f"{name}.log"
        path.write_text(text, encoding="utf-8")
        return path

    context.write_log = write_log
    monkeypatch.setattr(_fuzz, "ROOT", tmp_path)
    monkeypatch.setattr(fuzz_own, "BUILD", tmp_path)
    target = fuzz_own.Target("toy", "toy.c", lambda: [b"seed"], 8)
    monkeypatch.setattr(fuzz_own, "TARGETS", (target,))

    finish = _fuzz.Fuzz.finish

    def finish_and_say_so(fuzz, running):
        (fuzz.folder / "go").touch()
        return finish(fuzz, running)

    monkeypatch.setattr(_fuzz.Fuzz, "finish", finish_and_say_so)

    def run(script):
        command = tmp_path / "redzone"
        command.write_text(script, encoding="utf-8")
        command.chmod(0o755)
        return list(fuzz_own.run(context))

    return run, notes, tmp_path / "fuzz-own" / "toy.inputs"


def test_an_interrupted_run_keeps_its_count(suite):
    run, notes, kept = suite
    # The command makes SIGTERM the same as Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for number, total in (("INT", 250), ("TERM", 500)):
            with pytest.raises(KeyboardInterrupt):
                run(INTERRUPTED.format(signal=number))
            assert kept.read_text(encoding="utf-8") == f"{total}\n"
            assert notes[-1] == f"toy: 7 s, 250 inputs, 35 a second; {total} inputs in all runs"
    finally:
        signal.signal(signal.SIGTERM, before)
    (result,) = run(WHOLE)
    assert result.status == "pass", result.detail
    assert kept.read_text(encoding="utf-8") == "5500\n"


def test_a_command_that_does_not_start_counts_nothing(suite):
    """What an earlier target printed is not counted a second time."""
    run, _, kept = suite
    run(WHOLE)
    (result,) = run("#!/bin/sh\necho no kernel\nexit 2\n")
    assert result.status == "fail"
    assert kept.read_text(encoding="utf-8") == "5000\n"
