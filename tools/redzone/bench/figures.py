# SPDX-License-Identifier: MIT
"""Compares figures in the documents with the records in bench/, for the suite `style`.

A figure is a number with a comment after it, as in `479<!-- inline.kmalloc_64 -->`. The comment has a
sum of names: COLUMN.OPERATION of `./redzone bench`, or small.COMPILER.LAYOUT.NAME of `./redzone size`. A
comment before a table names its columns: `<!-- figures: - | none | inline/none -->`. There a row is an
operation, by its title in the tables of `./redzone bench`; `-` is a column with other contents, and A/B
has the ratio in brackets. A row "the same with `kasan.stacktrace=off`" is that of the row before,
without traces.

When figures were recorded anew, `PYTHONPATH=tools .venv/bin/python -m redzone.bench.figures` writes the
numbers.
"""

import ast
import json
import operator
import re

from redzone.bench import cost
from redzone.core.base import ROOT

# The columns of each record, by the name that comments have for them.
RECORDS = {
    "results-arm64.json": {"none": "none", "inline": "generic-inline", "outline": "generic-outline"},
    "tags-arm64.json": {"sw_inline": "sw_tags-inline", "sw_outline": "sw_tags-outline", "hw": "hw_tags"},
    "results-riscv64.json": {
        "riscv_none": "none",
        "riscv_inline": "generic-inline",
        "riscv_outline": "generic-outline",
        "riscv_sw_inline": "sw_tags-inline",
        "riscv_sw_outline": "sw_tags-outline",
    },
}
NO_TRACES = "_no_traces"
_NAME = re.compile(r"\b(\w+)\.([\w.]+(?:@\d+)?)")
_FIGURE = re.compile(
    r"(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"<!-- (?P<sum>(?=[^>]*\b(?:(?:riscv_)?(?:none|(?:sw_)?(?:in|out)line\w*)|hw\w*|small)\.)[^>]*) -->"
)
_TABLE = re.compile(r"<!-- figures: (?P<columns>[^>]*) -->\n(?P<table>(?:\|.*\n)+)")
_SAME = "the same with `kasan.stacktrace=off`"
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


class Wrong(Exception):
    """A comment that cannot be understood. The text says why."""


def _values():
    """Return {"COLUMN.OPERATION": number} of all records."""
    found = {}
    for name, columns in RECORDS.items():
        figures = json.loads((ROOT / "bench" / name).read_text(encoding="utf-8"))["figures"]
        for column, recorded in columns.items():
            for suffix, end in (("", ""), (NO_TRACES, ", no traces")):
                for op, value in figures.get(recorded + end, {}).items():
                    found[f"{column}{suffix}.{op}"] = value
    small = json.loads((ROOT / "bench" / "small.json").read_text(encoding="utf-8"))
    for compiler, layouts in small.items():
        for layout, figures in layouts.items():
            found |= {f"small.{compiler}.{layout}.{name}": value for name, value in figures.items()}
    return found


def _calculate(text, values):
    """Return the value of the sum @text."""
    names = []

    def number(match):
        names.append(match[0])
        return f"v{len(names) - 1}"

    def value(node):
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.Name) and node.id[1:].isdigit():
            name = names[int(node.id[1:])]
            if name in values:
                return values[name]
            raise Wrong(f"no record has '{name}'")
        raise Wrong(f"'{text}' is no sum of figures")

    try:
        return value(ast.parse(_NAME.sub(number, text), mode="eval").body)
    except SyntaxError:
        raise Wrong(f"'{text}' is no sum of figures") from None


def _like(number, written):
    """Return @number with as many decimals as the number @written has."""
    return f"{number:,.{len(written.partition('.')[2])}f}"


def _cell(column, op, suffix, million, values):
    """Return the cell of a table for @op. column: "A", or "A/B"."""
    first, _, second = column.partition("/")
    # A kernel without KASAN has no traces to leave out.
    first, second = (name if name.endswith("none") else name + suffix for name in (first, second or "none"))
    value = _calculate(f"{first}.{op}", values)
    text = f"{value / 1e6:.1f}" if million else f"{value:,.0f}"
    return text + (f" ({value / _calculate(f'{second}.{op}', values):.1f}x)" if "/" in column else "")


def _row(line, columns, operations, before, values):
    """Return (line as it should be, its operation). before: the operation of the row before."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    title, million = cells[0].replace("`", "").removesuffix(", million"), cells[0].endswith(", million")
    same = cells[0] == _SAME
    op = before if same else operations.get(title)
    if op is None:
        raise Wrong(f"'{cells[0]}' is no operation of ./redzone bench")
    if len(cells) != len(columns) + 1:
        raise Wrong(f"the row '{cells[0]}' has {len(cells)} cells, not {len(columns) + 1}")
    for at, column in enumerate(columns, 1):
        if column != "-":
            suffix = NO_TRACES if same else ""
            cells[at] = _cell(column, op, suffix, million, values) if cells[at] != "-" else "-"
    return f"| {' | '.join(cells)} |\n", op


def renewed(text, values):
    """Return the document @text with the figures that the records have."""
    operations = {title: op for group in cost.GROUPS.values() for op, title in group.items()}
    operations["boot"] = "boot"

    def figure(match):
        number = _like(_calculate(match["sum"], values), match["number"])
        return f"{number}<!-- {match['sum']} -->"

    def table(match):
        columns = [word.strip() for word in match["columns"].split("|")]
        head, rows, op = match["table"].splitlines(True)[:2], match["table"].splitlines(True)[2:], None
        made = []
        for row in rows:
            line, op = _row(row, columns, operations, op, values)
            made.append(line)
        return f"<!-- figures: {match['columns']} -->\n{''.join(head + made)}"

    return _TABLE.sub(table, _FIGURE.sub(figure, text))


def documents():
    """Return {path: text} of the documents that have such figures."""
    found = {
        path: path.read_text(encoding="utf-8")
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    }
    return {path: text for path, text in found.items() if _FIGURE.search(text) or _TABLE.search(text)}


def problems():
    """Return a line for each figure that is not the record's."""
    values, lines = _values(), []
    for path, text in documents().items():
        name = path.relative_to(ROOT)
        try:
            right = renewed(text, values)
        except Wrong as error:
            lines.append(f"{name}: {error}")
            continue
        pairs = enumerate(zip(text.splitlines(), right.splitlines(), strict=True), 1)
        lines += [f"{name}:{number}: bench/ has: {new.strip()}" for number, (old, new) in pairs if old != new]
    return lines


def write():
    """Write the figures of the records into the documents."""
    values = _values()
    for path, text in documents().items():
        path.write_text(renewed(text, values), encoding="utf-8")


if __name__ == "__main__":
    write()
