# SPDX-License-Identifier: MIT
"""docs/boot-parameters.md has the parameters that the kernel knows, with the texts that its parser has.

The tables are read out of a built kernel: those of the runtime (runtime/report/options.h) and of the kernel
(core_param() and others, in the section .init.params). With REDZONE_UPDATE_DOCS=1 in the environment they are
written into the document instead.
"""

import difflib
import os
import struct

from elftools.elf.elffile import ELFFile

from redzone import base, builder, ktap, machine
from redzone.base import ROOT
from redzone.runner import FAIL, PASS, Result
from redzone.suites.kunit import end_error

TOOLS = ("cmake", "ninja", "clang-19", "lld", "nm", "objcopy", "qemu-arm64")
DOCUMENT = ROOT / "docs" / "boot-parameters.md"
TIMEOUT = 120

# A value that no parameter accepts: neither a number, a switch, a size nor a word.
WRONG = "?"


class _Memory:
    """What an ELF file has at an address, and where its symbols are."""

    def __init__(self, path):
        with open(path, "rb") as file:
            elf = ELFFile(file)
            self.segments = [
                (segment["p_vaddr"], segment.data())
                for segment in elf.iter_segments()
                if segment["p_type"] == "PT_LOAD"
            ]
            symbols = elf.get_section_by_name(".symtab").iter_symbols()
            self.symbols = {symbol.name: (symbol["st_value"], symbol["st_size"]) for symbol in symbols}

    def read(self, address, size):
        for start, data in self.segments:
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        raise KeyError(hex(address))

    def text(self, address):
        return self.read(address, 1024).partition(b"\0")[0].decode("ascii")

    def rows(self, start, end, words):
        """Yield tuples of @words pointers."""
        yield from struct.iter_unpack(f"<{words}Q", self.read(start, end - start))


def tables(elf):
    """Return ([rows of KASAN's table], [rows of the kernel's])."""
    memory = _Memory(elf)
    start, size = memory.symbols["kasan_option_docs"]
    kasan = []
    for row in memory.rows(start, start + size, 5):
        name, values, text, fallback, modes = (memory.text(pointer) for pointer in row)
        kasan.append((f"`{name}=`", values, fallback, modes, text))
    kernel = []
    ends = (memory.symbols[f"__init_params_{end}"][0] for end in ("start", "end"))
    for name, _, _, values, text in memory.rows(*ends, 5):
        kernel.append((f"`{memory.text(name)}=`", memory.text(values), memory.text(text)))
    return kasan, sorted(kernel)


def _words(values):
    """Return what is accepted as Markdown: words as code, sentences as they are."""
    if " " in values or "|" not in values:
        return values.replace("|", "\\|")
    return ", ".join(f"`{word}`" for word in values.split("|"))


def _markdown(heading, rows, values):
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    for row in rows:
        cells = [_words(cell) if i == values else cell.replace("|", "\\|") for i, cell in enumerate(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def expected(elf):
    """Return {name of a table: its lines}."""
    kasan, kernel = tables(elf)
    return {
        "kasan": _markdown(("parameter", "values", "default", "modes", "meaning"), kasan, 1),
        "kernel": _markdown(("parameter", "values", "meaning"), kernel, 1),
    }


def insert(text, wanted):
    """Return the document @text with the tables of @wanted between their marks."""
    result, skipping = [], False
    for line in text.splitlines():
        if line.startswith("<!-- end"):
            skipping = False
        if not skipping:
            result.append(line)
        if line.startswith("<!-- table: "):
            result += wanted[line.split()[2]]
            skipping = True
    return "\n".join(result) + "\n"


def _wrong_values(context, image, names):
    """Boot with a wrong value for each parameter: each must be named, with what is accepted."""
    target = machine.Machine(
        image, append=[f"{name}={WRONG}" for name in names] + ["kunit.filter_glob=none"], timeout=TIMEOUT
    )
    _, lines, log = context.boot("wrong-values", target)
    for name, values in names.items():
        line = f'Malformed kernel parameter {name}="{WRONG}": expected {values}; keeping the default'
        found = any(text.endswith(line) for text in lines)
        yield Result(f"wrong.{name}", PASS if found else FAIL, "" if found else f"no line: {line}", log)


def _off(context, image):
    """Boot the KUnit suites with kasan=off: a kernel like any other, and no report."""
    target = machine.Machine(image, smp=4, append=["kasan=off"], timeout=6 * TIMEOUT)
    outcome, lines, log = context.boot("off", target)
    parsed = ktap.parse(lines)
    wrong = [f"{case.name}: {case.detail}" for case in parsed.cases if case.status == FAIL] + parsed.errors
    wrong += [error for error in [end_error(outcome)] if error]
    wrong += [f"reported: {report.type}" for report in outcome.reader.reports]
    if not parsed.cases:
        wrong.append("no test case ran")
    yield Result("off", FAIL if wrong else PASS, "\n".join(wrong), log)


def run(context):
    built = context.build(builder.preset_name(), targets=["redzone"])["redzone"]
    text = DOCUMENT.read_text(encoding="utf-8")
    right = insert(text, expected(built.elf))
    if text != right and os.environ.get("REDZONE_UPDATE_DOCS", "") not in ("", "0"):
        DOCUMENT.write_text(right, encoding="utf-8")
        base.say(f"wrote {base.relative(DOCUMENT)}")
        text = right
    if text == right:
        yield Result("tables", PASS)
    else:
        lines = difflib.unified_diff(
            text.splitlines(), right.splitlines(), "the document", "the kernel", lineterm="", n=0
        )
        hint = ["REDZONE_UPDATE_DOCS=1 in the environment writes the tables anew"]
        yield Result("tables", FAIL, "\n".join([*list(lines)[:20], *hint]))

    kasan, kernel = tables(built.elf)
    names = {row[0].strip("`="): row[1] for row in kasan + kernel}
    # Any text is a name or a pattern.
    anything = ("program.name", "kunit.filter_glob", "kunit.filter_skip", "module.load")
    names = {name: values for name, values in names.items() if name not in anything}
    yield from _wrong_values(context, built.image, names)
    yield from _off(context, built.image)
