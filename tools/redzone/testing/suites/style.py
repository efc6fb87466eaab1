# SPDX-License-Identifier: MIT
"""Formatting, lint, layering and the other rules of the source tree."""

import ast
import graphlib
import re
import sys

from redzone.bench import figures
from redzone.core import outside, process
from redzone.core.base import BUILD, ROOT, Failure
from redzone.kit import ports
from redzone.testing.runner import SKIP, Result, result
from redzone.testing.suites import _prose

QUICK = "all"
MAX_LINES = 700
_CODE = (".c", ".h", ".S", ".py", ".lds", ".cmake")
# Header comment with the licence; a script's first line may name its interpreter. Programs with recorded line
# numbers are exempt: their README.md has the licence.
_RECORDED = "tests/cases/"
_LICENCE = re.compile(r"SPDX-License-Identifier: MIT")
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Headers that come with a freestanding compiler.
_FREESTANDING = {
    "float.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h",
    "stdnoreturn.h",
}  # fmt: skip

# The runtime's folders, lowest first: a file may include headers from its own folder and those before it.
LAYERS = ("arch", "base", "shadow", "tags", "track", "alloc", "report", "ubsan", "abi")
# A section's heading: short enough that clang-format does not break it.
RULE = re.compile(r"/\* --- \S.{0,85} --- \*/")


def files():
    """Return the repository's files: those that Git tracks or would add, or all files without Git."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        listed = process.run(command)
    except FileNotFoundError:
        listed = None
    if listed is not None and listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not {"build", ".venv", ".git", "__pycache__"} & set(path.relative_to(ROOT).parts)
        ]
    return sorted(path for path in paths if path.is_file())


def _command(title, command):
    ended = process.run(command, cwd=ROOT)
    text = (ended.stdout + ended.stderr).splitlines() or [f"exit status {ended.returncode}"]
    return result(title, text if ended.returncode else [])


def _matches(texts, pattern):
    """Return `name:number: line` of each line in @texts, {name: text}, that has the @pattern."""
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]


def upward_includes(names, texts):
    """Return what a file of runtime/ includes from a folder above its own."""
    problems = []
    for path, text in texts.items():
        folder = names[path].split("/")[1] if names[path].startswith("runtime/") else None
        if folder not in LAYERS:
            if folder and path.suffix in (".c", ".h"):
                problems.append(f"{names[path]}: runtime/{folder} has no place among {', '.join(LAYERS)}")
            continue
        for quote, header in _INCLUDE.findall(text):
            target = (path.parent / header).resolve()
            if quote != '"' or ROOT / "runtime" not in target.parents:
                continue
            other = target.relative_to(ROOT / "runtime").parts[0]
            if other not in LAYERS[: LAYERS.index(folder) + 1]:
                problems.append(f"{names[path]}: includes {header}; {folder}/ lies below {other}/")
    return problems


def repeated_headers(names):
    """Return the headers of the runtime, private and public, that have the same name; not those of arch/."""
    seen = {}
    for name in sorted(names):
        if re.match(r"(runtime/(?!arch/)|include/kasan/).*\.h$", name):
            seen.setdefault(name.rsplit("/", 1)[1], []).append(name)
    return [" and ".join(same) for same in seen.values() if len(same) > 1]


# A function of runtime/ that is no macro: what stands before its name and its arguments, and its body.
_FUNCTION = re.compile(
    r"^(?P<head>[A-Za-z_][^;{}#=]*?\b(?P<name>\w+)\([^;{}]*\))\n\{\n(?P<body>.*?)^\}", re.M | re.S
)
_CALLER = re.compile(r"\bKASAN_CALLER_[IF]P\(\)")
_KEPT = re.compile(r"kasan_noinline|kasan_cold|kasan_always_inline|KASAN_ABI")


def inlined_callers(texts):
    """Return the functions of @texts, {name: text} of runtime/, that ask for their caller and may be inlined.

    In an amalgamated or link-time optimised build they would get their caller's caller.
    """
    return [
        f"{name}: {found['name']}() asks for its caller, and is not kasan_noinline or kasan_always_inline"
        for name, text in texts.items()
        for found in _FUNCTION.finditer(text)
        if _CALLER.search(found["body"]) and not _KEPT.search(found["head"])
    ]


def _tree_rules(paths):
    names = {path: str(path.relative_to(ROOT)) for path in paths}
    code = [path for path in paths if path.suffix in _CODE]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in code}

    head = {path: "\n".join(text.splitlines()[:3]) for path, text in texts.items()}
    bare = [path for path in code if not _LICENCE.search(head[path])]
    yield result("spdx", [names[path] for path in bare if not names[path].startswith(_RECORDED)])

    long = [
        f"{names[path]}: {text.count(chr(10))} lines, at most {MAX_LINES}"
        for path, text in texts.items()
        if path.suffix in (".c", ".h", ".S", ".py") and text.count("\n") > MAX_LINES
    ]
    yield result("file-length", long)

    upward = []
    for path, text in texts.items():
        if not names[path].startswith(("runtime/", "include/", "fuzz/")):
            continue
        for quote, header in _INCLUDE.findall(text):
            own = quote == '"' or header.startswith("kasan/") or header in _FREESTANDING
            reaches_out = quote == '"' and re.search(r"(^|/)(kernel|ports|asm)/", header)
            if not own or reaches_out:
                upward.append(f"{names[path]}: includes {header}")
    yield result("layering", upward)

    yield result("runtime-layers", upward_includes(names, texts))
    yield result("header-names", repeated_headers(names.values()))

    runtime = {names[path]: text for path, text in texts.items() if names[path].startswith("runtime/")}
    yield result("callers-are-not-inlined", inlined_callers(runtime))

    by_name = {names[path]: text for path, text in texts.items()}
    ours = {
        name: text
        for name, text in by_name.items()
        if name.startswith(("runtime/", "include/")) and name.endswith((".c", ".h"))
    }
    yield result("section-rules", _matches(ours, rf"^(?!{RULE.pattern}$)/\* --"))
    # Not in this file, which has the words.
    by_name.pop("tools/redzone/testing/suites/style.py", None)
    yield result("no-unfinished-marks", _matches(by_name, r"\b(TODO|FIXME|XXX)\b"))
    yield result("trailing-space", _matches(by_name, r"\s$"))


def _imported(text, package):
    """Yield all names that the Python source @text of a module in @package imports, anywhere in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*parts, *([node.module] if node.module else [])])
            yield from (name for alias in node.names for name in (f"{module}.{alias.name}", module))


def import_cycle(sources):
    """Return a circle of modules, each of which imports the next, as a list of names, or None.

    sources: {module's name: its text}. An import inside a function counts: it hides a circle but does not
    break it.
    """
    graph = {
        name: {found for found in _imported(text, name.rpartition(".")[0]) if found in sources}
        for name, text in sources.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        # It lists each module before those that import it.
        return error.args[1][::-1]
    return None


def _modules(paths):
    """Return {name: text} of the modules behind ./redzone, and of the ports, among the files @paths."""
    found = {}
    for path in paths:
        if path.suffix != ".py":
            continue
        if path.is_relative_to(ROOT / "tools" / "redzone"):
            parts = path.relative_to(ROOT / "tools").with_suffix("").parts
        elif path.is_relative_to(ports.FOLDER):
            parts = path.relative_to(ports.FOLDER).with_suffix("").parts
            parts = ("redzone", "ports", parts[0].replace("-", "_"), *parts[1:])
        else:
            continue
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def _port_problems():
    """Return what is wrong with the folders of ports/, by the rules of ports/README.md."""
    problems = list(outside.PROBLEMS)
    for name in ports.names():
        if not ports.summary(name):
            problems.append(f"ports/{name}/README.md has no heading, which ./redzone port --list shows")
        for part in ("port", "suite"):
            try:
                if name in ports.names(part):
                    ports.load(name, part)
            except Failure as error:
                problems.append(str(error))
    return problems


_CONTRACT = "kernel/include/kernel/arch.h"
_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_DEFINED = re.compile(
    r"^#define\s+(\w+)|^[A-Za-z_][\w \t*]*?\b(\w+)\(|^extern [^;(]*?(\w+)(?:\[\w*\])?;", re.MULTILINE
)
# An extension may have a part for each architecture as well.
_OF_ARCH = r"kernel/(?:ext/\w+/)?arch/\w+/"
_ASM = re.compile(r"\b(asm|__asm|__asm__)\s*(\(|volatile\b|__volatile__\b|goto\b)")
# Headers for programs, and the tests' user-mode program: neither is part of the kernel.
_NO_KERNEL = ("kernel/sanitizer/include/", "kernel/tests/user/")


def behind_contract(sources):
    """Return what the kernel's generic code uses of an architecture outside the contract, one line each.

    sources: {name: text} of files of the kernel. Code outside kernel/arch/ is generic. A name belongs to an
    architecture if one of its headers declares or defines it. It is part of the contract if arch.h contains
    the word.
    """
    contract = sources[_CONTRACT]
    words = set(re.findall(r"\w+", contract))
    headers = set(re.findall(r"<(asm/\w+\.h)>", contract))
    arch = [name for name in sources if re.match(_OF_ARCH + r"(include/asm/)?\w+\.h$", name)]
    code = {name: _NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), text) for name, text in sources.items()}
    hidden = {}
    for name in arch:
        for found in _DEFINED.findall(code[name]):
            hidden.update({word: name for word in found if word and word not in {*words, "__attribute__"}})
    problems = []
    for name, text in code.items():
        if name.startswith(_NO_KERNEL) or re.match(_OF_ARCH, name):
            continue
        for quote, header in _INCLUDE.findall(sources[name]):
            inside = quote == "<" and header.startswith("asm/") and header not in headers
            if inside or "arch/" in header:
                problems.append(f"{name}: includes {header}, which {_CONTRACT} does not name")
        own = set(re.findall(r"^(?:static|#define)\b[^;=]*?\b(\w+)\(", text, re.MULTILINE))
        for number, line in enumerate(text.splitlines(), 1):
            if _ASM.search(line) and name != "kernel/include/kernel/types.h":
                problems.append(f"{name}:{number}: inline assembly belongs into kernel/arch/")
            problems += [
                f"{name}:{number}: {word} is of {hidden[word]}; {_CONTRACT} does not name it"
                for word in re.findall(r"(?<![.>\w])[A-Za-z_]\w*", line)
                if word in hidden and word not in own
            ]
    return problems


# A function that a header declares or defines, and what looks like a call of one in C or assembly.
_DECLARED = re.compile(
    r"^(?:static (?:__always_inline |inline )?)?[A-Za-z_][\w \t*]*?[ *]\**(\w+)\([^;{}]*\)\s*[;{]",
    re.MULTILINE,
)
_CALLED = re.compile(r"\b(\w+)\s*\(|^\s*(?:bl|b|call|jal|jmp|tail)\s+(\w+)", re.MULTILINE)
_STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r"\b(\w+)(?:\[\w*\])?[,;]")
_NAMED_MEMBERS = re.compile(r"(?:with|uses) the members ((?:\w+, )*\w+)|but for (\w+);")


def upward_calls(sources):
    """Return what kernel/arch/ calls of the generic code that the contract does not name, one line each.

    sources: {name: text} of files of the kernel and of include/kasan/.
    """
    words = set(re.findall(r"\w+", sources[_CONTRACT]))
    code = {name: _NO_CODE.sub("", text) for name, text in sources.items()}
    generic = {}
    for name, text in code.items():
        if re.match(r"(kernel/include|include/kasan)/.*\.h$", name) and name != _CONTRACT:
            generic.update(dict.fromkeys(_DECLARED.findall(text), name))
    return [
        f"{name}: calls {word}() of {generic[word]}; {_CONTRACT} does not name it"
        for name, text in sorted(code.items())
        if re.match(_OF_ARCH, name) and "/tests/" not in name and name.endswith((".c", ".h", ".S"))
        for word in sorted({c or s for c, s in _CALLED.findall(text)})
        if word in generic and word not in words and not word.startswith("__")
    ]


def hidden_members(sources):
    """Return where generic code uses members of an architecture's structures that the contract does not name.

    A member counts if no structure of generic code has one of that name.
    """
    named = set(re.findall(r"\w+", " ".join(map(" ".join, _NAMED_MEMBERS.findall(sources[_CONTRACT])))))
    code = {name: _NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), text) for name, text in sources.items()}
    own, generic = {}, set()
    for name, text in code.items():
        for struct, body in _STRUCT.findall(text):
            found = set(_MEMBER.findall(body))
            if re.match(_OF_ARCH + r".*\.h$", name):
                own.update(dict.fromkeys(found, f"struct {struct}"))
            elif not re.match(_OF_ARCH, name):
                generic |= found
    return [
        f"{name}:{number}: {word} of {own[word]}; {_CONTRACT} does not name it"
        for name, text in sorted(code.items())
        if name.startswith("kernel/") and not name.startswith(_NO_KERNEL) and not re.match(_OF_ARCH, name)
        for number, line in enumerate(text.splitlines(), 1)
        for word in re.findall(r"(?:->|\.)(\w+)\b(?!\()", line)
        if word in own and word not in generic and word not in named
    ]


def private_headers(sources):
    """Return which files of the kernel include a header of runtime/: customers have include/kasan only."""
    return [
        f"{name}: includes {header}; the runtime's customers include <kasan/...> only"
        for name, text in sorted(sources.items())
        for _, header in _INCLUDE.findall(text)
        if name.startswith("kernel/") and re.search(r"(?:^|/)runtime/", header)
    ]


def flavours(sources):
    """Return where the core asks whether the kernel is a real-time one, other than in <kernel/rt.h>."""
    return [
        f"{name}:{number}: CONFIG_PREEMPT_RT; <kernel/rt.h> has PREEMPT_RT for that"
        for name, text in sorted(sources.items())
        if re.match(r"kernel/(?!ext/|tests/)", name) and name != "kernel/include/kernel/rt.h"
        for number, line in enumerate(text.splitlines(), 1)
        if "CONFIG_PREEMPT_RT" in line
    ]


# One architecture's own words, in code: registers, numbers of pages, names of tools; and pages of 4 KiB.
_ONE_ARCH = re.compile(
    r"\b(?:PSTATE\w*|aarch64|AARCH64|x18|x29|EL[01]|0xffff[0-9a-f]{12}|PAGE_SHIFT == \d+|AT_PAGESZ,\s*\d+)\b"
    r"|__aarch64_|<<\s*12\b|& ~?0xfff\b"
)


def assumptions(sources):
    """Return the lines of generic code for one architecture only."""
    problems = []
    for name, text in sorted(sources.items()):
        outside = re.match(_OF_ARCH, name) or name.startswith(
            (*_NO_KERNEL, "kernel/tests/", "kernel/drivers/")
        )
        if outside or "/tests/" in name or not name.startswith("kernel/"):
            continue
        code = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
        problems += [
            f"{name}:{number}: {line.strip()}"
            for number, line in enumerate(code.splitlines(), 1)
            if _ONE_ARCH.search(line)
        ]
    return problems


# Names of architectures belong to core/arch.py, and to what is about one of them: programs and packages,
# machine code, recorded figures, and configurations of tests.
_NAMES_OF_ARCHES = re.compile(
    r"(?<![a-z0-9])(?:arm64|aarch64|riscv(?:32|64)?|x86_64|s390x|powerpc64le|loongarch64)(?![a-z0-9])"
)
_ABOUT_ONE = re.compile(
    r"tools/redzone/(?:core/(?:arch|outside|distributions|mteqemu|maskqemu|doctor)\.py|decode/roles\.py"
    r"|kit/(?:audit\w*|flags|size)\.py|libraries/catalogue\.py|bench/(?:figures|lockdep|seconds)\.py"
    r"|testing/(?:suites/|mutation/explained\.py))"
)


def named_arches(sources):
    """Return the texts in the command's code that name an architecture: core/arch.py has what differs."""
    problems = []
    for name, text in sorted(sources.items()):
        if not name.startswith("tools/redzone/") or _ABOUT_ONE.match(name):
            continue
        tree = ast.parse(text)
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        problems += [
            f"{name}:{node.lineno}: {node.value!r:.60}; core/arch.py has what differs between architectures"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in said and _NAMES_OF_ARCHES.search(node.value)
        ]
    return problems


def run(context):
    paths = files()
    yield from _tree_rules(paths)
    cycle = import_cycle(_modules(paths))
    yield result("import-cycles", [" imports ".join(cycle)] if cycle else [])
    kernel = {str(path.relative_to(ROOT)): path for path in paths if path.is_relative_to(ROOT / "kernel")}
    texts = {name: path.read_text() for name, path in kernel.items() if path.suffix in (".c", ".h", ".S")}
    yield result("architecture-contract", behind_contract(texts))
    yield result("private-headers", private_headers(texts))
    yield result("real-time-kernel", flavours(texts))
    public = {
        str(path.relative_to(ROOT)): path for path in paths if path.is_relative_to(ROOT / "include" / "kasan")
    }
    texts |= {name: path.read_text() for name, path in public.items()}
    yield result("architecture-calls", upward_calls(texts))
    yield result("architecture-members", hidden_members(texts))
    yield result("architecture-assumptions", assumptions(texts))
    tools = {str(path.relative_to(ROOT)): path.read_text() for path in paths if path.suffix == ".py"}
    yield result("architecture-names", named_arches(tools))
    yield result("ports", _port_problems())
    yield result("figures-of-documents", figures.problems())
    documents = {path: path.read_text(encoding="utf-8") for path in paths if path.suffix == ".md"}
    yield result("links-of-documents", _prose.broken_links(documents))
    yield result("tables-of-documents", _prose.broken_tables(documents))
    headers = [path for path in paths if path.is_relative_to(ROOT / "include") and path.suffix == ".h"]
    texts = {path: path.read_text(encoding="utf-8") for path in headers}
    texts |= {path: text for path, text in documents.items() if path.name != "CHANGELOG.md"}
    named = {path.relative_to(ROOT): text for path, text in texts.items()}
    yield result("plain-words", _prose.habits(named))

    yield _command("ruff-check", [sys.executable, "-m", "ruff", "check", "--quiet", "."])
    yield _command("ruff-format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."])

    sources = [str(path) for path in paths if path.suffix in (".c", ".h")]
    reason = context.missing("clang-format")
    if reason:
        yield Result("clang-format", SKIP, reason)
    else:
        command = ["clang-format-19", "--dry-run", "--Werror", "--style=file", *sources]
        yield _command("clang-format", command)

    reason = context.missing("clang-tidy", "cmake", "ninja", "clang-19")
    if reason:
        yield Result("clang-tidy", SKIP, reason)
        return
    yield from _tidy(context, paths)


def _tidy(context, paths):
    """Run clang-tidy over the runtime, with the options that its build uses."""
    preset = "runtime-arm64-clang-full"
    context.build(preset)
    chosen = [
        str(path)
        for path in paths
        if path.suffix == ".c" and {ROOT / "runtime", ROOT / "fuzz"} & set(path.parents)
    ]

    def one(batch):
        command = ["clang-tidy-19", "--quiet"]
        command += ["-p", str(BUILD / preset), *batch]
        ended = process.run(command, cwd=ROOT)
        return ended.returncode, ended.stdout

    half = (len(chosen) + 1) // 2
    batches = filter(None, [chosen[:half], chosen[half:]])
    outputs = [output for code, output in context.each(one, batches) if code]
    log = context.write_log("clang-tidy", "\n".join(outputs))
    problems = [line for output in outputs for line in output.splitlines() if ": error: " in line]
    yield result("clang-tidy", problems or (["clang-tidy failed"] if outputs else []), log)
