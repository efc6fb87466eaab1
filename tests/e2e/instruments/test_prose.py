# SPDX-License-Identifier: MIT
"""The rules of the suite style for documents."""

from redzone.testing.suites import _prose


def test_broken_links(tmp_path):
    """A missing file and a missing heading are named; code, other sites and good links are not."""
    (tmp_path / "there.md").write_text("# A `title`: two\n\n```\n# not one\n```\n", encoding="utf-8")
    page = tmp_path / "page.md"
    text = (
        "# Here\n[a](there.md) [b](there.md#a-title-two) [c](#here) [d](https://x.org/y)\n"
        "`[e](code.md)`\n```\n[f](code.md)\n```\n[g](there.md#not-one)\n[h](gone.md)\n"
    )
    page.write_text(text, encoding="utf-8")
    assert _prose.broken_links({page: text}) == [
        f"{page}:7: there.md#not-one names no heading",
        f"{page}:8: there is no gone.md",
    ]


def test_broken_tables():
    """A row that is wrapped, joined with the next, or has a | of code is named; an escaped one is not."""
    text = (
        "| a | b |\n|---|---|\n| `x \\| y` | 1 |\n| `x | y` | 2 |\n| long\nrow | 3 |\n\n"
        "| a |\n|---|\n| 1 | | 2 |\n```\n| any |\n| x | y |\n```\n"
    )
    assert _prose.broken_tables({"a.md": text}) == [
        "a.md:4: 3 cells, the heading has 2",
        "a.md:5: 0 cells, the heading has 2",
        "a.md:10: 3 cells, the heading has 1",
    ]


def test_habits():
    """Each habit is named with its line, also across two lines; code and other uses of the words are not."""
    text = (
        "The byte behind it.\nNobody reads `behind`.\nA line says so. What follows is bad.\n"
        "Pages as well as areas. Pages, as\nwell. The size is that of the slot.\n"
        "A note is no report. There is no report. It is no longer one.\n```\nbehind\n```\n"
    )
    found = [problem.split(": write")[0] for problem in _prose.habits({"a.md": text})]
    assert found == [
        "a.md:1: 'behind'",
        "a.md:2: 'Nobody'",
        "a.md:3: 'A line says'",
        "a.md:3: 'What follows'",
        "a.md:4: 'as well'",
        "a.md:5: 'that of the'",
        "a.md:6: 'is no'",
    ]
