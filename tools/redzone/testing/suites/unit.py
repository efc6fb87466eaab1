# SPDX-License-Identifier: MIT
"""Host unit tests of the runtime, over ports/posix.

The test programs print TAP; CTest lists them.
"""

import json
import subprocess

from redzone.core import process
from redzone.core.base import BUILD, Failure
from redzone.machine import ktap
from redzone.testing.runner import FAIL, SKIP, Result

# {compiler: preset}; only the instrumented tests differ between compilers.
PRESETS = {"clang-19": "host-unit", "gcc": "host-unit-gcc"}
OPTIONS = ("rest",)
QUICK = "part"
IN_QUICK = ("clang-19",)
# The suites of the kernel and the ports also run the runtime that GCC compiled.
REST = ("gcc",)
TIMEOUT = 600


def programs(preset):
    """Return [(name, command)] of the test programs."""
    command = ["ctest", "--test-dir", str(BUILD / preset), "--show-only=json-v1"]
    result = process.run(command)
    if result.returncode != 0:
        raise Failure(f"ctest cannot list the unit tests: {result.stderr.strip()}")
    tests = json.loads(result.stdout)["tests"]
    return [(test["name"], test["command"]) for test in tests if "command" in test]


def run_preset(context, compiler, preset, emulator=()):
    """Yield the results of the unit tests of @preset. @compiler: the first part of names. @emulator: the
    command that runs a program, if this machine cannot."""
    reason = context.missing_for(preset)
    if reason:
        yield Result(compiler, SKIP, reason)
        return
    context.build(preset)

    def one(item):
        name, command = item
        try:
            ended = process.run([*emulator, *command], stderr=subprocess.STDOUT, timeout=TIMEOUT)
            status, text = ended.returncode, ended.stdout
        except subprocess.TimeoutExpired as error:
            # What it holds are bytes also of a text.
            status, text = None, (error.stdout or b"").decode("utf-8", "replace")
        return name, status, text, context.write_log(f"{compiler}/{name}", text)

    found = programs(preset)
    if not found:
        raise Failure("no unit test program is registered with CTest")
    for name, status, text, log in context.each(one, found):
        parsed = ktap.parse(text.splitlines())
        for case in parsed.cases:
            yield Result(f"{compiler}.{name}.{case.name}", case.status, case.detail, log)
        errors = list(parsed.errors)
        if status is None:
            errors.append(f"no end after {TIMEOUT} s")
        elif status != 0 and not any(case.status == FAIL for case in parsed.cases):
            errors.append(f"exit status {status}; the end of the output:")
            errors += text.splitlines()[-10:]
        if errors:
            yield Result(f"{compiler}.{name}", FAIL, "\n".join(errors), log)


def run(context):
    # The first tests already ask each compiler which symbols it emits; a missing compiler is a skip.
    for compiler in ("clang-22", "gcc"):
        context.missing(compiler)
    for compiler in context.part(PRESETS, IN_QUICK, REST):
        yield from run_preset(context, compiler, PRESETS[compiler])
