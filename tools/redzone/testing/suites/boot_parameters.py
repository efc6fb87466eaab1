# SPDX-License-Identifier: MIT
"""docs/use/boot-parameters.md lists the parameters that the kernel knows, with the texts of its parser.

The suite reads the tables out of a built kernel: those of the runtime (runtime/report/options.h) and of the
kernel (core_param() and others, in the section .init.params). With REDZONE_UPDATE_DOCS=1 in the environment
it writes them into the document instead.

It tries wrong values in a few boots, many in each; a test in the kernel (kernel/tests/params_test.c) then
prints the values of all parameters.
"""

import re
import struct

from redzone.build import builder
from redzone.core.base import ROOT
from redzone.elf.file import File
from redzone.elf.symbols import symbols
from redzone.machine import qemu
from redzone.testing.runner import compared, result, when
from redzone.testing.suites import kunit

TOOLS = (*builder.KERNEL, "clang-19")
QUICK = "all"
DOCUMENT = ROOT / "docs" / "use" / "boot-parameters.md"
TIMEOUT = 120

# Values that a parameter must refuse: out of range, empty, with a sign, with trailing characters, of another
# kind. None: the name alone.
_SWITCH = ("", "?", "yes", "2", "-1", "on ", "1x")
_RANGE = (None, "", "?", "-1", "1x", "4294967296")
_WORD = (None, "", "?")
_TEXT = (None, "")
_SIZE = (None, "", "?", "-1", "1T", "64KB", "99999999999999999999", "17179869184G")
_SITE = (None, "", "?", "0", "0x", ",", "ffff,", "ffff,-2", "ffff,1,1", "-1", "1ffffffffffffffff", "f" * 30)
_FAULTS = (None, "", "?", "0", "10,101", "10,-1", "10,100,-1", "10,100,0,-2", "10,", "10,100,0,1,1", "1x")
WRONG = {
    "each.first": ("0", *_RANGE),
    "each.key": _TEXT,
    "each.only": ("0", "3-2", "1,,2", "1-", "a", "1-2-3", "99999999999"),
    "each.timeout_ms": ("0", *_RANGE),
    "fail_page_alloc": _FAULTS,
    "fail_site": _SITE,
    "failslab": _FAULTS,
    "kasan": (None, *_SWITCH),
    "kasan.depot_size": ("65535", "129M", *_SIZE),
    "kasan.fault": ("panics", *_WORD),
    "kasan.ignore": (None, "two words", "a,,b", "?"),
    "kasan.mode": ("Sync", *_WORD),
    "kasan.overlap": (None, *_SWITCH),
    "kasan.page_alloc.sample": ("0", "2147483648", *_RANGE),
    "kasan.page_alloc.sample.order": ("65", *_RANGE),
    "kasan.page_quarantine": ("1", "4095", *_SIZE),
    "kasan.page_redzone": _WORD,
    "kasan.quarantine_size": _SIZE,
    "kasan.repeat": ("Full", *_WORD),
    "kasan.sample": ("2147483648", *_RANGE),
    "kasan.slack": ("on", *_WORD),
    "kasan.stack_ring_size": ("15", "4194305", "32K", *_RANGE),
    "kasan.stacktrace": (None, *_SWITCH),
    "kasan.tag_policy": _WORD,
    "kasan.vmalloc": (None, *_SWITCH),
    "kasan.write_only": (None, *_SWITCH),
    "kasan_multi_shot": _SWITCH,
    "kasan_test.allocations": ("5999", "4000001", *_RANGE),
    "kasan_test.fault_sites": _SWITCH,
    "kasan_test.rounds": ("0", *_RANGE),
    "kasan_test.seed": (None, "", "?", "-1", "1x", "18446744073709551616"),
    "kunit.enable": _SWITCH,
    "kunit.filter_glob": _TEXT,
    "kunit.filter_skip": _TEXT,
    "kunit.stats_enabled": ("3", "7", "-3", *_RANGE),
    "loglevel": ("9", "99", *_RANGE),
    "module.load": _TEXT,
    "page_owner": _SWITCH,
    "panic_on_oops": _SWITCH,
    "panic_on_warn": _SWITCH,
    "program.leaks": _SWITCH,
    "program.name": _TEXT,
    "program.notices": _SWITCH,
    "program.stack": ("0", "63K", "2G", *_SIZE),
    "program.timeout_ms": _RANGE,
    "random.seed": (None, "", "?", "-1", "1x", "18446744073709551616"),
    "rcupdate.rcu_cpu_stall_timeout": _RANGE,
    "rcutree.kthread_prio": ("100", *_RANGE),
    "workqueue_test.rounds": ("0", *_RANGE),
}

# Sizes that are refused once the amount of memory is known: the value, and how the line starts.
TOO_LARGE = {
    "kasan.quarantine_size": ("99G", r"kasan: {name}=106300440576: expected {values}, which is \d+; "),
    "kasan.page_quarantine": (
        "99G",
        r'Malformed kernel parameter {name}="99G": expected {values}, which is \d+K; ',
    ),
}

# {parameter: (right value, wrong value, what the kernel's test prints or None)}. A parameter that gets the
# right value and then the wrong one must keep the right one, which is not the default.
KEPT = {
    "kasan_multi_shot": (None, "3", None),
    "kasan.depot_size": ("1M", "1K", "1048576"),
    "kasan.fault": ("panic_on_write", "x", "2"),
    "kasan.repeat": ("full", "on", "1"),
    "kasan.stacktrace": ("off", "2", "0"),
    "kunit.stats_enabled": ("2", "7", "2"),
    "loglevel": ("7", "99", "7"),
    "panic_on_oops": ("1", "yes", "1"),
    "random.seed": ("5", "five", "5"),
    "rcupdate.rcu_cpu_stall_timeout": ("30", "-1", "30"),
    "rcutree.kthread_prio": ("5", "100", "5"),
}

# A kernel's command line has at most 4095 characters.
LINE_MAX = 3500


class _Memory:
    """The contents of an ELF file by address, and the addresses of its symbols."""

    def __init__(self, path):
        elf = File.open(path)
        self.segments = [(load.address, elf.content(load)) for load in elf.loads]
        self.symbols = {symbol.name: (symbol.value, symbol.size) for symbol in symbols(elf)}

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
    """Return the text about accepted values as Markdown: words as code, sentences unchanged."""
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


def _argument(name, value):
    if value is None:
        return name
    return f'{name}="{value}"' if " " in value else f"{name}={value}"


def _malformed(name, value, expected, kept):
    text = name if value is None else f'{name}="{value}"'
    return f"Malformed kernel parameter {text}: expected {expected}; keeping {kept}"


def _boot(context, name, image, append):
    """Return ([lines], {parameter: its value, as the kernel's test prints it}, [errors], the log)."""
    target = qemu.Machine(image, append=[*append, "kunit.filter_glob=params"], timeout=TIMEOUT)
    ended = kunit.boot(context, name, target)
    found = (re.search(r"# values: value: ([^=]+)=(.*)$", line) for line in ended.lines)
    values = dict(match.groups() for match in found if match)
    forced = any("FAULT_INJECTION: forcing" in line for line in ended.lines)
    errors = ended.errors + when(forced, "allocations failed on purpose")
    return ended.lines, values, errors, ended.log


def _pieces(arguments):
    """Yield lists of @arguments, each of which fits on a command line."""
    piece = []
    for argument in arguments:
        if piece and len(" ".join([*piece, argument])) > LINE_MAX:
            yield piece
            piece = []
        piece.append(argument)
    yield piece


def _changed(values, default):
    """Return what is wrong with @values, which should equal @default."""
    return [
        f"{name} is {values.get(name)}, not {value}"
        for name, value in default.items()
        if values.get(name) != value
    ]


def _wrong_values(context, image, names):
    """Boot with wrong values: the kernel must name each, with the accepted ones, and keep all defaults."""
    _, default, errors, log = _boot(context, "defaults", image, [])
    # The other parameters have no variable, or the test needs them.
    silent = set(names) - set(default)
    unread = silent - {
        "failslab",
        "fail_page_alloc",
        "fail_site",
        "kasan.ignore",
        "kasan_multi_shot",
        "each.only",
    }
    errors += [f"not printed: {name}" for name in sorted(unread)]
    yield result("wrong.values-are-read", errors, log)
    yield result("wrong.table", [f"of one table only: {name}" for name in set(names) ^ set(WRONG)])
    lines = []
    arguments = [_argument(name, value) for name in names for value in WRONG.get(name, ())]
    for number, piece in enumerate(_pieces(arguments)):
        some, values, errors, log = _boot(context, f"wrong-values-{number}", image, piece)
        wrong = errors + _changed(values, default)
        yield result(f"wrong.default-stays.{number}", wrong, log)
        lines += some
    for name, expected in names.items():
        wanted = [_malformed(name, value, expected, "the default") for value in WRONG.get(name, ())]
        absent = [f"no line: {text}" for text in wanted if not any(line.endswith(text) for line in lines)]
        yield result(f"wrong.{name}", absent, log)

    append = [_argument(name, value) for name, (value, _) in TOO_LARGE.items()]
    lines, values, errors, log = _boot(context, "too-large", image, append)
    for name, (_, pattern) in TOO_LARGE.items():
        # The line ends with the default if that depends on the memory as well.
        pattern = pattern.format(name=re.escape(name), values=re.escape(names[name]))
        if not any(re.search(pattern + r"keeping the default(, \d+)?$", line) for line in lines):
            errors.append(f"no line: {pattern}")
    yield result("wrong.too-large", errors + _changed(values, default), log)


def _kept_values(context, image, names):
    """Boot with right values and then wrong ones: the right ones stay, and the line says so."""
    append = [_argument(name, value) for name, values in KEPT.items() for value in values[:2]]
    lines, values, errors, log = _boot(context, "kept", image, append)
    for name, (right, wrong, shown) in KEPT.items():
        kept = name if right is None else f'{name}="{right}"'
        text = _malformed(name, wrong, names[name], kept)
        errors += when(not any(line.endswith(text) for line in lines), f"no line: {text}")
        if shown is not None and values.get(name) != shown:
            errors.append(f"{name} is {values.get(name)}, not {shown}")
    yield result("wrong.set-before", errors, log)


def _off(context, image):
    """Boot the KUnit suites with kasan=off: the kernel works as usual, without a report."""
    target = qemu.Machine(image, smp=4, append=["kasan=off"], timeout=6 * TIMEOUT)
    ended = kunit.boot(context, "off", target)
    yield result("off", ended.wrong + ended.reported, ended.log)


def run(context):
    built = context.build(builder.preset_name(), targets=["redzone"])["redzone"]
    right = insert(DOCUMENT.read_text(encoding="utf-8"), expected(built.elf))
    yield compared("tables", DOCUMENT, right)

    kasan, kernel = tables(built.elf)
    names = {row[0].strip("`="): row[1] for row in kasan + kernel}
    yield from _wrong_values(context, built.image, names)
    yield from _kept_values(context, built.image, names)
    yield from _off(context, built.image)
