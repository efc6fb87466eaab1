# SPDX-License-Identifier: MIT
"""docs/use/run.md: its tables are those of the library and the command, and its functions are there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from redzone import supported

PROGRAM = "int main(void)\n{\n\treturn 0;\n}\n"


def compiled(redzone, source, name):
    """Return the compiler's command of a program with the C library @name."""
    result = redzone("run", "--libc", name, source(PROGRAM))
    assert result.returncode == 0, result.stdout + result.stderr
    return supported.command_of_a_program()


@pytest.fixture
def small(redzone, source):
    return compiled(redzone, source, "small")


@pytest.fixture(scope="module")
def document():
    return supported.DOCUMENT.read_text(encoding="utf-8")


def old(document, now):
    """Skip: the document says less than holds."""
    new = " ".join(supported.only_in(now, document)) or "other words"
    pytest.skip(f"docs/use/run.md is older than {new}: python -m redzone.supported writes it")


def test_small_table(small, document):
    made = supported.small_table(supported.library(small)[0])
    assert "`malloc`" in made["small"]
    now = supported.fill(document, made)
    # A word too many would be a promise that is not kept.
    assert supported.only_in(document, now) == []
    if now != document:
        old(document, now)


def test_words_too_many_are_found(small, document):
    more = document.replace("`mempcpy`", "`mempcpy` `nowhere`")
    assert more != document
    made = supported.small_table(supported.library(small)[0])
    assert supported.only_in(more, supported.fill(more, made)) == ["nowhere"]


def test_small_functions_are_there(redzone, source, small):
    """A header may declare what the library does not have: the linker knows."""
    functions, _, _ = supported.library(small)
    names = {name for names in functions.values() for name in names}
    result = redzone("run", "--libc", "small", source(supported.program_of_all_functions(functions)))
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(names)} functions are there" in result.stdout


def test_large_table(redzone, source, musl, document):
    """The document promises no function that does not work; ./redzone test libc links those that do."""
    functions, own, absent = supported.library(compiled(redzone, source, musl), supported.ALL)
    works = supported.working(functions)
    assert {"printf", "cos", "malloc", "pthread_create", "alloca"} <= works
    assert not {"fork", "socket", "dlopen", "system", "nowhere"} & works
    assert supported.promised(document, functions) - works == set()
    made = supported.large_tables(functions, own, absent, works)
    assert supported.promised(supported.fill(document, made), functions) == works
    now = supported.fill(document, made)
    assert supported.only_in(document, now) == []
    if now != document:
        old(document, now)


def test_a_promise_too_many_is_found(redzone, source, musl, document):
    functions, _, _ = supported.library(compiled(redzone, source, musl), supported.ALL)
    works = supported.working(functions)
    for before, after in (
        ("`fork` ", ""),
        ("Whole: ", "Whole: `sys/wait.h` "),
        ("only `creat`", "only `splice` `creat`"),
    ):
        more = document.replace(before, after)
        assert more != document
        assert supported.promised(more, functions) - works, before


def test_tables_of_calls_fit_the_sources(redzone, source, musl):
    compiled(redzone, source, musl)
    options = supported.BUILD / supported.PRESET / "libc.json"
    assert supported.libc_calls.Support(options).stale() == []
