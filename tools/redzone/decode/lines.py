# SPDX-License-Identifier: MIT
"""Takes the prefix off a line of a log: what syslog, journalctl, logcat, netconsole, dmesg and printk put
before the message. The prefix says when, and on which CPU or by which task, so that two CPUs' lines can be told
apart.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import re
from dataclasses import dataclass

# A longer line is cut: no report has such lines, and a regular expression must not meet one.
MAX_LINE = 4096

# Escape sequences of terminals: colours, titles, character sets.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
# Characters that a terminal, an editor or a browser may obey. The last ones turn the direction of the text.
_CONTROLS = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_ISO = rf"\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?: ?(?:Z|[+-]\d\d:?\d\d))?"

# printk's own: time and, with CONFIG_PRINTK_CALLER, the task or the CPU. Vendors add the CPU (`@0`) or
# `(CPU)[PID:NAME]`. It is the last prefix, and takes one space: a frame keeps its own.
PRINTK = re.compile(
    r"\[ *(?P<time>\d+\.\d+)(?:@(?P<cpu>\d+))?\](?: ?\[ *(?P<caller>[CT]\d+)\]| {0,2}\((?P<mtk>\d+)\)\[\d+:[^\]]*\])? ?"
)

# All others: (what writes it, its shape). Each may stand before the next one.
_PREFIXES = tuple(
    (name, re.compile(shape))
    for name, shape in (
        (
            "netconsole",
            r"<?\d{1,3},\d+,(?P<micros>\d+),[-c+](?:,[\w-]+=\w+)*?(?:,caller=(?P<caller>[CT]\d+))?(?:,[\w-]+=\w+)*;",
        ),
        ("rfc5424", rf"<\d{{1,3}}>1 (?P<date>{_ISO}) \S+ \S+ \S+ \S+ (?:- |\[[^\]]*\] )"),
        ("level", r"<\d{1,3}>"),
        ("dmesg -x", r"[a-z]+ *:[a-z]+ *: "),
        (
            "syslog",
            rf"(?P<date>{_MONTH} [ \d]\d(?: \d{{4}})? {_CLOCK}|{_ISO}|\d{{9,}}\.\d{{3,}}) (?:[\w.:-]+ )?"
            r"(?:kernel|[\w./@-]+\[\d+\]): ?",
        ),
        (
            "dmesg -T",
            rf"\[(?P<date>\w{{3}} {_MONTH} [ \d]\d {_CLOCK} \d{{4}})\](?:\[ *(?P<caller>[CT]\d+)\])? ?",
        ),
        (
            "logcat",
            rf"(?P<date>(?:\d{{4}}-)?\d\d-\d\d {_CLOCK})(?: +[\w-]+)? +\d+ +\d+ [VDIWEFS] [^:]{{1,40}}?: ?",
        ),
        ("logcat -v time", rf"(?P<date>(?:\d{{4}}-)?\d\d-\d\d {_CLOCK}) [VDIWEFS]/[^(]{{1,40}}\( *\d+\): ?"),
        ("logcat -v brief", r"[VDIWEFS]/[^(]{1,40}\( *\d+\): ?"),
        ("zephyr", r"\[(?P<date>\d\d:\d\d:\d\d\.\d{3},\d{3})\] <\w+> [\w.]+: ?"),
        ("date", rf"\[?(?P<date>{_ISO})\]? "),
        ("journalctl -o short-monotonic", r"\[ *(?P<time>\d+\.\d+)\] [\w.-]+ kernel: ?"),
        ("lost", r"\*\* \d+ printk messages dropped \*\* "),
        ("caller", r"\[ *(?P<caller>[CT]\d+)\] "),
    )
)
# Something unknown before a printk prefix, such as the name of a machine; the subject of a mail quotes a line.
_UNKNOWN = re.compile(r"(?![> ]*Subject: )[^\[]{1,100}(?=\[ *\d+\.\d{6}\])")
# A prefix that ends with printk's, behind which there is none.
_LAST = re.compile(PRINTK.pattern.encode() + b"(?<= )$")
_TIME = re.compile(rb"\[ *\d+\.\d{6}\]")
_MORE = frozenset("[(")
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\n"
DIGITS = bytes.maketrans(b"123456789", b"000000000")
# Characters with which a prefix begins. Most lines of a report without prefix begin with none of these.
_FIRST = frozenset("[<*0123456789JFMASONDVIWEScklundaefmogihprtybv")


@dataclass(slots=True)
class Line:
    """A line without its prefix. time: as printed, "" if it has none; caller: "T12", "C3" or ""."""

    number: int
    text: str
    time: str = ""
    caller: str = ""
    cut: bool = False


def clean(text):
    """Return @text without escape sequences and control characters; a tab stays. Mail programs write some spaces
    as ones that do not break."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROLS.sub("", text.replace("\xa0", " "))


def parse(raw, number=0):
    """Return the Line of the bytes @raw, which have no line feed."""
    cut = len(raw) > MAX_LINE
    text = raw[:MAX_LINE].decode("utf-8", "replace").rstrip("\r")
    if not (text.isascii() and text.isprintable()):
        text = clean(text)
    match = PRINTK.match(text) if text[:1] == "[" else None
    if match:
        return _printk(match, text, number, cut)
    time = caller = ""
    at = 0
    if text[:1] in _FIRST:
        for _ in range(4):
            for _name, shape in _PREFIXES:
                match = shape.match(text, at)
                if match:
                    break
            else:
                break
            found = match.groupdict()
            time = found.get("date") or found.get("time") or _seconds(found.get("micros")) or time
            caller = found.get("caller") or caller
            at = match.end()
            match = PRINTK.match(text, at)
            if match:
                return _printk(match, text, number, cut, caller)
    unknown = _UNKNOWN.match(text, at)
    if unknown:
        return _printk(PRINTK.match(text, unknown.end()), text, number, cut, caller)
    return Line(number, text[at:], time, caller, cut)


def alike(data, number):
    """Return (the Line of the first of the lines @data, the texts of all) if each is text with the first one's prefix,
    but for digits. None: parse() them one by one. @data: bytes; @number: of the first line."""
    rows = data.split(b"\n")[:-1]
    if data.translate(None, _PRINTABLE) or max(map(len, rows)) >= MAX_LINE:
        return None
    first = parse(rows[0], number)
    size = len(rows[0]) - len(first.text)
    prefix = rows[0][:size]
    if b"".join([row[:size] for row in rows]).translate(DIGITS) != prefix.translate(DIGITS) * len(rows):
        return None
    if first.caller:
        at = prefix.rfind(first.caller.encode())
        if at < 0 or len({row[at : at + len(first.caller)] for row in rows}) > 1:
            return None
    if b">1 " in prefix or b"@" in prefix or b"(" in prefix:
        return None
    last = _LAST.search(prefix)
    # Without printk's, a time further right may end a prefix that is unknown.
    if not last and _TIME.search(b"\n".join([row[size:] for row in rows])):
        return None
    texts = [row[size:] for row in data.decode("ascii").split("\n")[:-1]]
    begins = _MORE if last else _FIRST
    for at, text in enumerate(texts):
        if text[:1] in begins and parse(rows[at]).text != text:
            # It has a prefix more.
            return None
    return first, texts


def _printk(match, text, number, cut, caller=""):
    time, cpu, found, mtk = match.groups()
    found = found or caller
    if not found and (cpu or mtk):
        found = f"C{cpu or mtk}"
    return Line(number, text[match.end() :], time, found, cut)


def _seconds(micros):
    """Return microseconds, a string of digits, as printk's time; "" for None."""
    if not micros:
        return ""
    value = int(micros[:18])
    return f"{value // 1000000}.{value % 1000000:06}"
