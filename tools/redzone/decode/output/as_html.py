# SPDX-License-Identifier: MIT
"""`--html`: one page that needs nothing but itself. The templates are in templates/.

Every text of the log goes through clean() and Jinja's escaping, and the page's policy runs no script and
loads nothing but what stands in it by hash.
"""

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from redzone.core import base
from redzone.decode.output import as_map
from redzone.decode.output import as_text as text
from redzone.decode.output import as_types as types

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
# Bugs that get a section of their own. A browser on a phone still scrolls through them.
DETAILED = 200
# Lines of a log that are shown for a report, and frames of a stack.
RAW = 400
FRAMES = 64
# The order in which stacks stand side by side.
_STACKS = ("call", "allocated", "freed", "page_allocated", "page_freed", "stored", "work", "work2")
_TITLES = {
    "call": "The access",
    "allocated": "Allocated",
    "freed": "Freed",
    "work": "Handed to RCU or a workqueue",
    "work2": "Handed over the time before",
    "page_allocated": "Page allocated",
    "page_freed": "Page freed",
    "vmalloc": "Area created",
    "frame": "The variable's function",
    "thread": "Thread created",
    "stored": "Pointer stored",
    "variable": "Declaration",
}


@dataclass
class Line:
    """A line of a stack. @kind: "main" (the first ordinary frame), "plumbing" or "plain"."""

    kind: str
    name: str
    offset: str
    place: str
    module: str
    inlined: bool
    sure: bool


@dataclass
class Panel:
    """A stack with its source. @title: what it is; @said: its headline in the log."""

    title: str
    said: str
    lines: list
    more: int
    excerpts: list


@dataclass
class View:
    """A report as the page shows it. @anchor: its id."""

    anchor: str
    report: object
    headline: str
    facts: list
    drawing: object
    panels: list
    raw: list
    raw_more: int


@dataclass
class Section:
    """A bug as the page shows it."""

    number: int
    bug: object
    title: str
    kind: str
    place: str
    text: str
    views: list


@dataclass
class Group:
    """Reports of one object. @views: [(View, number of the bug)]."""

    title: str
    views: list


def _place(location, roots):
    if location is None or not location.path:
        return ""
    return text.relative(location.path, roots) + (f":{location.line}" if location.line > 0 else "")


def _lines(stack, roots):
    """Return the Lines of @stack, a line for each inlined function."""
    found, main = [], True
    for frame in stack.frames[:FRAMES]:
        kind = "plumbing" if frame.role else "plain"
        if main and not frame.role:
            kind, main = "main", False
        offset = f"+{frame.offset:#x}" if frame.offset is not None else ""
        if not offset and frame.address is not None:
            offset = f" {frame.address:#x}"
        module = text.line(frame.module)
        for one in frame.locations[:-1]:
            found.append(
                Line(kind, text.line(one.function), "", _place(one, roots), module, True, frame.reliable)
            )
            kind = "plumbing" if frame.role else "plain"
        last = frame.locations[-1] if frame.locations else None
        name = text.line(frame.name or (last.function if last is not None else "") or frame.text)
        found.append(Line(kind, name, offset, _place(last, roots), module, False, frame.reliable))
    return found


def _panels(report, roots):
    """Return the Panels of @report: its stacks with the source of each, then source that belongs to none."""
    rank = {kind: at for at, kind in enumerate(_STACKS)}
    panels, left = [], list(report.excerpts)
    for stack in sorted(report.stacks, key=lambda one: rank.get(one.kind, len(rank))):
        own = [one for one in left if one.about == stack.kind]
        left = [one for one in left if one.about != stack.kind]
        title = _TITLES.get(stack.kind, "Stack")
        if stack.kind == "call" and report.access.asynchronous:
            title = "Where it was noticed"
        said = text.line(stack.title)
        more = max(0, len(stack.frames) - FRAMES)
        panels.append(Panel(title, said, _lines(stack, roots), more, own))
    for one in left:
        panels.append(Panel(_TITLES.get(one.about, "Source"), "", [], 0, [one]))
    return panels


def _task(task):
    if task is None:
        return ""
    return "/".join(str(one) for one in (text.line(task.name), task.id) if one not in ("", None))


def _facts(report):
    """Return [(name, value)] about @report."""
    access = report.access
    rows = [
        ("mode", types.MODES.get(report.mode, "")),
        ("task", _task(report.task)),
        ("CPU", "" if report.cpu is None else str(report.cpu)),
        ("time", text.line(report.time)),
        ("pointer tag", "" if access.pointer_tag is None else f"{access.pointer_tag:02x}"),
        ("memory tag", "" if access.memory_tag is None else f"{access.memory_tag:02x}"),
        ("test case", text.line(report.case)),
        ("file", text.line(report.source) if report.source not in ("", "-") else ""),
        ("lines", f"{report.first_line} to {report.last_line}" if report.first_line else ""),
    ]
    thing = report.object
    if thing is not None and thing.cache:
        size = f", {base.plural(thing.cache_size, 'byte')} each" if thing.cache_size else ""
        rows.append(("cache", f"{text.line(thing.cache)}{size}"))
    return [(name, value) for name, value in rows if value]


def _view(report, anchor, roots):
    raw = [text.clean(one) for one in report.raw[:RAW]]
    headline = text.line(report.title) or text.line(report.type) or "report"
    return View(
        anchor,
        report,
        headline,
        _facts(report),
        as_map.draw(report),
        _panels(report, roots),
        raw,
        max(0, len(report.raw) - RAW),
    )


def _sections(log, roots):
    sections, number = [], 0
    for at, bug in enumerate(log.bugs[:DETAILED], 1):
        views = []
        for report in bug.reports:
            number += 1
            views.append(_view(report, f"report-{number}", roots))
        sections.append(
            Section(
                at,
                bug,
                text.bug_title(bug),
                types.NAMES.get(bug.kind, text.line(bug.kind)),
                _place(bug.location, roots),
                types.text(bug),
                views,
            )
        )
    return sections


def _identity(report):
    """Return what reports of one object share, or None if the report does not say which object it is."""
    thing = report.object
    if thing is None or thing.start is None or thing.kind not in ("slab", "heap", "page", "vmalloc"):
        return None
    stack = report.stack("allocated") or report.stack("page_allocated")
    if stack is None:
        # Without its allocation, another object at the same address would look the same.
        return None
    frames = tuple((frame.text, frame.address) for frame in stack.frames)
    task = (stack.task.name, stack.task.id) if stack.task is not None else None
    return report.source, thing.start & ((1 << 56) - 1), frames, task, stack.time, stack.cpu


def _groups(sections):
    """Return the Groups of at least two reports."""
    found = {}
    for section in sections:
        for view in section.views:
            key = _identity(view.report)
            if key is not None and view.drawing is not None:
                found.setdefault(key, []).append((view, section.number))
    groups = []
    for views in found.values():
        if len(views) > 1:
            views.sort(key=lambda one: one[0].report.first_line)
            thing = views[0][0].report.object
            name = " ".join(one for one in (thing.type or thing.cache or thing.kind, "object") if one)
            title = f"{text.line(name)} at {as_map.hexadecimal(thing.start)}"
            groups.append(Group(title, views))
    return groups


def _hash(script):
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _summary(log):
    """Return the page's title."""
    new = len(log.new_bugs())
    words = f"{base.plural(len(log.bugs), 'bug')} in {base.plural(log.reports, 'report', log.at_least)}"
    if not log.bugs:
        return "No report in the log"
    return f"{words}, {new} new" if new != len(log.bugs) else words


def render(log, roots=()):
    """Return the page of @log, a model.Log. Paths in it are relative to the folders @roots."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": text.line, "clean": text.clean, "plural": base.plural}
    environment.filters["address"] = as_map.hexadecimal
    environment.filters["place"] = lambda location: _place(location, roots)
    style = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    sections = _sections(log, roots)
    return environment.get_template("page.html.jinja").render(
        log=log,
        title=_summary(log),
        sections=sections,
        rest=log.bugs[DETAILED:],
        groups=_groups(sections),
        # Ours, and hashed above: these two alone are not escaped.
        style=Markup(style),
        script=Markup(script),
        policy=policy,
        kinds=as_map.KINDS,
        modes=types.MODES,
        version=base.version(),
    )


def write(stream, log, roots):
    stream.write(render(log, roots))
