# SPDX-License-Identifier: MIT
"""Linux's own KASAN KUnit test, byte for byte, in our kernel; Linux's own tools on our console.

docs/linux-kunit.md says which files are compiled with which headers, and what each case needs.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from redzone import archive, builder, ktap, machine, module
from redzone.base import ROOT, Failure
from redzone.builder import preset_name
from redzone.runner import FAIL, PASS, SKIP, Result
from redzone.suites.kunit import errors_of, label, machine_of, missing_for

from . import source as linuxsource

SLOW = True
MODES = ("generic", "sw_tags", "hw_tags")
TOOLS = ("cmake", "ninja", "lld", "nm", "objcopy", "symbolizer", "qemu-arm64")
PORT = Path(__file__).parent
NAME = "linux_kunit"
MODULE = ROOT / "examples" / "module_oob.c"
TIMEOUT = 300

CONFIGURATIONS = [
    ("generic", "inline", "clang-19", 1),
    ("generic", "inline", "clang-19", 4),
    ("generic", "outline", "clang-19", 4),
    ("generic", "inline", "gcc", 4),
    ("generic", "outline", "gcc", 1),
    ("sw_tags", "inline", "clang-19", 1),
    ("sw_tags", "inline", "clang-19", 4),
    ("sw_tags", "outline", "clang-19", 4),
    ("sw_tags", "outline", "gcc", 4),
    ("hw_tags", "sync", "clang-19", 1),
    ("hw_tags", "sync", "clang-19", 4),
    ("hw_tags", "async", "clang-19", 1),
    ("hw_tags", "async", "clang-19", 4),
    ("hw_tags", "asymm", "clang-19", 1),
    ("hw_tags", "asymm", "clang-19", 4),
    ("hw_tags", "sync", "gcc", 4),
]

_CODE = re.compile(r"[\w.$]+\+0x[0-9a-f]+/0x[0-9a-f]+")
_FRAME = re.compile(rf"^ {_CODE.pattern}(?: \[\w+\])?$")
_STAMP = re.compile(r"^\[ *\d+\.\d+\] ?")
# decode_stacktrace.sh turns a frame into the function, a source line for each function inlined there, and the
# module's name.
_DECODED = re.compile(r"[\w.$]+ \([^\s()?]+:\d+(?: [^()?]*(?:\([^()?]*\)[^()?]*)*)?\)(?: \w+)?\s*$")
_TESTING_COMPLETE = re.compile(r"^\[\d\d:\d\d:\d\d\] Testing complete\. (.*)$")
TEST = "mm/kasan/kasan_test_c.c"


def expectation(mode, compiler):
    """Return (number of cases, {case: reason} of those that Linux skips)."""
    wanted = json.loads((PORT / "expected.json").read_text(encoding="utf-8"))[mode]
    skips = dict(wanted["skips"])
    if compiler == "gcc":
        skips.update(wanted.get("skips_gcc", {}))
    return wanted["total"], skips


def judge(name, parsed, skips, log, known=True):
    """Yield a Result for each case. A skip must be one of Linux's, for the same reason.

    @known: False for a test file of another version, whose expected skips are not recorded.
    """
    for case in parsed.cases:
        short = case.name.removeprefix("kasan.")
        reason = skips.get(short)
        status, detail = case.status, case.detail
        if not known:
            pass
        elif status == SKIP and detail != reason:
            status = FAIL
            detail = f"skipped because of '{detail}'; Linux: " + (f"'{reason}'" if reason else "not skipped")
        elif status == PASS and reason:
            status, detail = FAIL, f"passed; Linux skips it: '{reason}'"
        yield Result(f"{name}.{short}", status, detail, log)


def closing_line(lines, total, skipped):
    """Return the fault in the counts at the end of the suite, or None."""
    wanted = f"# kasan: pass:{total - skipped} fail:0 skip:{skipped} total:{total}"
    found = [line for line in (_STAMP.sub("", line) for line in lines) if line.startswith("# kasan: pass:")]
    if found == [wanted]:
        return None
    return f"expected '{wanted}', found {found or 'none'}"


def kunit_parse(source, log, parsed):
    """Return what Linux's kunit.py counts differently from us, or None."""
    script = source / "tools" / "testing" / "kunit" / "kunit.py"
    result = subprocess.run(
        [sys.executable, str(script), "parse", str(log)],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    counts = {status: sum(case.status == status for case in parsed.cases) for status in (PASS, FAIL, SKIP)}
    words = {PASS: "passed", FAIL: "failed", SKIP: "skipped"}
    wanted = f"Ran {len(parsed.cases)} tests: " + ", ".join(
        f"{words[status]}: {count}" for status, count in counts.items() if count
    )
    found = [match[1] for match in map(_TESTING_COMPLETE.match, result.stdout.splitlines()) if match]
    if found == [wanted]:
        return None
    last = (result.stdout + result.stderr).strip().splitlines()[-3:]
    return "\n".join([f"expected '{wanted}', kunit.py says:", *last])


def frames(lines):
    """Return the numbers of the lines that are frames of a trace: the script knows code, not variables."""
    texts = [_STAMP.sub("", line) for line in lines]
    return [
        number
        for number, text in enumerate(texts)
        if _FRAME.match(text) and not texts[number - 1].endswith(" belongs to the variable:")
    ]


def decode(source, elf, log, lines, context, name, modules=()):
    """Return what Linux's decode_stacktrace.sh does not translate, or None. @modules: the modules'
    folders."""
    script = source / "scripts" / "decode_stacktrace.sh"
    with open(log, encoding="utf-8", errors="replace") as console:
        result = subprocess.run(
            ["bash", str(script), str(elf), str(ROOT), *map(str, modules)],
            env=dict(os.environ, LLVM="-19"),
            check=False,
            stdin=console,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    decoded = result.stdout.splitlines()
    context.write_log(f"{name}-decoded", result.stdout)
    numbers = frames(lines)
    if not numbers or len(decoded) != len(lines):
        return f"{len(numbers)} frames in {len(lines)} lines, {len(decoded)} lines decoded: {decoded[-1:]}"
    left = [decoded[number] for number in numbers if not _DECODED.search(decoded[number])]
    if left:
        return "\n".join([f"{len(left)} of {len(numbers)} frames not translated:", *left[:10]])
    return None


def decode_module(context, source):
    """Return the Result of decoding the reports of a module, whose file the script has to find."""
    modules = module.programs([MODULE])
    folder = context.logs / "module"
    folder.mkdir(parents=True)
    # Outline checks: the call of an inline one is followed by an instruction that has no line.
    preset = preset_name(instrumentation="outline")
    built = context.build(preset, targets=["redzone"], programs=modules, copy_to=folder)
    pairs = module.files(modules, built)
    initrd = folder / "files.cpio"
    archive.pack(pairs, initrd)
    parameters = ["kasan_multi_shot", module.parameter(pairs)]
    target = machine.Machine(built["redzone"].image, initrd=initrd, append=parameters, timeout=TIMEOUT)
    _, lines, log = context.boot("module", target)
    wrong = decode(source, built["redzone"].elf, log, lines, context, "module", [folder])
    name = module.name_of(MODULE)
    decoded = (context.logs / "module-decoded.log").read_text(encoding="utf-8")
    if not wrong and not re.search(rf"\({MODULE.relative_to(ROOT)}:[1-9]\d*\) {name}", decoded):
        wrong = f"no frame is on a line of {MODULE.relative_to(ROOT)}"
    return Result("module.decode-stacktrace", FAIL if wrong else PASS, wrong or "", log)


def run(context):
    try:
        linux = linuxsource.unpacked()
    except linuxsource.Unavailable as error:
        # The user has named this suite, so testing nothing is not a success.
        yield Result("all", FAIL, str(error))
        return
    source, known = linux.folder, TEST not in linux.differing
    context.note(f"{linuxsource.PINS['package']} {linux.version}")
    for name, digest in linux.digests.items():
        other = f", not that of {linuxsource.PINS['version']}" if name in linux.differing else ""
        context.note(f"{name}: SHA-256 {digest}{other}")
    if not known:
        context.note("another test file than the one whose results are recorded: skips are not compared")

    def boot(item):
        configuration, image = item
        name = label(configuration)
        target = machine_of(configuration, image, timeout=TIMEOUT)
        outcome, lines, log = context.boot(name, target)
        parsed = ktap.parse(lines)
        total, skips = expectation(configuration[0], configuration[2])
        skipped = len(skips)
        if not known:
            own = [case for case in parsed.cases if case.name.startswith("kasan.")]
            total, skipped = len(own), sum(case.status == SKIP for case in own)
        results = list(judge(name, parsed, skips, log, known))
        errors = errors_of(outcome, parsed)
        wrong = closing_line(lines, total, skipped)
        if wrong:
            errors.append(wrong)
        results.append(Result(f"{name}.counts", FAIL if errors else PASS, "\n".join(errors), log))
        wrong = kunit_parse(source, log, parsed)
        results.append(Result(f"{name}.kunit-parse", FAIL if wrong else PASS, wrong or "", log))
        # The script starts a process for each frame: half a minute per console.
        if configuration[1] == "inline" and configuration[3] == 4:
            wrong = decode(source, image.elf, log, lines, context, name)
            results.append(Result(f"{name}.decode-stacktrace", FAIL if wrong else PASS, wrong or "", log))
        return results

    ready = []
    images = {}
    for configuration in CONFIGURATIONS:
        if context.mode not in (None, configuration[0]):
            continue
        preset = preset_name("arm64", *configuration[:3])
        reason = missing_for(context, configuration)
        if reason:
            yield Result(label(configuration), SKIP, reason)
            continue
        if preset not in images:
            program = builder.Program(
                NAME,
                [source / name for name in linuxsource.PINS["tests"]],
                function="redzone_add_linux_kunit",
            )
            folder = context.logs / preset
            folder.mkdir(parents=True, exist_ok=True)
            try:
                images[preset] = context.build(preset, programs=[program], copy_to=folder)[NAME]
            except Failure as error:
                log = context.write_log(f"{preset}-build", f"{error}\n")
                yield Result(label(configuration), FAIL, "\n".join(str(error).splitlines()[:20]), log)
                continue
        ready.append((configuration, images[preset]))
    for results in context.each(boot, ready):
        yield from results
    if context.mode in (None, "generic"):
        yield decode_module(context, source)
