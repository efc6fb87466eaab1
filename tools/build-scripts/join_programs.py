# SPDX-License-Identifier: MIT
"""Joins the objects of many one-file programs into one object (redzone_add_programs() in CMake).

usage: join_programs.py OBJCOPY LINKER RSPFILE OUTPUT.o LIBRARIES OPTIONSFILE

RSPFILE has one object per line, in the order of the programs. In the result, object N (from 0) keeps only
these global symbols: redzone_each_N, a second name of the C library's first function, and redzone_ctors_N
and redzone_dtors_N, its arrays of constructors and destructors, if it has any. LIBRARIES has the linker's
words for the archives of which each program gets copies of those parts that it uses. OPTIONSFILE is that of
link_libc.py: each program gets its own copy of what it needs of the C library as well.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import constructors
import link_libc


def part_of(number, name, folder, objcopy, linker, libraries, library):
    """Make program @number's part from the object @name. libraries: the linker's words for what all
    share. library: the link_libc.Library. Return (its path, None) or (path, what is wrong)."""
    part = folder / f"{number}.o"
    alias = f"redzone_each_{number}"
    try:
        words, has_main = library.all_of([name, *libraries], part.with_suffix(".own.o"))
    except (OSError, RuntimeError) as error:
        return part, f"error: {error}"
    command = [linker, "-r", f"--defsym={alias}={link_libc.ENTRY}", *words, "-o", str(part)]
    result = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    if not has_main:
        source = Path(name).name.removesuffix(".obj").removesuffix(".o")
        # tools/redzone/run/each_build.py reads this.
        return part, f"error: program {number}: {source} has no main()"
    if result.returncode != 0:
        return part, result.stderr or f"{Path(linker).name} failed: {result.returncode}"
    return part, constructors.finish(part, objcopy, alias, number)


def main(objcopy, linker, rsp, output, libraries, options):
    library = link_libc.Library.of(options)
    objects = [name for name in Path(rsp).read_text(encoding="utf-8").split("\n") if name]
    shared = [f"@{libraries}"] if Path(libraries).stat().st_size else []
    folder = Path(output).with_suffix(".parts")
    folder.mkdir(exist_ok=True)
    # Processes do the work; each thread just waits for one.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rest = folder, objcopy, linker, shared, library
        made = list(pool.map(lambda item: part_of(*item, *rest), enumerate(objects)))
    wrong = [error for _, error in made if error]
    if wrong:
        sys.exit("\n".join(wrong))
    joined = folder / "parts.rsp"
    joined.write_text("\n".join(f'"{part}"' for part, _ in made) + "\n", encoding="utf-8")
    sys.exit(subprocess.run([linker, "-r", f"@{joined}", "-o", output], check=False).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
