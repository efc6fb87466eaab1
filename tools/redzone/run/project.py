# SPDX-License-Identifier: MIT
"""`./redzone run --project`: the files of somebody's compile_commands.json, with the options of each.

The file was written for another machine and another operating system, so only those options are kept that say
something about the source: its language, macros, headers and the level of optimisation.
"""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure

# Where CMake (NAME.dir) and Meson (NAME.p) put the objects of a target.
_TARGET = re.compile(r"(?:^|/)([^/]+)\.(?:dir|p)/")
LANGUAGES = (".c", ".S")
# Options with a path behind them, in the same word or the next, which is relative to the entry's folder.
_PATHS = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")
# Options with any other word behind them, none of which applies here.
_SKIPPED_PAIRS = ("-o", "-MF", "-MT", "-MQ", "-x", "-L", "-l", "-arch", "-target", "-isysroot", "-Xclang",
                  "-Xlinker", "-Xassembler", "-Xpreprocessor", "--param", "--sysroot", "-T", "-u", "-z",
                  "-mllvm")  # fmt: skip
_KEPT = re.compile(
    r"-(?:std=.*|ansi|trigraphs|O[0-3sgz]?|Ofast"
    r"|f(?:no-)?(?:wrapv|strict-aliasing|strict-overflow|signed-char|unsigned-char|short-enums|ms-extensions"
    r"|plan9-extensions|gnu89-inline|common|math-errno|trapping-math|rounding-math|signed-zeros|fast-math"
    r"|finite-math-only|unsafe-math-optimizations|short-wchar|lax-vector-conversions|signed-bitfields"
    r"|unsigned-bitfields|asm|builtin(?:-\w+)?)"
    r"|ffp-contract=\w+)$"
)
# Headers of this machine's C library, which is not the programs'.
_HOST = re.compile(r"/usr/(?:local/)?include(?:/|$)")


@dataclass
class Project:
    """What a compile_commands.json says. sources: absolute paths, in its order. options: {source: [word]}.
    left_out: {reason: number of files}. owners: {source: target, or "" if its object's name does not tell}.
    members: {target: [source]}, where a source may have several.
    """

    sources: list = field(default_factory=list)
    options: dict = field(default_factory=dict)
    left_out: dict = field(default_factory=dict)
    owners: dict = field(default_factory=dict)
    members: dict = field(default_factory=dict)

    def leave_out(self, reason):
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def read_words(path, shown):
    """Return the words in the file @path, as a compiler reads those of `@FILE`."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
        return shlex.split(text)
    except (OSError, ValueError) as error:
        raise Failure(f"'{shown}' cannot be read: {getattr(error, 'strerror', None) or error}") from None


def expand(words, folder, depth=0):
    """Return @words with the words of the files in place of each `@FILE`. @folder: of relative names."""
    result = []
    for word in words:
        if not (word.startswith("@") and len(word) > 1):
            result.append(word)
        elif depth > 8:
            raise Failure(f"'{word}': files that name each other")
        else:
            result += expand(read_words(Path(folder) / word[1:], word), folder, depth + 1)
    return result


def _paired(words):
    """Yield (option, its value or None), with the value out of the next word where it is there."""
    rest = iter(words)
    for word in rest:
        name = next((name for name in sorted(_PATHS, key=len, reverse=True) if word.startswith(name)), None)
        # -includeFILE does not exist as one word for every compiler; -I and -isystem do.
        if name is not None:
            yield name, word.removeprefix(name) or next(rest, "")
        elif word in ("-D", "-U"):
            yield word, next(rest, "")
        elif word.startswith(("-D", "-U")):
            yield word[:2], word[2:]
        elif word in _SKIPPED_PAIRS:
            next(rest, None)
        else:
            yield word, None


def options_of(words, folder, warnings=False):
    """Return those of a compiler's options @words, without its name, that apply to a program here.

    @folder: where the compiler was called. @warnings: keep -W as well; -Werror never.
    """
    kept = []
    for option, value in _paired(words):
        if option in _PATHS:
            path = Path(folder, value).resolve()
            # A header may be named as <...> finds it.
            if option in ("-include", "-imacros") and not path.exists():
                kept += [option, value]
            elif not _HOST.match(f"{path}/") and not UNUSABLE_PATH.search(str(path)):
                kept += [option, str(path)]
        elif option in ("-D", "-U"):
            if not value.startswith("_FORTIFY_SOURCE"):
                kept.append(option + value)
        elif _KEPT.match(option) or (
            warnings
            and option.startswith("-W")
            and not option.startswith(("-Werror", "-Wl,", "-Wa,", "-Wp,"))
        ):
            kept.append(option)
    return kept


UNUSABLE_PATH = re.compile(r"[\n\r]")


def _target_of(entry, words):
    """Return the target that an entry belongs to, or "" if its object's name does not tell."""
    output = entry.get("output") or next(
        (words[at + 1] for at, word in enumerate(words[:-1]) if word == "-o"), ""
    )
    found = _TARGET.search(output)
    return found[1] if found else ""


def _entries(path, shown):
    """Return the [(entry, folder, words of its command)] of the file @path."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        found = []
        for entry in data:
            words = entry.get("arguments") or shlex.split(entry["command"])
            folder = Path(path).resolve().parent / entry["directory"]
            found.append((entry, folder, expand(words[1:], folder)))
    except OSError as error:
        raise Failure(f"--project '{shown}' cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(
            f"--project '{shown}' is not a compile_commands.json: {type(error).__name__}: {error}"
        ) from None
    return found


def read(name, targets=(), warnings=False):
    """Return the Project of the file @name, or of compile_commands.json in the folder @name.

    @targets: only files of these; empty: all.
    """
    path = Path(name)
    if path.is_dir():
        path /= "compile_commands.json"
        if not path.exists():
            raise Failure(
                f"--project '{name}': the folder has no compile_commands.json; it is in the build folder, "
                "with CMake if that was made with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
            )
    entries = _entries(path, name)
    known = {_target_of(entry, words) for entry, _, words in entries} - {""}
    for target in targets:
        if target not in known:
            there = ", ".join(sorted(known)) or "none that the names of objects tell"
            raise Failure(f"--target {target}: the project has no such target; there are: {there}")
    project = Project()
    for entry, folder, words in entries:
        target = _target_of(entry, words)
        if targets and target not in targets:
            continue
        source = (folder / entry["file"]).resolve()
        if source.suffix not in LANGUAGES:
            project.leave_out("neither C nor assembly")
            continue
        if not source.exists():
            raise Failure(
                f"--project '{name}': {source} does not exist; build the project first, if its build makes it"
            )
        builder.check_path(source, str(source))
        options = options_of(words, folder, warnings)
        project.members.setdefault(target, []).append(source)
        if source not in project.options:
            project.sources.append(source)
            project.options[source], project.owners[source] = options, target
        elif project.options[source] != options:
            raise Failure(
                f"--project '{name}': {base.relative(source)} is compiled with different options "
                f"by the targets {project.owners[source] or '?'} and {target or '?'}; name one with "
                f"--target, not both; there are: {', '.join(sorted(known))}"
            )
    if not project.sources:
        raise Failure(f"--project '{name}' has no C files" + (f" of {', '.join(targets)}" if targets else ""))
    return project
