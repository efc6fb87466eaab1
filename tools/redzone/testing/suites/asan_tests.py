# SPDX-License-Identifier: MIT
"""The tests that LLVM ships for <sanitizer/asan_interface.h>, as programs in the kernel.

REDZONE_COMPILER_RT names the folder test/asan/TestCases of compiler-rt's sources; without it the suite is
skipped. Most of the tests are C++ that is nearly C, so the few words that differ are replaced. What they
print themselves is compared; the reports are KASAN's, whose words are not AddressSanitizer's.
"""

import os
import re
from pathlib import Path

from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure
from redzone.machine import console, qemu
from redzone.testing.runner import SKIP, Result, result, when

TOOLS = (*builder.KERNEL, "clang-19")
SLOW = True
TIMEOUT = 120
VARIABLE = "REDZONE_COMPILER_RT"

# {what is C++: what C has for it}.
WORDS = {
    r'extern "C"\s': "",
    r"\bnullptr\b": "NULL",
    r"\bnew (\w+)\[(\w+)\]": r"malloc(\2 * sizeof(\1))",
    r"\bdelete ?\[\] (\w+)": r"free(\1)",
    r"\breinterpret_cast<([\w ]+)>": r"(\1)",
}
HEAD = "#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <alloca.h>\n"

USE = "slab-use-after-free"
# Rows: (file, the program's arguments, types of the reports, what is printed, in this order).
ROWS = (
    ("alloca_loop_unpoisoning", [], [], []),
    ("debug_double_free", [], ["double-free"], ["report", r"addr: 0x\w+", "description: double-free"]),
    ("debug_locate", [], [], []),
    ("debug_mapping", [], [], ["scale: 3", r"offset: 0x\w+"]),
    (
        "debug_report",
        [],
        [USE],
        ["no report", "report", "type: write", "access_size: 1", f"description: {USE}"],
    ),
    ("debug_stacks", [], [USE], ["alloc stack retval ok", r"thread id = \d", "free stack retval ok"]),
    (
        "describe_address",
        [],
        [],
        [
            "0 bytes inside of",
            "400-byte region",
            "Allocated by task",
            "the stack variable stack",
            "variable global",
        ],
    ),
    ("error_report_callback", [], ["null-ptr-deref"], ["ABCDEF", "BUG: KASAN", "GHIJKL"]),
    ("handle_noreturn_bug", [], [], []),
    ("interface_test", [], [], []),
    ("on_error_callback", [], [USE], ["__asan_on_error called"]),
    ("poison_partial", [], ["global-out-of-bounds"], []),
    ("poison_partial", ["heap"], ["slab-out-of-bounds"], []),
    ("set_shadow_test", ["0x00"], [], ["PASS"]),
    ("set_shadow_test", ["0xf1"], ["stack-out-of-bounds"], []),
    ("set_shadow_test", ["0xf2"], ["stack-out-of-bounds"], []),
    ("set_shadow_test", ["0xf3"], ["stack-out-of-bounds"], []),
    ("set_shadow_test", ["0xf8"], ["use-after-scope"], []),
    ("use-after-poison", [], ["use-after-poison"], []),
)


def in_c(text):
    """Return the program @text in C."""
    for pattern, word in WORDS.items():
        text = re.sub(pattern, word, text)
    return HEAD + text


def judge(outcome, lines, types, printed):
    """Return what is wrong with the console of a program, as a list of texts."""
    found = [report.type for report in outcome.reader.reports]
    wrong = when(
        found != types, f"reports: {', '.join(found) or 'none'}; expected: {', '.join(types) or 'none'}"
    )
    if "Assertion" in (said := "\n".join(console.split(line)[1] for line in lines)):
        wrong.append(re.search(r".*Assertion.*", said)[0])
    elif not types and outcome.status != base.OK:
        wrong.append(outcome.message or f"status {outcome.status}")
    at = 0
    for pattern in printed:
        if (match := re.compile(pattern).search(said, at)) is None:
            wrong.append(f"'{pattern}' is not printed, or not in this order")
            break
        at = match.end()
    return wrong


def run(context):
    folder = os.environ.get(VARIABLE)
    if not folder:
        yield Result("all", SKIP, f"{VARIABLE}=DIR names test/asan/TestCases of compiler-rt's sources")
        return
    programs = {}
    for name in dict.fromkeys(row[0] for row in ROWS):
        source = next((path for path in Path(folder).glob(f"{name}.c*")), None)
        if source is None:
            raise Failure(f"{folder} has no {name}.cpp: is it test/asan/TestCases of compiler-rt?")
        path = base.BUILD / "asan-tests" / f"{name}.c"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(in_c(source.read_text(encoding="utf-8")), encoding="utf-8")
        programs[name] = builder.Program(f"asan_test_{name.replace('-', '_')}", [path], options=["-O0", "-w"])
    images = context.build(builder.preset_name(), programs=list(programs.values()))
    machines = []
    for name, arguments, types, printed in ROWS:
        target = qemu.Machine(
            images[programs[name].name].image,
            append=["kasan_multi_shot"],
            arguments=arguments,
            timeout=TIMEOUT,
        )
        machines.append(("-".join([name, *arguments]), target, types, printed))
    for name, ended, types, printed in context.each(
        lambda item: (item[0], context.boot(*item[:2]), *item[2:]), machines
    ):
        outcome, lines, log = ended
        yield result(name, judge(outcome, lines, types, printed), log)
