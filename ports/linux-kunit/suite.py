# SPDX-License-Identifier: MIT
"""Linux's own KASAN KUnit tests, byte for byte, in our kernel; Linux's own tools on our console.

README.md says where the sources come from, what is checked, and what differs from Linux.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from redzone.build import builder
from redzone.build.builder import KERNEL, preset_name
from redzone.core import process
from redzone.core.base import ROOT, Failure
from redzone.machine import qemu
from redzone.run import cpio, module
from redzone.testing.runner import FAIL, PASS, SKIP, Result, result
from redzone.testing.suites.kunit import boot, label, machine_of, preset_of

from . import source as linuxsource

SLOW = True
MODES = ("generic", "sw_tags", "hw_tags")
OPTIONS = ("linux",)
TOOLS = (*KERNEL, "symbolizer")
PORT = Path(__file__).parent
NAME = "linux_kunit"
# The line that has to be there; the others are skipped if the archive has none, unless --linux names them.
ALWAYS = "6.12"
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
    ("hw_tags", "sync", "clang-19", 4, "mtestack"),
]

# Parameters of further boots, for Linux that knows them: {suffix of the name: parameters}.
WRITE_ONLY = {"write_only": ["kasan.write_only=on"]}
# One of these the kernel says then: the CPU can, or it cannot and checks reads as well.
WRITE_ONLY_SAID = (", writes only", "kasan.write_only=on: CPU ")

_CODE = re.compile(r"[\w.$]+\+0x[0-9a-f]+/0x[0-9a-f]+")
_FRAME = re.compile(rf"^ {_CODE.pattern}(?: \[\w+\])?$")
_STAMP = re.compile(r"^\[ *\d+\.\d+\] ?")
# decode_stacktrace.sh turns a frame into the function, a source line for each function inlined there, and the
# module's name.
_DECODED = re.compile(r"[\w.$]+ \([^\s()?]+:\d+(?: [^()?]*(?:\([^()?]*\)[^()?]*)*)?\)(?: \w+)?\s*$")
_TESTING_COMPLETE = re.compile(r"^\[\d\d:\d\d:\d\d\] Testing complete\. (.*)$")
TEST = "mm/kasan/kasan_test_c.c"


def expectation(line, configuration):
    """Return (number of cases, {case: reason} of those that Linux skips). Linux has no MTE stack tagging: its
    case runs only here."""
    mode, _, compiler, _, *features = configuration
    wanted = json.loads((PORT / "expected.json").read_text(encoding="utf-8"))[line][mode]
    skips = dict(wanted["skips"])
    if compiler == "gcc":
        skips.update(wanted.get("skips_gcc", {}))
    if "mtestack" in features:
        del skips["kasan_stack_oob"]
    return wanted["total"], skips


def stated_reasons(text):
    """Return {case: reasons for which it may skip itself}, as the test file @text says them."""
    reasons = {}
    for name, body in re.findall(
        r"^static void (\w+)\(struct kunit \*test\)\n\{$(.*?)^\}$", text, re.DOTALL | re.MULTILINE
    ):
        needs = re.findall(r"\bKASAN_TEST_NEEDS_CONFIG_(ON|OFF)\(test, (\w+)\)", body)
        reasons[name] = {f"Test requires {option}={'y' if word == 'ON' else 'n'}" for word, option in needs}
    return reasons


def judge(name, parsed, skips, log, stated=None):
    """Yield a Result for each case. A skip must be one of Linux's, for the same reason.

    @stated: for a test file of another version, whose expected skips are not recorded: stated_reasons(). Then
    a case may be skipped for any reason that the file gives for it.
    """
    for case in parsed.cases:
        short = case.name.removeprefix("kasan.")
        reason = skips.get(short)
        status, detail = case.status, case.detail
        if stated is not None:
            if status == SKIP and detail not in stated.get(short, ()):
                status, detail = FAIL, f"skipped because of '{detail}', which the test file does not say"
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
    result = process.run([sys.executable, script, "parse", log])
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
        result = process.run(
            ["bash", script, elf, ROOT, *modules],
            env=dict(os.environ, LLVM="-19"),
            stdin=console,
            stderr=subprocess.STDOUT,
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
    initrd = cpio.pack(pairs, folder)
    parameters = ["kasan_multi_shot", module.parameter(pairs)]
    target = qemu.Machine(built["redzone"].image, initrd=initrd, append=parameters, timeout=TIMEOUT)
    _, lines, log = context.boot("module", target)
    wrong = decode(source, built["redzone"].elf, log, lines, context, "module", [folder])
    name = module.name_of(MODULE)
    decoded = (context.logs / "module-decoded.log").read_text(encoding="utf-8")
    if not wrong and not re.search(rf"\({MODULE.relative_to(ROOT)}:[1-9]\d*\) {name}", decoded):
        wrong = f"no frame is on a line of {MODULE.relative_to(ROOT)}"
    return result("module.decode-stacktrace", wrong, log)


def find(context, line):
    """Return (Source, None), or (None, Result) if there is none. What the user has named must be there, and
    so must the line ALWAYS: testing nothing is not a success."""
    try:
        return linuxsource.unpacked(line), None
    except linuxsource.Unavailable as error:
        named = context is not None and context.linux == line
        status = FAIL if named or line == ALWAYS else SKIP
        return None, Result(f"{line}.all", status, str(error))


def write_only_error(parameters, lines):
    """Return what is wrong with what the kernel said about kasan.write_only, or None."""
    if "kasan.write_only=on" not in parameters:
        return None
    said = [text for text in WRITE_ONLY_SAID if any(text in line for line in lines)]
    return None if len(said) == 1 else f"the kernel said {said or 'nothing'} about kasan.write_only=on"


def boots(line, mode):
    """Return the (configuration, suffix of its name, parameters) of @line, of all modes if @mode is None."""
    chosen = [configuration for configuration in CONFIGURATIONS if mode in (None, configuration[0])]
    found = [(configuration, "", []) for configuration in chosen]
    if line != ALWAYS:
        for suffix, parameters in WRITE_ONLY.items():
            sync = [item for item in chosen if item[:3] == ("hw_tags", "sync", "clang-19") and len(item) == 4]
            found += [(item, f"-{suffix}", parameters) for item in sync]
    return found


def options_for(line, configuration):
    """Return the compiler's options for a test file beside those of the kernel.

    A CPU with memory tags has the atomic instructions of Armv8.1, and Linux uses them there. Compare and
    exchange is one of them. It counts as a write whatever it finds, which the test of kasan.write_only needs.
    """
    return ["-DCMPXCHG_IS_A_WRITE"] if line != ALWAYS and configuration[0] == "hw_tags" else []


def run_line(context, line, linux):
    """Yield the Results of one Linux's test files."""
    source, known = linux.folder, TEST not in linux.differing
    context.note(f"{linux.package} {linux.version}")
    for name, digest in linux.digests.items():
        other = f", not that of {linuxsource.PINS[line]['version']}" if name in linux.differing else ""
        context.note(f"{name}: SHA-256 {digest}{other}")
    stated = None
    if not known:
        context.note("another test file than the one whose results are recorded: it says what may be skipped")
        stated = stated_reasons((source / TEST).read_text(encoding="utf-8"))

    def one(item):
        configuration, name, parameters, image = item
        target = machine_of(configuration, image, timeout=TIMEOUT)
        target.append += parameters
        ended = boot(context, name, target)
        lines, log, parsed = ended.lines, ended.log, ended.parsed
        total, skips = expectation(line, configuration)
        skipped = len(skips)
        if not known:
            own = [case for case in parsed.cases if case.name.startswith("kasan.")]
            total, skipped = len(own), sum(case.status == SKIP for case in own)
        results = list(judge(name, parsed, skips, log, stated))
        errors = ended.errors
        errors += filter(None, [closing_line(lines, total, skipped), write_only_error(parameters, lines)])
        results.append(result(f"{name}.counts", errors, log))
        wrong = kunit_parse(source, log, parsed)
        results.append(result(f"{name}.kunit-parse", wrong, log))
        # The script starts a process for each frame: half a minute per console.
        if configuration[1] == "inline" and configuration[3] == 4:
            wrong = decode(source, image.elf, log, lines, context, name)
            results.append(result(f"{name}.decode-stacktrace", wrong, log))
        return results

    ready = []
    images = {}
    for configuration, suffix, parameters in boots(line, context.mode):
        preset = preset_of(configuration)
        name = f"{line}-{label(configuration)}{suffix}"
        reason = context.missing_for(preset)
        if reason:
            yield Result(name, SKIP, reason)
            continue
        if preset not in images:
            program = builder.Program(
                NAME,
                [source / file for file in linux.digests],
                options=options_for(line, configuration),
                function="redzone_add_linux_kunit",
            )
            folder = context.logs / f"{line}-{preset}"
            folder.mkdir(parents=True, exist_ok=True)
            try:
                images[preset] = context.build(preset, programs=[program], copy_to=folder)[NAME]
            except Failure as error:
                log = context.write_log(f"{line}-{preset}-build", f"{error}\n")
                yield Result(name, FAIL, "\n".join(str(error).splitlines()[:20]), log)
                continue
        ready.append((configuration, name, parameters, images[preset]))
    for results in context.each(one, ready):
        yield from results


def run(context):
    for line in [context.linux] if context is not None and context.linux else linuxsource.LINES:
        linux, result = find(context, line)
        if linux is None:
            yield result
            continue
        yield from run_line(context, line, linux)
        # It is about the script more than about the kernel that it is from.
        if line == ALWAYS and context.mode in (None, "generic"):
            yield decode_module(context, linux.folder)
