# SPDX-License-Identifier: MIT
"""The table of public libraries, and the judge of what their programs print."""

from types import SimpleNamespace

from redzone.libraries import catalogue, recipe
from redzone.libraries.recipe import Library, Program
from redzone.testing.mutation import native
from redzone.testing.suites import libraries as suite


def test_numbers_in_the_group_of_count_are_added():
    program = Program("tests", count=r"^(\d+) passed$", tests=30)
    assert recipe.judge(program, ["10 passed", "noise", "20 passed"]) == []
    assert recipe.judge(program, ["10 passed"]) == ["10 tests, expected 30"]


def test_without_a_group_lines_are_counted():
    program = Program("tests", count=r"^ok", tests=2)
    assert recipe.judge(program, ["ok", "not ok", "ok"]) == []
    assert recipe.judge(program, ["ok", "not ok"]) == ["1 tests, expected 2"]


def test_texts_and_native_output_are_compared():
    program = Program("tests", says=("all good",), host=True)
    assert recipe.judge(program, ["all good"], ["all good"]) == []
    assert recipe.judge(program, ["bad"], ["bad"]) == ["it did not say 'all good'"]
    assert recipe.judge(program, ["all good", "2"], ["all good", "3"]) == [
        "line 2 is '2', and '3' on the host"
    ]
    assert recipe.judge(program, ["all good"], ["all good", "more"]) == [
        "line 2 is None, and 'more' on the host"
    ]


def test_paths_are_in_the_library_or_in_one_that_it_uses():
    def source(root):
        return SimpleNamespace(root=lambda folder: folder / root)

    other = Library("other", source("other-2"), headers={"config.h": ""})
    library = Library("one", source("one-1"), uses=(other,))
    assert library.path("src/a.c") == recipe.FOLDER / "one" / "one-1" / "src" / "a.c"
    assert library.path("other:b.c") == recipe.FOLDER / "other" / "other-2" / "b.c"
    options = library.compile_options(Program("tests", includes=("", "other:lib")))
    assert [str(other.made), str(other.root / "lib")] == [options[1], options[5]]


def test_every_program_of_the_table_has_something_that_it_must_say():
    names = [(library.name, program.name) for library in catalogue.LIBRARIES for program in library.programs]
    assert len(names) == len(set(names))
    for library in catalogue.LIBRARIES:
        for program in library.programs:
            assert program.host or program.says or program.count, (library.name, program.name)
            assert bool(program.count) == bool(program.tests)
            assert all((recipe.OWN / name).is_file() for name in program.own)
    assert all(suite.chosen(pattern) for pattern in catalogue.SMALL)
    assert len({pattern.partition(".")[0] for pattern in catalogue.SMALL}) == 4


def test_bugs_are_planted_only_where_the_table_allows_it():
    library = Library(
        "one",
        SimpleNamespace(root=lambda folder: folder),
        (Program("yes", ("a.c",)), Program("no", ("b.c",), planted=False)),
    )
    assert [case.name for case in native.cases(library)] == ["one.yes"]
    assert all(native.cases(library) for library in catalogue.LIBRARIES)
