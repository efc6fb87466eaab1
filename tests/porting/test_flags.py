# SPDX-License-Identifier: MIT
"""./redzone flags: compilers accept every combination that it prints, and do what it says. It refuses the
others with a reason. redzone.mk and the CMake package use the same options."""

import json
import re

import pytest
from kit import ROOT, call, compiler, need
from redzone.core.arch import ARCHES
from redzone.core.base import Failure
from redzone.kit import flags

OFFSETS = {
    "arm64": 0xDFFF800000000000,
    "riscv64": 0x70700000,
    "riscv32": 0x70700000,
    "x86_64": 0xDFFFFC0000000000,
    "arm": 0x28000000,
}
SW_TAGS = {
    "mode": "sw_tags",
    "offset": 0xEFFF800000000000,
    "layout": "full",
    "low": 0xFFFF000000000000,
    "high": 0xFFFFFFFFFFFFFFFF,
}
SAMPLE = """
int table[10];
void sink(void *);
int use(int *p, int i);
int use(int *p, int i) { char local[20]; sink(local); return p[i] + table[i] + local[i]; }
"""


def undefined(cc, arch, choice, tmp_path, prefix="__asan"):
    """Compile a sample with the flags of @choice; return the sanitizer's symbols that it needs."""
    need("llvm-nm-19")
    source = tmp_path / "sample.c"
    source.write_text(SAMPLE, encoding="utf-8")
    result = flags.compute(choice)
    command = [*compiler(cc, arch), "-O2", "-Wall", "-Werror", "-ffreestanding"]
    command += [*result.instrument, *result.code]
    command += [f"-D{define}" for define in result.defines]
    call([*command, "-c", source, "-o", tmp_path / "sample.o"], tmp_path)
    text = call(["llvm-nm-19", "-u", "--format=just-symbols", tmp_path / "sample.o"], tmp_path)
    return {name for name in text.split() if name.startswith(prefix)}


@pytest.mark.parametrize("arch", list(OFFSETS))
@pytest.mark.parametrize("cc", ["clang-19", "clang-22", "gcc"])
def test_compilers_do_what_the_flags_say(tmp_path, arch, cc):
    for inline in (True, False):
        for stack in (True, False):
            for global_ in (True, False):
                choice = flags.Choice(
                    cc=cc, arch=arch, inline=inline, offset=OFFSETS[arch], stack=stack, globals=global_
                )
                names = undefined(cc, arch, choice, tmp_path)
                reports = {name for name in names if name.startswith("__asan_report_")}
                calls = {name for name in names if re.match(r"__asan_(load|store)\d", name)}
                assert bool(reports) == inline
                assert bool(calls) != inline
                assert ("__asan_register_globals" in names) == global_
                assert "__asan_unregister_globals" not in names or cc == "gcc"
                # Recoverable: no function that stops the system is called.
                assert all(name.endswith("_noabort") for name in reports | calls)
                assert "__asan_shadow_memory_dynamic_address" not in names


@pytest.mark.parametrize("cc", ["clang-19", "clang-22"])
@pytest.mark.parametrize("inline", [True, False])
def test_tagged_globals(tmp_path, cc, inline):
    choice = flags.Choice(cc=cc, inline=inline, tagged_globals=True, **SW_TAGS)
    names = undefined(cc, "arm64", choice, tmp_path, "__")
    assert "__hwasan_init" in names and "__start_hwasan_globals" in names
    assert ("__hwasan_load4_match_all_noabort" in names) != inline
    # Recoverable, and without the thread-local variable of user space.
    assert "__hwasan_load4_match_all" not in names and "__hwasan_tls" not in names
    # The variable's symbol has a tag. All 64 bits of its address are made, in code without checks as well.
    symbols = call(["llvm-nm-19", tmp_path / "sample.o"], tmp_path)
    value = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" table"))
    assert int(value, 16) >> 56 >= 16
    assert "-mcmodel=large" in flags.compute(choice).code


def test_tagged_globals_are_clangs():
    for choice in (
        flags.Choice(cc="gcc", inline=False, tagged_globals=True, **SW_TAGS),
        flags.Choice(mode="hw_tags", tagged_globals=True),
        flags.Choice(offset=OFFSETS["arm64"], tagged_globals=True),
    ):
        with pytest.raises(Failure, match="--tagged-globals with"):
            flags.compute(choice)


@pytest.mark.parametrize("arch", list(OFFSETS))
def test_dynamic(tmp_path, arch):
    for inline in (True, False):
        choice = flags.Choice(arch=arch, inline=inline, dynamic=True)
        assert "__asan_shadow_memory_dynamic_address" in undefined("clang-19", arch, choice, tmp_path)


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
@pytest.mark.parametrize("arch", list(OFFSETS))
def test_no_place_at_all(tmp_path, arch, cc):
    """Outline, no stack: the compiled code does not depend on the place of the shadow."""
    choice = flags.Choice(cc=cc, arch=arch, inline=False, stack=False)
    assert undefined(cc, arch, choice, tmp_path)
    other = flags.Choice(cc=cc, arch=arch, inline=False, stack=False, offset=OFFSETS[arch])
    first = (tmp_path / "sample.o").read_bytes()
    if cc == "gcc":  # the object contains no name of a runtime variable
        undefined(cc, arch, other, tmp_path)
        assert (tmp_path / "sample.o").read_bytes() == first


@pytest.mark.parametrize("target", ["aarch64-unknown-none", "x86_64-unknown-none-elf"])
def test_targets_that_only_the_driver_refuses(tmp_path, target):
    need("clang-19")
    arch = "arm64" if target.startswith("aarch64") else "x86_64"
    result = flags.compute(flags.Choice(arch=arch, offset=OFFSETS[arch], target=target))
    source = tmp_path / "sample.c"
    source.write_text(SAMPLE, encoding="utf-8")
    call(
        ["clang-19", f"--target={target}", "-O2", *result.instrument, "-c", source, "-o", "sample.o"],
        tmp_path,
    )
    plain = flags.compute(flags.Choice(arch=arch, offset=OFFSETS[arch]))
    call(
        ["clang-19", f"--target={target}", *plain.instrument, "-c", source, "-o", "sample.o"],
        tmp_path,
        ok=False,
    )


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (flags.Choice(cc="gcc", dynamic=True), "GCC has no dynamic shadow"),
        (flags.Choice(dynamic=True, offset=1 << 36), "ignores --dynamic"),
        (flags.Choice(), "inline checks are compiled for one place"),
        (flags.Choice(inline=False), "poison around stack variables"),
        (flags.Choice(arch="arm", offset=0x120000000), "more than the 32 bits"),
        (flags.Choice(arch="x86_64", offset=1 << 44), "power of two"),
        (flags.Choice(arch="riscv32", offset=1 << 27), "power of two"),
        (flags.Choice(layout="full", offset=OFFSETS["arm64"]), "--low and --high"),
        (flags.Choice(layout="full", dynamic=True, low=8), "kasan_shadow_place() says them"),
        (flags.Choice(layout="full", dynamic=True, cc="gcc"), "GCC has no dynamic shadow"),
        (flags.Choice(offset=8, low=0), "belong to --layout full"),
        (flags.Choice(layout="full", offset=8, low=9, high=8), "lies above"),
        (flags.Choice(cc="gcc", offset=8, target="aarch64-none-elf"), "--target is Clang's"),
    ],
)
def test_refusals(choice, words):
    with pytest.raises(Failure) as error:
        flags.compute(choice)
    assert words in str(error.value)
    assert error.value.status == 2


@pytest.mark.parametrize(
    ("choice", "reasons"),
    [
        (flags.Choice(mode="sw_tags"), ["needs --layout full, --shadow-offset, --low and --high: "]),
        (flags.Choice(mode="sw_tags", layout="full", low=0), ["needs --shadow-offset and --high: "]),
        (flags.Choice(mode="sw_tags", cc="gcc", offset=8), ["--layout full, --low and --high", "--outline"]),
        (flags.Choice(layout="full", high=8), ["--layout full needs --shadow-offset and --low"]),
        (flags.Choice(low=8), ["belong to --layout full", "give --shadow-offset, or --dynamic"]),
        (flags.Choice(cc="gcc", target="arm-none-eabi", dynamic=True), ["is Clang's", "no dynamic shadow"]),
        (flags.Choice(arch="arm", offset=1 << 32, low=9, high=8, layout="full"), ["32 bits", "lies above"]),
        (flags.Choice(mode="hw_tags", arch="arm", inline=True), ["arm64's MTE", "with --inline"]),
    ],
)
def test_all_that_is_missing_or_wrong_is_said_at_once(choice, reasons):
    with pytest.raises(Failure) as error:
        flags.compute(choice)
    lines = str(error.value).splitlines()
    if len(reasons) > 1:
        assert lines.pop(0) == f"{len(reasons)} things to change:"
    assert len(lines) == len(reasons)
    assert all(reason in line for reason, line in zip(reasons, lines, strict=True))


def flags_verb(capsys, *arguments):
    """Run the verb; return (stdout, stderr)."""
    from redzone import cli

    cli.command.main(["flags", *arguments], standalone_mode=False)
    return capsys.readouterr()


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
@pytest.mark.parametrize("arch", list(OFFSETS))
def test_without_a_word_on_the_shadow(capsys, arch, cc):
    """stdout has only the options of --outline --no-stack, which fit every place of the shadow."""
    short, said = flags_verb(capsys, "--arch", arch, "--cc", cc, "--only", "instrument")
    long, nothing = flags_verb(
        capsys, "--arch", arch, "--cc", cc, "--outline", "--no-stack", "--only", "instrument"
    )
    assert short == long and nothing == ""
    assert "--outline --no-stack" in said
    assert ("or --dynamic" in said) == (cc != "gcc")


def test_checks_that_were_asked_for_are_not_replaced(capsys):
    with pytest.raises(Failure, match="compiled for one place"):
        flags_verb(capsys, "--inline")


def test_formats_say_the_same(tmp_path):
    need("make", "cmake")
    for cc, options in (
        ("clang-19", {"arch": "riscv64", "offset": 0x70700000, "inline": False}),
        ("gcc", {"arch": "riscv64", "offset": 0x70700000, "inline": False}),
        ("clang-19", SW_TAGS),
        ("clang-19", {"mode": "hw_tags"}),
        ("gcc", {"mode": "hw_tags"}),
    ):
        choice = flags.Choice(cc=cc, **options)
        result = flags.compute(choice)
        data = json.loads(flags.render(choice, result, "json"))
        assert data["instrument"] == result.instrument and data["defines"] == result.defines
        (tmp_path / "Makefile").write_text(
            flags.render(choice, result, "make") + "\nall:\n\t@echo $(KASAN_CFLAGS) / $(KASAN_CODE_FLAGS)\n"
        )
        expected = " ".join(result.instrument) + " / " + " ".join(result.code)
        assert call(["make"], tmp_path).split() == expected.split()
        (tmp_path / "f.cmake").write_text(
            flags.render(choice, result, "cmake") + '\nlist(JOIN KASAN_CFLAGS " " t)\nmessage("${t}")\n'
        )
        text = call(["cmake", "-P", "f.cmake"], tmp_path).strip().replace("SHELL:", "")
        assert text == " ".join(result.instrument)
        for line in (result.instrument or ["# (none)"], result.code, result.runtime):
            assert " ".join(line) in flags.render(choice, result, "text").splitlines()


def choices():
    for cc in ("clang-19", "gcc"):
        for arch in OFFSETS:
            for inline in (True, False):
                for stack in (True, False):
                    for global_ in (True, False):
                        places = [{"offset": OFFSETS[arch]}]
                        if cc != "gcc":
                            places.append({"dynamic": True})
                        if not inline and not stack:
                            places.append({})
                        for place in places:
                            yield flags.Choice(
                                cc=cc, arch=arch, inline=inline, stack=stack, globals=global_, **place
                            )
        for stack in (True, False):
            yield flags.Choice(cc=cc, mode="hw_tags", stack=stack)
            for inline in (False,) if cc == "gcc" else (True, False):
                yield flags.Choice(cc=cc, inline=inline, stack=stack, **SW_TAGS)
                if cc != "gcc":
                    yield flags.Choice(cc=cc, arch="riscv64", inline=inline, stack=stack, **SW_TAGS)
        yield flags.Choice(cc=cc, arch="arm", inline=False, stack=False, optimize="s", ubsan=True)
        yield flags.Choice(cc=cc, mode="hw_tags", ubsan=True)
        yield flags.Choice(cc=cc, layout="full", dynamic=True, inline=False, stack=False)
        if cc != "gcc":
            yield flags.Choice(cc=cc, layout="full", dynamic=True)
            for arch in ("s390x", "powerpc64le", "loongarch64"):
                yield flags.Choice(cc=cc, arch=arch, inline=False, stack=False)
            yield flags.Choice(cc=cc, mode="hw_tags", mte_stack=True)
            for inline in (True, False):
                yield flags.Choice(cc=cc, inline=inline, tagged_globals=True, **SW_TAGS)


def make_variables(choice):
    """Return the variables of redzone.mk for @choice."""
    offset = "" if choice.offset is None else f"{choice.offset:#x}"
    result = {
        "KASAN_ARCH": choice.arch,
        "KASAN_MODE": choice.mode,
        "KASAN_STACK": int(choice.stack),
        "KASAN_GLOBALS": int(choice.globals),
        "KASAN_SHADOW_OFFSET": offset,
        "KASAN_DYNAMIC": "1" if choice.dynamic else "",
        "KASAN_OPTIMIZE": choice.optimize,
        "KASAN_MTE_STACK": int(choice.mte_stack),
        "KASAN_TAGGED_GLOBALS": int(choice.tagged_globals),
        "KASAN_UBSAN": int(choice.ubsan),
    }
    if choice.where:
        result["KASAN_WHERE"] = choice.where
    if choice.layout == "full" and choice.dynamic:
        result["KASAN_LAYOUT"] = "full"
    elif choice.layout == "full":
        result |= {
            "KASAN_LAYOUT": "full",
            "KASAN_SHADOW_LOW": f"{choice.low:#x}",
            "KASAN_SHADOW_HIGH": f"{choice.high:#x}",
        }
    return [f"{name}={value}" for name, value in result.items()]


def test_outline_alone_works_anywhere(capsys):
    """--outline without an offset is what the documents say: calls, and no stack variables."""
    plain = flags_verb(capsys, "--arch", "riscv64", "--only", "instrument")
    assert flags_verb(capsys, "--arch", "riscv64", "--outline", "--only", "instrument") == plain
    assert "asan-stack=0" in plain.out and "--no-stack" in plain.err


def test_a_runtime_for_interrupt_handlers():
    """On x86_64 the runtime keeps nothing below the stack pointer and in vector registers."""
    for arch in OFFSETS:
        runtime = flags.compute(flags.Choice(arch=arch, offset=OFFSETS[arch])).runtime
        found = {"-mno-red-zone", "-mgeneral-regs-only"} & set(runtime)
        assert len(found) == (2 if arch == "x86_64" else 0)


def test_pkg_config_has_the_runtime_for_x86_64(tmp_path, prefix, monkeypatch):
    need("pkg-config")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(prefix / "share" / "pkgconfig"))
    for name, arch in (("runtime", "arm64"), ("runtime_x86_64", "x86_64")):
        printed = call(["pkg-config", f"--variable={name}", "redzone"], tmp_path).split()
        assert printed == flags.compute(flags.Choice(arch=arch, offset=OFFSETS[arch])).runtime


def test_the_usual_place_of_the_shadow(tmp_path):
    """--layout full alone has numbers that fit together, and the documents have the same."""
    assert {name for name, arch in ARCHES.items() if arch.shadows} == {"arm64", "riscv64", "x86_64"}
    for name, arch in ARCHES.items():
        for mode, shadows in arch.shadows.items():
            for shadow in shadows:
                start, end = shadow.range(mode)
                # In the kernel's half, in pages, and outside of the last 2 GiB, where images are linked for.
                assert shadow.low < start < end <= (1 << 64) - (1 << 31) <= shadow.high
                assert start % 4096 == end % 4096 == 0
                assert end - start == shadow.high + 1 - shadow.low >> (4 if mode == "sw_tags" else 3)
            choice = flags.with_place(flags.Choice(arch=name, mode=mode, layout="full"))
            assert (choice.offset, choice.low, choice.high) == (
                *(shadows[0].offset, shadows[0].low, shadows[0].high),
            )
            defines = flags.compute(choice).defines
            assert f"CONFIG_KASAN_SHADOW_OFFSET={shadows[0].offset:#x}UL" in defines
    assert "\n".join(flags.table()) in (ROOT / "docs" / "port" / "reference.md").read_text(encoding="utf-8")
    printed = call([ROOT / "redzone", "flags", "--arch", "x86_64", "--layout", "full"], tmp_path)
    assert "-asan-mapping-offset=0xdffffc0000000000" in printed and "4-level tables" in printed
    # Some numbers are not enough, and other architectures have none.
    for choice in (
        flags.Choice(layout="full", offset=OFFSETS["arm64"]),
        flags.Choice(arch="arm", layout="full"),
    ):
        assert flags.with_place(choice) is None
        with pytest.raises(Failure, match="--layout full needs"):
            flags.compute(choice)


def test_make_and_cmake_agree(tmp_path):
    """redzone.mk and RedzoneRuntime.cmake agree with the command, for all valid combinations."""
    need("make", "cmake", "clang-19")
    (tmp_path / "Makefile").write_text(
        f"include {ROOT}/redzone.mk\nall:\n\t@echo $(KASAN_CFLAGS)\n\t@echo $(KASAN_CODE_FLAGS)\n"
        "\t@echo $(KASAN_CPPFLAGS)\n\t@echo $(kasan_own_flags)\n"
    )
    script = [
        f'set(REDZONE_FLAGS_FILE "{ROOT}/cmake/kasan-flags.json")',
        f"set(REDZONE_SOURCE_DIR {ROOT})",
        f"set(REDZONE_INCLUDE_DIR {ROOT}/include)",
        f"include({ROOT}/cmake/RedzoneRuntime.cmake)",
    ]
    expected = []
    for choice in choices():
        result = flags.compute(choice)
        offset = "" if choice.offset is None else f"{choice.offset:#x}"
        cc = compiler(choice.cc, choice.arch)
        printed = call(
            [
                "make",
                "-s",
                f"REDZONE={ROOT}",
                f"CC={' '.join(cc)}",
                *make_variables(choice),
            ],
            tmp_path,
        ).splitlines()
        assert printed[0].split() == result.instrument
        assert printed[1].split() == result.code
        assert set(printed[2].split()) == {f"-I{ROOT}/include", *(f"-D{define}" for define in result.defines)}
        assert printed[3].split() == result.runtime
        words = ";".join(sorted(flags.words(choice)))
        for kind in ("instrument", "code", "runtime"):
            script.append(
                f'redzone_flags(out {kind} "{words}" "{offset}" {choice.optimize})\n'
                'list(JOIN out " " out)\nmessage("${out}")'
            )
            expected.append(" ".join(getattr(result, kind)))
    (tmp_path / "all.cmake").write_text("\n".join(script))
    text = call(["cmake", "-P", "all.cmake"], tmp_path)
    assert text.splitlines() == expected


# --- Software tags --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch", "cc", "inline"),
    [
        ("arm64", "clang-19", True),
        ("arm64", "clang-19", False),
        ("arm64", "gcc", False),
        ("riscv64", "clang-19", True),
        ("riscv64", "clang-19", False),
    ],
)
def test_software_tags_compile(tmp_path, arch, cc, inline):
    for stack in (True, False):
        choice = flags.Choice(cc=cc, arch=arch, inline=inline, stack=stack, **SW_TAGS)
        assert "CONFIG_KASAN_SW_TAGS=1" in flags.compute(choice).defines
        names = undefined(cc, arch, choice, tmp_path, "__hwasan")
        # No variable has a tag before the CPU is known to ignore it.
        assert ("__hwasan_generate_tag" in names) == (stack and arch == "riscv64")
        calls = {name for name in names if re.match(r"__hwasan_(load|store)\d", name)}
        assert bool(calls) == (not inline)
        # Inline code tags its stack with its own stores.
        assert ("__hwasan_tag_memory" in names) == (stack and not inline)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"arch": "x86_64"}, "for arm64 and riscv64 only"),
        ({"arch": "riscv64", "cc": "gcc", "inline": False}, "would check nothing"),
        ({"arch": "riscv64", "tagged_globals": True}, "no code model for this target"),
        ({"layout": "windowed", "low": None, "high": None}, "needs --layout full"),
        ({"cc": "gcc", "inline": True}, "outline checks only"),
        ({"target": "aarch64-unknown-none"}, "no kernel-hwaddress"),
        ({"offset": None, "dynamic": True}, "give --shadow-offset"),
    ],
)
def test_software_tags_refusals(change, reason):
    with pytest.raises(Failure, match=reason):
        flags.compute(flags.Choice(**{**SW_TAGS, **change}))


# --- Hardware tags --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cc", ["clang-19", "clang-22", "gcc"])
def test_hardware_tags_need_no_checks(tmp_path, cc):
    """No file is instrumented, no -march is needed, and the runtime compiles with the printed options."""
    choice = flags.Choice(cc=cc, mode="hw_tags")
    result = flags.compute(choice)
    assert result.instrument == []
    assert result.defines == ["CONFIG_KASAN_HW_TAGS=1", "CONFIG_KASAN_STACK=0"]
    assert not any(flag.startswith("-march") for flag in result.code + result.runtime)
    assert undefined(cc, "arm64", choice, tmp_path, "__") == set()
    command = [*compiler(cc, "arm64"), *result.runtime, *result.code, "-I", ROOT / "include"]
    command += ["-Wall", "-Wextra", "-Werror", *(f"-D{define}" for define in result.defines)]
    call([*command, "-c", ROOT / "runtime/tags/tags_hw.c", "-o", tmp_path / "tags_hw.o"], tmp_path)


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_hardware_tags_keep_every_frame(tmp_path, cc):
    """The trace of a fault starts in the function that caused it, even if that calls nothing."""
    need("llvm-objdump-19")
    result = flags.compute(flags.Choice(cc=cc, mode="hw_tags"))
    source = tmp_path / "leaf.c"
    source.write_text("int leaf(int *p);\nint leaf(int *p) { return *p; }\n", encoding="utf-8")
    call([*compiler(cc, "arm64"), "-O2", *result.code, "-c", source, "-o", "leaf.o"], tmp_path)
    assert re.search(r"stp\s+x29, x30", call(["llvm-objdump-19", "-d", "leaf.o"], tmp_path))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"arch": "riscv64"}, "arm64's MTE"),
        ({"arch": "x86_64", "cc": "gcc"}, "arm64's MTE"),
        ({"inline": True}, "with --inline: the CPU checks"),
        ({"inline": False}, "with --outline: the CPU checks"),
        ({"offset": 8}, "--shadow-offset: there is no shadow"),
        ({"dynamic": True}, "--dynamic: there is no shadow"),
        ({"layout": "full", "low": 0, "high": 8}, "--layout full, --low, --high: there is no shadow"),
        ({"cc": "gcc", "target": "aarch64-none-elf"}, "--target is Clang's"),
    ],
)
def test_hardware_tags_refusals(change, reason):
    with pytest.raises(Failure, match=reason) as error:
        flags.compute(flags.Choice(mode="hw_tags", **change))
    assert error.value.status == 2
