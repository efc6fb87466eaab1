# SPDX-License-Identifier: MIT
"""`./redzone release`: a wheel with all that `redzone run` needs, and with kernels that are already built.

Nothing in it is about this machine: debug information names the tree base.PREBUILT_TREE, which is checked.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import click

from redzone.build import builder, prebuilt
from redzone.core import base, doctor, libc_source, process
from redzone.core.base import BUILD, ROOT, Failure
from redzone.core.options import YES, Words

# Of what `run` and `fuzz` link.
_TARGETS = (
    *("kernel", "kernel-workqueue", "kernel-libc", "kernel-builtins", "kernel-fuzz"),
    *("runtime", "runtime-copies", "runtime-fuzz"),
)
_MODES = ("generic", "sw_tags", "hw_tags")
_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps")
# tools/wheel_hook.py puts the folder that this names into the wheel.
_VARIABLE = "REDZONE_PREBUILT"


def _copy_objects(built, place):
    """Copy the objects of the build folder @built to @place."""
    for target in _TARGETS:
        for path in sorted((built / "CMakeFiles" / f"{target}.dir").rglob("*.obj")):
            copy = place / path.relative_to(built)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _cut_names(folder):
    """Make the names of sources relative in the objects below @folder. Clang puts them, as they were on its
    command line, beside variables with redzones, and has no option for another prefix."""
    prefixes = b"|".join(re.escape(os.fsencode(own)) for own in (BUILD.parent, ROOT))
    name = re.compile(rb"(?:" + prefixes + rb")/([^\0]*)")
    for path in folder.rglob("*.o*"):
        data = path.read_bytes()
        cut = name.sub(lambda found: found[1].ljust(len(found[0]), b"\0"), data)
        if cut != data:
            path.write_bytes(cut)


def check_paths(folder):
    """Raise Failure if a file below @folder names a folder of this machine."""
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        for own in (ROOT, BUILD, Path.home()):
            if os.fsencode(f"{own}/") in data:
                raise Failure(f"{path.relative_to(folder)} names {own}, a folder of this machine")


def make_prebuilt(mode, folder):
    """Build the kernel of @mode as `run` takes it by default. Put what prebuilt.py finds below @folder."""
    preset = builder.preset_name(mode, features=[])
    name = builder.with_features(preset, ["release"])
    place, built = folder / preset, BUILD / name
    # Any program: with it comes the list of the library's options.
    program = builder.Program("program", [ROOT / "examples" / "clean.c"])
    builder.build(name, _TARGETS, [program])
    with base.locked(built):
        _copy_objects(built, place)
        (place / "libc").mkdir()
        base.say(f"compiling the C library for {preset}")
        script = ROOT / "tools" / "build-scripts" / "link_libc.py"
        result = process.run(
            [sys.executable, script, built / "libc.json", "--all", place / "libc"], cwd=built
        )
        if result.returncode != 0:
            raise Failure(f"the C library cannot be compiled:\n{result.stderr}")
        shutil.copyfile(built / "compiler", place / "compiler")
    _cut_names(place)
    check_paths(place)
    (place / "key").write_text(prebuilt.key(preset), encoding="utf-8")


def make(modes, output):
    """Make the wheel in the folder @output. Return its path."""
    with base.scratch("release-") as folder:
        made, wheels = folder / "prebuilt", folder / "wheel"
        made.mkdir()
        for mode in modes:
            make_prebuilt(mode, made)
        if modes:
            # Its licence asks for it to be wherever a copy is.
            shutil.copyfile(libc_source.source() / "COPYRIGHT", made / "musl-COPYRIGHT")
            shutil.copyfile(libc_source.archive(), made / libc_source.ARCHIVE)
        command = [sys.executable, *_PIP, "-w", wheels, ROOT]
        result = process.run(command, env={**os.environ, _VARIABLE: str(made)})
        found = list(wheels.glob("*.whl"))
        if result.returncode != 0 or len(found) != 1:
            raise Failure(f"pip could not make the wheel:\n{result.stderr.strip()}")
        output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(found[0], output))


@click.command("release", short_help="Make a wheel with kernels that are already built.")
@click.option("-o", "--output", default="dist", metavar="DIR", help="Folder of the wheel. Default: dist.")
@click.option(
    "--modes",
    type=Words(_MODES),
    default=",".join(_MODES),
    help=f"The modes whose kernels it has, any of {','.join(_MODES)}. Default: all.",
)
@YES
@click.pass_context
def release_verb(context, output, modes, yes):
    """Make the package that `pipx install` takes: the command, the sources of its kernels, and kernels that
    are already built, so that a first run compiles the user's files only.

    Those are used with the compiler that made them, in the same major version, Clang 19. Other kernels are
    built when they are first needed. The wheel also has the C library, musl, with its source and licence, so
    a first run needs no network.

    \b
    Examples:
      ./redzone release
      pipx install dist/redzone-*.whl && redzone run bug.c

    \b
    Exit status: 0, or 2 for a usage or build error.
    """
    needed = [key for mode in modes for key in builder.tools_of(builder.preset_name(mode, features=[]))]
    doctor.require(needed, "make a release", yes)
    wheel = make(modes, Path(output))
    click.echo(f"{base.relative(wheel)}  {wheel.stat().st_size / (1 << 20):.1f} MB")


def register(group):
    group.add_command(release_verb)
