# SPDX-License-Identifier: MIT
"""Rules of the suite `style` for documents and public headers: links lead somewhere, words are plain."""

import re

_CODE = re.compile(r"^```.*?^```|(?<!`)`[^`\n]*`", re.M | re.S)
_FENCE = re.compile(r"^```.*?^```", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.M)
# Divides the cells of a table, also inside of `code`.
_CELL = re.compile(r"(?<!\\)\|")


def _blank(pattern, text):
    """Return @text without what @pattern matches, with the same lines."""
    return pattern.sub(lambda found: "\n" * found[0].count("\n"), text)


def anchors(text):
    """Return the names that GitHub gives to the headings of the document @text."""
    titles = (
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in _HEADING.findall(_blank(_FENCE, text))
    )
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def broken_links(documents):
    """Return the links in @documents, {path: text}, that lead nowhere."""
    problems = []
    for path, text in documents.items():
        plain = _blank(_CODE, text)
        for found in _LINK.finditer(plain):
            name, _, anchor = found[1].partition("#")
            if ":" in name:
                continue
            target = (path.parent / name).resolve() if name else path
            line = plain.count("\n", 0, found.start()) + 1
            if not target.exists():
                problems.append(f"{path}:{line}: there is no {found[1]}")
            elif (
                anchor
                and target.suffix == ".md"
                and anchor not in anchors(target.read_text(encoding="utf-8"))
            ):
                problems.append(f"{path}:{line}: {found[1]} names no heading")
    return problems


def broken_tables(documents):
    """Return the rows of tables in @documents, {path: text}, whose cells are not as many as the heading's."""
    problems = []
    for path, text in documents.items():
        wanted = 0
        for number, line in enumerate(_blank(_FENCE, text).splitlines(), 1):
            cells = len(_CELL.findall(line)) if line.startswith("|") else 0
            if cells and wanted and cells != wanted:
                problems.append(f"{path}:{number}: {cells - 1} cells, the heading has {wanted - 1}")
            wanted = cells and (wanted or cells)
    return problems


# What a reader stumbles over, and what to write instead.
HABITS = {
    r"behind": "after, past, or what is meant",
    r"nobody": "a sentence with another subject",
    r"a\s+line\s+says": "Redzone says, or the message",
    r"what\s+follows": "the thing itself",
    r"as\s+well(?! as\b)": "also, or too",
    r"that\s+of\s+the": "the noun again",
    r"(?<!there )(?<!there\n)(?:is|are)\s+no(?! longer\b| more\b)": "is not a",
}
_HABIT = re.compile("|".join(rf"(?P<h{at}>\b{habit}\b)" for at, habit in enumerate(HABITS)), re.I)


def habits(texts):
    """Return where @texts, {path: text}, have one of HABITS outside of code."""
    problems = []
    for path, text in texts.items():
        plain = _blank(_CODE, text)
        for found in _HABIT.finditer(plain):
            line = plain.count("\n", 0, found.start()) + 1
            instead = [*HABITS.values()][int(found.lastgroup[1:])]
            problems.append(f"{path}:{line}: '{' '.join(found[0].split())}': write {instead}")
    return problems
