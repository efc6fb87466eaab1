#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Links a program with its C library, musl: compiles the library's files that the program needs.

usage: link_libc.py OPTIONSFILE OUTPUT.o OBJCOPY SUFFIX [--wrap=NAME | OBJECT | ARCHIVE]...
       link_libc.py OPTIONSFILE --all FOLDER

The library has 1,400 files, and a usual program needs 100 of them: compiling only these keeps the first run
short. They are compiled with the kernel's options and instrumentation, once for each set of options, and kept
in a folder, with lists of those that programs needed: a later build looks for nothing. All is joined with the
program's objects into one relocatable object. Functions that the kernel has itself (malloc() and memcpy(),
for instance) stay undefined there, and so do those that nobody has.

--all: compile every file that can be, and put the objects into FOLDER.

--wrap: as for the linker, for the calls in the program's own objects. OBJCOPY, SUFFIX: for
constructors.finish().

OPTIONSFILE is JSON. compiler: the command and its options. arch: the library's name of the architecture.
source: the library's folder, with the generated headers. ours: kernel/libc/musl. ours_of_arch: the folder of
the same kind in kernel/arch/. kept: folder of compiled files. prebuilt: another one, whose folder libc/ has
files that came with a wheel, or "". runtime: the linker's words for the functions
that compilers call. linker: the linker.

It runs inside the build, so it needs only Python.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import cached_property
from pathlib import Path

import constructors
from redzone.elf.file import ElfError, File
from redzone.elf.symbols import linkage

# Folders with files that cannot work here: the allocator is the kernel's own matter.
LEFT_OUT = ("malloc",)
# Symbols that the kernel has: KASAN knows the objects of its allocator, and checks whole
# ranges.
KERNELS = frozenset(
    (
        *("malloc", "calloc", "realloc", "free", "reallocarray"),
        *("aligned_alloc", "posix_memalign", "memalign", "malloc_usable_size"),
        *("memcpy", "memmove", "memset", "memcmp", "bcmp", "setjmp", "longjmp"),
    )
)
# The parts of the library that call its allocator by an inner name get the kernel's as well.
DEFINES = tuple(f"-D__libc_{name}={name}" for name in ("malloc", "calloc", "realloc", "free"))
# With GNU C these files read whole words, also beyond the end of a string. Without, they read byte by byte.
BYTEWISE = ("memccpy", "memchr", "stpcpy", "stpncpy", "strchrnul", "strlcpy", "strlen", "mbsrtowcs")
# A program's first function, of start.c, which calls main().
ENTRY = "redzone_libc_main"
_OURS = {"start": "start.c", "redzone_threads": "threads.c", "redzone_cancel": "cancel.c"}
# Files that get other functions for some that they call: the memory of a thread is not a mapping.
_THREAD_MEMORY = ("-D__mmap=redzone_thread_map", "-D__munmap=redzone_thread_unmap")
OTHERWISE = dict.fromkeys(("pthread_create", "pthread_join"), _THREAD_MEMORY)


def symbols(path):
    """Return (defined, undefined): the names of the global symbols of the relocatable file @path."""
    # An option of the user's can make the compiler write something else.
    try:
        return linkage(File.open(path))
    except ElfError as error:
        raise RuntimeError(f"{path} is not an object file for this machine: {error}") from None


class Library:
    """The library, and the files of it that were compiled."""

    def __init__(self, options):
        self.linker = options["linker"]
        self.runtime = options["runtime"]
        self.compiler = options["compiler"]
        self.arch = options["arch"]
        self.source = Path(options["source"])
        self.ours = Path(options["ours"])
        self._ours_of_arch = Path(options["ours_of_arch"])
        self._prebuilt = Path(options["prebuilt"], "libc") if options["prebuilt"] else None
        self._compiled = {}
        self.folder = Path(options["kept"]) / self._key()
        self._lists = self.folder / "lists" / self._tables_key()
        self._lists.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def of(path):
        """Return the Library of the file OPTIONSFILE, @path."""
        return Library(json.loads(Path(path).read_text(encoding="utf-8")))

    @cached_property
    def files(self):
        """{name: source file}. A file of the architecture's goes before a general one."""
        found = {}
        for folder in sorted((self.source / "src").iterdir()):
            if folder.name in LEFT_OUT or not folder.is_dir():
                continue
            for path in [*sorted(folder.glob("*.c")), *sorted((folder / self.arch).glob("*.[csS]"))]:
                found[path.stem] = path
        found |= {name: self.ours / file for name, file in _OURS.items()}
        return found | {path.stem: path for path in self._ours_of_arch.glob("*.S")}

    @cached_property
    def owners(self):
        """{symbol: name of the file that defines it}."""
        owners = {name: name for name in self.files}
        for line in (self.ours / "symbols.txt").read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, _, rest = line.partition(":")
                owners |= dict.fromkeys(rest.split(), name)
        owners[ENTRY] = "start"
        return owners

    def _key(self):
        """Return a word for all that the compiled files depend on, except the library's own files, which do
        not change."""
        text = json.dumps([self.compiler, str(self.source), BYTEWISE, DEFINES, OTHERWISE])
        info = os.stat(os.path.realpath(self.compiler[0]))
        text += f" {info.st_size} {info.st_mtime_ns}"
        for path in sorted([*self.ours.rglob("*.[ch]"), *self._ours_of_arch.glob("*.S")]):
            text += hashlib.sha256(path.read_bytes()).hexdigest()
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _tables_key(self):
        """Return a word for what says which files a program needs."""
        tables = (self.ours / "symbols.txt").read_bytes() + Path(__file__).read_bytes()
        return hashlib.sha256(tables).hexdigest()[:16]

    def all_of(self, words, output):
        """Return the names of the files that make a program of the objects and archives @words for the
        linker: its own, then what it needs of the library, compiled, and of what compilers call.

        @output: name of an object for the program's own part, if more than one object has to become one.
        Return as well whether the program has a main(). Raise RuntimeError with a tool's message.
        """
        own = words
        if len(words) > 1 or not words[0].endswith((".o", ".obj")):
            command = [self.linker, "-r", "-u", "main", *words, "-o", str(output)]
            result = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
            if result.returncode != 0:
                raise RuntimeError(result.stderr or f"{Path(self.linker).name} failed: {result.returncode}")
            own = [str(output)]
        defined, wanted = symbols(Path(own[0]))
        return [*own, *self._rest(defined, wanted), *self.runtime], "main" in defined

    def _rest(self, defined, wanted):
        """Return the files of the library, compiled, that a program needs. @defined, @wanted: its symbols."""
        text = "\n".join(sorted(wanted)).encode("utf-8", "surrogateescape")
        listed = self._lists / hashlib.sha256(text).hexdigest()[:32]
        try:
            kept = json.loads(listed.read_text(encoding="utf-8"))
            # Another program's function may have stood in for one of the library's.
            if kept["own"] == sorted(defined & set(kept["asked"])) and all(
                map(os.path.isfile, kept["files"])
            ):
                return kept["files"]
        except (OSError, ValueError):
            pass
        own, asked, found = set(defined), {ENTRY, *wanted}, {}
        # Only a new program needs it. Processes do the work; each thread just waits for one.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            while True:
                missing = asked - defined - KERNELS
                names = sorted({self.owners[name] for name in missing if name in self.owners} - set(found))
                if not names:
                    break
                for name, made in zip(names, pool.map(self.compiled, names), strict=True):
                    found[name] = made
                    defined |= made[1]
                    asked |= made[2]
        files = [str(found[name][0]) for name in sorted(found)]
        new = listed.with_suffix(f".{os.getpid()}.{threading.get_ident()}.new")
        kept = {"own": sorted(own & asked), "asked": sorted(asked), "files": files}
        new.write_text(json.dumps(kept), encoding="utf-8")
        new.rename(listed)
        return files

    def compiled(self, name):
        """Compile the file @name unless that was done before. Return (its object, symbols defined,
        undefined)."""
        if name not in self._compiled:
            path = self._compile(name)
            self._compiled[name] = (path, *symbols(path))
        return self._compiled[name]

    def _compile(self, name):
        if self._prebuilt is not None and (made := self._prebuilt / f"{name}.o").is_file():
            return made
        target = self.folder / f"{name}.o"
        if target.is_file():
            return target
        # Two threads may want the same file, and so may the builds of two kernels.
        new = self.folder / f"{name}.{os.getpid()}.{threading.get_ident()}.new"
        source, top = self.files[name], self.source
        command = [*self.compiler, *DEFINES, *OTHERWISE.get(name, ())]
        if name in BYTEWISE:
            command.append("-U__GNUC__")
        folders = [f"arch/{self.arch}", "arch/generic", "obj/src/internal", "src/include", "src/internal"]
        folders += [f"obj/{self.arch}/include", "include"]
        command += [f"-I{self.ours / 'arch'}", *(f"-I{top / folder}" for folder in folders)]
        result = subprocess.run(
            [*command, "-c", str(source), "-o", str(new)], check=False, capture_output=True, text=True
        )
        if result.returncode != 0:
            raise RuntimeError(f"{source} cannot be compiled:\n{result.stderr}")
        new.rename(target)
        return target


def compile_all(options_file, folder):
    """Compile the files of the library into @folder. Return how many there are."""
    from concurrent.futures import ThreadPoolExecutor

    library = Library.of(options_file)

    def one(name):
        try:
            shutil.copy(library.compiled(name)[0], Path(folder) / f"{name}.o")
        except RuntimeError:
            # A program that asks for it learns why.
            return 0
        return 1

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(one, library.files))


def main(options_file, output, objcopy, suffix, *words):
    library = Library.of(options_file)
    try:
        # Without a main() the last link says so.
        names, _ = library.all_of(list(words), Path(f"{output}.own.o"))
    except (OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    listed = Path(f"{output}.libc.rsp")
    listed.write_text("\n".join(f'"{name}"' for name in names) + "\n", encoding="utf-8")
    result = subprocess.run([library.linker, "-r", f"@{listed}", "-o", output], check=False)
    sys.exit(result.returncode or constructors.finish(Path(output), objcopy, ENTRY, suffix))


if __name__ == "__main__":
    if sys.argv[2] == "--all":
        print(compile_all(sys.argv[1], sys.argv[3]))
    else:
        main(*sys.argv[1:])
