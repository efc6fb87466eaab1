# SPDX-License-Identifier: MIT
"""Makes the tables of docs/use/run.md: headers, functions and options that programs have.

Headers and functions are asked of the compiler with the options that a program was really compiled with.
libc_calls.py says which functions of the C library work. A test compares the tables with the document;
`PYTHONPATH=tools .venv/bin/python -m redzone.testing.supported` writes them.
"""

import json
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

from redzone.core import process
from redzone.core.arch import PRESET
from redzone.core.base import BUILD, ROOT, Failure
from redzone.testing import libc_calls

DOCUMENT = ROOT / "docs" / "use" / "run.md"
PROGRAM = ROOT / "examples" / "heap_bugs.c"
# Characters of a line.
WIDTH = 128
# All that the C library declares, also what is not in POSIX.
ALL = "-D_GNU_SOURCE"
# Headers of C17 and the usual ones of POSIX and other systems: the document says which of them are not there.
_STANDARD = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg",
    "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype",
    "alloca dirent dlfcn fcntl fnmatch getopt glob langinfo libgen netdb poll pthread pwd regex sched search",
    "semaphore strings syslog termios unistd utime sys/ioctl sys/mman sys/param sys/resource sys/select",
    "sys/socket sys/stat sys/time sys/times sys/types sys/uio sys/utsname sys/wait",
)
STANDARD = [name for line in _STANDARD for name in line.split()]
# Names that are not for programs.
_HIDDEN = re.compile(r"_(?!_asan_|_sanitizer_)")
# Headers that are parts of others.
_INNER = re.compile(r"(?:bits|machine)/")
# Folders that have only such, or the compiler's own.
_NO_LIBRARY = re.compile(r"/lib/clang/|/gcc|/obj/|/arch/")
# A header that does not compile, in a file of headers.
_BROKEN = re.compile(r"In file included from <stdin>:(\d+)")


def command_of_a_program(preset=PRESET):
    """Return the compiler's command of the program that was built last, without its file and object."""
    path = BUILD / preset / "compile_commands.json"
    if not path.exists():
        raise Failure(f"no program was compiled yet in {preset}: ./redzone run does it")
    for entry in json.loads(path.read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if re.match(r"CMakeFiles/programs?\.objects\.dir/.*\.c\.o", words[words.index("-o") + 1]):
            # The user's own options, in files, and what names the one file.
            return [
                word
                for at, word in enumerate(words)
                if not (word in ("-o", "-c") or words[at - 1] in ("-o", "-c") or word.startswith("@"))
            ]
    raise Failure(f"no program was compiled yet in {preset}: ./redzone run does it")


def _system_folders(command):
    """Return the folders of a library's headers in the compiler's @command; its own are not a library."""
    folders = [command[at + 1] for at, word in enumerate(command[:-1]) if word == "-isystem"]
    return [Path(name) for name in folders if not _NO_LIBRARY.search(name)]


def _compile(command, text, *options):
    return process.run([*command, *options, "-w", "-fsyntax-only", "-x", "c", "-"], input=text)


def _is_runtimes(path, folder):
    """Is the header @path in @folder one for ports? <sanitizer/...> stands on these."""
    return path.relative_to(folder).parts[0] == "kasan"


def _functions(tree, folders):
    """Return {header: [function]} of the FunctionDecls in Clang's @tree that are in one of @folders."""
    found, current = {}, ""

    def place(location):
        # Clang names a file only where it is another one than at the location that it wrote before.
        nonlocal current
        for key, value in location.items():
            if key == "file":
                current = value
            elif key in ("spellingLoc", "expansionLoc", "begin", "end"):
                place(value)

    def walk(node):
        place(node.get("loc", {}))
        file = current
        place(node.get("range", {}))
        if node.get("kind") == "FunctionDecl" and not _HIDDEN.match(node["name"]):
            for folder in folders:
                if Path(file).is_relative_to(folder) and not _is_runtimes(Path(file), folder):
                    found.setdefault(str(Path(file).relative_to(folder)), set()).add(node["name"])
        for child in node.get("inner", ()):
            if isinstance(child, dict):
                walk(child)

    walk(tree)
    return {header: sorted(names) for header, names in found.items()}


def library(command, *options):
    """Return ({header: [function]} of the library, [absent standard headers]).

    @options: more for the compiler."""
    command = [*command, *options]
    folders = _system_folders(command)
    headers = sorted(
        {
            str(path.relative_to(folder))
            for folder in folders
            for path in folder.rglob("*.h")
            if not _INNER.match(str(path.relative_to(folder))) and not _is_runtimes(path, folder)
        }
    )
    while True:
        text = "".join(f"#include <{header}>\n" for header in headers)
        result = _compile(command, text, "-Xclang", "-ast-dump=json")
        if result.returncode == 0:
            break
        # Some are for what only Linux has: they include its own headers.
        broken = {int(number) for number in _BROKEN.findall(result.stderr)}
        if not broken:
            raise Failure(f"the library's headers do not compile together:\n{result.stderr}")
        headers = [header for line, header in enumerate(headers, 1) if line not in broken]
    functions = _functions(json.loads(result.stdout), folders)
    # The compiler has some of the standard's headers.
    absent = [
        name
        for name in (f"{name}.h" for name in STANDARD)
        if name not in headers and _compile(command, f"#include <{name}>\n").returncode != 0
    ]
    return {header: functions.get(header, []) for header in headers}, absent


def program_of_all_functions(functions):
    """Return a C program that needs each function of {header: [function]}."""
    lines = [f"#include <{header}>" for header in functions]
    names = sorted({name for names in functions.values() for name in names})
    lines.append("#include <stdio.h>\n\ntypedef void (*any)(void);\nany volatile all[] = {")
    # The parentheses keep a macro of the same name away.
    lines += [f"\t(any)({name})," for name in names]
    lines.append("};\n\nint main(void)\n{\n\tunsigned long there = 0;\n")
    lines.append(
        "\tfor (unsigned long i = 0; i < sizeof(all) / sizeof(all[0]); i++)\n\t\tthere += all[i] != 0;"
    )
    lines.append('\tprintf("%lu functions are there\\n", there);\n\treturn 0;\n}\n')
    return "\n".join(lines)


def _options():
    """Return rows of the options of `./redzone run`."""
    from redzone import cli

    rows = []
    for option in cli.command.commands["run"].params:
        if option.param_type_name == "option" and option.help:
            names = ", ".join(f"`{name}`" for name in option.opts)
            rows.append(f"| {names} | {option.help} |")
    return rows


def code(names):
    return " ".join(f"`{name}`" for name in names)


def _partly(names, works):
    """Return what a table says of a header with the functions @names: only those in the set @works work."""
    bad = [name for name in names if name not in works]
    if len(bad) <= len(names) / 2:
        return f"all but {code(bad)}"
    return f"only {code(name for name in names if name in works)}"


def promised(text, functions):
    """Return the set of functions of {header: [function]} that work according to the document @text."""
    text = text.partition("<!-- headers -->")[2].partition("<!-- end of headers -->")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", text, re.MULTILINE)
    none = re.search(r"^Only types and constants work in (.*?)\.$", text, re.MULTILINE | re.DOTALL)
    named = {header for header, _ in rows} | _quoted(none[1] if none else "")
    found = {name for header, names in functions.items() if header not in named for name in names}
    for header, words in rows:
        if words.startswith("all but"):
            found |= set(functions.get(header, ())) - _quoted(words)
        elif words.startswith("only"):
            found |= _quoted(words)
    return found


def _quoted(text):
    return set(re.findall(r"`([^`]+)`", text))


def working(functions, preset=PRESET):
    """Return the set of functions of the library's {header: [function]} that work."""
    support = libc_calls.Support(BUILD / preset / "libc.json")
    return {name for names in functions.values() for name in names if support.works(name)}


def _paragraph(text):
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def tables(functions, absent, works):
    """Return {name of a table: its text}. Arguments: of library() and working()."""
    whole = [header for header, names in functions.items() if works.issuperset(names)]
    none = [header for header, names in functions.items() if names and not works.intersection(names)]
    rows = [
        f"| `{header}` | {_partly(names, works)} |"
        for header, names in functions.items()
        if header not in whole + none
    ]
    text = ["| header | functions that work |", "|---|---|", *rows]
    text += ["", *_paragraph(f"Only types and constants work in {code(none)}.")]
    text += ["", *_paragraph(f"Not there: {code(absent)}.")] if absent else []
    return {
        "headers": "\n".join(text),
        "options": "\n".join(["| option | meaning |", "|---|---|", *_options()]),
    }


def fill(text, made):
    """Return the document @text with the tables @made in their places."""
    for name, table in made.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not (found and found_end):
            raise Failure(f"the document has no place for '{name}'")
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def only_in(text, other):
    """Return the words in backquotes that tables of the document @text have, and those of @other not."""

    def words(document):
        return _quoted(document.partition("<!-- options -->")[2].partition("<!-- end of options -->")[0])

    return sorted(words(text) - words(other))


def main():
    text = DOCUMENT.read_text(encoding="utf-8")
    subprocess.run([ROOT / "redzone", "run", PROGRAM], check=False, capture_output=True)
    functions, absent = library(command_of_a_program(), ALL)
    made = tables(functions, absent, working(functions))
    DOCUMENT.write_text(fill(text, made), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
