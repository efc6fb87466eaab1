# SPDX-License-Identifier: MIT
"""`./redzone flags`: the compiler options of KASAN for a compiler, an architecture and a place of the shadow.

The options themselves are in cmake/kasan-flags.json, which the CMake package reads, too. Here is what goes
together and what does not, and the four ways of writing it down.
"""

import json
import re
from dataclasses import dataclass, field

from redzone.base import ROOT, Failure

RULES = ROOT / "cmake" / "kasan-flags.json"
COMPILERS = ("clang-19", "clang-22", "clang", "gcc")
ARCHES = ("arm64", "riscv64", "x86_64", "arm")
MODES = ("generic",)
LAYOUTS = ("windowed", "full")
FORMATS = ("text", "json", "make", "cmake")
PARTS = ("instrument", "code", "runtime", "defines")

# Clang's targets for freestanding code that its driver accepts with kernel-address.
TRIPLES = {
    "arm64": "aarch64-none-elf",
    "riscv64": "riscv64-unknown-elf",
    "x86_64": "x86_64-unknown-linux-gnu",
    "arm": "armv7a-none-eabi",
}
# Targets for which only the driver refuses it; the compiler proper is asked instead.
REFUSED_BY_DRIVER = re.compile(
    r"^(aarch64-unknown-none|x86_64(-unknown|-unknown-none|-none)?-elf|i686-none-elf)$"
)


@dataclass
class Choice:
    """What options are wanted for. offset: None if it is not known when compiling."""

    cc: str = "clang-19"
    arch: str = "arm64"
    inline: bool = True
    offset: int | None = None
    dynamic: bool = False
    stack: bool = True
    globals: bool = True
    layout: str = "windowed"
    low: int | None = None
    high: int | None = None
    target: str | None = None

    @property
    def family(self):
        return "gcc" if self.cc == "gcc" else "clang"


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
    """Raise Failure, with the reason, for what does not go together."""
    bits = 32 if choice.arch == "arm" else 64
    if choice.dynamic and choice.offset is not None:
        raise Failure(
            "--dynamic with --shadow-offset: the compiler follows the offset and ignores the other; give one"
        )
    if choice.dynamic and choice.family == "gcc":
        raise Failure(
            "--dynamic with gcc: GCC has no dynamic shadow; give --shadow-offset, or --outline --no-stack, "
            "whose checks are calls and find the shadow at run time"
        )
    if choice.offset is None and not choice.dynamic and (choice.inline or choice.stack):
        what = "inline checks are" if choice.inline else "the poison around stack variables is"
        way = "--dynamic, or " if choice.family == "clang" else ""
        raise Failure(
            f"{what} compiled for one place of the shadow: give --shadow-offset, or {way}--outline --no-stack"
        )
    for name, value in (("--shadow-offset", choice.offset), ("--low", choice.low), ("--high", choice.high)):
        if value is not None and value >= 1 << bits:
            raise Failure(f"{name} {value:#x} has more than the {bits} bits of {choice.arch}")
    if choice.layout == "full":
        if choice.offset is None or choice.low is None or choice.high is None:
            raise Failure("--layout full needs --shadow-offset, --low and --high")
        if choice.low > choice.high:
            raise Failure(f"--low {choice.low:#x} lies above --high {choice.high:#x}")
    elif choice.low is not None or choice.high is not None:
        raise Failure("--low and --high belong to --layout full; windows are added at run time")
    offset = choice.offset or 0
    if (
        choice.family == "clang"
        and choice.arch in ("x86_64", "arm")
        and offset
        and offset & (offset - 1) == 0
        and offset < 1 << (bits - 3)
    ):
        raise Failure(
            f"--shadow-offset {offset:#x} with Clang on {choice.arch}: it joins a power of two by OR, "
            f"does not add it, which is wrong for some addresses; move the shadow: {offset + 0x1000:#x}"
        )
    if choice.family == "gcc" and choice.target is not None:
        raise Failure("--target is Clang's; a GCC has the target it was built for")


def words(choice):
    """Return the set of words that the rules of kasan-flags.json ask for."""
    holds = {choice.family, choice.arch, "inline" if choice.inline else "outline"}
    if choice.offset is not None:
        holds.add("offset")
    if choice.family == "clang" and choice.target and REFUSED_BY_DRIVER.match(choice.target):
        holds.add("bypass")
    for word in ("dynamic", "stack", "globals"):
        if getattr(choice, word):
            holds.add(word)
    return holds


def applies(condition, holds):
    """Does every word of a rule's @condition hold? !word: it must not."""
    return all((word.lstrip("!") in holds) != word.startswith("!") for word in condition.split())


def compute(choice):
    """Return the Flags for @choice. Raises Failure if it is none that works."""
    check(choice)
    rules = json.loads(RULES.read_text(encoding="utf-8"))
    holds = words(choice)
    offset = "" if choice.offset is None else f"{choice.offset:#x}"
    result = Flags()
    for kind in ("instrument", "code", "runtime"):
        for rule in rules[kind]:
            if applies(rule["if"], holds):
                getattr(result, kind).extend(rule["flags"].replace("@OFFSET@", offset).split())
    result.defines = ["CONFIG_KASAN_GENERIC=1", f"CONFIG_KASAN_STACK={int(choice.stack)}"]
    if choice.layout == "full":
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
    """Return one line for people: what the options are for."""
    if choice.offset is not None:
        place = f"shadow of address a at (a >> 3) + {choice.offset:#x}"
    elif choice.dynamic:
        place = "shadow at (a >> 3) + __asan_shadow_memory_dynamic_address"
    else:
        place = "shadow found at run time"
    parts = [choice.cc, choice.arch, "generic", "inline checks" if choice.inline else "outline checks", place]
    parts += [f"without {what}" for what in ("stack", "globals") if not getattr(choice, what)]
    return ", ".join(parts)


def render(choice, result, style):
    """Return the text in one of FORMATS."""
    defines = [f"-D{define}" for define in result.defines]
    if style == "json":
        data = {
            "compiler": choice.cc,
            "arch": choice.arch,
            "mode": "generic",
            "target": (choice.target or TRIPLES[choice.arch]) if choice.family == "clang" else None,
            "instrument": result.instrument,
            "code": result.code,
            "runtime": result.runtime,
            "defines": result.defines,
        }
        return json.dumps(data, indent=2)
    lists = [
        ("KASAN_CFLAGS", "the files to be checked", groups(result.instrument)),
        ("KASAN_CODE_FLAGS", "every C file: frames that can be unwound", result.code),
        ("KASAN_RUNTIME_CFLAGS", "the runtime, never instrumented", result.runtime),
        ("KASAN_CPPFLAGS", "every C file: configuration", defines),
    ]
    lines = [f"# {describe(choice)}"]
    for name, use, values in lists:
        if style == "make":
            lines += [f"# {use}", f"{name} := " + " \\\n\t".join(values)]
        elif style == "cmake":
            quoted = [f'"SHELL:{value}"' if " " in value else value for value in values]
            lines += [f"# {use}", f"set({name}", *(f"  {value}" for value in quoted), ")"]
        else:
            lines += ["", f"# {use}", " ".join(values)]
    return "\n".join(lines)


def register(group):
    """Add the verb to the command."""
    import click

    from redzone.cli import Choice as OneOf

    @group.command("flags", short_help="Print the compiler options of KASAN.")
    @click.option("--cc", type=OneOf(COMPILERS), default="clang-19", help="Compiler. Default: clang-19.")
    @click.option("--arch", type=OneOf(ARCHES), default="arm64", help="Target. Default: arm64.")
    @click.option("--mode", type=OneOf(MODES), default="generic", help="KASAN mode. Default: generic.")
    @click.option("--inline/--outline", default=True, help="Checks inside the code (default), or as calls.")
    @click.option("--shadow-offset", metavar="NUMBER", help="Shadow of address a is at (a >> 3) + NUMBER.")
    @click.option("--dynamic", is_flag=True, help="The offset is read from a variable at run time (Clang).")
    @click.option("--no-stack", is_flag=True, help="Leave out stack variables.")
    @click.option("--no-globals", is_flag=True, help="Leave out global variables.")
    @click.option("--layout", type=OneOf(LAYOUTS), default="windowed", help="Default: windowed.")
    @click.option("--low", metavar="NUMBER", help="Lowest address with shadow (--layout full).")
    @click.option("--high", metavar="NUMBER", help="Last address with shadow (--layout full).")
    @click.option("--target", metavar="TRIPLE", help="The target that you give to Clang.")
    @click.option("--format", "style", type=OneOf(FORMATS), default="text", help="Default: text.")
    @click.option("--only", type=OneOf(PARTS), help="One part on one line, for $(...).")
    def flags_verb(mode, shadow_offset, no_stack, no_globals, low, high, style, only, **options):
        """Print the compiler options for the files that KASAN shall check, for all C files, for the
        runtime, and the macros that go with them.

        \b
        Examples:
          ./redzone flags --arch arm64 --outline --shadow-offset 0xdfff800000000000
          ./redzone flags --cc gcc --arch riscv64 --shadow-offset 0x70700000 --format make
          ./redzone flags --dynamic --only instrument

        \b
        Exit status: 0, or 2 for what does not go together (the message says why).
        """
        choice = Choice(
            offset=None if shadow_offset is None else number(shadow_offset, "--shadow-offset"),
            stack=not no_stack,
            globals=not no_globals,
            low=None if low is None else number(low, "--low"),
            high=None if high is None else number(high, "--high"),
            **options,
        )
        result = compute(choice)
        if only:
            values = getattr(result, only)
            click.echo(" ".join(f"-D{value}" for value in values) if only == "defines" else " ".join(values))
        else:
            click.echo(render(choice, result, style))
