# SPDX-License-Identifier: MIT
"""`./redzone clean`: removes what was built, and keeps build/ from growing without end.

What was downloaded stays, unless --all is given: it would need the network again.
"""

import contextlib
import os
import shutil
import time
from pathlib import Path

import click

from redzone.core import base
from redzone.core.base import BUILD, CACHE, INSTALLATIONS, Failure

# Folders in build/ of runs, besides those of presets.
_OF_RUNS = ("again", "debug", "logs", "runs", "verdicts")
# Build folders go by themselves, those first that were not used for longest, once all of them, with those of
# other installed versions, have more than this.
LIMIT = (2 if base.INSTALLED else 4) << 30
LIMIT_VARIABLE = "REDZONE_BUILD_LIMIT"
# Seconds between two looks, each of which reads the sizes of all files.
_PERIOD = 24 * 3600
_RECENT = 3600
_LOOK = BUILD / ".looked"
# What a folder is called while it is removed: no other command takes it for what it was.
_GOING = ".removed-"


def size(path):
    """Return the bytes on the disk that @path and all below it take."""
    try:
        total = os.lstat(path).st_blocks * 512
        if path.is_dir() and not path.is_symlink():
            with os.scandir(path) as entries:
                total += sum(size(Path(entry.path)) for entry in entries)
    except OSError:
        return 0
    return total


def shown(count):
    """Return @count bytes as people read it."""
    for unit, shift in (("GB", 30), ("MB", 20), ("KB", 10)):
        if count >= 1 << shift:
            return f"{count / (1 << shift):.1f} {unit}"
    return f"{count} bytes"


def _is_preset(path):
    return path.is_dir() and ((path / "CMakeCache.txt").exists() or (path / "build.ninja").exists())


def _others():
    """Return the folders of other installed versions, which one of them would make again."""
    if BUILD.parent != INSTALLATIONS or not INSTALLATIONS.is_dir():
        return []
    return [path for path in sorted(INSTALLATIONS.iterdir()) if path != BUILD and path.is_dir()]


def _parts(everything):
    """Return the Paths that are to go."""
    if not BUILD.is_dir():
        return _others()
    if everything:
        return [path for path in sorted(BUILD.iterdir()) if path != base.VENV] + _others()
    files = [BUILD / "compile_commands.json"]
    return [
        path
        for path in sorted(BUILD.iterdir())
        if _is_preset(path) or path.name in _OF_RUNS or path in files or path.name.startswith(_GOING)
    ] + _others()


def _locks(path):
    """Return the files that commands lock at @path: in the folder itself, those of runs each in its own, and
    all of another version's."""
    depth = 0 if _is_preset(path) else {INSTALLATIONS: 2, CACHE.parent: 4}.get(path.parent, 1)
    return [lock for at in range(depth + 1) for lock in path.glob("*/" * at + base.LOCK)]


def _remove(path):
    """Remove @path, a file or a folder that no command uses. Return False if one does."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return True
    with contextlib.ExitStack() as held:
        for name in _locks(path):
            file = base.lock(name, wait=False)
            if file is None:
                return False
            held.enter_context(file)
        # In one step, so that a command which waits for a lock makes the folder anew.
        going = path.with_name(f"{_GOING}{os.getpid()}-{path.name.removeprefix(_GOING)}")
        try:
            path.rename(going)
        except OSError:
            # Something is mounted there.
            going = path
        shutil.rmtree(going, ignore_errors=True)
    return True


def _say(count, path, verb):
    click.echo(f"{shown(count):>10}  {verb} {base.relative(path)}")


def clean(everything, dry_run):
    """Remove what was built. Return the exit status."""
    total, left = 0, False
    places = [
        *_parts(everything),
        *([CACHE] if everything and CACHE.is_absolute() and CACHE.is_dir() else []),
    ]
    for path in places:
        count = size(path)
        if not dry_run and not _remove(path):
            _say(count, path, "in use:")
            left = True
            continue
        total += count
        _say(count, path, "would remove" if dry_run else "removed")
    verb = "would be" if dry_run else "were"
    click.echo(f"{shown(total):>10}  {verb} removed" if places else "there is nothing to remove")
    if not everything and BUILD.is_dir() and (rest := size(BUILD)) > 1 << 20 and not dry_run:
        click.echo(f"{shown(rest):>10}  stay, mostly downloads; --all removes them too")
    return base.CRASHED if left else base.OK


def _limit():
    text = os.environ.get(LIMIT_VARIABLE)
    if text is None:
        return LIMIT
    try:
        return int(float(text) * (1 << 30))
    except ValueError:
        raise Failure(f"{LIMIT_VARIABLE}={text} is not a number of gigabytes") from None


def _used(path):
    """Return when a command last used the folder @path, 0 if none has: its locks and Ninja's logs say so."""
    files = [*_locks(path), *path.glob(".ninja_log"), *path.glob("*/.ninja_log"), path / _LOOK.name]
    return max((one.stat().st_mtime for one in files if one.exists()), default=0)


def bound(now=None):
    """Once a day: remove the build folders that were not used for longest, until all have at most the limit.
    Those of the last hour stay."""
    now = now or time.time()
    if not BUILD.is_dir():
        return
    limit = _limit()
    with contextlib.suppress(OSError):
        if now - _LOOK.stat().st_mtime < _PERIOD:
            return
    _LOOK.touch()
    os.utime(_LOOK, (now, now))
    for left in [*BUILD.glob(f"{_GOING}*"), *INSTALLATIONS.glob(f"{_GOING}*")]:
        shutil.rmtree(left, ignore_errors=True)
    presets = [path for path in BUILD.iterdir() if _is_preset(path)]
    found = [(_used(path), path, size(path)) for path in [*presets, *_others()]]
    total = sum(count for _, _, count in found)
    for used, path, count in sorted(found):
        if total <= limit:
            return
        if now - used > _RECENT and _remove(path):
            total -= count
            base.say(
                f"removed '{base.relative(path)}' ({shown(count)}), which was not used for longest: build "
                f"folders had more than {shown(limit)} ({LIMIT_VARIABLE}=GB)"
            )


@click.command("clean", short_help="Remove what was built, and say how much.")
@click.option(
    "--all", "everything", is_flag=True, help="Also what was downloaded, here and in ~/.cache/redzone."
)
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be removed.")
@click.pass_context
def clean_verb(context, everything, dry_run):
    """Remove kernels, objects, logs and cached verdicts from build/. Downloaded sources stay, unless --all is
    given. An installed redzone has its folder in ~/.cache/redzone/installed, and also removes there what
    other versions have built.

    Old build folders also go by themselves: once a day, if all have more than 4 GB (REDZONE_BUILD_LIMIT=GB;
    2 GB if redzone is installed), those that were not used for longest.

    \b
    Exit status: 0 all is removed, 3 another command uses a part, which stays.
    """
    context.exit(clean(everything, dry_run))


def register(group):
    group.add_command(clean_verb)
