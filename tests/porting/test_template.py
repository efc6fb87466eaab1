# SPDX-License-Identifier: MIT
"""The example on bare metal: it boots and reports its planted bugs, and its start refuses wrong settings."""

import itertools
import re

import pytest
from kit import TEMPLATE, boot, change, expect_all_reported, few, first, make_template, need


@pytest.mark.quick
@few(
    ("arch", "where", "cc"),
    itertools.product(("arm64", "riscv64", "riscv32"), ("inline", "outline"), ("clang-19", "gcc")),
)
def test_reports_every_bug(tree, arch, where, cc):
    elf, _ = make_template(tree, arch, cc, f"WHERE={where}")
    expect_all_reported(arch, elf)


@first(0, ("arch", "cc"), [("arm64", "gcc"), ("riscv64", "clang-19"), ("arm64", "clang-19")])
def test_shadow_call_stack(tree, arch, cc):
    """Traces of allocations come from it: they are whole, and one word long if the port says it is empty."""
    elf, _ = make_template(tree, arch, cc, "SCS=1")
    expect_all_reported(arch, elf)
    whole = frames_of_allocations(boot(arch, elf)[1])
    assert whole and min(whole) >= 2, whole
    change(tree / "shadow_stack.h", ("return (uintptr_t)shadow_stack;", "return top;"))
    elf, _ = make_template(tree, arch, cc, "SCS=1")
    assert set(frames_of_allocations(boot(arch, elf)[1])) == {1}


def frames_of_allocations(console):
    """Return the numbers of frames of the traces behind "Allocated by task"."""
    traces = re.findall(r"Allocated by task \d+:\n((?: .+\n)+)", console)
    return [len(trace.splitlines()) for trace in traces]


@first(1, ("arch", "where", "cc"), [("arm64", "inline", "clang-22"), ("riscv64", "outline", "clang-19")])
def test_place_known_at_boot_only(tree, arch, where, cc):
    elf, _ = make_template(tree, arch, cc, f"WHERE={where}", "DYNAMIC=1")
    expect_all_reported(arch, elf)


@few(
    ("where", "cc"),
    [("inline", "clang-22"), ("outline", "gcc"), ("inline", "clang-19"), ("outline", "clang-19")],
    pairs=False,
)
def test_software_tags(tree, where, cc):
    elf, _ = make_template(tree, "arm64", cc, "MODE=sw_tags", f"WHERE={where}")
    expect_all_reported("arm64", elf, "sw_tags")


@first(1, "where", ["inline", "outline"])
def test_software_tags_on_riscv64(tree, where):
    elf, _ = make_template(tree, "riscv64", "clang-19", "MODE=sw_tags", f"WHERE={where}")
    expect_all_reported("riscv64", elf, "sw_tags")
    # A CPU that ignores no part of an address.
    status, console = boot("riscv64", elf)
    assert status == 4, console
    assert "kasan: this machine does not ignore bits of addresses (Smnpm)\n" in console


@first(2, "cc", ["clang-19", "gcc", "clang-22"])
def test_hardware_tags(tree, cc):
    elf, _ = make_template(tree, "arm64", cc, "MODE=hw_tags")
    expect_all_reported("arm64", elf, "hw_tags")


def test_hardware_tags_without_any(tree):
    """A CPU without MTE: the start says so, and executes no instruction that this CPU does not have."""
    need("qemu-system-aarch64")
    elf, _ = make_template(tree, "arm64", "clang-19", "MODE=hw_tags")
    status, console = boot("arm64", elf)
    assert status == 4, console
    assert "kasan: this machine has no memory tags (MTE)\n" in console


def test_wrong_tags_are_seen(tree):
    """The heap returns pointers without a tag. Then nothing in it may be reported, and the program must say
    so. This shows that the other tests can fail."""
    change(
        tree / "heap.c",
        ("ptr : kasan_heap_malloc(&heap, size);", "ptr : kasan_reset_tag(kasan_heap_malloc(&heap, size));"),
    )
    elf, _ = make_template(tree, "arm64", "clang-19", "MODE=sw_tags")
    status, console = boot("arm64", elf)
    assert status == 1, console
    assert "template: NOT OK heap_overflow\n" in console
    assert "template: ok stack_overread\n" in console


@first(1, "arch", ["riscv64", "arm64"])
def test_runtime_base_with_gcc(tree, arch):
    """Without an offset, outline checks without stack instrumentation find the shadow at run time."""
    change(tree / "Makefile", ("KASAN_SHADOW_OFFSET := $(offset)", "KASAN_STACK := 0"))
    change(tree / "main.c", ('\t{"stack_overread", "stack-out-of-bounds", stack_overread},\n', ""))
    change(tree / "main.c", ("static void stack_overread", "void stack_overread(void);\nvoid stack_overread"))
    elf, _ = make_template(tree, arch, "gcc", "WHERE=outline")
    status, console = boot(arch, elf)
    assert status == 0, console
    assert "template: done, all as expected" in console


def test_port_is_small():
    """The promise of the contract: at most 8 functions and 100 lines."""
    text = (TEMPLATE / "port.c").read_text(encoding="utf-8")
    assert text.count("\n") <= 100
    assert len(re.findall(r"^(?!static)[\w].*\bkasan_port_\w+\([^;]*$", text, re.MULTILINE)) <= 8
    assert "#include <kasan/port.h>" in text


REQUIRED = ("irq_save", "irq_restore", "cpu", "task", "alloc", "print", "panic")


@first(1, "cc", ["clang-19", "gcc"])
def test_forgotten_hook_fails_at_link(tree, cc):
    """The linker names each required function that is left out."""
    make_template(tree, "arm64", cc)
    original = (tree / "port.c").read_text(encoding="utf-8")
    for hook in REQUIRED:
        change(tree / "port.c", (f"kasan_port_{hook}(", f"forgotten_{hook}("))
        _, output = make_template(tree, "arm64", cc, ok=False)
        assert f"kasan_port_{hook}" in output
        assert "undefined" in output
        (tree / "port.c").write_text(original, encoding="utf-8")


def refused(tree, arch, cc="clang-19", *variables):
    elf, _ = make_template(tree, arch, cc, *variables)
    status, console = boot(arch, elf)
    assert status == 4, console
    message = re.search(r"^kasan: (.*)$", console, re.MULTILINE)
    assert message, console
    assert "BUG: KASAN" not in console
    return message[1]


def test_wrong_compiler_offset_is_named(tree):
    """The compiler's offset differs from the runtime's: the start says which number is right."""
    for number, (arch, cc, right) in enumerate(
        [("arm64", "clang-19", "0x38700000"), ("riscv64", "gcc", "0x70700000")]
    ):
        for where in ("inline", "outline"):
            variables = (f"WHERE={where}", f"OUT=build/{number}-{where}")
            change(
                tree / "Makefile",
                (
                    "$(KASAN_CODE_FLAGS) $(KASAN_CFLAGS)",
                    f"$(KASAN_CODE_FLAGS) $(subst {right},{int(right, 16) + 0x10000:#x},$(KASAN_CFLAGS))",
                ),
            )
            make_template(tree, arch, cc, *variables)
            status, console = boot(arch, tree / "build" / f"{number}-{where}" / "template.elf")
            assert status == 4, console
            assert "shadow offset" in console and f"{right};" in console, console
            (tree / "Makefile").write_text(
                (TEMPLATE / "Makefile").read_text(encoding="utf-8"), encoding="utf-8"
            )


def test_runtime_offset_against_the_linker_script(tree):
    """The script moved the shadow: the message gives the offset to set."""
    change(
        tree / "template.lds",
        (
            "__kasan_shadow_start = __kasan_window_end;",
            "__kasan_shadow_start = __kasan_window_end + 0x10000;",
        ),
    )
    message = refused(tree, "arm64")
    assert "CONFIG_KASAN_SHADOW_OFFSET puts the shadow at 0x40700000" in message
    assert "0x38710000" in message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "__kasan_shadow_start = __kasan_window_end;",
            "__kasan_shadow_start = IMAGE_START;",
            ("lies inside its own window", "0x40700000"),
        ),
        (
            "__kasan_window_start = RAM_START;",
            "__kasan_window_start = RAM_START + 4;",
            ("not a multiple of 8", "0x40000004", "0x40000000"),
        ),
        (
            "__kasan_window_end = RAM_START + 0x700000;",
            "__kasan_window_end = RAM_START + 0x80000;",
            ("leaves out part of the image", "at least"),
        ),
        (
            "__kasan_window_start = RAM_START;",
            "__kasan_window_start = RAM_START + 0x100000;",
            ("start it at or below 0x40080000",),
        ),
        (
            "__kasan_window_end = RAM_START + 0x700000;",
            "__kasan_window_end = RAM_START + 0x700004;",
            ("not a multiple of 8", "0x700000"),
        ),
    ],
    ids=["shadow-inside", "start-misaligned", "too-small", "starts-above-image", "size-misaligned"],
)
def test_wrong_windows_are_refused_with_numbers(tree, old, new, words):
    change(tree / "template.lds", (old, new))
    change(tree / "template.lds", ("__heap_end = __kasan_window_end", "__heap_end = RAM_START + 0x700000"))
    if not old.startswith("__kasan_shadow"):
        change(
            tree / "template.lds",
            ("shadow_start = __kasan_window_end", "shadow_start = RAM_START + 0x700000"),
        )
    # The shadow's place is decided at boot, so that only the window is wrong.
    message = refused(tree, "arm64", "clang-19", "DYNAMIC=1")
    for word in words:
        assert word in message


def test_shadow_over_the_image_is_refused(tree):
    """A window that ends below the image, with its shadow in the middle of the image."""
    change(
        tree / "template.lds",
        ("__kasan_window_end = RAM_START + 0x700000;", "__kasan_window_end = RAM_START + 0x80000;"),
    )
    change(
        tree / "template.lds",
        ("__kasan_shadow_start = __kasan_window_end;", "__kasan_shadow_start = IMAGE_START + 0x1000;"),
    )
    change(tree / "template.lds", ("__heap_end = __kasan_window_end", "__heap_end = RAM_START + 0x700000"))
    message = refused(tree, "arm64", "clang-19", "DYNAMIC=1")
    assert "would overwrite the image" in message
