# SPDX-License-Identifier: MIT
"""Golden reports as syzkaller reads them: the right title, not corrupted.

Two judges. `parser.*` is syzkaller's own Linux parser, a Go module that the suite fetches; if it cannot, it
says so and skips them. `rules.*` restate, in this file, the parser's rules about KASAN reports; they run
everywhere.
"""

import json
import os
import re
import shutil
import subprocess

from redzone.core import base, process
from redzone.core.base import BUILD, ROOT
from redzone.testing.runner import FAIL, PASS, SKIP, Result, result, when
from redzone.testing.suites import golden

HERE = ROOT / "tests" / "syzkaller"
FOLDER = BUILD / "syzkaller"
MODULE = "github.com/google/syzkaller"
FETCH_TIMEOUT = 600
TEST_TIMEOUT = 900

# --- The rules ----------------------------------------------------------------------------------------

_PREFIX = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[CT]\d+\])? ")
_TITLE = re.compile(r"BUG: KASAN: ([a-z-]+) in ([a-zA-Z0-9_]+)[.+]")
_ACCESS = re.compile(r"(Read|Write) (?:of size|at addr) [0-9a-f]+")
_FREES = ("double-free", "invalid-free")
_STACK = re.compile(r"Call [Tt]race:|Allocated by task \d+:|Freed by task \d+:")
_FRAME = re.compile(r"^ +[a-zA-Z0-9_.]+\+0x[0-9a-f]+/0x[0-9a-f]+")
_NO_STACK = "(stack is not available)"
# The beginnings of reports of any kind.
_ANY_OOPS = re.compile(r"BUG:|WARNING:|INFO:|Unable to handle|Internal error|Kernel panic|Call Trace:")
# Functions that a title never names: the sanitizer's, memory and string functions, and for frees the
# allocator's.
_SKIPPED = re.compile(
    r"kasan|__asan|check_memory_region|memcpy|memcmp|memset|memchr|memmove|strcmp|strncmp|strcpy|strncpy"
    r"|strlen|strnlen|strchr|strscpy|panic|dump_stack|string|pointer|printk|snprintf"
)
_SKIPPED_IN_FREES = re.compile(r"kmem_|slab_|kfree|vunmap|vfree")


def _empty_stack(lines):
    """Return the heading of a stack that has no frames, or None."""
    for number, line in enumerate(lines):
        if not _STACK.search(line):
            continue
        if len(lines) - number < 4:
            return line
        for below in lines[number + 1 : number + 16]:
            if _STACK.search(below):
                return line
            if _NO_STACK in below or _FRAME.match(below):
                break
        else:
            return line
    return None


def _function(lines, first, frees):
    """Return the function that the title names: the first one that the rules do not skip."""
    names = [first]
    for number, line in enumerate(lines):
        if line.startswith("Call trace:"):
            for below in lines[number + 1 :]:
                if not _FRAME.match(below):
                    break
                names.append(below.split("+")[0].strip())
            break
    for name in names:
        if not _SKIPPED.search(name) and not (frees and _SKIPPED_IN_FREES.search(name)):
            return name
    return None


def parse(console):
    """Return (title, why it is corrupted or None) of the first report in @console; (None, None): none."""
    lines = [_PREFIX.sub("", line) for line in console.splitlines()]
    start = next((number for number, line in enumerate(lines) if "BUG:" in line), None)
    if start is None:
        return None, None
    lines = lines[start:]
    title = _TITLE.search(lines[0])
    if title is None:
        return lines[0].strip(), "the title does not name a type and a function"
    frees = title[1] in _FREES
    access = next((match for match in map(_ACCESS.search, lines) if match), None)
    if access is None and not frees:
        return lines[0].strip(), "no line says what the access was"
    function = _function(lines, title[2], frees)
    if function is None:
        return lines[0].strip(), "no function that a title may name"
    text = f"KASAN: {title[1]} in {function}" if frees else f"KASAN: {title[1]} {access[1]} in {function}"
    heading = _empty_stack(lines)
    return text, f"no frames under '{heading.strip()}'" if heading else None


# Changes to a good report that the rules must reject: (name, pattern, replacement).
_DAMAGE = (
    ("bare-address-in-title", r"(BUG: KASAN: [a-z-]+ in )\S+", r"\1[<ffff800080012340>]"),
    ("capitals-in-type", r"BUG: KASAN: slab", "BUG: KASAN: Slab"),
    ("no-access-line", r"(?m)^.*(Read|Write) of size.*\n", ""),
    ("empty-section", r"(Freed by task \d+:\n)(?:.*\+0x.*\n)+", r"\1"),
    ("frames-as-addresses", r"(?m) [a-z_0-9]+\+0x[0-9a-f]+/0x[0-9a-f]+$", " ffff800080012340"),
)


def _label(mode, name):
    return name if mode == "generic" else f"{mode}.{name}"


def _again(console):
    """Return the lines that kasan.repeat=brief prints for the reports of @console."""
    access = (
        "write of size 1 at addr ffff000012345678 by task main/21, called by main+0x48/0x120 < run+0x8/0x10"
    )
    return [
        line.replace("BUG: KASAN: ", "KASAN: ") + f" again (2 times): {access}"
        for line in console.splitlines()
        if "BUG: KASAN: " in line
    ]


def _rules():
    every = [(mode, *title) for mode in golden.MODES for title in golden.titles(mode).items()]
    for mode, name, wanted in every:
        path = golden.folder(mode) / f"{name}.log"
        label = f"rules.{_label(mode, name)}"
        if not path.exists():
            yield Result(label, FAIL, f"{base.relative(path)} does not exist")
            continue
        title, corrupted = parse(path.read_text(encoding="utf-8"))
        wrong = when(title != wanted, f"title {title!r}, expected {wanted!r}")
        wrong += when(corrupted, f"corrupted: {corrupted}")
        yield result(label, wrong)
        # The line of a repeated report is not a report, and does not affect those around it.
        text = path.read_text(encoding="utf-8")
        again = "\n".join(_again(text)) + "\n"
        spoiled = parse(again + text) != (wanted, None) or parse(text + again) != (wanted, None)
        taken = _ANY_OOPS.search(again) or _ACCESS.search(again)
        said = "the line of a repeated report is taken for one, or for a part of one"
        yield result(f"{label}-again", when(spoiled or taken, said))
    good = (golden.HERE / "slab-use-after-free.log").read_text(encoding="utf-8")
    for name, pattern, replacement in _DAMAGE:
        bad = re.sub(pattern, replacement, good)
        refused = bad != good and parse(bad)[1] is not None
        yield result(f"rules.refuse-{name}", when(not refused, "taken for a good report"))


# --- The parser itself --------------------------------------------------------------------------------


def _go(arguments, timeout, mode="generic"):
    environment = dict(os.environ, REDZONE_GOLDEN=str(golden.folder(mode)), GOFLAGS="", GOWORK="off")
    return process.run(["go", *arguments], cwd=FOLDER, env=environment, timeout=timeout)


def _reason(text):
    """Return Go's message as one line, without addresses of servers."""
    answer = re.search(r"server response:\s*(.+)", text)
    if answer:
        status = re.search(r"\b\d{3} [A-Z][a-z]+\b", text)
        return f"{status[0]}: {answer[1].strip()}" if status else answer[1].strip()
    lines = [
        re.sub(r"https?://\S+", "the server", line).strip() for line in text.splitlines() if line.strip()
    ]
    return lines[-1] if lines else "no message"


def _fetch():
    """Make build/syzkaller a module that contains the parser. Return None, or why that is impossible."""
    commit = (HERE / "COMMIT").read_text(encoding="utf-8").strip()
    stamp = FOLDER / "fetched"
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "parser_test.go", FOLDER / "parser_test.go")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == commit:
        return None
    (FOLDER / "go.sum").unlink(missing_ok=True)
    shutil.copyfile(HERE / "go.mod", FOLDER / "go.mod")
    try:
        for arguments in (["get", f"{MODULE}/pkg/report@{commit}"], ["mod", "tidy"]):
            result = _go(arguments, FETCH_TIMEOUT)
            if result.returncode != 0:
                base.check_room(FOLDER, result.stderr)
                return f"Go cannot fetch {MODULE}: {_reason(result.stderr)}"
    except subprocess.TimeoutExpired:
        return f"Go did not fetch {MODULE} within {FETCH_TIMEOUT} s"
    stamp.write_text(commit, encoding="utf-8")
    return None


def _parser(context):
    reason = context.missing("go") or _fetch()
    if reason:
        yield Result("parser", SKIP, reason)
        return
    for mode in golden.MODES:
        yield from _parse_all(context, mode)


def _parse_all(context, mode):
    """Run all golden reports of @mode through the parser."""
    result = _go(["test", "-mod=readonly", "-json", "-count=1", "./..."], TEST_TIMEOUT, mode)
    log = context.write_log(_label(mode, "parser"), result.stdout + result.stderr)
    said = {}
    count = 0
    for line in result.stdout.splitlines():
        event = json.loads(line)
        name = event.get("Test", "")
        if event["Action"] == "output":
            said.setdefault(name, []).append(event["Output"].rstrip("\n"))
        elif event["Action"] in ("pass", "fail") and "/" in name:
            count += 1
            failed = event["Action"] == "fail"
            text = "\n".join(said.get(name, [])) if failed else ""
            label = _label(mode, name.split("/", 1)[1])
            yield Result(f"parser.{label}", FAIL if failed else PASS, text, log)
    if count != len(golden.titles(mode)):
        text = f"{count} reports were parsed\n{result.stderr.strip()}"
        yield Result(_label(mode, "parser"), FAIL, text, log)


def run(context):
    yield from _rules()
    yield from _parser(context)
