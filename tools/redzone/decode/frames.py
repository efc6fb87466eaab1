# SPDX-License-Identifier: MIT
"""Makes a model.Frame of a line of a trace, as any kernel, runtime or script prints it."""

import functools
import re

from redzone.decode import shapes
from redzone.decode.model import Frame, Location

# A function that has no name.
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}|[0-9a-f]{8}|[0-9a-f]{16}")
# Names of the register that holds the instruction of a crash; the others hold return addresses.
_PROGRAM_COUNTERS = frozenset(("pc", "rip", "epc", "era", "nip"))


def number(text, base=10):
    """Return the number @text, None if there is none."""
    return int(text, base) if text else None


def address(text):
    """Return the address @text, None if there is none; "(null)" is 0."""
    if not text:
        return None
    return 0 if text == "(null)" else int(text, 16)


def function_of(where):
    """Return the function's name of a headline's "name+0x1/0x2 [module]", or the address it has instead."""
    name = where.split("+0x")[0].split(" ")[0] if where else ""
    name = name.strip("[]<>") if name[:2] == "[<" else name
    return f"{int(name, 16):#x}" if _ADDRESS.fullmatch(name) else name


def unhashed(text):
    """Return the address @text, None if it is printk's hash of one: 32 bits on a machine that has 64."""
    digits = text.removeprefix("0x")
    return None if len(digits) == 16 and digits.startswith("00000000") else address(text)


def path_of(text):
    """Return the Location of "FILE:LINE" or "FILE:LINE:COLUMN", None if it is none."""
    parts = text.split(":")
    if len(parts) in (2, 3) and all(part.isdecimal() and len(part) < 10 for part in parts[1:]):
        return Location("", parts[0], int(parts[1]), int(parts[2]) if len(parts) == 3 else 0)
    return None


@functools.lru_cache(8192)
def _simple(text):
    """Return what Frame() takes of a line that is ` ? name+0x1/0x2 [module build]`, None for others."""
    match = shapes.SIMPLE.fullmatch(text)
    if match is None:
        return None
    unsure, name, offset, size, module, build = match.groups()
    return (
        text.strip(),
        name,
        int(offset, 16),
        int(size, 16),
        module or "",
        build or "",
        None,
        False,
        not unsure,
    )


def simple_frame(text):
    """Return the model.Frame of a line as Linux since 4.9 and this runtime print them, None for others."""
    found = _simple(text)
    return Frame(*found) if found is not None else None


def parse_frame(text, pending=None, inside=False):
    """Return the model.Frame of a line of a trace, None if it is none. True: it names an inlined function,
    which is put into the list @pending and belongs to the frame that follows.

    @inside: a trace has begun, so that lines that have lost their indentation are frames as well."""
    if text[:1] == " " and "+0x" in text and (frame := simple_frame(text)) is not None:
        return _with_sources(frame, None, pending)
    if inside and text[:1] == ">" and "+0x" in text:
        # A mail program has broken a quoted line, so that this one lacks the rest of the prefix.
        text = " " + text.lstrip("> ")
    if ":" in text and shapes.REGISTERS.match(text) and "+0x" not in text:
        return None
    if "+0x" in text:
        match = shapes.ARM.match(text) if " from " in text else None
        match = match or shapes.FRAME.match(text)
        if match and (match.groupdict().get("register") or "").lower() in ("lr", "ra"):
            # The caller stands in the trace as well.
            return None
        if match and (match.start("name") > 0 or text[:1] in " \t" or (inside and _alone(match))):
            return _with_sources(_frame_of(match), match, pending)
    if "#" in text and "0x" in text:
        match = shapes.USER.match(text)
        if match:
            return _user_frame(match)
    if text[:1] in " \t" and ("0x" in text or "[<" in text or len(text) in (9, 17)):
        match = shapes.ADDRESS.match(text)
        if match:
            where = int(match["address"] or match["old"] or match["bare"], 16)
            return Frame(text.strip(), "", None, None, match["module"] or "", "", where)
    if ":" in text and (text[:1] in " \t" or inside):
        match = shapes.SCRIPTED.match(text)
        if match:
            where = Location(match["name"], match["path"], int(match["line"]), int(match["column"] or 0))
            if match["inline"]:
                if pending is not None and len(pending) < 32:
                    pending.append(where)
                return True
            frame = Frame(
                text.strip(), match["name"], module=match["module"] or "", reliable=not match["unsure"]
            )
            return _with_sources(frame, None, pending, where)
    return None


def _alone(match):
    """Is a match of shapes.FRAME or shapes.ARM all of the line, but for a place?"""
    rest = match.groupdict().get("rest") or ""
    return rest.strip() in ("", "(unreliable)") or bool(shapes.REST_PLACE.match(rest))


def _frame_of(match):
    """Return the model.Frame of a match of shapes.FRAME or shapes.ARM."""
    name, offset, size, module, where = match.group("name", "offset", "size", "module", "address")
    frame = Frame(
        match.string.strip(),
        name,
        int(offset, 16),
        int(size, 16) if size else None,
        module or "",
        "",
        int(where, 16) if where else None,
    )
    if match.re is shapes.FRAME:
        register, psw, unsure, build = match.group("register", "psw", "unsure", "build")
        frame.build_id = build or ""
        frame.exact = psw is not None or (register or "").lower() in _PROGRAM_COUNTERS
        frame.reliable = not unsure and "(unreliable)" not in match["rest"]
    return frame


def _with_sources(frame, match, pending, where=None):
    """Add to @frame the places that a script has put into the log."""
    if where is None and match is not None and match.re is shapes.FRAME and ":" in match["rest"]:
        place = shapes.REST_PLACE.match(match["rest"])
        if place:
            where = Location(frame.name, place["path"], int(place["line"]), int(place["column"] or 0))
    if pending:
        if where is not None:
            frame.locations = [*pending, where]
        pending.clear()
    elif where is not None:
        frame.locations = [where]
    return frame


def _user_frame(match):
    name = match["name"] or ""
    frame = Frame(match.string.strip(), name, None, None, "", match["build"] or "", int(match["address"], 16))
    if match["object"]:
        frame.module = match["object"].rpartition("/")[2]
        frame.offset = int(match["in_object"], 16)
    if match["path"]:
        frame.locations = [Location(name, match["path"], int(match["line"]), int(match["column"] or 0))]
    return frame
