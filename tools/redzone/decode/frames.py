# SPDX-License-Identifier: MIT
"""Makes a model.Frame of a line of a trace, as any kernel, runtime or script prints it."""

from redzone.decode import shapes
from redzone.decode.model import Frame, Location


def number(text, base=10):
    """Return the number @text, None if there is none."""
    return int(text, base) if text else None


def address(text):
    """Return the address @text, None if there is none; "(null)" is 0."""
    if not text:
        return None
    return 0 if text == "(null)" else int(text, 16)


def parse_frame(text, pending=None):
    """Return the model.Frame of a line of a trace, None if it is none. True: it names an inlined function,
    which is put into the list @pending and belongs to the frame that follows."""
    if "+0x" in text:
        match = shapes.ARM.match(text) if " from " in text else None
        match = match or shapes.FRAME.match(text)
        if match and (match.start("name") > 0 or text[:1] in " \t"):
            return _with_sources(_frame_of(match), match, pending)
    if "#" in text and "0x" in text:
        match = shapes.USER.match(text)
        if match:
            return _user_frame(match)
    if text[:1] in " \t":
        if "0x" in text or "[<" in text or len(text) in (9, 17):
            match = shapes.ADDRESS.match(text)
            if match:
                where = int(match["address"] or match["old"] or match["bare"], 16)
                return Frame(text.strip(), "", None, None, match["module"] or "", "", where)
        if ":" in text:
            match = shapes.SCRIPTED.match(text)
            if match:
                where = Location(match["name"], match["path"], int(match["line"]), int(match["column"] or 0))
                if match["inline"]:
                    if pending is not None and len(pending) < 32:
                        pending.append(where)
                    return True
                return _with_sources(
                    Frame(text.strip(), match["name"], reliable=not match["unsure"]), None, pending, where
                )
    return None


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
        register, unsure, build = match.group("register", "unsure", "build")
        frame.build_id = build or ""
        frame.exact = register is not None and register.lower() in ("pc", "rip", "epc")
        frame.reliable = not unsure
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
