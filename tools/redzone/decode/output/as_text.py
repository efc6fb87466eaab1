# SPDX-License-Identifier: MIT
"""Makes text of a log safe for a file that other programs read, and paths right for the machine that reads
it."""

import re
import urllib.parse
from pathlib import Path

# Characters that a terminal, an XML parser or a reader of source would obey or choke on: controls,
# surrogates, noncharacters, and those that turn the direction of writing around.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_WHITE = re.compile(r"[\t\n\u2028\u2029]+")


def clean(text):
    """Return @text with unsafe characters as visible ones, such as `\\x1b`. Tabs and line ends stay."""
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], str(text))


def line(text):
    """Return @text, cleaned, in one line."""
    return _WHITE.sub(" ", clean(text)).strip()


def number(value):
    """Return an address in hexadecimal, or "" for None."""
    return "" if value is None else f"{value:#x}"


def roots(folders=()):
    """Return the folders that paths in files for other programs are relative to: @folders first, then the
    work tree around the current folder, or that folder."""
    found = [Path(folder).resolve() for folder in folders]
    here = Path.cwd()
    tree = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
    return [*found, tree]


def relative(path, folders):
    """Return @path relative to the first of @folders that holds it, with slashes. Others stay as they are."""
    plain = Path(clean(path))
    if not plain.is_absolute():
        return plain.as_posix().removeprefix("./")
    for folder in folders:
        if plain.is_relative_to(folder):
            return plain.relative_to(folder).as_posix()
    return plain.as_posix()


def uri(path, folders):
    """Return @path as a reference that RFC 3986 accepts: relative if it lies in @folders, else a file URI."""
    found = relative(path, folders)
    quoted = urllib.parse.quote(found)
    return f"file://{quoted}" if found.startswith("/") else quoted


def ordinary(stack):
    """Return the first frame of @stack that is neither the sanitizer's nor the allocator's, or None."""
    if stack is None:
        return None
    return next((frame for frame in stack.frames if not frame.role), None)


def place(stack):
    """Return the Location of the first ordinary frame of @stack that has one, or None."""
    frames = stack.frames if stack is not None else []
    for frame in frames:
        if not frame.role:
            found = next((one for one in frame.locations if one.path and one.line > 0), None)
            if found is not None:
                return found
    return None


def function(frame):
    """Return the name of @frame's innermost function."""
    named = next((one.function for one in frame.locations if one.function), "")
    return line(named or frame.name or frame.text)


def main_report(bug):
    """Return the Report of @bug that shows it best, or None if none was kept."""
    if not bug.reports:
        return None
    return bug.reports[bug.smallest if 0 <= bug.smallest < len(bug.reports) else 0]


def bug_title(bug):
    return line(bug.title) or line(bug.type) or "a report without a headline"
