# SPDX-License-Identifier: MIT
"""Rules of the suite `style` for documents: each link leads to a file and, if it names one, to a heading."""

import re

_CODE = re.compile(r"^```.*?^```|(?<!`)`[^`\n]*`", re.M | re.S)
_FENCE = re.compile(r"^```.*?^```", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.M)


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
