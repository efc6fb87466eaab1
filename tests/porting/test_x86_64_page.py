# SPDX-License-Identifier: MIT
"""docs/port/x86_64.md: its files and the lines that it adds compile, in a kernel as it describes."""

import re

import pytest
from kit import ROOT, TEMPLATE, call, change, compiler, expect_all_reported, make_template
from redzone.kit import flags

PAGE = ROOT / "docs" / "port" / "x86_64.md"
KERNEL_H = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct thread {
	uint32_t id;
	const char *name;
	uintptr_t stack_low, stack_high;
	bool is_user;
};
extern uint64_t root[512];
extern char text_start[], text_end[], image_start[], image_end[], heap_start[], heap_end[];
struct thread *current_thread(void);
uint64_t physical(const void *addr);
void serial_put(int c);
_Noreturn void panic(char *why);
bool ist_stack_of(uintptr_t sp, uintptr_t *start, uintptr_t *end);
bool is_mapped(uintptr_t addr);
struct trap {
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t vector, error, rip, cs, rflags, ss;
};
void bad_trap(const struct trap *trap, uintptr_t cr2);
void relocate(uintptr_t offset);
void paging_init(void);
void kasan_map_zeroes(uint64_t *root);
void kasan_map_shadow(const char *start, size_t size);
uint64_t new_page(void);
uint64_t *virtual(uint64_t page);
void cpu_init(int number);
void start_other_cpus(void);
void set_gate(int vector, void (*entry)(void), int ist);
void idt_init(void);
void boot(uintptr_t offset);
int main(void);
"""
INCLUDES = '#include <kasan/port_kit.h>\n#include "kernel.h"\n#include "x86_64_trap.h"\n'


def files():
    """Return {name: text} of the page's C files, and of what its diffs make of C files."""
    text = PAGE.read_text(encoding="utf-8")
    found = {}
    for block in re.findall(r"^```c\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        found[re.match(r"/\* (\w+\.c)", block)[1]] = block
    for name, block in re.findall(
        r"^\+\+\+ b/(\w+\.c)\n@@.*?@@.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    ):
        lines = [line[1:] for line in block.splitlines() if line[:1] in " +"]
        if name == "boot.c":
            lines[0:0] = ["void boot(uintptr_t offset)"]
        else:
            lines.append("}")
        found[name] = INCLUDES + "\n".join(lines) + "\n"
    return found


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_what_the_page_adds_compiles(tmp_path, cc):
    found = files()
    assert set(found) == {"kasan_early.c", "kasan_port.c", "boot.c", "idt.c", "traps.c"}
    (tmp_path / "kernel.h").write_text(KERNEL_H, encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    machine = re.search(r"^ CFLAGS = (.*)$", text, re.MULTILINE)[1].split()
    settings = dict(re.findall(r"^\+KASAN_(\w+) := (.*)$", text, re.MULTILINE))
    choice = flags.Choice(
        cc=cc,
        arch="x86_64",
        inline=settings["WHERE"] == "inline",
        layout=settings["LAYOUT"],
        offset=int(settings["SHADOW_OFFSET"], 16),
        low=int(settings["SHADOW_LOW"], 16),
        high=int(settings["SHADOW_HIGH"], 16),
    )
    printed = flags.compute(choice)
    defines = [*printed.defines, *settings["DEFINES"].replace("'", "").split()]
    options = [*machine, *printed.code, "-Wall", "-Wextra", "-Werror", "-Wno-main", "-std=gnu17"]
    options += [f"-D{define}" for define in defines]
    for name, source in found.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
        call(
            [*compiler(cc, "x86_64"), *options, f"-I{ROOT / 'include'}", f"-I{TEMPLATE}", "-c", name],
            tmp_path,
        )


EARLY_H = """
#include <stdint.h>
#include <stddef.h>
#define root boot_pml4
extern uint64_t root[512];
void kasan_map_zeroes(uint64_t *pml4);
void kasan_map_shadow(const char *start, size_t size);
uint64_t physical(const void *addr);
uint64_t *virtual(uint64_t page);
uint64_t new_page(void);
"""


def test_the_shadow_of_the_page(tree):
    """The example runs with the page's functions that map shadow instead of its own."""
    (tree / "kernel.h").write_text(EARLY_H, encoding="utf-8")
    (tree / "kasan_early.c").write_text(files()["kasan_early.c"], encoding="utf-8")
    change(tree / "Makefile", ("x86_64_trap.o)", "x86_64_trap.o kasan_early.o)"))
    change(
        tree / "x86_64_paging.c",
        ('#include "x86_64.h"\n', '#include "kernel.h"\n#include "x86_64.h"\n'),
        ("extern table boot_pml4;\n", ""),
        ("static uint64_t physical(", "uint64_t physical("),
        ("static uint64_t new_page(", "uint64_t new_page("),
        ("static uint64_t *at_physical(uint64_t address)", "uint64_t *virtual(uint64_t address)"),
        ("at_physical(", "virtual("),
        (
            "void paging_map_shadow(uintptr_t start, size_t size)\n{\n",
            "void paging_map_shadow(uintptr_t start, size_t size)\n{\n"
            "\tkasan_map_shadow((const char *)start, size);\n}\n\n"
            "void unused(uintptr_t start, size_t size);\nvoid unused(uintptr_t start, size_t size)\n{\n",
        ),
        (
            "\tfor (i = 0; i < ENTRIES; i++)\n\t\tstart_pml4",
            "\tkasan_map_zeroes(boot_pml4);\n\tfor (i = 0; i < ENTRIES; i++)\n\t\tstart_pml4",
        ),
    )
    elf, _ = make_template(tree, "x86_64", "clang-19", "LAYOUT=full")
    expect_all_reported("x86_64", elf)
