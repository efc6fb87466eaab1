# SPDX-License-Identifier: MIT
"""The rules of the suite style for documents."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from redzone.suites import _prose


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
