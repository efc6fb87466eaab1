# SPDX-License-Identifier: MIT
"""./redzone audit: on the example, and on images with one fault each."""

import json
import shutil

import pytest
from kit import ROOT, call, change, compiler, few, first, make_template, need
from redzone.core.base import Failure
from redzone.kit import audit

PLAIN = ("board.c", "heap.c", "port.c")


def findings(path, *arguments, **options):
    options.setdefault("exclude", PLAIN)
    return audit.audit([path], *arguments, **options)["findings"]


@few(
    ("arch", "cc", "where"),
    [
        ("arm64", "clang-19", "inline"),
        ("riscv64", "clang-19", "outline"),
        ("arm64", "gcc", "outline"),
        ("riscv64", "gcc", "inline"),
        ("riscv32", "gcc", "outline"),
    ],
    pairs=False,
    most=2,
)
def test_the_example(tree, arch, cc, where):
    elf, _ = make_template(tree, arch, cc, f"WHERE={where}")
    result = audit.audit([elf], exclude=PLAIN)
    assert result["findings"] == []
    assert [unit["name"] for unit in result["files"]["instrumented"]] == ["main.c"]
    names = {unit["name"] for unit in result["files"]["not instrumented"]}
    assert names == set(PLAIN)
    assert len(result["files"]["runtime"]) >= 20
    assert result["files"]["instrumented"][0]["with_checks"] >= 8
    ctors = result["constructors"]
    assert ctors["registering"] == ctors["kept"] == 1 and ctors["walked"]
    assert ctors["bounds"] == ["__init_array_start", "__init_array_end"]
    start, offset = (0x40000000, 0x38700000) if arch == "arm64" else (0x80000000, 0x70700000)
    assert result["shadow"]["offset"] == f"{offset:#x}"
    assert result["shadow"]["windows"] == [f"{start:#x}..{start + 0x700000:#x}"]
    assert result["missing_symbols"] == []
    # This image touches devices only in a file without checks, but the audit cannot know that.
    warned = [warning for warning in result["warnings"] if "with inline checks" in warning]
    assert len(warned) == (where == "inline")
    # The text says the same.
    assert ("1 warning:" in audit.text(result)) == (where == "inline")
    assert "no findings" in audit.text(result)
    json.dumps(result)


@pytest.mark.parametrize("where", ["inline", "outline"])
def test_devices_of_a_microcontroller_have_no_shadow(tree, where):
    """The warning says where the shadow of the registers would be: nothing answers there on this board."""
    elf, _ = make_template(tree, "cortex-m3", "clang-19", f"WHERE={where}")
    result = audit.audit([elf], exclude=("*",))
    offset = int(result["shadow"]["offset"], 0)
    expected = f"that of 0x40000000..0x5fffffff would be {0x8000000 + offset & 0xFFFFFFFF:#x}.."
    assert [expected in warning for warning in result["warnings"]] == ([True] if where == "inline" else [])


def test_shadow_reserved_elsewhere_is_a_finding(tree):
    """The linker script moved the shadow, but the compiler's offset is as before."""
    change(
        tree / "template.lds",
        ("shadow_start = __kasan_window_end;", "shadow_start = __kasan_window_end + 0x10000;"),
    )
    elf, _ = make_template(tree, "arm64", "clang-19")
    (text,) = findings(elf, exclude=PLAIN)
    assert "__kasan_shadow_start is 0x40710000" in text
    assert "to 0x40700000: compile for the offset 0x38710000" in text


def test_files_without_checks_are_findings(tree):
    elf, _ = make_template(tree, "arm64", "clang-19")
    (text,) = findings(elf, exclude=("b*.c",))
    assert (
        "2 files without checks" in text and "heap.c" in text and "port.c" in text and "board.c" not in text
    )


def test_constructors_that_the_script_drops(tree):
    change(tree / "template.lds", ("KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*)))", ""))
    change(tree / "template.lds", ("/DISCARD/ : {", "/DISCARD/ : {\n\t\t*(.init_array.*)"))
    elf, _ = make_template(tree, "arm64", "clang-19")
    (text,) = findings(elf)
    assert "1 of 1 constructors are in no array" in text


def without_the_call(tree):
    """Nothing calls the constructors any more."""
    define = "static void run_constructors"
    change(
        tree / "board.c",
        ("	run_constructors();\n", ""),
        (define, f"__attribute__((unused)) {define}"),
    )


@pytest.mark.parametrize(("arch", "cc"), [("arm64", "clang-19"), ("riscv64", "gcc")])
def test_constructors_that_nobody_calls(tree, arch, cc):
    without_the_call(tree)
    elf, _ = make_template(tree, arch, cc)
    (text,) = findings(elf)
    assert "no code refers to __init_array_start" in text


def test_constructors_with_other_names_of_their_bounds(tree):
    """__ctor_list and __ctor_end, the end of what lies before them, and an object of C++ in the array."""
    first, last = "__init_array_start = .;", "KEEP(*(.init_array))"
    for file in ("template.lds", "board.c"):
        text = (tree / file).read_text(encoding="utf-8")
        text = text.replace(first, f"__stop_before = .;\n\t\t{first}")
        text = text.replace(last, f"_Z9limit_ptr = .;\n\t\t{last}\n\t\tQUAD(_start)")
        text = text.replace("__init_array_start", "__ctor_list").replace("__init_array_end", "__ctor_end")
        (tree / file).write_text(text, encoding="utf-8")
    elf, _ = make_template(tree, "arm64", "clang-19")
    assert not findings(elf)


def test_constructors_without_bounds(tree):
    change(
        tree / "template.lds",
        ("		__init_array_start = .;\n", ""),
        ("		__init_array_end = .;\n", "		ctors = .;\n"),
    )
    without_the_call(tree)
    elf, _ = make_template(tree, "arm64", "clang-19")
    (text,) = findings(elf)
    assert "no symbol bounds the" in text


def test_windows(tree):
    elf, _ = make_template(tree, "arm64", "clang-19")
    good = [(0x40000000, 0x700000)]
    assert findings(elf, windows=good) == []
    text = " ".join(findings(elf, windows=[(0x40000000, 0x88000)]))
    assert "lies in no window" in text and ".bss" in text
    text = " ".join(findings(elf, windows=[(0x40000004, 0x700000)]))
    assert "not a multiple of 8" in text
    # The runtime of this image was built for another offset.
    text = " ".join(findings(elf, windows=good, offset=0x38780000))
    assert "built for the shadow offset 0x38700000" in text
    # Shadow at 0x40080000, which is in the image and in the window.
    text = " ".join(findings(elf, windows=good, offset=0x38080000))
    assert "overwrites .text" in text and "inside its own window" in text


def test_offsets_of_gcc_are_compared(tree):
    """GCC records its options, so the audit names a file that is compiled for another offset."""
    change(
        tree / "Makefile",
        (
            "$(KASAN_CODE_FLAGS) $(KASAN_CFLAGS)",
            "$(KASAN_CODE_FLAGS) $(subst 0x38700000,0x38710000,$(KASAN_CFLAGS))",
        ),
    )
    elf, _ = make_template(tree, "arm64", "gcc")
    (text,) = findings(elf)
    assert "main.c was compiled for the shadow offset 0x38710000, the runtime's is 0x38700000" in text


def test_objects_say_what_they_want(tree):
    make_template(tree, "arm64", "clang-19")
    result = audit.audit([tree / "build" / "main.o"])
    assert not result["linked"]
    wanted = {entry["name"]: entry for entry in result["missing_symbols"]}
    assert "__asan_register_globals" in wanted
    assert all(entry["in_runtime"] and entry["wanted_by"] for entry in wanted.values())
    assert result["findings"] == []


def test_archives_and_names_that_the_runtime_lacks(tmp_path):
    need("llvm-ar-19")
    source = tmp_path / "driver.c"
    source.write_text("int f(long *p, int i);\nint f(long *p, int i) { p[i]++; return 0; }\n")
    plain = tmp_path / "plain.c"
    plain.write_text("void g(int *p);\nvoid g(int *p) { *p = 1; }\n")
    clang = [*compiler("clang-19", "arm64"), "-O2", "-g", "-c"]
    options = ["-fsanitize=kernel-address", "-mllvm", "-asan-memory-access-callback-prefix=__asan_mine_"]
    options += ["-mllvm", "-asan-instrumentation-with-call-threshold=0"]
    call([*clang, *options, source], tmp_path)
    call([*clang, plain], tmp_path)
    for kind in ("rcs", "rcsT"):
        archive = tmp_path / f"lib{kind}.a"
        call(["llvm-ar-19", kind, archive, "driver.o", "plain.o"], tmp_path)
        result = audit.audit([archive])
        text = " ".join(result["findings"])
        assert "the runtime does not have __asan_mine_" in text
        assert "1 file without checks" in text and "plain.c" in text
        (name, *_) = [entry["wanted_by"][0] for entry in result["missing_symbols"]]
        assert "driver.o" in name


# --- Tags ---------------------------------------------------------------------------------------------------

TAG_PLAIN = (*PLAIN, "tags.c")


@first(1, ("cc", "where"), [("clang-19", "inline"), ("clang-19", "outline"), ("gcc", "outline")])
def test_software_tags(tree, cc, where):
    elf, _ = make_template(tree, "arm64", cc, "MODE=sw_tags", f"WHERE={where}")
    result = audit.audit([elf], exclude=TAG_PLAIN)
    assert result["findings"] == [] and result["mode"] == "sw_tags"
    assert [unit["name"] for unit in result["files"]["instrumented"]] == ["main.c"]
    assert result["files"]["instrumented"][0]["with_checks"] >= 8
    assert {unit["name"] for unit in result["files"]["not instrumented"]} == set(TAG_PLAIN)
    assert len(result["files"]["runtime"]) >= 20
    assert result["shadow"]["layout"] == "full" and result["shadow"]["offset"] == "0xefffffffcb000000"
    assert "arm64, sw_tags" in audit.text(result)
    # The objects alone, without the runtime: the audit lists the symbols that they need from it.
    objects = audit.audit([tree / "build" / "main.o"])
    assert objects["mode"] == "sw_tags" and objects["findings"] == []
    wanted = {entry["name"]: entry for entry in objects["missing_symbols"]}
    assert all(name.startswith("__hwasan_") and entry["in_runtime"] for name, entry in wanted.items())
    assert ("__hwasan_load1_noabort" in wanted) == (where == "outline")


def test_inline_checks_of_riscv64(tmp_path):
    """Each traps, with a number in an instruction that does nothing. Nothing else of the file has a mode."""
    source = tmp_path / "access.c"
    source.write_text("int get(int *p) { return *p; }\nvoid set(int *p) { *p = 1; }\n", encoding="utf-8")
    options = ("-hwasan-instrument-with-calls=0", "-hwasan-mapping-offset=1")
    checks = ["-fsanitize=kernel-hwaddress", *(word for option in options for word in ("-mllvm", option))]
    command = [
        *compiler("clang-19", "riscv64"),
        "-O2",
        "-g",
        *checks,
        "-c",
        source,
        "-o",
        tmp_path / "access.o",
    ]
    call(command, tmp_path)
    result = audit.audit([tmp_path / "access.o"])
    assert result["mode"] == "sw_tags" and result["findings"] == []
    assert result["files"]["instrumented"][0]["with_checks"] == 2


def test_a_file_of_another_mode(tree):
    """An object with Generic mode's checks, and a runtime with software tags: the linker names only symbols,
    the audit names the mistake."""
    make_template(tree, "arm64", "clang-19", "MODE=sw_tags", "OUT=tags")
    make_template(tree, "arm64", "clang-19", "WHERE=outline", "OUT=plain")
    runtime = sorted((tree / "tags" / "kasan").rglob("*.o"))
    result = audit.audit([tree / "plain" / "main.o", *runtime])
    assert result["mode"] == "sw_tags"
    (text,) = result["findings"]
    assert "compiled for another mode than the runtime, which is sw_tags's" in text
    assert "main.o" in text and "--mode sw_tags" in text
    assert all(not entry["in_runtime"] for entry in result["missing_symbols"])


def test_files_without_checks_of_tags_are_findings(tree):
    change(
        tree / "Makefile",
        ("KASAN_SANITIZE_tags.o := n", "KASAN_SANITIZE_main.o := n\nKASAN_SANITIZE_tags.o := n"),
    )
    elf, _ = make_template(tree, "arm64", "clang-19", "MODE=sw_tags")
    text = " ".join(findings(elf, exclude=TAG_PLAIN))
    assert "1 file without checks" in text and "main.c" in text and "nothing is instrumented" in text


@first(1, "options", ["MODE=sw_tags", "WHERE=outline"])
def test_an_instrumented_runtime_is_a_finding(tree, options):
    """The commonest mistake with a copied runtime: it is compiled with the tree's own flags."""
    redzone = tree / "redzone"
    for folder in ("runtime", "include"):
        shutil.copytree(ROOT / folder, redzone / folder)
    for name in ("redzone.mk", "llvm.mk"):
        shutil.copy(ROOT / name, redzone)
    change(redzone / "redzone.mk", ("$(kasan_own_flags)", "$(kasan_own_flags) $(KASAN_CFLAGS)"))
    elf, _ = make_template(tree, "arm64", "clang-19", options, redzone=redzone)
    assert any("the runtime itself is instrumented" in text for text in findings(elf, exclude=TAG_PLAIN))


@first(1, "cc", ["clang-19", "gcc"])
def test_hardware_tags(tree, cc):
    """Files without checks are not a finding; a file with checks is."""
    elf, _ = make_template(tree, "arm64", cc, "MODE=hw_tags")
    result = audit.audit([elf])
    assert result["findings"] == [] and result["mode"] == "hw_tags"
    names = {unit["name"] for unit in result["files"]["checked by the CPU"]}
    assert names == {"main.c", *TAG_PLAIN}
    assert not result["files"]["not instrumented"] and not result["files"]["instrumented"]
    assert "the CPU checks, no file is expected to have checks" in audit.text(result)
    assert "none" in result["shadow"]["layout"]
    make_template(tree, "arm64", cc, "WHERE=outline", "OUT=plain")
    runtime = sorted((tree / "build" / "kasan").rglob("*.o"))
    text = " ".join(audit.audit([tree / "plain" / "main.o", *runtime])["findings"])
    assert "compiled with checks, which hardware tags do not need or support: " in text and "main.c" in text


PLACE = ("OFFSET=0xefff800000000000UL", "LOW=0xffff000000000000UL", "HIGH=0xffffffffffffffffUL")


@pytest.mark.parametrize(
    ("defines", "prefix", "least", "most", "wrong"),
    [
        (
            ["CONFIG_KASAN_GENERIC=1", "CONFIG_KASAN_SHADOW_WINDOWED=1"],
            *("__asan_", 61, 200),
            ("load3", "version_mismatch_check_v8", "init", "load8_nobort"),
        ),
        (
            ["CONFIG_KASAN_SW_TAGS=1", *(f"CONFIG_KASAN_SHADOW_{word}" for word in ("FULL=1", *PLACE))],
            *("__hwasan_", 60, 60),
            ("load3", "init_frames", "tag_mismatch", "memcpy_noabort"),
        ),
    ],
    ids=["generic", "sw_tags"],
)
def test_known_names_are_those_of_the_runtime(amalgamated, tmp_path, defines, prefix, least, most, wrong):
    need("llvm-nm-19")
    options = ["-std=gnu17", "-O2", "-ffreestanding", *(f"-D{define}" for define in defines)]
    call([*compiler("clang-19", "arm64"), *options, "-c", amalgamated / "kasan.c", "-o", "kasan.o"], tmp_path)
    listed = ["llvm-nm-19", "--extern-only", "--defined-only", "--format=just-symbols", "kasan.o"]
    names = {name for name in call(listed, tmp_path).split() if name.startswith(prefix)}
    assert least <= len(names) <= most
    assert sorted(name for name in names if not audit.RUNTIME_ABI.match(name)) == []
    assert not any(audit.RUNTIME_ABI.match(prefix + name) for name in wrong)


def test_bad_input(tmp_path):
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\x7fELF" + bytes(range(200)))
    text = tmp_path / "text"
    text.write_text("hello")
    for path in (garbage, text, tmp_path / "missing", tmp_path):
        with pytest.raises(Failure) as error:
            audit.audit([path])
        assert str(path) in str(error.value)
    for wrong in ("1", "0x1000:", ":8", "0:0", "a:b"):
        with pytest.raises(Failure):
            audit.parse_window(wrong)
    assert audit.parse_window("0x40000000:0x1000") == (0x40000000, 0x1000)
