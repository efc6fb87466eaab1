# SPDX-License-Identifier: MIT
"""Drives an exported target through ClusterFuzz's libFuzzer engine, for the suite fuzz-clusterfuzz.

It runs in the virtual environment that has ClusterFuzz: drive.py BUILD_DIR NAME WORK_DIR. Prints one JSON
object a line: what each operation of the engine has returned.
"""

import json
import os
import sys
from pathlib import Path

# Before anything of ClusterFuzz is imported: where it keeps its temporary files.
build, name, work = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
for key in ("FUZZ_INPUTS", "FUZZ_INPUTS_DISK", "FUZZ_DATA", "BOT_TMPDIR"):
    (work / key.lower()).mkdir(parents=True, exist_ok=True)
    os.environ[key] = str(work / key.lower())

from clusterfuzz import environment, fuzz, stacktraces  # noqa: E402

FUZZ_SECONDS, SECONDS = 180, 300


def say(step, **values):
    print(json.dumps({"step": step, **values}), flush=True)


def parsed(output):
    """Return what ClusterFuzz's parser of stack traces makes of @output."""
    crash = stacktraces.StackParser(symbolized=True).parse(output)
    return {"type": crash.crash_type, "address": crash.crash_address, "state": crash.crash_state.split("\n")}


def folder(part):
    path = work / part
    path.mkdir()
    return path


def run(target):
    engine = fuzz.get_engine("libFuzzer")
    corpus, crashes = folder("corpus"), folder("crashes")
    say("targets", names=[Path(path).name for path in fuzz.get_fuzz_targets(str(build))])

    options = engine.prepare(str(corpus), target, str(build))
    say("prepare", arguments=options.arguments, seeds=len(list(corpus.iterdir())))
    result = engine.fuzz(target, options, str(crashes), FUZZ_SECONDS)
    (work / "fuzz.log").write_text(result.logs)
    say(
        "fuzz",
        crashes=[str(crash.input_path) for crash in result.crashes],
        crash=parsed(result.crashes[0].stacktrace) if result.crashes else None,
        edges=result.stats.get("edge_coverage"),
        executions=result.stats.get("number_of_executed_units"),
        corpus=len(list(corpus.iterdir())),
    )
    if not result.crashes:
        return
    crash = result.crashes[0]
    again = engine.reproduce(target, crash.input_path, crash.reproduce_args, SECONDS)
    (work / "reproduce.log").write_text(again.output)
    say("reproduce", status=again.return_code, crash=parsed(again.output))

    small = work / "small"
    again = engine.minimize_testcase(target, [], crash.input_path, str(small), SECONDS)
    say("minimize_testcase", before=Path(crash.input_path).stat().st_size, after=small.stat().st_size)
    clean = work / "clean"
    engine.cleanse(target, [], str(small), str(clean), SECONDS)
    kept = clean if clean.exists() else small
    again = engine.reproduce(target, str(kept), [], SECONDS)
    say("cleanse", written=clean.exists(), status=again.return_code, crash=parsed(again.output))

    merged = folder("merged")
    # Copies are left out by a merge.
    for path in list(corpus.iterdir()):
        (corpus / f"copy-{path.name}").write_bytes(path.read_bytes())
    before = len(list(corpus.iterdir()))
    result = engine.minimize_corpus(target, [], [str(corpus)], str(merged), str(crashes), SECONDS)
    say("minimize_corpus", before=before, after=len(list(merged.iterdir())))


if __name__ == "__main__":
    path = str(build / name)
    with environment.Environment("libFuzzer", "address", path):
        run(path)
