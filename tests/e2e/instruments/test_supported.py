# SPDX-License-Identifier: MIT
"""docs/use/run.md: its tables are those of the library and the command, and its functions are there."""

import pytest
from redzone.testing import supported

PROGRAM = "int main(void)\n{\n\treturn 0;\n}\n"


@pytest.fixture
def compiled(redzone, source):
    """The compiler's command of a program."""
    redzone("run", source(PROGRAM), status=0)
    return supported.command_of_a_program()


@pytest.fixture(scope="module")
def document():
    return supported.DOCUMENT.read_text(encoding="utf-8")


def old(document, now):
    """Skip: the document says less than holds."""
    new = " ".join(supported.only_in(now, document)) or "other words"
    pytest.skip(f"docs/use/run.md is older than {new}: python -m redzone.testing.supported writes it")


def test_words_too_many_are_found(document):
    more = document.replace("`--stdin`", "`--stdin` `--nowhere`")
    assert more != document
    assert supported.only_in(more, document) == ["--nowhere"]


def test_table(compiled, document):
    """The document promises no function that does not work; ./redzone test libc links those that do."""
    functions, absent = supported.library(compiled, supported.ALL)
    works = supported.working(functions)
    assert {"printf", "cos", "malloc", "pthread_create", "alloca"} <= works
    assert not {"fork", "socket", "dlopen", "system", "nowhere"} & works
    assert supported.promised(document, functions) - works == set()
    made = supported.tables(functions, absent, works)
    assert supported.promised(supported.fill(document, made), functions) == works
    now = supported.fill(document, made)
    assert supported.only_in(document, now) == []
    if now != document:
        old(document, now)


def test_a_promise_too_many_is_found(compiled, document):
    functions, _ = supported.library(compiled, supported.ALL)
    works = supported.working(functions)
    for before, after in (
        ("`fork` ", ""),
        ("`sys/wait.h` ", ""),
        ("only `creat`", "only `splice` `creat`"),
    ):
        more = document.replace(before, after)
        assert more != document
        assert supported.promised(more, functions) - works, before


def test_tables_of_calls_fit_the_sources(compiled):
    options = supported.BUILD / supported.PRESET / "libc.json"
    assert supported.libc_calls.Support(options).stale() == []
