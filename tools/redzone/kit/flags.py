# SPDX-License-Identifier: MIT
"""`./redzone flags`: KASAN's compiler options for a compiler, an architecture and a shadow address.

cmake/kasan-flags.json holds the options themselves; the CMake package reads it as well. This module knows
which options go together, and the four formats that print them.
"""

import json
import re
from dataclasses import dataclass, field, replace

from redzone.core.arch import ARCHES, DEFAULT
from redzone.core.base import ROOT, Failure, say

RULES = ROOT / "cmake" / "kasan-flags.json"
COMPILERS = ("clang-19", "clang-22", "clang", "gcc")
MODES = ("generic", "sw_tags", "hw_tags")
LAYOUTS = ("windowed", "full")
FORMATS = ("text", "json", "make", "cmake")
OPTIMIZE = ("2", "s", "z")
PARTS = ("instrument", "code", "runtime", "defines")

# Targets that only the driver rejects; the compiler proper gets the option instead.
REFUSED_BY_DRIVER = re.compile(
    r"^(aarch64-unknown-none|x86_64(-unknown|-unknown-none|-none)?-elf|i686-none-elf)$"
)


@dataclass
class Choice:
    """The build that needs the options. inline: None if the user named neither --inline nor --outline.
    offset: None if it is unknown at compile time."""

    cc: str = "clang-19"
    mode: str = "generic"
    arch: str = DEFAULT
    inline: bool | None = None
    offset: int | None = None
    dynamic: bool = False
    stack: bool = True
    globals: bool = True
    tagged_globals: bool = False
    mte_stack: bool = False
    ubsan: bool = False
    layout: str = "windowed"
    low: int | None = None
    high: int | None = None
    target: str | None = None
    optimize: str = "2"

    @property
    def family(self):
        return "gcc" if self.cc == "gcc" else "clang"

    @property
    def where(self):
        """inline or outline; None if the compiler generates no checks."""
        if self.mode == "hw_tags":
            return None
        return "outline" if self.inline is False else "inline"

    @property
    def covers_stack(self):
        return self.mte_stack if self.mode == "hw_tags" else self.stack


@dataclass
class Flags:
    """The answer. Each is a list of arguments; defines are NAME=VALUE."""

    instrument: list = field(default_factory=list)
    code: list = field(default_factory=list)
    runtime: list = field(default_factory=list)
    defines: list = field(default_factory=list)


def number(text, what):
    """Return the shadow address @text as a number. Raises Failure."""
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if value < 0 or value >= 1 << 64:
        raise Failure(f"'{text}' is not accepted for {what}; accepted: a number such as 0xdfff800000000000")
    return value


def check(choice):
    """Raise Failure if options conflict or are missing; it names all of them, with the reasons."""
    found = list(_problems(choice))
    if len(found) == 1:
        raise Failure(found[0])
    if found:
        raise Failure("\n".join([f"{len(found)} things to change:", *(f"  - {text}" for text in found)]))


def _problems(choice):
    """Yield every problem of @choice. An option that the mode does not allow is not also reported as
    missing."""
    if choice.family == "gcc" and choice.target is not None:
        yield "--target is Clang's; a GCC has the target it was built for"
    if choice.tagged_globals and choice.mode != "sw_tags":
        yield f"--tagged-globals with --mode {choice.mode}: it belongs to --mode sw_tags"
    if choice.mte_stack and choice.mode != "hw_tags":
        yield f"--mte-stack with --mode {choice.mode}: it belongs to --mode hw_tags"
    if choice.mode == "hw_tags":
        yield from _problems_of_hw_tags(choice)
        return
    bits = ARCHES[choice.arch].bits
    for name, value in (("--shadow-offset", choice.offset), ("--low", choice.low), ("--high", choice.high)):
        if value is not None and value >= 1 << bits:
            yield f"{name} {value:#x} has more than the {bits} bits of {choice.arch}"
    if choice.low is not None and choice.high is not None and choice.low > choice.high:
        yield f"--low {choice.low:#x} lies above --high {choice.high:#x}"
    if choice.mode == "sw_tags":
        yield from _problems_of_sw_tags(choice)
    else:
        yield from _problems_of_generic(choice)


def _missing(choice, *others):
    """Return @others and the options of the full layout that @choice lacks, as "A, B and C"; "" for none."""
    given = (("--shadow-offset", choice.offset), ("--low", choice.low), ("--high", choice.high))
    names = [*others, *(name for name, value in given if value is None)]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _problems_of_generic(choice):
    """Yield what Generic mode does not allow or lacks."""
    if choice.dynamic and choice.offset is not None:
        yield "--dynamic with --shadow-offset: the compiler uses the offset and ignores --dynamic; give one"
    no_place = choice.layout == "full" and choice.where == "outline" and not choice.stack
    if choice.dynamic and choice.family == "gcc" and not no_place:
        yield (
            "--dynamic with gcc: GCC has no dynamic shadow; give --shadow-offset, or --outline --no-stack, "
            "whose checks are calls and find the shadow at run time"
        )
    if choice.layout == "full" and choice.dynamic:
        if choice.low is not None or choice.high is not None:
            yield "--low and --high with --dynamic: kasan_shadow_place() says them at run time"
    elif choice.layout == "full":
        missing = _missing(choice)
        if missing:
            yield f"--layout full needs {missing}"
    else:
        if choice.low is not None or choice.high is not None:
            yield "--low and --high belong to --layout full; windows are added at run time"
        inline = choice.where == "inline"
        if choice.offset is None and not choice.dynamic and (inline or choice.stack):
            what = "inline checks are" if inline else "the poison around stack variables is"
            way = "--dynamic, or " if choice.family == "clang" else ""
            yield (
                f"{what} compiled for one place of the shadow: give --shadow-offset, or {way}"
                "--outline --no-stack"
            )
    offset = choice.offset or 0
    bits = ARCHES[choice.arch].bits
    if (
        choice.family == "clang"
        and ARCHES[choice.arch].joins_by_or
        and offset
        and offset & (offset - 1) == 0
        and offset < 1 << (bits - 3)
    ):
        yield (
            f"--shadow-offset {offset:#x} with Clang on {choice.arch}: Clang joins a power of two by OR "
            f"instead of adding it, which is wrong for some addresses; move the shadow: {offset + 0x1000:#x}"
        )


def _able(mode):
    """Return the architectures for which the runtime has @mode, as text."""
    return " and ".join(name for name, arch in ARCHES.items() if mode in arch.modes)


def _problems_of_sw_tags(choice):
    """Yield what software tags do not allow or lack."""
    if choice.mode not in ARCHES[choice.arch].modes:
        yield (
            f"--mode sw_tags with --arch {choice.arch}: the runtime has tags for {_able('sw_tags')} only, "
            "whose CPUs can ignore the top byte of addresses"
        )
        return
    if choice.family not in ARCHES[choice.arch].tag_compilers:
        yield (
            f"--mode sw_tags with {choice.cc} and --arch {choice.arch}: it has no kernel-hwaddress for this "
            "target, and would check nothing; use a Clang"
        )
    missing = _missing(choice, *(["--layout full"] if choice.layout != "full" else []))
    if missing:
        yield (
            f"--mode sw_tags needs {missing}: the compilers' checks test no range, so every address needs "
            "shadow"
        )
    if choice.dynamic:
        yield "--mode sw_tags with --dynamic: give --shadow-offset instead"
    if choice.family == "gcc" and choice.where == "inline":
        yield "--mode sw_tags with gcc: GCC has outline checks only; add --outline"
    if choice.family == "gcc" and choice.tagged_globals:
        yield "--tagged-globals with gcc: GCC does not tag global variables; use a Clang"
    elif choice.tagged_globals and not ARCHES[choice.arch].tagged_globals:
        yield (
            f"--tagged-globals with --arch {choice.arch}: the tag is a part of the variable's address, and "
            "Clang 19 has no code model for this target that makes whole addresses"
        )
    if REFUSED_BY_DRIVER.match(choice.target or ""):
        yield (
            f"--mode sw_tags with --target {choice.target}: Clang has no kernel-hwaddress for it; use "
            f"{ARCHES[choice.arch].target}"
        )


def _problems_of_hw_tags(choice):
    """Yield what hardware tags do not allow: the CPU does the work of the compiler's options."""
    if choice.mode not in ARCHES[choice.arch].modes:
        yield (
            f"--mode hw_tags with --arch {choice.arch}: memory tags are those of arm64's MTE; the runtime "
            "knows no other CPU that has them"
        )
    if choice.mte_stack and choice.family == "gcc":
        yield "--mte-stack with gcc: GCC does not tag stack variables for MTE; use a Clang"
    if choice.mte_stack and not choice.stack:
        yield "--mte-stack with --no-stack: give one of them"
    if choice.inline is not None:
        yield (
            f"--mode hw_tags with --{'inline' if choice.inline else 'outline'}: the CPU checks each access, "
            "the compiler adds no checks; leave it out"
        )
    given = [
        name
        for name, is_given in (
            ("--shadow-offset", choice.offset is not None),
            ("--dynamic", choice.dynamic),
            ("--layout full", choice.layout == "full"),
            ("--low", choice.low is not None),
            ("--high", choice.high is not None),
        )
        if is_given
    ]
    if given:
        yield (
            f"--mode hw_tags with {', '.join(given)}: there is no shadow, the tags are in the memory itself; "
            f"leave {'it' if len(given) == 1 else 'them'} out"
        )


def without_place(choice):
    """Return @choice with outline checks and without stack variables, if it says nothing about the shadow's
    address and the kind of checks. Else return None."""
    said = choice.mode != "generic" or choice.layout == "full" or choice.low is not None
    said |= choice.offset is not None or choice.dynamic or choice.inline is True
    said |= choice.inline is False and not choice.stack
    return None if said else replace(choice, inline=False, stack=False)


def with_place(choice):
    """Return @choice with the shadow's usual place on its architecture, if it asks for the full layout and
    says nothing about the place. Else return None."""
    shadows = ARCHES[choice.arch].shadows.get(choice.mode)
    said = choice.dynamic or any(value is not None for value in (choice.offset, choice.low, choice.high))
    if choice.layout != "full" or said or not shadows:
        return None
    shadow = shadows[0]
    return replace(choice, offset=shadow.offset, low=shadow.low, high=shadow.high)


def table():
    """Return the lines of the table of shadows in docs/port/reference.md."""
    lines = [
        "| `--arch`, mode | page tables | addresses with shadow | offset | the shadow lies at |",
        "|---|---|---|---|---|",
    ]
    for name, arch in ARCHES.items():
        for mode, shadows in arch.shadows.items():
            for shadow in shadows:
                start, end = shadow.range(mode)
                cells = (
                    f"`{shadow.low:016x}` to the end",
                    f"`{shadow.offset:#x}`",
                    f"`{start:016x}..{end:016x}`",
                )
                lines.append(f"| `{name}`, {mode} | {shadow.when} | {' | '.join(cells)} |")
    return lines


def words(choice):
    """Return the set of words that the rules in kasan-flags.json test."""
    holds = {choice.family, choice.arch, choice.mode}
    if choice.where:
        holds.add(choice.where)
    if choice.offset is not None:
        holds.add("offset")
    if choice.family == "clang" and choice.target and REFUSED_BY_DRIVER.match(choice.target):
        holds.add("bypass")
    if choice.covers_stack:
        holds.add("stack")
    for word in ("dynamic", "globals", "tagged_globals", "ubsan"):
        if getattr(choice, word):
            holds.add(word)
    return holds


def applies(condition, holds):
    """Does every word of a rule's @condition hold? !word: it must not."""
    return all((word.lstrip("!") in holds) != word.startswith("!") for word in condition.split())


def compute(choice):
    """Return the Flags for @choice. Raises Failure if that cannot work."""
    check(choice)
    rules = json.loads(RULES.read_text(encoding="utf-8"))
    holds = words(choice)
    offset = "" if choice.offset is None else f"{choice.offset:#x}"
    user = "" if choice.offset is None else f"{(choice.offset + (0xFF << 52)) % (1 << 64):#x}"
    result = Flags()
    for kind in ("instrument", "code", "runtime"):
        for rule in rules[kind]:
            if applies(rule["if"], holds):
                text = rule["flags"].replace("@OFFSET@", offset).replace("@USER_OFFSET@", user)
                text = text.replace("@OPTIMIZE@", choice.optimize)
                getattr(result, kind).extend(text.split())
    result.defines = [
        f"CONFIG_KASAN_{choice.mode.upper()}=1",
        f"CONFIG_KASAN_STACK={int(choice.covers_stack)}",
        *(["CONFIG_KASAN_UBSAN=1"] if choice.ubsan else []),
    ]
    if choice.mode == "hw_tags":
        return result
    if choice.layout == "full" and choice.dynamic:
        result.defines += ["CONFIG_KASAN_SHADOW_FULL=1", "CONFIG_KASAN_SHADOW_DYNAMIC=1"]
    elif choice.layout == "full":
        result.defines += [
            "CONFIG_KASAN_SHADOW_FULL=1",
            f"CONFIG_KASAN_SHADOW_LOW={choice.low:#x}UL",
            f"CONFIG_KASAN_SHADOW_HIGH={choice.high:#x}UL",
        ]
    else:
        result.defines.append("CONFIG_KASAN_SHADOW_WINDOWED=1")
    if offset:
        result.defines.append(f"CONFIG_KASAN_SHADOW_OFFSET={offset}UL")
    return result


def groups(arguments):
    """Join `-mllvm X` and `-Xclang X`, which belong together."""
    result = []
    pending = None
    for argument in arguments:
        if pending is not None:
            result.append(f"{pending} {argument}")
            pending = None
        elif argument in ("-mllvm", "-Xclang"):
            pending = argument
        else:
            result.append(argument)
    return result


def describe(choice):
    """Return one readable line: what the options are for."""
    if choice.mode == "hw_tags":
        needs = "stack variables are tagged" if choice.mte_stack else "no file needs options for it"
        return f"{choice.cc}, {choice.arch}, hw_tags, the CPU checks: {needs}"
    shift = 3 if choice.mode == "generic" else 4
    if choice.offset is not None:
        place = f"shadow of address a at (a >> {shift}) + {choice.offset:#x}"
    elif choice.dynamic:
        place = "shadow at (a >> 3) + __asan_shadow_memory_dynamic_address"
    else:
        place = "shadow found at run time"
    where = f"{choice.where} checks"
    parts = [choice.cc, choice.arch, choice.mode, where, place]
    optional = ("stack", "globals") if choice.mode == "generic" else ("stack",)
    parts += [f"without {what}" for what in optional if not getattr(choice, what)]
    return ", ".join(parts)


def render(choice, result, style):
    """Return the text in one of FORMATS."""
    defines = [f"-D{define}" for define in result.defines]
    if style == "json":
        data = {
            "compiler": choice.cc,
            "arch": choice.arch,
            "mode": choice.mode,
            "target": (choice.target or ARCHES[choice.arch].target) if choice.family == "clang" else None,
            "instrument": result.instrument,
            "code": result.code,
            "runtime": result.runtime,
            "defines": result.defines,
        }
        return json.dumps(data, indent=2)
    lists = [
        ("KASAN_CFLAGS", "the files to be checked", groups(result.instrument)),
        ("KASAN_CODE_FLAGS", "every C file: frames that can be unwound", result.code),
        ("KASAN_RUNTIME_FLAGS", "the runtime, never instrumented", result.runtime),
        ("KASAN_CPPFLAGS", "every C file: configuration", defines),
    ]
    lines = [f"# {describe(choice)}"]
    separator = " \\\n\t"
    for name, use, values in lists:
        if style == "make":
            lines += [f"# {use}", f"{name} := {separator.join(values)}".rstrip()]
        elif style == "cmake":
            quoted = [f'"SHELL:{value}"' if " " in value else value for value in values]
            lines += [f"# {use}", f"set({name}", *(f"  {value}" for value in quoted), ")"]
        else:
            lines += ["", f"# {use}", " ".join(values) or "# (none)"]
    return "\n".join(lines)


def register(group):
    """Add the verb to the command."""
    import click

    from redzone.core.options import Choice as OneOf

    @group.command("flags", short_help="Print the compiler options for KASAN.")
    @click.option("--cc", type=OneOf(COMPILERS), default="clang-19", help="Compiler. Default: clang-19.")
    @click.option("--arch", type=OneOf(ARCHES), default=DEFAULT, help=f"Target. Default: {DEFAULT}.")
    @click.option("--mode", type=OneOf(MODES), default="generic", help="KASAN mode. Default: generic.")
    @click.option("--inline/--outline", default=None, help="Checks inside the code (default), or as calls.")
    @click.option(
        "--shadow-offset",
        metavar="NUMBER",
        help="Shadow of address a is at (a >> 3) + NUMBER; software tags: >> 4.",
    )
    @click.option("--dynamic", is_flag=True, help="The offset is read from a variable at run time (Clang).")
    @click.option("--no-stack", is_flag=True, help="Leave out stack variables.")
    @click.option("--no-globals", is_flag=True, help="Leave out global variables.")
    @click.option("--tagged-globals", is_flag=True, help="Also tag global variables: software tags, Clang.")
    @click.option("--mte-stack", is_flag=True, help="Also tag stack variables: hardware tags, Clang.")
    @click.option("--ubsan", is_flag=True, help="Also find undefined behaviour.")
    @click.option("--layout", type=OneOf(LAYOUTS), default="windowed", help="Default: windowed.")
    @click.option("--low", metavar="NUMBER", help="Lowest address with shadow (--layout full).")
    @click.option("--high", metavar="NUMBER", help="Last address with shadow (--layout full).")
    @click.option("--target", metavar="TRIPLE", help="The target that you give to Clang.")
    @click.option(
        "--optimize",
        type=OneOf(OPTIMIZE),
        default="2",
        help="The runtime's -O: 2 (default), or s or z, for size.",
    )
    @click.option("--format", "style", type=OneOf(FORMATS), default="text", help="Default: text.")
    @click.option("--only", type=OneOf(PARTS), help="One part on one line, for $(...).")
    def flags_verb(shadow_offset, no_stack, no_globals, low, high, style, only, **options):
        """Print the compiler options for the files that KASAN checks, for all C files, for the
        runtime, and the macros that go with them.

        Without --shadow-offset, --dynamic and --inline it prints the options for --outline --no-stack, which
        work wherever the shadow lies, and says so on stderr. With --layout full and no numbers it takes the
        usual place of the shadow on the architecture, and says which.

        \b
        Examples:
          ./redzone flags --arch arm64 --outline --shadow-offset 0xdfff800000000000
          ./redzone flags --cc gcc --arch riscv64 --shadow-offset 0x70700000 --format make
          ./redzone flags --arch arm --outline
          ./redzone flags --arch x86_64 --layout full
          ./redzone flags --dynamic --only instrument
          ./redzone flags --mode sw_tags --shadow-offset 0xefff800000000000 --layout full \
            --low 0xffff000000000000 --high 0xffffffffffffffff
          ./redzone flags --mode hw_tags --cc gcc --format cmake

        \b
        Exit status: 0, or 2 if options are missing or exclude each other (the message lists them all).
        """
        choice = Choice(
            offset=None if shadow_offset is None else number(shadow_offset, "--shadow-offset"),
            stack=not no_stack,
            globals=not no_globals,
            low=None if low is None else number(low, "--low"),
            high=None if high is None else number(high, "--high"),
            **options,
        )
        placed = with_place(choice)
        if placed:
            choice = placed
            say(
                f"without --shadow-offset, --low and --high: the numbers for {choice.arch} with "
                f"{ARCHES[choice.arch].shadows[choice.mode][0].when} (docs/port/reference.md has others)"
            )
        plain = without_place(choice)
        if plain:
            choice = plain
            say(
                "without --shadow-offset: these are the options for --outline --no-stack, whose checks find "
                "the shadow at run time. Stack variables and inline checks need --shadow-offset"
                + (" or --dynamic" if choice.family == "clang" else "")
            )
        result = compute(choice)
        if only:
            values = getattr(result, only)
            click.echo(" ".join(f"-D{value}" for value in values) if only == "defines" else " ".join(values))
        else:
            click.echo(render(choice, result, style))
