# SPDX-License-Identifier: MIT
"""Bugs for the suite `mutations`: where they are planted, what the edit is, which verdicts are alike."""

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from redzone.core import base, process
from redzone.decode import model
from redzone.libraries import catalogue, recipe, registries
from redzone.run import each, each_build
from redzone.testing import runner
from redzone.testing.mutation import compare, guest, native, picker, places, verdict, workloads

SAMPLE = b"""\
#include <stdlib.h>
#include <string.h>
#define LAST(p, n) ((p)[(n) - 1])
struct item { char *name; int size; };
static const char *find(const struct item *item, int *at)
{
    int end = item->size;
    for (*at = 0; *at < end; ++*at)
        if (item->name[*at] == '.')
            return item->name;
    return NULL;
}
struct item *make(const char *name, int size)
{
    struct item *item = malloc(sizeof(*item));
    int at = 0;
    item->name = malloc(size + 1);
    memcpy(item->name, name, size);
    item->name[size] = 0;
    item->size = size;
    find(item, &at);
    return item;
}
void grow(struct item *item, int size)
{
    char *name = realloc(item->name, size);
    name[size - 1] = 0;
    item->name = name;
}
void drop(struct item *item)
{
    char *name = item->name;
    name[0] = 0;
    free(name);
    if (item)
        free(item);
}
"""


def by_rule(source, rule):
    return [place for place in places.find(source) if place.rule == rule]


def lines_of(source, place):
    """Return the lines of @source that the edit changes, as they are then."""
    old, new = source.decode().splitlines(), place.apply(source).decode().splitlines()
    assert len(old) == len(new), "no line moves"
    return [line.strip() for line, before in zip(new, old, strict=True) if line != before]


@pytest.mark.parametrize(
    ("rule", "expected"),
    (
        ("comparison", ["for (*at = 0; *at <= end; ++*at)"]),
        ("minus-one", ["name[size] = 0;"]),
        ("plus-constant", ["item->name = malloc(size);"]),
        ("length", ["memcpy(item->name, name, (size) + 1);"]),
        ("realloc-ignored", ["char *name = (realloc(item->name, size), item->name);"]),
        ("early-free", ["free(name); name[0] = 0;", ";"]),
        (
            "dead-argument",
            ["find(item, ({ __typeof__(at) redzone_local = at; &redzone_local; }));"],
        ),
        (
            "dead-result",
            ["return item ? ({ __typeof__(*item) redzone_local = *item; &redzone_local; }) : item;"],
        ),
    ),
)
def test_each_rule_makes_its_edit(rule, expected):
    (place,) = by_rule(SAMPLE, rule)
    assert lines_of(SAMPLE, place) == expected


def test_rules_with_several_places():
    assert [lines_of(SAMPLE, place) for place in by_rule(SAMPLE, "index")] == [
        ["if (item->name[(*at) + 1] == '.')"],
        ["item->name[size + 1] = 0;"],
        ["name[(size - 1) + 1] = 0;"],
        ["name[0 + 1] = 0;"],
    ]
    assert [lines_of(SAMPLE, place) for place in by_rule(SAMPLE, "half-size")] == [
        ["struct item *item = malloc((sizeof(*item)) / 2);"],
        ["item->name = malloc((size + 1) / 2);"],
        ["char *name = realloc(item->name, (size) / 2);"],
    ]
    # The second one is the only statement of an `if`.
    assert [lines_of(SAMPLE, place) for place in by_rule(SAMPLE, "double-free")] == [
        ["{ free(name); free(name); }"],
        ["{ free(item); free(item); }"],
    ]


def test_each_mutant_compiles(tmp_path):
    for number, place in enumerate(places.find(SAMPLE)):
        file = tmp_path / f"{number}.c"
        file.write_bytes(place.apply(SAMPLE))
        command = ["clang-19", "-std=gnu17", "-w", "-fsyntax-only", str(file)]
        made = process.run(command)
        assert made.returncode == 0, f"{place}\n{made.stderr}"


@pytest.mark.parametrize(
    ("body", "rule"),
    (
        # Neither an index nor a length.
        ("if (n < 3) return;", "comparison"),
        # The last use is the assignment that makes it live again.
        ("p = q; free(p);", "early-free"),
        # Evaluated twice, it would free two objects.
        ("free(*p++);", "double-free"),
        ("free(next(p));", "double-free"),
        ("free(NULL);", "double-free"),
        ("p = realloc(next(p), n);", "realloc-ignored"),
        ("other_deallocate(n);", "half-size"),
        ("static int at; use(&at);", "dead-argument"),
        ("int at[4]; use(&at);", "dead-argument"),
        ("{ int at; } { char *at; use(&at); }", "dead-argument"),
        # A function without a pointer as its result.
        ("return n;", "dead-result"),
    ),
)
def test_what_is_no_place(body, rule):
    source = f"void f(char **p, char *q, int n)\n{{ {body} }}\n".encode()
    assert by_rule(source, rule) == []


def test_hooks_and_pools_are_allocators():
    source = b"""void *f(struct pool *pool, char *p, int n) {
        p = pool->mem.realloc_fcn(p, n);
        p = (char *)pool_realloc(pool, p, n * 2);
        pool->hooks.deallocate(p);
        pool_free(pool, p);
        return p; }
    """
    assert [place.after for place in by_rule(source, "realloc-ignored")] == [
        "p = (pool->mem.realloc_fcn(p, n), p)",
        "p = (char *)(pool_realloc(pool, p, n * 2), p)",
    ]
    assert [place.before for place in by_rule(source, "double-free")] == [
        "pool->hooks.deallocate(p);",
        "pool_free(pool, p);",
    ]


def test_macro_definitions_and_broken_code_are_left_out():
    assert places.find(b"#define F(a, i) a[i - 1]\nint x = 1;\n") == []
    assert by_rule(b"void f(int *a, int n) { a[n - ] = 1; }\n", "minus-one") == []


def coverage(*segments):
    return native.Coverage([[*segment, True, True, False] for segment in segments])


def test_coverage_is_that_of_the_segment():
    found = coverage((1, 1, 5), (2, 10, 0), (4, 1, 7))
    assert [found.count(line, 9) for line in (1, 2, 3, 4)] == [5, 5, 0, 7]
    assert found.count(2, 10) == 0
    assert native.Coverage([]).count(1, 1) == 0
    assert coverage((3, 1, 5)).count(2, 80) == 0


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A library with one file and two test programs: (Library, [Case])."""
    monkeypatch.setattr(recipe, "FOLDER", tmp_path)
    program = recipe.Program("tests", sources=("tests/a.c", "tests/b.c"), library=("src/item.c",), each=True)
    source = registries.Debian("pool/sample.tar.gz", "0", "sample-1")
    library = recipe.Library("sample", source, (program,))
    for name in ("tests/a.c", "tests/b.c", "src/item.c"):
        library.path(name).parent.mkdir(parents=True, exist_ok=True)
        library.path(name).write_bytes(SAMPLE)
    return library, native.cases(library)


def picks_of(library, cases, segments):
    path = library.path("src/item.c").resolve()
    covered = {case: {path: coverage(*part)} for case, part in zip(cases, segments, strict=True)}
    for case in cases:
        covered[case][case.sources[0].resolve()] = coverage((1, 1, 9))
    used = {case: {unit: [unit.resolve()] for unit in case.units} for case in cases}
    return picker.candidates(library, covered, used)


def test_only_executed_code_of_the_library_is_chosen(sample):
    library, (first, second) = sample
    # The first program executes grow(), the second everything up to it.
    picks = picks_of(library, (first, second), [((1, 1, 0), (24, 1, 1), (29, 1, 0)), ((1, 1, 3), (29, 1, 0))])
    assert {pick.file for pick in picks} == {"src/item.c"}
    assert max(pick.place.line for pick in picks) < 29
    # The program that executes more is chosen where both can be.
    assert {pick.case for pick in picks} == {second}
    assert picks_of(library, (first, second), [((1, 1, 0),), ((1, 1, 0),)]) == []


def test_a_file_in_two_units_is_left_out(sample):
    library, (case, _) = sample
    path = library.path("src/item.c").resolve()
    used = {case: {unit: [path] for unit in case.units}}
    assert picker.candidates(library, {case: {path: coverage((1, 1, 1))}}, used) == []


def test_tests_are_no_code():
    assert picker.is_code(Path("src/item.c"))
    assert picker.is_code(Path("src/part.inc"))
    for name in ("src/item.h", "tests/unity/src/unity.c", "expat/tests/chardata.c"):
        assert not picker.is_code(Path(name))


def test_the_sequence_follows_from_the_seed(sample):
    library, cases = sample
    picks = picks_of(library, cases, [((1, 1, 1),), ((1, 1, 1),)])
    order = list(picker.sequence(picks, "1 sample"))
    assert order == list(picker.sequence(picks, "1 sample"))
    assert order != list(picker.sequence(picks, "2 sample"))
    assert sorted(order, key=lambda pick: pick.place) == picks, "each place once"
    kinds = [pick.place.kind for pick in itertools.islice(order, 8)]
    assert kinds == [places.BOUND, places.LIFETIME] * 4


def test_planting_leaves_the_library_alone(sample, tmp_path):
    library, (case, _) = sample
    files = [library.path(name).resolve() for name in ("src/item.c", "tests/a.c")]
    (place,) = by_rule(SAMPLE, "length")
    pick = picker.Pick(case, "src/item.c", "src/item.c", place)
    unit = picker.plant(pick, files, tmp_path / "tree")
    assert unit.read_bytes() == place.apply(SAMPLE)
    assert library.path("src/item.c").read_bytes() == SAMPLE
    assert (tmp_path / "tree" / "tests" / "a.c").read_bytes() == SAMPLE
    assert picker.plant(pick, files, tmp_path / "tree", False).read_bytes() == SAMPLE


def test_names_below_a_tree(sample, tmp_path):
    library, (case, _) = sample
    pick = picker.Pick(case, "src/item.c", "src/item.c", None)
    for path in (
        tmp_path / "tree" / "src" / "item.c",
        library.path("src/item.c"),
        "/src/src/item.c",
        "/src/tests/../src/item.c",
    ):
        assert picker.below(path, pick, tmp_path / "tree") == "src/item.c"
    assert picker.below("/usr/include/string.h", pick, tmp_path / "tree") is None


def test_a_large_library_runs_a_part_of_its_tests():
    table = {library.name: library for library in catalogue.LIBRARIES}
    for name, workload in workloads.WORKLOADS.items():
        (program,) = workloads.programs(table[name])
        (whole,) = (program for program in table[name].programs if program.name == workload.name)
        assert program.arguments == workload.arguments
        assert program.options == (*whole.options, *workload.options)
        assert (program.library, program.files) == (whole.library, whole.files)
        # A file that the program reads must be one that it gets.
        named = {word for word in program.arguments if Path(word).suffix in (".xz", ".lzma", ".lz")}
        assert named <= whole.files.keys()


def test_a_library_without_a_workload_runs_all_of_its_tests():
    assert workloads.programs(catalogue.CJSON) == catalogue.CJSON.programs


def test_options_for_the_compiler():
    options = ("-D", "A=1", "--timeout", "9", "--cflag", "-std=c89", "--env", "TZ=UTC")
    assert native.compiler_words(options) == ["-D", "A=1", "-std=c89"]
    assert native.environment_of(options) == {"TZ": "UTC"}


def test_sqlite_is_not_optimised():
    (program,) = workloads.programs(catalogue.SQLITE)
    assert native.compiler_words(program.options)[-1] == "-O0"


def test_programs_that_are_too_large_for_one_image_get_several(monkeypatch, tmp_path):
    """Each run is that of its file, and one that does not build has none."""
    kernel, sizes = guest.Kernel("generic", tmp_path), []

    def images(case, files, size):
        sizes.append(size)
        reject = each_build.Reject("does not compile", [])
        return files, [("first", [0, 1]), ("second", [3])], {2: reject}

    monkeypatch.setattr(kernel, "_images", images)
    monkeypatch.setattr(
        kernel,
        "_boots",
        lambda case, work, image, built: [f"{work[index]} in the {image}" for index in built],
    )
    found = kernel.run(SimpleNamespace(name="item.tests"), ["b", "c", "d"], "a", 7)
    assert found == ["b in the first", None, "d in the second"]
    assert sizes == [7]


def test_a_control_that_does_not_build_is_a_failure(monkeypatch, tmp_path):
    kernel = guest.Kernel("generic", tmp_path)
    reject = each_build.Reject("does not compile", ["item.c:1: error"])
    monkeypatch.setattr(kernel, "_images", lambda case, files, size: (files, [], {0: reject}))
    with pytest.raises(base.Failure, match="does not compile for the kernel"):
        kernel.run(SimpleNamespace(name="item.tests"), ["b.c"], "a.c", 1)


def test_the_size_of_a_program_is_that_of_its_objects(sample):
    library, (case, *_) = sample
    program = native.Native(library, library.root.parent / "size", 1)
    target = library.root.parent / "zeros.o"
    source = library.root / "zeros.c"
    source.write_text("char zeros[1 << 20];\n")
    assert program.compile(case, "coverage", source, library.root, target) is None
    assert 1 << 20 <= each_build.in_memory(target) < 2 << 20


ASAN = """\
=================================================================
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x502000000011 at pc 0x5 bp 0x7 sp 0x7
READ of size 4 at 0x502000000011 thread T0
    #0 0x55d in memcpy (/tmp/mutant+0x1) (BuildId: 2f)
    #1 0x55d in copy_item /src/src/item.c:18
    #2 0x55d in main /src/tests/a.c:40

0x502000000011 is located 0 bytes after 1-byte region [0x502000000010,0x502000000011)
allocated by thread T0 here:
    #0 0x55d in malloc (/tmp/mutant+0x1) (BuildId: 2f)
    #1 0x55d in make /src/src/item.c:15
"""


def native_run(status=0, errors="", lines=(), hang=False):
    return native.Run(status, list(lines), errors, hang, 0.1)


def test_verdicts_of_asan(sample):
    case = sample[1][0]
    pick = picker.Pick(case, "src/item.c", "src/item.c", None)
    control = native_run(lines=["1 test"])

    def of(run, stable=True):
        return verdict.of_native(run, pick, "/tree", control, stable)

    found = of(native_run(native.EXIT_CODE, ASAN))
    assert (found.end, found.type, found.kind) == ("report", "heap-buffer-overflow", "heap bounds")
    assert (found.access, found.size, found.function, found.line) == (
        "read",
        4,
        "copy_item",
        "src/item.c:18",
    )
    assert found.where.startswith("0 bytes after 1-byte region")
    assert found.text() == "heap-buffer-overflow in copy_item()"
    no_line = ASAN.replace("copy_item /src/src/item.c:18", "copy_item /src/src/item.c")
    found = of(native_run(native.EXIT_CODE, no_line))
    assert (found.function, found.line) == ("copy_item", "src/item.c:0")
    jump = "SEGV on unknown address 0x000000000000 (pc 0x000000000000 bp 0x7 sp 0x7 T0)"
    assert of(native_run(1, f"==7==ERROR: AddressSanitizer: {jump}\n")).where == verdict.CALLS_NULL
    for text, kind in (
        ("attempting double-free on 0x50 in thread T0:", "double free"),
        ("attempting free on address which was not malloc()-ed: 0x50 in thread T0", "invalid free"),
        ("SEGV on unknown address 0x000000000000 (pc 0x5 bp 0x7 sp 0x7 T0)", "fault"),
        ("negative-size-param: (size=-1)", "negative size"),
    ):
        assert of(native_run(1, f"==7==ERROR: AddressSanitizer: {text}\n")).kind == kind
    assert of(native_run(lines=["1 test"])) == verdict.Verdict("nothing")
    assert of(native_run(lines=["0 tests"])).end == "wrong result"
    assert of(native_run(lines=["0 tests"]), stable=False).end == "nothing"
    assert of(native_run(1)).end == "wrong result"
    assert of(native_run(-6)).where == "SIGABRT"
    assert of(native_run(-24, hang=True)).end == "hang"


def test_a_read_without_a_value(sample):
    pick = picker.Pick(sample[1][0], "src/item.c", "src/item.c", None)
    what = "WARNING: MemorySanitizer: use-of-uninitialized-value"
    report = ASAN.replace(ASAN.splitlines()[1], f"==7=={what}")
    origin = "  Uninitialized value was created by "
    heap, freed = (report + origin + text for text in ("a heap allocation\n", "a heap deallocation\n"))
    in_register = report + "  ORIGIN: invalid (0). Might be a bug in MemorySanitizer origin tracking.\n"
    report += f"{origin}an allocation of 'item' in the stack frame\n"
    other = report.replace("item.c:18", "item.c:19")
    places = [("copy_item", "src/item.c:18"), ("copy_item", "src/item.c:19")]
    outside = report.replace("/src/", "/usr/")
    assert verdict.without_value(native_run(1, report + outside + other + report), pick, "/tree") == places
    assert verdict.without_value(native_run(1, in_register), pick, "/tree") == places[:1]
    assert verdict.without_value(native_run(1, heap + freed), pick, "/tree") == []
    assert verdict.without_value(native_run(1, ASAN), pick, "/tree") == []
    assert verdict.without_value(native_run(), pick, "/tree") == []


def kernel_run(end, report=None, title="", lines=()):
    found = each.Verdict(1, "item.c", end, title, report)
    return guest.Guest(found, list(lines), [], 1.0)


def test_verdicts_of_redzone(sample):
    case = sample[1][0]
    pick = picker.Pick(case, "src/item.c", "src/item.c", None)
    control = kernel_run("ok", lines=["item: 1 test"])
    frames = [
        model.Frame(locations=[model.Location("strlen", "/build/libc/strlen.c", 9)]),
        model.Frame(locations=[model.Location("copy_item", "/tree/src/item.c", 18)]),
    ]
    report = model.Report(
        type="slab-out-of-bounds", access=model.Access("read", 4), stacks=[model.Stack("call", frames=frames)]
    )
    report.raw = ["The buggy address is located 0 bytes to the right of", " allocated 1-byte region [a, b)"]

    def of(run):
        return verdict.of_guest(run, pick, "/tree", control, True)

    found = of(kernel_run("report", report))
    assert (found.end, found.kind, found.access, found.size) == ("report", "heap bounds", "read", 4)
    assert (found.function, found.line) == ("copy_item", "src/item.c:18")
    assert found.where == "0 bytes to the right of allocated 1-byte region [a, b)"
    assert of(kernel_run("crash", title="the program overflowed its stack (8 MiB)")).kind == "stack overflow"
    assert of(kernel_run("crash", title="the program crashed")).kind == "fault"
    assert of(kernel_run("timeout")).end == "hang"
    assert of(kernel_run("status")).end == "wrong result"
    assert of(kernel_run("ok", lines=["item: 1 test"])).end == "nothing"
    assert of(kernel_run("ok", lines=["item: 2 tests"])).end == "wrong result"
    # The file's own name is in the output.
    control.lines = ["/b/trees/0/src/item.c:9: done"]
    assert of(kernel_run("ok", lines=["/b/trees/7/src/item.c:9: done"])).end == "nothing"
    assert of(kernel_run("ok", lines=["/b/trees/7/src/item.c:8: done"])).end == "wrong result"


def reported(kind, function="f", line="a.c:1"):
    return verdict.Verdict("report", kind, kind, "read", 1, function, line)


def test_which_verdicts_are_alike():
    assert compare.alike(reported("heap bounds"), reported("heap bounds"))
    assert compare.alike(reported("heap bounds", "f"), reported("heap bounds", "g"))
    assert not compare.alike(reported("heap bounds"), reported("heap bounds", "g", "a.c:2"))
    unknown = reported("heap bounds", "f", "a.c:0")
    assert compare.alike(unknown, unknown)
    assert not compare.alike(unknown, replace(unknown, function="g"))
    assert not compare.alike(reported("heap bounds"), reported("use after free"))
    assert not compare.alike(reported("heap bounds"), verdict.Verdict("nothing"))
    assert compare.alike(verdict.Verdict("hang"), verdict.Verdict("hang"))
    assert not compare.alike(verdict.Verdict("hang"), verdict.Verdict("wrong result"))


def test_what_the_verdicts_say_themselves():
    silent = verdict.Verdict("nothing")
    assert compare.of_verdicts(reported("use after return"), silent, "generic") == compare.AFTER_RETURN
    assert compare.of_verdicts(reported("heap bounds"), silent, "generic") is None
    near = replace(reported("heap bounds"), where="0 bytes after 8-byte region [a,b)")
    far = replace(near, where="144 bytes after 8-byte region [a,b)")
    freed = replace(reported("use after free"), where="8 bytes inside of freed 16-byte region [a, b)")
    assert compare.of_verdicts(near, freed, "generic") is None
    assert compare.of_verdicts(far, freed, "generic") == compare.BEYOND
    assert compare.of_verdicts(near, reported("fault"), "generic") == compare.BEYOND
    assert compare.of_verdicts(far, replace(freed, function="g", line="a.c:2"), "generic") is None
    jump = replace(reported("fault", "caller of f", "a.c:9"), where=verdict.CALLS_NULL)
    for where, known in (
        ("the program crashed: NULL pointer dereference at virtual address 0000000000000000: f()", True),
        ("the program crashed: NULL pointer dereference at virtual address 0000000000000008: f()", False),
    ):
        found = compare.of_verdicts(jump, replace(reported("fault"), where=where), "generic")
        assert (found == compare.CALLER) == known
    for mode, kind, known in (
        ("hw_tags", "stack bounds", True),
        ("sw_tags", "stack bounds", False),
        ("sw_tags", "global bounds", True),
        ("generic", "global bounds", False),
    ):
        assert (compare.of_verdicts(reported(kind), silent, mode) is not None) == known
    # Objects of 8 bytes share a granule with 8 bytes behind them, those of 16 with none.
    for where, mode, known in (
        ("0 bytes after 8-byte region", "sw_tags", True),
        ("7 bytes after 8-byte region", "sw_tags", True),
        ("8 bytes after 8-byte region", "sw_tags", False),
        ("0 bytes after 16-byte region", "sw_tags", False),
        ("0 bytes after 8-byte region", "generic", False),
    ):
        found = replace(reported("heap bounds"), where=where)
        assert (compare.of_verdicts(found, silent, mode) == compare.SAME_GRANULE) == known


def test_a_difference_needs_an_explanation():
    silent, other = verdict.Verdict("nothing"), reported("use after free", "g", "a.c:9")
    asked = []

    def again(options):
        asked.append(options)
        return silent if options == compare.TRIALS[1].options else reported("heap bounds")

    def explain(guest, table):
        return compare.explain(reported("heap bounds"), guest, "generic", again, lambda: None, table, "key")

    assert explain(silent, {}) == compare.TRIALS[1].text
    first, second = (trial.options for trial in compare.TRIALS[:2])
    assert asked == [first, *[second] * compare.TIMES]
    assert explain(other, {}) is None
    assert explain(other, {"key": "known"}) == "known"


@pytest.mark.parametrize("odd", range(compare.TIMES))
def test_a_trial_that_is_alike_by_luck_explains_nothing(odd):
    """The run number @odd of the trial ends in another way than the others, which are alike."""
    silent = verdict.Verdict("nothing")
    runs = [silent] * compare.TIMES
    runs[odd] = reported("heap bounds")

    def again(options):
        return runs.pop(0) if options == compare.TRIALS[0].options else reported("heap bounds")

    assert compare.TIMES > 1
    found = compare.explain(reported("heap bounds"), silent, "generic", again, lambda: None, {}, "key")
    assert found is None


@pytest.mark.parametrize(
    ("kind", "read", "by_redzone", "by_asan"),
    (
        # The address of a fault is made of the value.
        ("fault", ("g", "a.c:9"), True, True),
        ("fault", None, False, False),
        ("heap bounds", ("g", "a.c:9"), False, False),
        # A bug that ASan sees and Redzone misses is no chance.
        ("heap bounds", ("f", "a.c:9"), True, False),
        ("heap bounds", ("g", "a.c:1"), True, False),
    ),
)
@pytest.mark.parametrize("turned", (False, True))
def test_a_value_that_is_chance(kind, read, by_redzone, by_asan, turned):
    both = [reported(kind), verdict.Verdict("nothing")]
    native_one, guest_one = reversed(both) if turned else both
    known = by_redzone if turned else by_asan

    def again(options):
        return verdict.Verdict("hang")

    found = compare.explain(native_one, guest_one, "generic", again, lambda: read, {}, "key")
    assert (found == compare.NO_VALUE) == known


def test_a_log_keeps_the_bytes_of_a_damaged_program(tmp_path):
    context = runner.Context.__new__(runner.Context)
    context.logs = tmp_path
    log = context.write_log("lib/1.redzone", b"\xfd\xe9 text\n".decode(errors="surrogateescape"))
    assert log.read_bytes() == b"\xfd\xe9 text\n"
