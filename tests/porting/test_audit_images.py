# SPDX-License-Identifier: MIT
"""./redzone audit on images as other projects link them: constructors in flash, Thumb, GNU ld's relaxation,
two banks of RAM, a table of symbols, several versions of debug information. The images are never booted."""

import itertools
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from kit import ROOT, call, compiler, few, need
from redzone.elf.file import File
from redzone.elf.symbols import symbols
from redzone.kit import amalgamate, audit, flags
from redzone.testing.needs import first

SOURCES = Path(__file__).parent / "images"
SIZE = 0x80000  # of the first window; the second has 64 KiB


@dataclass(frozen=True)
class Machine:
    """The addresses of an image, and its machine options. gnu_ld: GNU ld links Clang's objects."""

    arch: str
    flash: int
    ram: int
    bank: int
    options: tuple
    gnu_ld: bool = False

    def windows(self):
        return [(self.ram, SIZE), (self.bank, 0x10000)]


MACHINES = {
    "cortex-m": Machine(
        "arm", 0x8000000, 0x20000000, 0x10000000, ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")
    ),
    "riscv64": Machine(
        "riscv64",
        0x20000000,
        0x80000000,
        0x8000000,
        ("-march=rv64imac_zicsr", "-mabi=lp64", "-mcmodel=medany"),
        gnu_ld=True,
    ),
    "arm64": Machine("arm64", 0, 0x40000000, 0x10000000, ("-mgeneral-regs-only",)),
}
ALL = [(name, cc) for name in MACHINES for cc in ("clang-19", "gcc")]


class Builder:
    """Compiles and links an image in @folder, with the file layout of a project: src/ and src/board/."""

    def __init__(self, folder, amalgamated, name, cc):
        self.folder, self.amalgamated, self.cc = folder, amalgamated, cc
        self.machine = MACHINES[name]
        # As `./redzone flags --arch ...` prints them without other options.
        printed = flags.compute(flags.without_place(flags.Choice(cc=cc, arch=self.machine.arch)))
        self.instrument = printed.instrument
        self.common = [*self.machine.options, *printed.code, *(f"-D{define}" for define in printed.defines)]
        self.common += ["-std=gnu17", "-O2", "-ffreestanding", "-fno-pic", "-fno-stack-protector", "-Wall"]
        self.common += ["-Wextra", "-Werror", "-DCONFIG_KASAN_DEPOT_SIZE=65536UL", f"-I{amalgamated}"]
        # Debian 12's GNU ld crashes on Clang's relocations for DWARF 5 on RISC-V.
        self.debug = "-gdwarf-4" if self.machine.gnu_ld else "-g"
        (folder / "src" / "board").mkdir(parents=True)
        shutil.copy(SOURCES / "app.c", folder / "src")
        shutil.copy(SOURCES / "start.c", folder / "src" / "board")

    def compile(self, source, *options):
        """Compile @source; return the object."""
        result = self.folder / f"{Path(source).stem}.o"
        command = [*compiler(self.cc, self.machine.arch), *self.common, *options, "-c", source, "-o", result]
        call(command, self.folder)
        return result

    def app(self, *options):
        return self.compile(self.folder / "src" / "app.c", *self.instrument, "-DSECOND_BANK", *options)

    def places(self):
        """Return the macros of start.c."""
        machine = self.machine
        places = {
            "RAM_START": machine.ram,
            "RAM_SIZE": SIZE,
            "SHADOW_START": machine.ram + 0xF0000,
            "BANK_START": machine.bank,
            "BANK_SIZE": 0x10000,
            "BANK_SHADOW": machine.ram + 0xE0000,
        }
        return ["-DSECOND_BANK", *(f"-D{name}={value:#x}UL" for name, value in places.items())]

    def start(self, *options):
        return self.compile(self.folder / "src" / "board" / "start.c", *self.places(), *options)

    def link(self, objects, *changes):
        """Link @objects; @changes: (old, new) in the linker script. Return the image."""
        script = (SOURCES / "flash.lds").read_text(encoding="utf-8")
        for old, new in changes:
            assert old in script
            script = script.replace(old, new)
        machine = self.machine
        for name, place in (("FLASH", machine.flash), ("RAM", machine.ram), ("BANK", machine.bank)):
            script = script.replace(f"@{name}_START@", f"{place:#x}")
        (self.folder / "image.lds").write_text(script, encoding="utf-8")
        if self.cc == "gcc" or machine.gnu_ld:
            command = compiler("gcc", machine.arch)
        else:
            need("ld.lld-19")
            command = [*compiler(self.cc, machine.arch), "--ld-path=ld.lld-19"]
        command += [*machine.options, "-nostdlib", "-static", "-T", "image.lds", "-Wl,--build-id=none"]
        # Code for arm calls helpers for division and copies, which are in the compilers' libraries.
        command += ["-Wl,--unresolved-symbols=ignore-all"] if machine.arch == "arm" else []
        command += [*objects, "-o", "image.elf"]
        call(command, self.folder)
        return self.folder / "image.elf"

    def image(self, *options):
        """Return an image of all files. @options: of start.c."""
        runtime = self.compile(self.amalgamated / "kasan.c")
        return self.link([self.app(self.debug), self.start(self.debug, *options), runtime])

    def audit(self, *files, **options):
        options.setdefault("windows", self.machine.windows())
        options.setdefault("exclude", ("start.c",))
        return audit.audit(files, **options)


# Changes of the linker script.
WITHOUT_ARRAY = (
    ("KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*))) KEEP(*(.init_array))", ""),
    ("/DISCARD/ : {", "/DISCARD/ : { *(.init_array .init_array.*)"),
)


@pytest.fixture
def builder(tmp_path, amalgamated):
    return lambda name, cc="clang-19": Builder(tmp_path / "image", amalgamated, name, cc)


@few(("name", "cc"), ALL, pairs=False, most=1)
def test_constructors_in_flash_and_two_banks(builder, name, cc):
    made = builder(name, cc)
    image = made.image()
    result = made.audit(image)
    assert result["findings"] == []
    assert [unit["name"] for unit in result["files"]["instrumented"]] == ["app.c"]
    assert [unit["name"] for unit in result["files"]["not instrumented"]] == ["board/start.c"]
    assert [unit["name"] for unit in result["files"]["runtime"]] == ["kasan.c"]
    ctors = result["constructors"]
    assert ctors["registering"] == ctors["kept"] == 1 and ctors["walked"]
    assert ctors["bounds"] == ["__init_array_start", "__init_array_end"]
    assert int(ctors["array"].split()[1].split(".")[0], 16) >> 20 == made.machine.flash >> 20
    # One window is missing, then the other: the audit looks only for variables, and names each section.
    (text,) = made.audit(image, windows=made.machine.windows()[:1])["findings"]
    assert text.startswith(".bank (") and "lies in no window" in text and "add a window" in text
    text = " ".join(made.audit(image, windows=made.machine.windows()[1:])["findings"])
    assert ".data (" in text and ".bss (" in text and "array" not in text and ".text" not in text


@first(1, ("name", "cc"), ALL)
def test_constructors_that_nobody_walks(builder, name, cc):
    made = builder(name, cc)
    (text,) = made.audit(made.image("-DNOT_WALKED"))["findings"]
    assert text.startswith("no code refers to __init_array_start")


@pytest.mark.rest
def test_a_number_is_no_constructor(builder):
    made = builder("arm64")
    found = symbols(File.open(made.image()))
    (address,) = {symbol.value for symbol in found if symbol.name.endswith("module_ctor")}
    result = made.audit(made.image(f"-DNUMBER={address}"))
    assert result["findings"] == []
    assert result["constructors"]["bounds"] == ["__init_array_start", "__init_array_end"]
    # Without the array, such a number must not pass for it.
    objects = [
        made.app(made.debug),
        made.start(made.debug, f"-DNUMBER={address}"),
        made.compile(made.amalgamated / "kasan.c"),
    ]
    (text,) = made.audit(made.link(objects, *WITHOUT_ARRAY))["findings"]
    assert text.startswith("1 of 1 constructors are in no array")


def test_windows_that_overlap(builder):
    made = builder("arm64")
    windows = [*made.machine.windows(), (made.machine.ram + SIZE - 8, 64)]
    (text,) = made.audit(made.image(), windows=windows)["findings"]
    assert text == "the windows 0x40000000..0x40080000 and 0x4007fff8..0x40080038 overlap"


@first(1, ("name", "with_names"), itertools.product(MACHINES, (False, True)))
def test_a_table_of_symbols_is_no_array(builder, tmp_path, name, with_names):
    """An image that contains the addresses of its own functions, as a kernel does for its traces."""
    need("llvm-nm-19")
    made = builder(name)
    objects = [
        made.app(made.debug),
        made.start(made.debug, "-DWITH_TABLE"),
        made.compile(made.amalgamated / "kasan.c"),
    ]
    empty = made.link(objects)
    lines = call(["llvm-nm-19", "--defined-only", "--numeric-sort", empty], tmp_path).splitlines()
    functions = [line.split()[0] for line in lines if line.split()[1] in "tT"]
    word = ".quad" if made.machine.arch != "arm" else ".long"
    bit = int(name == "cortex-m")
    rows = [
        f"{word} {int(at, 16) | bit:#x}" + (f", {n}" if with_names else "") for n, at in enumerate(functions)
    ]
    table = tmp_path / "table.S"
    table.write_text('.section .symbols, "a"\n' + "\n".join(rows) + "\n", encoding="utf-8")
    objects.append(made.compile(table))
    result = made.audit(made.link(objects))
    assert result["findings"] == []
    assert result["constructors"]["array"].startswith(".init_array ")
    # Without the array, the audit must not take the table for it.
    (text,) = made.audit(made.link(objects, *WITHOUT_ARRAY))["findings"]
    assert text.startswith("1 of 1 constructors are in no array")


@first(
    1,
    ("name", "cc", "old"),
    [
        (name, cc, old)
        for name, cc in (("cortex-m", "clang-19"), ("riscv64", "gcc"), ("arm64", "gcc"))
        for old in (2, 3, 4)
    ],
)
def test_debug_information_of_two_ages(builder, name, cc, old):
    """A library with an old version of debug information and a section per function, beside a new file."""
    made = builder(name, cc)
    start = made.start(f"-gdwarf-{old}", "-ffunction-sections")
    runtime = made.compile(made.amalgamated / "kasan.c")
    result = made.audit(made.link([made.app("-gdwarf-5", "-ffunction-sections"), start, runtime]))
    assert result["debug_information"] and result["findings"] == []
    assert [unit["name"] for unit in result["files"]["not instrumented"]] == ["board/start.c"]


@few(("name", "cc"), ALL, pairs=False)
def test_debug_information_of_objects(builder, name, cc):
    made = builder(name, cc)
    for version in (2, 5):
        options = (f"-gdwarf-{version}",)
        result = made.audit(made.app(*options), made.start(*options), exclude=["board/*"])
        assert result["debug_information"] and result["findings"] == []
        assert [unit["name"] for unit in result["files"]["not instrumented"]] == ["board/start.c"]


CASES = "".join(f"case {n}: return other{n}();" for n in range(9))
# An empty file has no debug information. Constants, and the table of a switch, are read without checks.
FILES = {
    "empty/arch.c": "",
    "x86/arch.c": "static char table[10]; char get(int at) { return table[at]; } "
    "char *put(void) { return table; }",
    "math.c": "double half(double x) { return __builtin_fabs(x) * 0.3; }\n"
    + "".join(f"int other{n}(void);" for n in range(9))
    + f"int choose(int n) {{ switch (n) {{ {CASES} }} return 0; }}",
    "runtime.c": "void __asan_load1_noabort(unsigned long a) {} "
    "void __asan_register_globals(void *g, long n) {}",
    "plain.c": "int count; int *last; int next(void) { return ++count + *last; }",
}


def test_constants_and_empty_files(tmp_path):
    need("ld.lld-19")
    printed = flags.compute(flags.without_place(flags.Choice(cc="clang-19", arch="x86_64")))
    objects = []
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        options = () if name in ("plain.c", "runtime.c") else printed.instrument
        objects.append(f"{name}.o")
        command = [*compiler("clang-19", "x86_64"), "-O2", "-g", "-mcmodel=kernel", "-fno-pic"]
        call([*command, *options, "-c", name, "-o", objects[-1]], tmp_path)
    command = ["ld.lld-19", "--image-base=0xffffffff80000000", "--unresolved-symbols=ignore-all", "-e", "0"]
    call([*command, *objects, "-o", "image.elf"], tmp_path)
    result = audit.audit([tmp_path / "image.elf"], exclude=())
    assert [text for text in result["findings"] if "without checks" in text] == [
        "1 file without checks, not named by --exclude: plain.c"
    ]
    assert not [text for text in result["warnings"] if "files are called" in text]


@pytest.mark.rest
def test_the_runtime_without_debug_information(builder):
    """Files of the runtime have no checks. That is not a finding, even if only their names identify them."""
    made = builder("arm64")
    objects = [made.compile(path, "-I", ROOT / "include") for path in amalgamate.sources()]
    app, start = made.app("-g"), made.start("-g")
    for files in ([app, start, *objects], [made.link([app, start, *objects])]):
        result = made.audit(*files)
        assert result["findings"] == []
        assert len(result["files"]["runtime"]) >= 15
        assert [unit["name"] for unit in result["files"]["not instrumented"]] == ["board/start.c"]


def test_a_file_with_the_name_of_one_of_the_runtime(builder):
    made = builder("arm64")
    other = made.folder / "src" / "print.c"
    shutil.copy(made.folder / "src" / "board" / "start.c", other)
    (text,) = made.audit(made.app("-g"), made.compile(other, *made.places()))["findings"]
    assert "1 file without checks" in text and "print.c" in text
