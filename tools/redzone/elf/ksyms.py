# SPDX-License-Identifier: MIT
"""`./redzone ksyms`: a symbol table to link into an image, so that its reports name functions.

The runtime looks in `struct kasan_ksyms` (<kasan/port.h>). The table is made of an image without it. It adds
constants only, so functions stay where they are if constants lie behind the code; --check proves it.

In an image that runs elsewhere than it is linked for, the address of the first function must move with it.
There it is a symbol of the image plus a number, of which the linker makes a relocation, in a section that may
be written.
"""

import re
from pathlib import Path

from redzone.core.base import Failure, say
from redzone.elf.file import ET_DYN, ET_REL, SHF_ALLOC, SHF_EXECINSTR, SHT_RELA, ElfError, File
from redzone.elf.symbols import ABSOLUTE, FUNC, IFUNC, LOCAL, NOTYPE, UNDEFINED, symbols, table

SUFFIXES = (".c", ".S", ".s")
# Gaps between functions up to this many bytes are padding, and belong to the function before them.
PADDING = 64
NO_NAME = ""
# A name that a C file and the assembler take.
_PLAIN = re.compile(r"[A-Za-z_]\w*")


def _rank(name, binding):
    """Order of preference among names of one address: global ones, fewest underscores, short ones."""
    return (binding == LOCAL, len(name) - len(name.lstrip("_")), len(name), name)


def functions(path):
    """Return [(start, name)] of the functions in the ELF file @path, ascending. The name is empty where
    there is none, and at the end. Raises Failure."""
    try:
        elf = File.open(path)
        if elf.type == ET_REL:
            raise Failure(f"'{path}' is an object file; give the linked image")
        wanted = SHF_ALLOC | SHF_EXECINSTR
        code = {
            number: section for number, section in enumerate(elf.sections) if section.flags & wanted == wanted
        }
        if table(elf) is None:
            raise Failure(f"'{path}' has no symbol table: link it without -s, and do not strip it")
        thumb = elf.machine == "EM_ARM"
        found = {}
        for name, value, size, kind, bind, section in symbols(elf):
            is_label = kind == NOTYPE and bind != LOCAL
            if section not in code or not name or name[0] in "$." or not (kind in (FUNC, IFUNC) or is_label):
                continue
            # A function of Thumb code has bit 0 set.
            found.setdefault(value & ~int(thumb), []).append((_rank(name, bind), name, size))
    except OSError as error:
        raise Failure(f"cannot read '{path}': {error.strerror}") from None
    except ElfError as error:
        raise Failure(f"'{path}' cannot be read as ELF: {error}") from None
    ends = [section.address + section.size for section in code.values()]
    if not found:
        raise Failure(f"'{path}' has no functions in its symbol table")
    result, end = [], 0
    for start, names in sorted(found.items()):
        if result and start - end > PADDING:
            result.append((end, NO_NAME))
        # A label of assembly has no size: it ends where the next function begins.
        size = max(size for *_, size in names)
        end = start + size if size else start + PADDING
        result.append((start, min(names)[1]))
    last = result[-1][0]
    if not size:
        # Else the padding after it does not count: the table's own object may change that.
        end = max(end, min((value for value in ends if value > last), default=end))
    result.append((end, NO_NAME))
    return result


def base_symbol(path, name=None):
    """Return (name, address) of the symbol that the table of the image @path is relative to: @name; without
    one, the first global function of a position-independent image, and None for others. Raises Failure."""
    elf = File.open(path)
    known = {
        one.name: one
        for one in symbols(elf)
        if one.bind != LOCAL and one.section not in (UNDEFINED, ABSOLUTE) and _PLAIN.fullmatch(one.name)
    }
    if name is not None:
        if name not in known:
            raise Failure(f"--base-symbol {name}: '{path}' has no global symbol of this name with a place")
        return name, known[name].value & ~int(elf.machine == "EM_ARM")
    if elf.type != ET_DYN:
        return None
    starts = [one for one in known.values() if one.kind in (FUNC, NOTYPE)]
    if not starts:
        raise Failure(
            f"'{path}' is position-independent, and has no global function: give --base-symbol NAME"
        )
    first = min(starts, key=lambda one: (one.kind != FUNC, one.value, one.name))
    return first.name, first.value


def unmoved(path):
    """Return what is wrong with the table in the linked image @path if that is moved, "" for nothing."""
    elf = File.open(path)
    found = next((one for one in symbols(elf) if one.name == "kasan_ksyms" and one.section), None)
    moves = elf.relocated()
    if found is None:
        return f"{path} has no kasan_ksyms: link the table and the runtime"
    # With --emit-relocs an image at a fixed place keeps them for a tool that moves it.
    moved = elf.type == ET_DYN or any(
        one.type == SHT_RELA and not one.flags & SHF_ALLOC and elf.linked(one.info).flags & SHF_ALLOC
        for one in elf.sections
    )
    if moved and found.value not in moves:
        return (
            f"{path} can run elsewhere than it is linked for, and its kasan_ksyms does not move with it: "
            "reports would have no names; make the table with --base-symbol NAME"
        )
    return ""


def render(symbols, style, symbol=None):
    """Return the table as the text of a C (".c") or assembly (".S") file. @symbol: as base_symbol() returns
    it; None: the base is a number."""
    base = symbols[0][0]
    if symbols[-1][0] - base >= 1 << 32:
        raise Failure("the image's functions span more than 4 GiB")
    distance = f"{base - symbol[1]:+#x}" if symbol else ""
    section, flags = (".data.rel.ro", '"aw"') if symbol else (".rodata", '"a"')
    position, name_at, names = 1, [], []
    for _, name in symbols:
        if name:
            name_at.append(position)
            names.append(name)
            position += len(name.encode()) + 1
        else:
            name_at.append(0)
    starts = [start - base for start, _ in symbols]
    count = len(symbols)
    head = f"Generated by `./redzone ksyms`: {len(names)} functions, {count * 8 + position} bytes."
    if style == ".c":
        rows = [
            f"/* {head} */",
            "#include <kasan/port.h>",
            "",
            f"static const uint32_t starts[{count}] = {{",
            *(f"\t{value:#x}," for value in starts),
            "};",
            f"static const uint32_t name_at[{count}] = {{",
            *(f"\t{value}," for value in name_at),
            "};",
            'static const char names[] = "\\0"',
            *(f'\t"{name}\\0"' for name in names),
            "\t;",
            *([f'extern const char base[] __asm__("{symbol[0]}");'] if symbol else []),
            "const struct kasan_ksyms kasan_ksyms = {"
            + (f"(uintptr_t)base {distance[0]} {distance[1:]}" if symbol else f"(uintptr_t){base:#x}ULL")
            + f", {count},",
            "\tstarts, name_at, names};",
        ]
        return "\n".join(rows) + "\n"
    rows = [
        f"/* {head} */",
        # The loader writes the addresses: a section that is only read cannot have them.
        f"\t.section {section}.kasan_ksyms, {flags}, %progbits",
        "\t.globl kasan_ksyms",
        "#if __SIZEOF_POINTER__ == 8",
        "#define WORD .8byte",
        "#else",
        "#define WORD .4byte",
        "#endif",
        "\t.balign 8",
        "kasan_ksyms:",
        f"\tWORD {symbol[0] + distance if symbol else f'{base:#x}'}, {count}, starts, name_at, names",
        '\t.section .rodata.kasan_ksyms, "a", %progbits',
        "\t.balign 4",
        "starts:",
        *(f"\t.4byte {value:#x}" for value in starts),
        "name_at:",
        *(f"\t.4byte {value}" for value in name_at),
        "names:",
        "\t.byte 0",
        *(f'\t.asciz "{name}"' for name in names),
        '\t.section .note.GNU-stack, "", %progbits',
    ]
    return "\n".join(rows) + "\n"


def register(group):
    """Add the verb to the command."""
    import click

    @group.command("ksyms", short_help="Make a symbol table to link into an image.")
    @click.argument("elf", metavar="ELF")
    @click.option("-o", "--output", metavar="FILE", help="A .c or .S file. Default: C on stdout.")
    @click.option(
        "--base-symbol",
        "base_symbol_name",
        metavar="NAME",
        help="Make the table relative to this symbol of ELF, for an image that is moved. Default: a global "
        "function if ELF is position-independent.",
    )
    @click.option("--check", is_flag=True, help="Compare ELF with FILE, which it was linked with.")
    def ksyms_verb(elf, output, base_symbol_name, check):
        """Write a table of the functions in ELF, from which the runtime takes the names that reports show.

        Link twice: without the table, and with the table of that image. The port needs no function for it.

        \b
          ld ... -o pass1.elf objects
          ./redzone ksyms pass1.elf -o ksyms.c && cc -c ksyms.c
          ld ... -o firmware.elf objects ksyms.o
          ./redzone ksyms firmware.elf -o ksyms.c --check

        With --check it writes nothing. It fails if functions of ELF are not where FILE says: the linker
        script places constants before code, or the linker relaxes code. In that case make the table from ELF,
        and link again. It also fails if ELF can be moved and the table in it does not move with it.

        \b
        Exit status: 0; 1 if --check finds a difference; 2 if ELF cannot be used.
        """
        suffix = Path(output).suffix if output else ".c"
        if suffix not in SUFFIXES:
            raise Failure(f"'{output}': the name must end in .c or .S")
        if check and not output:
            raise Failure("--check needs -o FILE, the table that ELF was linked with")
        style, found = ".c" if suffix == ".c" else ".S", functions(elf)
        text = render(found, style, base_symbol(elf, base_symbol_name))
        try:
            if check:
                old = Path(output).read_text(encoding="utf-8")
                if old not in (text, render(found, style)):
                    say(f"functions of {elf} moved: make {output} again from it, and link again")
                    raise SystemExit(1)
                if wrong := unmoved(elf):
                    say(wrong)
                    raise SystemExit(1)
            elif output:
                Path(output).write_text(text, encoding="utf-8")
            else:
                click.echo(text, nl=False)
        except OSError as error:
            raise Failure(f"cannot use '{output}': {error.strerror}") from None
