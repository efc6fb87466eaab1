# SPDX-License-Identifier: MIT
"""The tools on position-independent images that are not Redzone's: ./redzone audit and ./redzone ksyms.

Two files have the same name in different folders, one with checks and one without. The images are linked, and
never booted.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from kit import ROOT, call, compiler, few, need
from redzone.core import process
from redzone.core.base import Failure
from redzone.elf import ksyms
from redzone.elf.file import File
from redzone.elf.symbols import symbols
from redzone.kit import audit, flags
from redzone.testing.needs import first

SOURCES = {
    # Its memset() is the runtime's, which checks, but the file has no checks. It is the entry.
    "boot/init.c": """
        void *memset(void *dst, int c, unsigned long n);
        int net_init(int index, char *text);
        void boot_main(void);
        void _start(void);
        static int state;
        static __attribute__((noinline)) void clear(char *p, unsigned long n) { memset(p, 0, n); state++; }
        void _start(void) { clear((char *)0x1000, 16); net_init(state, (char *)0x1000); boot_main(); }
    """,
    "net/init.c": """
        int app(int index, char *text);
        int net_init(int index, char *text);
        static int table[10];
        int net_init(int index, char *text)
        {
            table[index & 7] += index;
            return table[index] + app(index, text);
        }
    """,
    # Nothing in it is local, so without debug information no function of it has a file.
    "net/app.c": """
        int app(int index, char *text);
        int app(int index, char *text) { text[index] = 0; return text[index + 1] * 3; }
    """,
    "boot/port.c": """
        #include "kasan.h"
        void boot_main(void);
        extern void (*const __init_array_start[])(void), (*const __init_array_end[])(void);
        static unsigned long pool[64];
        unsigned long kasan_port_irq_save(void) { return 0; }
        void kasan_port_irq_restore(unsigned long flags) { (void)flags; }
        unsigned int kasan_port_cpu(void) { return 0; }
        void kasan_port_task(struct kasan_port_task *task) { task->name = "main"; }
        void *kasan_port_alloc(size_t size) { return size <= sizeof(pool) ? pool : NULL; }
        void kasan_port_print(const char *text) { pool[0] = (unsigned char)*text; }
        void kasan_port_panic(const char *why) { kasan_port_print(why); for (;;) ; }
        void boot_main(void)
        {
            kasan_window_add(0x100000, 0x100000, (void *)0x220000);
            for (void (*const *at)(void) = __init_array_start; at != __init_array_end; at++)
                (*at)();
            kasan_init(0x100000);
        }
    """,
}
CHECKED = ("net/init.c", "net/app.c")
MACHINE = {"riscv64": ["-mcmodel=medany"], "arm64": ["-mgeneral-regs-only"], "x86_64": []}
# What ./redzone flags adds for a runtime on x86_64.
KERNEL_ONLY = ("-mno-red-zone", "-mgeneral-regs-only")
# {how it is compiled: the runtime's object}, because that takes longer than all else.
_RUNTIMES = {}
ALL = [(arch, cc) for arch in ("x86_64", "riscv64", "arm64") for cc in ("clang-19", "gcc")]


@dataclass
class Made:
    """A position-independent image. command: the compiler with the options of its uninstrumented files."""

    folder: Path
    elf: Path
    objects: list
    command: list

    def link(self, *more, output="again.elf"):
        """Link again, with the objects @more."""
        _link(self.folder, [*self.objects, *more], output)
        return self.folder / output


def _link(folder, objects, output, *options):
    # -X: without the assembler's labels. Executables have dynamic symbols only if they are asked for.
    command = ["ld.lld-19", "-pie", "--no-dynamic-linker", "-X", "--export-dynamic", "-e", "_start"]
    call([*command, *options, *objects, "-o", output], folder)


def make(folder, amalgamated, arch, cc, *options, hosted=False):
    """Return the Made image. @options: for all files. @hosted: the runtime and the port are compiled as
    programs are."""
    need("ld.lld-19")
    printed = flags.compute(flags.without_place(flags.Choice(cc=cc, arch=arch)))
    runtime = [one for one in printed.runtime if not (hosted and one in KERNEL_ONLY)]
    command = [*compiler(cc, arch), *MACHINE[arch], "-O2", "-fpie", "-ffreestanding", "-fno-stack-protector"]
    command += ["-Wall", "-Wextra", "-Werror", f"-I{amalgamated}", *printed.code]
    command += [f"-D{define}" for define in printed.defines]
    command += [f"-ffile-prefix-map={one}=/source" for one in (folder, amalgamated)]
    folder.mkdir()
    objects = []
    for name, text in SOURCES.items():
        source = folder / name
        source.parent.mkdir(exist_ok=True)
        source.write_text(text, encoding="utf-8")
        own = printed.instrument if name in CHECKED else []
        own = runtime if name == "boot/port.c" else own
        objects.append(f"{name.replace('/', '_')}.o")
        call([*command, *options, *own, "-c", name, "-o", objects[-1]], folder)
    objects.append("kasan.o")
    known = arch, cc, *options, hosted
    if known not in _RUNTIMES:
        call([*command, *options, *runtime, "-c", amalgamated / "kasan.c", "-o", "kasan.o"], folder)
        _RUNTIMES[known] = (folder / "kasan.o").read_bytes()
    (folder / "kasan.o").write_bytes(_RUNTIMES[known])
    _link(folder, objects, "image.elf")
    return Made(folder, folder / "image.elf", objects, command)


@pytest.fixture
def made(tmp_path, amalgamated):
    return lambda *arguments, **options: make(tmp_path / "pie", amalgamated, *arguments, **options)


def names(result, kind):
    return [unit["name"] for unit in result["files"][kind]]


# --- Audit ----------------------------------------------------------------------------------------------


@first(1, ("arch", "cc"), ALL)
def test_files_of_one_name(made, arch, cc):
    """Debug information tells them apart, and each has what belongs to it, the compiler's constructors too.
    A memset() that checks does not make a file instrumented."""
    image = made(arch, cc, "-g")
    result = audit.audit([image.elf], exclude=["boot/*"])
    assert names(result, "instrumented") == ["net/app.c", "net/init.c"]
    assert names(result, "not instrumented") == ["boot/init.c", "boot/port.c"]
    assert result["findings"] == result["warnings"] == []
    assert result["symbol_tables"] == [".symtab"] and "symbols: from .symtab" in audit.text(result)
    assert result["constructors"]["registering"] == 1
    (text,) = audit.audit([image.elf], exclude=["boot/port.c"])["findings"]
    assert "1 file without checks" in text and "boot/init.c" in text
    # What an entry reaches, each with its way there.
    early = audit.audit([image.elf], exclude=["boot/*"], early=["_start"])
    # GCC may append something to a name.
    found = {
        one["function"].partition(".")[0]: ([name.partition(".")[0] for name in one["path"]], one["why"])
        for one in early["early"]
    }
    assert found == {
        "clear": (["_start", "clear"], "calls memset(), which checks"),
        "net_init": (["_start", "net_init"], "has checks"),
        "app": (["_start", "net_init", "app"], "has checks"),
    }
    assert "app (net/app.c) has checks: _start > net_init > app" in audit.text(early)
    # The runtime's own functions do not count.
    assert audit.audit([image.elf], exclude=["boot/*"], early=["boot_main"])["early"] == []
    with pytest.raises(Failure, match="no such symbol"):
        audit.audit([image.elf], early=["nothing"])
    with pytest.raises(Failure, match="needs a linked image"):
        audit.audit([image.folder / "net_app.c.o"], early=["app"])


@first(1, ("arch", "cc"), ALL)
def test_without_debug_information(made, arch, cc):
    """The symbol table has names of files without folders: files of one name are listed, and a warning says
    so. Stripped of that table, the dynamic symbols still show checks."""
    image = made(arch, cc)
    result = audit.audit([image.elf], exclude=["port.c"])
    (first,) = names(result, "not instrumented")
    assert first.startswith("init.c (1 of 2: clear")
    assert any(name.startswith("init.c (2 of 2: ") for name in names(result, "instrumented"))
    (text,) = result["findings"]
    assert "1 file without checks" in text and "init.c (1 of 2: clear" in text
    assert any("2 files are called init.c" in warning for warning in result["warnings"])
    assert result["functions"]["of_no_file_with_checks"] >= 1 and not result["debug_information"]
    assert audit.audit([image.elf], exclude=["port.c", "init.c"])["findings"] == []
    # The objects by themselves have paths.
    objects = audit.audit([image.folder / name for name in image.objects[:3]], exclude=["port.c"])
    assert names(objects, "not instrumented") == [f"init.c in {image.folder}/boot_init.c.o"]
    assert f"init.c in {image.folder}/net_init.c.o" in names(objects, "instrumented")
    _link(image.folder, image.objects, "stripped.elf", "--strip-all")
    stripped = audit.audit([image.folder / "stripped.elf"])
    assert stripped["findings"] == [] and stripped["symbol_tables"] == [".dynsym"]
    assert "symbols: from .dynsym" in audit.text(stripped)
    assert any("there is no .symtab" in warning for warning in stripped["warnings"])
    # Without either table nothing can be said, and that is a finding.
    _link(image.folder, image.objects, "bare.elf", "--no-export-dynamic", "--strip-all")
    bare = audit.audit([image.folder / "bare.elf"])
    assert any("no symbol table names a function" in text for text in bare["findings"])
    assert not any("nothing is instrumented" in text for text in bare["findings"])


def test_a_file_whose_accesses_are_all_right(tmp_path):
    """GCC adds no check where an access is known to be right. The options that it records say that it
    looked."""
    source = tmp_path / "safe.c"
    source.write_text("int f(void);\nstatic volatile int values[4];\nint f(void) { return values[2]; }\n")
    printed = flags.compute(flags.without_place(flags.Choice(cc="gcc", arch="x86_64", globals=False)))
    command = [*compiler("gcc", "x86_64"), "-O2", "-g", "-ffreestanding", "-c", "safe.c"]
    for options, kind in (([], "not instrumented"), (printed.instrument, "instrumented")):
        call([*command, *options], tmp_path)
        assert names(audit.audit([tmp_path / "safe.o"]), kind) == ["safe.c"]
    producer = "GNU C17 -fsanitize=kernel-address -O2"
    assert audit.was_instrumented(producer) and audit.was_instrumented("x -fsanitize=kernel-hwaddress")
    assert not audit.was_instrumented(f"{producer} -fno-sanitize=all")
    assert not audit.was_instrumented("GNU C17 -fsanitize=undefined")


@first(1, "cc", ["clang-19", "gcc"])
def test_a_runtime_compiled_as_programs_are(made, cc):
    """On x86_64 an interrupt overwrites what lies below the stack pointer, and saves no vector registers."""
    image = made("x86_64", cc, "-g", hosted=True)
    warnings = audit.audit([image.elf], exclude=["boot/*"])["warnings"]
    assert any("-mgeneral-regs-only" in warning and "__memmove, " in warning for warning in warnings), (
        warnings
    )
    source = image.folder / "boot" / "port.c"
    old = "unsigned int kasan_port_cpu(void) { return 0; }"
    spill = "unsigned int kasan_port_cpu(void) { volatile unsigned int cpu = 0; return cpu; }"
    source.write_text(source.read_text(encoding="utf-8").replace(old, spill), encoding="utf-8")
    call([*image.command, "-c", source, "-o", "boot_port.c.o"], image.folder)
    warnings = audit.audit([image.link()], exclude=["boot/*"])["warnings"]
    (text,) = [warning for warning in warnings if "-mno-red-zone" in warning]
    assert "kasan_port_cpu" in text or "..." in text


# --- Names ----------------------------------------------------------------------------------------------


def _table(image, suffix, *options):
    """Make the table of @image with the command, compile it, and link. Return the new image and the table."""
    table = image.folder / f"table{suffix}"
    call([ROOT / "redzone", "ksyms", image.elf, "-o", table, *options], image.folder)
    call([*image.command, "-I", ROOT / "include", "-c", table, "-o", "table.o"], image.folder)
    return image.link("table.o"), table


@few(
    ("arch", "cc", "suffix"), [(*one, suffix) for one in ALL for suffix in (".c", ".S")], pairs=False, most=2
)
def test_a_table_that_moves(made, arch, cc, suffix):
    """The base of the table is a word that the loader changes, and points to the first function."""
    image = made(arch, cc)
    again, table = _table(image, suffix)
    check = [ROOT / "redzone", "ksyms", again, "-o", table, "--check"]
    call(check, image.folder)
    file = File.open(again)
    place = next(one.value for one in symbols(file) if one.name == "kasan_ksyms")
    (base,) = [
        one.addend for section in file.sections for one in file.relocations(section) if one.offset == place
    ]
    assert base == ksyms.functions(again)[0][0]
    # Relocations in short form, as kernels have them.
    _link(image.folder, [*image.objects, "table.o"], "relr.elf", "--pack-dyn-relocs=relr")
    packed = File.open(image.folder / "relr.elf")
    assert packed.section(".relr.dyn") and ksyms.unmoved(image.folder / "relr.elf") == ""
    # A table with a number in it has the right functions, but would have no names elsewhere.
    table.write_text(ksyms.render(ksyms.functions(again), suffix), encoding="utf-8")
    if suffix == ".S":
        # Then the other addresses in it cannot stand in a section that is only read.
        text = table.read_text(encoding="utf-8")
        table.write_text(
            text.replace('.rodata.kasan_ksyms, "a"', '.data.kasan_ksyms, "aw"'), encoding="utf-8"
        )
    call([*image.command, "-I", ROOT / "include", "-c", table, "-o", "fixed.o"], image.folder)
    fixed = image.link("fixed.o", output="fixed.elf")
    assert "does not move with it" in ksyms.unmoved(fixed)
    table.write_text(ksyms.render(ksyms.functions(fixed), suffix), encoding="utf-8")
    result = process.run([ROOT / "redzone", "ksyms", fixed, "-o", table, "--check"])
    assert result.returncode == 1 and "--base-symbol" in result.stderr


def test_base_symbols(made):
    image = made("x86_64", "clang-19")
    _, table = _table(image, ".S", "--base-symbol", "net_init")
    assert "WORD net_init-0x" in table.read_text(encoding="utf-8")
    # The runtime's own table, which is empty.
    assert "does not move with it" in ksyms.unmoved(image.elf)
    for wrong in ("clear", "nothing"):
        with pytest.raises(Failure, match="has no global symbol"):
            ksyms.base_symbol(image.elf, wrong)


@pytest.mark.parametrize("suffix", [".c", ".S"])
def test_names_of_a_program_that_moves(tmp_path, suffix):
    """A program of the host: the kernel moves it in each run, and it finds its own names."""
    need("gcc")
    (tmp_path / "main.c").write_text(
        """
        #include <kasan/port.h>
        #include <stdio.h>
        int main(void)
        {
            char name[64] = "";
            struct kasan_symbol symbol = {0};
            bool found = kasan_port_symbol((uintptr_t)main + 4, name, sizeof(name), &symbol);
            printf("%d %s %d %p\\n", found, name, symbol.start == (uintptr_t)main, (void *)main);
            return 0;
        }
        """
    )
    options = ["-O2", "-fpie", "-pie", "-DCONFIG_KASAN_GENERIC=1", "-DCONFIG_KASAN_SHADOW_WINDOWED=1"]
    options += [f"-I{ROOT}/include", "main.c", ROOT / "runtime" / "base" / "ksyms.c"]
    call(["gcc", *options, "-o", "first"], tmp_path)
    call([ROOT / "redzone", "ksyms", "first", "-o", f"table{suffix}"], tmp_path)
    call(["gcc", *options, f"table{suffix}", "-o", "second"], tmp_path)
    call([ROOT / "redzone", "ksyms", "second", "-o", f"table{suffix}", "--check"], tmp_path)
    runs = [call(["./second"], tmp_path) for _ in range(4)]
    assert all(re.match(r"1 main 1 0x", line) for line in runs)
