# SPDX-License-Identifier: MIT
"""Undoes what people and their programs do to a log on its way: quoting, indentation, HTML, mail encoding,
JSON lines, and prefixes that lines.py does not know.

A prefix need not be known. When a line has the words of a report somewhere after its beginning, the text in
front of them becomes a shape: digits may differ, and so may the contents of brackets. If the next line has the
same shape and then reads as part of a report, the shape is the log's prefix, and every further line loses it.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import base64
import html
import json
import quopri
import re
from dataclasses import replace

from redzone.decode import parse, shapes, systems
from redzone.decode.lines import Line

# Words that only a report has. The first place in a line where one begins ends the prefix.
_ANCHOR = re.compile(
    r"BUG: K(?:ASAN|FENCE|MSAN|CSAN): [a-z]|(?:Read|Write) (?:of size \d+ )?at addr(?: [0-9a-f]|$)|Allocated by task \d"
    r"|Freed by task \d|The buggy address (?:belongs to|is located) |Memory state around the buggy address:"
    r"|(?:==\d+== ?)?ERROR: (?:HW)?AddressSanitizer: |BUG: (?:[uU]nable to handle|[kK]ernel NULL pointer) "
    r"|(?:CPU \d{1,5} )?Unable to handle kernel "
    r"|UBSAN: [a-z][\w -]* in |[^\s:]+:\d+:\d+: runtime error: |WARNING: (?:CPU: \d|\S+:\d+ at )|kernel BUG at \S+:\d"
    r"|Internal error: |Kernel panic - not syncing: |(?:Oops: )?general protection fault|Oops: "
)
# One of them is in each such line: a pattern that begins with any of many letters is slow to look for.
_WORDS = re.compile(
    "BUG: | addr|ed by task |Sanitizer: |UBSAN: |WARNING: |nable to handle |Internal error: |Kernel panic - "
    "|Oops: |general protection|runtime error: |kernel BUG "
)
# A longer beginning of a line is text, not a prefix.
_MAX_PREFIX = 160
# Such a beginning of a line may be text, or is only an indentation.
_WORDED = re.compile(r"[A-Za-z]|^\s*$")
_QUOTES = frozenset("\"'`")
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_DIFF = re.compile(r"(?P<before>[> ]*)[-+](?= *$)")
# A number of a prefix. Four digits and more, of which some may be letters, are hexadecimal.
_NUMBER = re.compile(r"(?P<hex>(?<![\w.,:])(?=\d*[a-f]|0)[0-9a-f]{4,16}(?![\w.,:]))| *\d+(?:[.,:]\d+)*")
# What grep puts in front of a line: a colon if the line matches, else a dash.
_GREP = re.compile(r"(^|[:-])\d+[:-]$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?|\d+\.\d{4,}|\d\d:\d\d:\d\d(?:[.,]\d+)?")

# Who prints, in a prefix: `[pid:7,cpu0,init]`, `[0: swapper/0:    0]`. A task may move to another CPU.
_CALLER = re.compile(
    r"\[pid:(?P<pid>\d{1,10}),cpu(?P<cpu>\d{1,5})[,\]]"
    r"|\[ *(?P<cpu2>\d{1,5}): *[A-Za-z][\w/.:-]{0,40}: *(?P<pid2>\d{1,10})\]"
)

_TAGS = re.compile(
    r"</?(?:br|pre|p|code|samp|div|span|[ou]l|li|td|th|tr|table|blockquote|font|b|i|a)(?: [^<>]{0,200})?/?>",
    re.I,
)
# One at the end of a line is only a tag.
_BREAK = re.compile(rb"<(?:[bB][rR] ?/?|/(?:[dD][iI][vV]|[pP]|[lL][iI]|[tT][rR]))>(?=[^\r\n])")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
_ANY_TAG, _ANY_ENTITY = (re.compile(one.pattern.encode(), one.flags & re.I) for one in (_TAGS, _ENTITY))
_HEADLINE = b"BUG: K"
# Members that hold the message in the JSON lines of docker, journald, and common loggers.
_MEMBERS = ("log", "MESSAGE", "message", "msg", "text", "line", "textPayload")
_CELL = re.compile(rb"""((?:(?:"[^"]*"|[^",]*),){1,12})"((?:[^"]|"")*)"\r?$""")
_VALUE = re.compile(rb"""((?:[^"]*\s)?(?:msg|message)=)"((?:[^"\\]|\\.)*)"\r?$""")
# What shows that a mail's text is quoted-printable: its header, an encoded rule, or a headline that goes on.
_QP = re.compile(
    rb"(?i)^content-transfer-encoding: *quoted-printable|^.{0,80}(?:=3D){8}|BUG: K[A-Z]+: .*[^=]=\r?$"
)
# Mails may also be base64. An attachment that is not text does no harm, because nothing in it looks like a report.
_BASE64 = re.compile(rb"(?i:content-transfer-encoding):[ \t]*(?:[Bb]ase64|BASE64)[ \t]*\r?\n")
_QUOTE = b"> \t"
_BASE64_LINE = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\r?\n")
_ENCODED_END = re.compile(rb"(?:=0D)?=0A=?$")
# Colours of a terminal, where some program has taken the escape characters off.
_COLOURS = re.compile(rb"\x1b?\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m")
_NO_COLOUR = (b"[0m", b"[m")
# Text recognition puts spaces around signs, and into long numbers.
_READ = re.compile(rb"^.{0,80}BUG ?: K[A-Z]+ ?: [a-z-]+ in \S+ ?\+ 0x")


class Transport:
    """Undoes the encodings of whole files, in front of lines.parse(). One for each file."""

    def __init__(self):
        self._quoted = self._spaced = False
        self._rest = b""
        # The place in a base64 part of a mail: "header", "body", or "" outside of one. Then its last decoded line,
        # which is not complete yet.
        self._part, self._decoded = "", b""

    def split(self, data):
        """Return @data with a line feed for each line break of HTML, with plain spaces, and with the text of what
        is base64. A line without a line feed comes again, with what is after it."""
        data = self._plain(data)
        if self._part or ((b"ase64" in data or b"ASE64" in data) and _BASE64.search(data)):
            data = self._plain(self._without_base64(data))
        return data

    @staticmethod
    def _plain(data):
        if b"<" in data:
            data = _BREAK.sub(b"\n", data)
        if not data.isascii():
            data = data.replace(b"\xc2\xa0", b" ")
        if b"&" in data:
            data = data.replace(b"&nbsp;", b" ").replace(b"&#10;", b"\n")
        return data

    def _without_base64(self, data):
        end = data.rfind(b"\n") + 1
        found = []
        for line in data[:end].splitlines(keepends=True):
            # The whole mail may be quoted.
            bare = line.lstrip(_QUOTE)
            blank = not bare.strip()
            if self._part == "body" and not blank and _BASE64_LINE.fullmatch(bare):
                text, feed, self._decoded = (self._decoded + base64.b64decode(bare)).rpartition(b"\n")
                found.append(text + feed)
                continue
            if self._part == "body":
                # Its first line follows the empty one that ends the header.
                found.append(self._decoded and self._decoded + b"\n")
                self._part, self._decoded = "", b""
            elif self._part and blank:
                self._part = "body"
            if _BASE64.match(bare):
                self._part = "header"
            found.append(line)
        return b"".join(found) + data[end:]

    @staticmethod
    def unescape(data):
        """Return the lines @data with a line feed for each one of a report that is a string of JSON."""
        if _HEADLINE not in data:
            return data
        found = data.split(b"\n")
        for at, line in enumerate(found):
            if b"\\n" in line and b"\\n" in line[: max(line.find(_HEADLINE), 0)]:
                found[at] = line.replace(b"\\n", b"\n")
        return b"\n".join(found)

    def undo(self, raw):
        """Return the bytes of the line @raw as they were printed; None if the line goes on in the next one."""
        if (
            not self._quoted
            and raw
            and (raw[0] in b"Cc" or b"=3D" in raw or raw[-2:].rstrip(b"\r")[-1:] == b"=")
        ):
            self._quoted = bool(_QP.search(raw))
        if self._quoted:
            raw = self._rest + raw
            self._rest = b""
            # Some programs encode the line's end as well, and go on in the next line.
            body = _ENCODED_END.sub(b"", raw.rstrip(b"\r"))
            if body.endswith(b"=") and not body.endswith(b"==") and len(body) < 4096:
                self._rest = body[:-1]
                return None
            raw = quopri.decodestring(body)
        if _NO_COLOUR[0] in raw or _NO_COLOUR[1] in raw:
            raw = _COLOURS.sub(b"", raw)
        if b" + 0x" in raw and _READ.search(raw):
            self._spaced = True
        if self._spaced:
            raw = _unspaced(raw)
        if b'{"' in raw and raw.rstrip(b"\r ,").endswith(b"}"):
            raw = _message(raw)
        elif raw.endswith((b'"', b'"\r')):
            raw = _cell(raw)
        if b"&" in raw or b"<" in raw:
            raw = _plain(raw)
        return raw

    def plain(self, data):
        """Would undo() return all the lines @data as they are? Their last one is a rule."""
        return not (
            self._quoted
            or self._spaced
            or b"=3D" in data
            or b" + 0x" in data
            or _NO_COLOUR[0] in data
            or _NO_COLOUR[1] in data
            or b"=\n" in data[: data.rfind(b"\n", 0, -1) + 1]
            or b'{"' in data
            or b'"\n' in data
            or (data[:1] in b"BCc" and b"content-" in data.lower())
            or (b"<" in data and _ANY_TAG.search(data))
            or (b"&" in data and _ANY_ENTITY.search(data))
        )

    @property
    def holds(self):
        """Does a line go on in the next one?"""
        return bool(self._rest)

    def end(self):
        """Return what is left of a line that would have gone on."""
        rest, self._rest, self._decoded = self._decoded or self._rest, b"", b""
        return rest


def _unspaced(raw):
    """Return @raw without the spaces that text recognition has added."""
    raw = re.sub(rb" ?: (?=K[A-Z]{3,5} ?:)", b": ", raw)
    raw = re.sub(rb" : (?=[a-z])", b": ", raw)
    raw = re.sub(rb" ([+/]) (?=0x|\d+\s*$)", rb"\1", raw)
    return re.sub(rb"(?<=\b[0-9a-f]{4}) (?=[0-9a-f]{12}\b)", b"", raw)


def _message(raw):
    """Return the message of a line of JSON, or @raw. Something may stand in front of it."""
    try:
        found = json.loads(raw[raw.index(b'{"') :].rstrip(b"\r ,"))
    except (ValueError, RecursionError):
        return raw
    for member in _MEMBERS:
        text = found.get(member)
        if isinstance(text, str):
            return text.rstrip("\r\n").encode("utf-8", "surrogatepass")
    return raw


def _cell(raw):
    """Return @raw without the quotation marks of its last cell (CSV) or of its last value (logfmt)."""
    match = _CELL.match(raw)
    if match:
        return match[1] + match[2].replace(b'""', b'"')
    match = _VALUE.match(raw)
    return match[1] + re.sub(rb"\\(.)", rb"\1", match[2]) if match else raw


def _plain(raw):
    """Return @raw without the tags and entities of HTML."""
    text = raw.decode("utf-8", "surrogateescape")
    if "<" in text:
        text = _TAGS.sub("", text)
    if "&" in text and _ENTITY.search(text):
        # A page that shows a page's source has them twice.
        text = html.unescape(html.unescape(text)).replace("\xa0", " ")
    return text.encode("utf-8", "surrogateescape")


def _shape(prefix, strict):
    """Return the pattern of lines that begin like @prefix. @strict: words are the same, else they may differ."""
    parts, at = [], 0
    diff = _DIFF.match(prefix)
    if diff:
        # Lines that did not change stand between those that did.
        parts, at = [re.escape(diff["before"]), "[-+ ]"], diff.end()
    for match in _BRACKETS.finditer(prefix, at):
        parts += [_words(prefix[at : match.start()], strict), re.escape(match[0][0]), r"[^\[\]()]*"]
        parts.append(re.escape(match[0][-1]))
        at = match.end()
    rest = prefix[at:]
    numbered = _GREP.search(rest)
    parts.append(_words(rest[: numbered.start()] if numbered else rest, strict))
    if numbered:
        parts.append(rf"{'[:-]' if numbered[1] else ''}\d+[:-]")
    pattern = "".join(parts)
    # A program that trims lines takes the last space off an empty one.
    core = pattern
    while core.endswith("\\ ") or core.endswith(" "):
        core = core.removesuffix("\\ ") if core.endswith("\\ ") else core[:-1]
    return re.compile(f"{pattern}|{core}$" if core != pattern else pattern)


def _number(match):
    """Return a pattern for what _NUMBER has found, with any digits."""
    return r"[0-9A-Fa-f]+" if match["hex"] else r" *\d+(?:[.,:]\d+)*"


def _words(text, strict):
    """Return a pattern for @text with any digits; if not @strict, with any words."""
    found, at = [], 0
    for match in _NUMBER.finditer(text) if strict else re.finditer(r"\S+", text):
        found.append(re.escape(text[at : match.start()]))
        found.append(_number(match) if strict else r"\S+")
        at = match.end()
    return "".join([*found, re.escape(text[at:])])


def _reads(text):
    """Is @text a line of a report?"""
    return (
        bool(shapes.RULE.match(text))
        or parse.headline(text)[0] is not None
        or bool(shapes.matches(text))
        or parse.parse_frame(text, None, True) not in (None, False)
        or bool(shapes.PLACE.match(text))
    )


class Prefix:
    """Finds the prefix of a log whose shape nobody has described. take() gives the lines without it.

    holds: a line is kept back until the next one shows whether it begins a report.
    """

    def __init__(self):
        self._shape = None
        self._held = None

    @property
    def holds(self):
        return self._held is not None

    @property
    def known(self):
        """Has the log such a prefix?"""
        return self._shape is not None

    def take(self, line):
        """Take the lines.Line @line. Return a list of those to go on with."""
        held, self._held = self._held, None
        if held is not None:
            return self._decide(*held, line)
        bare = self._without(line)
        at = self.anchor(bare.text)
        if at > 0:
            self._held = line, self.anchor(line.text)
            return []
        if at < 0 and bare is line:
            # The log's lines have no prefix from here on.
            self._shape = None
        return [bare]

    def end(self):
        """Return the list of lines that were kept back."""
        held, self._held = self._held, None
        return [held[0]] if held else []

    @staticmethod
    def anchor(text):
        """Return where the words of a report begin in @text; 0 if there are none, -1 if the line begins with them."""
        match = _WORDS.search(text) and _ANCHOR.search(text, 0, _MAX_PREFIX + 80)
        match = match or systems.headline(text)
        if match is None:
            return 0
        at = match.start()
        if not at:
            return -1
        # A quotation mark begins a string of source code; a mail's subject names the report that it is about.
        named = text[at - 1] in _QUOTES or "Subject: " in text[:at]
        return 0 if named or at > _MAX_PREFIX else at

    def _decide(self, first, at, line):
        """Is what stands before @at in the line @first a prefix? The next one, @line, tells."""
        prefix = first.text[:at]
        headline = parse.headline(first.text[at:])[0] is not None
        for strict in (True, False):
            shape = _shape(prefix, strict)
            match = shape.match(line.text)
            rest = line.text[match.end() :].strip() if match else ""
            if match and (not rest or _reads(line.text[match.end() :]) or (headline and strict)):
                self._shape = shape
                return [self._without(first), self._without(line)]
        if first.text.rstrip().endswith((" in", *parse.BROKEN)) or (headline and not _WORDED.search(prefix)):
            # A mail program has moved its end into the next line, without the prefix.
            self._shape = _shape(prefix, True)
            return [self._without(first), line]
        if headline and _reads(line.text) and line.text[:1] != ">":
            # Only the headline has it: "[1/2] BUG: KASAN: ...", or a sentence in front of it.
            return [replace(first, text=first.text[at:]), line]
        return [first, *self.take(line)]

    def _without(self, line):
        """Return @line without the prefix."""
        if self._shape is None:
            return line
        match = self._shape.match(line.text)
        if not match or not match.end():
            return line
        time, caller = _TIME.search(match[0]), line.caller
        if not caller and (who := _CALLER.search(match[0])):
            pid, cpu = who["pid"] or who["pid2"], who["cpu"] or who["cpu2"]
            # Each CPU has an idle task with this number.
            caller = f"T{pid}" if pid.strip("0") else f"C{cpu}"
        return Line(
            line.number,
            line.text[match.end() :],
            line.time or (time[0] if time else ""),
            caller,
            line.cut,
        )
