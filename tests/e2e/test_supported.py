# SPDX-License-Identifier: MIT
"""docs/programs.md: its tables are those of the library and the command, and its functions are there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))

from redzone import supported


@pytest.fixture
def compiled(redzone, source):
    """The compiler's command of a program."""
    result = redzone("run", source("int main(void)\n{\n\treturn 0;\n}\n"))
    assert result.returncode == 0, result.stdout + result.stderr
    return supported.command_of_a_program()


def test_tables(compiled):
    text = supported.DOCUMENT.read_text(encoding="utf-8")
    made = supported.tables(compiled)
    assert "`malloc`" in made["headers"] and "`--project`" in made["options"]
    now = supported.fill(text, made)
    # A word too many would be a promise that is not kept.
    assert supported.only_in(text, now) == []
    if now != text:
        new = " ".join(supported.only_in(now, text)) or "other words"
        pytest.skip(f"docs/programs.md is older than {new}: python -m redzone.supported writes it")


def test_words_too_many_are_found(compiled):
    text = supported.DOCUMENT.read_text(encoding="utf-8")
    more = text.replace("`malloc`", "`malloc` `nowhere`")
    assert supported.only_in(more, supported.fill(more, supported.tables(compiled))) == ["nowhere"]


def test_functions_are_there(redzone, source, compiled):
    """A header may declare what the library does not have: the linker knows."""
    functions, _, _ = supported.library(compiled)
    names = {name for names in functions.values() for name in names}
    result = redzone("run", source(supported.program_of_all_functions(functions)))
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(names)} functions are there" in result.stdout
