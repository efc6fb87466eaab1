# SPDX-License-Identifier: MIT
"""Figures in the documents are those of bench/: how they are compared, and that they are."""

import pytest
from redzone.bench import figures

VALUES = {
    "none.kmalloc_64": 105.2,
    "inline.kmalloc_64": 479.4,
    "inline_no_traces.kmalloc_64": 263.0,
    "none.boot": 13_800_000.0,
    "inline.boot": 16_450_000.0,
    "riscv_inline.kmalloc_64": 958.8,
    "riscv_inline_no_traces.kmalloc_64": 789.0,
    "small.gcc.full.code": 16184,
}


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("it takes 884<!-- inline.kmalloc_64 -->, or", "it takes 479<!-- inline.kmalloc_64 -->, or"),
        ("1,884.0<!-- inline.kmalloc_64 --> %", "479.4<!-- inline.kmalloc_64 --> %"),
        ("0.0<!-- inline.boot / none.boot --> times", "1.2<!-- inline.boot / none.boot --> times"),
        (
            "9<!-- (inline.kmalloc_64 - none.kmalloc_64) / 2 -->",
            "187<!-- (inline.kmalloc_64 - none.kmalloc_64) / 2 -->",
        ),
        ("1<!-- small.gcc.full.code -->", "16,184<!-- small.gcc.full.code -->"),
        ("884<!-- a remark. -->", "884<!-- a remark. -->"),
        (
            "<!-- figures: - | none | inline/none -->\n| op | Linux | none | KASAN |\n|---|---:|---:|---:|\n"
            "| kmalloc(64)+kfree | 7 | 1 | 2 (3.0x) |\n| the same with `kasan.stacktrace=off` | 7 | 1 | - |\n"
            "| boot, million | 91 | 1.0 | 2.0 (2.0x) |\nEnd.\n",
            "<!-- figures: - | none | inline/none -->\n| op | Linux | none | KASAN |\n|---|---:|---:|---:|\n"
            "| kmalloc(64)+kfree | 7 | 105 | 479 (4.6x) |\n"
            "| the same with `kasan.stacktrace=off` | 7 | 105 | - |\n"
            "| boot, million | 91 | 13.8 | 16.4 (1.2x) |\nEnd.\n",
        ),
        (
            "<!-- figures: riscv_inline/inline -->\n| op | KASAN |\n|---|---:|\n"
            "| kmalloc(64)+kfree | 1 |\n| the same with `kasan.stacktrace=off` | 1 |\n",
            "<!-- figures: riscv_inline/inline -->\n| op | KASAN |\n|---|---:|\n"
            "| kmalloc(64)+kfree | 959 (2.0x) |\n| the same with `kasan.stacktrace=off` | 789 (3.0x) |\n",
        ),
    ],
)
def test_renewed(text, right):
    assert figures.renewed(text, VALUES) == right
    assert figures.renewed(right, VALUES) == right


@pytest.mark.parametrize(
    "text",
    [
        "1<!-- inline.nothing -->",
        "1<!-- inline.kmalloc_64 + -->",
        "1<!-- open('none.b') -->",
        "<!-- figures: none -->\n| op | none |\n|---|---|\n| nothing | 1 |\n",
        "<!-- figures: none -->\n| op | none |\n|---|---|\n| kmalloc(64)+kfree | 1 | 2 |\n",
    ],
)
def test_what_is_wrong(text):
    with pytest.raises(figures.Wrong):
        figures.renewed(text, VALUES)


def test_a_stale_figure_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(
        figures, "documents", lambda: {figures.ROOT / "docs" / "a.md": "\n884<!-- inline.kmalloc_64 -->\n"}
    )
    (line,) = figures.problems()
    assert line.startswith("docs/a.md:2: bench/ has: ")


def test_the_documents():
    named = {path.name for path in figures.documents()}
    assert {"README.md", "costs.md", "reference.md", "small-memory.md"} <= named
    assert figures.problems() == []
