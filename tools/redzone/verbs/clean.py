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
from redzone.core.base import BUILD, CACHE, Failure

# Folders in build/ of runs, besides those of presets.
_OF_RUNS = ("again", "debug", "logs", "runs", "verdicts")
# Build folders that no build has used for long go by themselves, once all of them together have more than
# this.
LIMIT = 4 << 30
LIMIT_VARIABLE = "REDZONE_BUILD_LIMIT"
# Seconds between two looks, each of which reads the sizes of all files.
_PERIOD = 24 * 3600
_RECENT = 3600
_LOOK = BUILD / ".looked"


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


def _parts(everything):
    """Return the Paths that are to go."""
    if not BUILD.is_dir():
        return []
    if everything:
        return [path for path in sorted(BUILD.iterdir()) if path != base.VENV]
    files = [BUILD / "compile_commands.json"]
    return [
        path for path in sorted(BUILD.iterdir()) if _is_preset(path) or path.name in _OF_RUNS or path in files
    ]


def _remove(path):
    """Remove @path, a file or a folder that no command uses. Return False if one does."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return True
    # Others may be at work in a folder of runs, each in its own.
    for folder in (path, *(path.iterdir() if path.name == "runs" else ())):
        if (folder / base.LOCK).exists():
            held = base.lock(folder / base.LOCK, wait=False)
            if held is None:
                return False
            held.close()
    shutil.rmtree(path, ignore_errors=True)
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


def bound(now=None):
    """Once a day: remove the build folders that were not used for longest, until all have at most the limit.
    Those of the last hour stay."""
    now = now or time.time()
    if not BUILD.is_dir():
        return
    with contextlib.suppress(OSError):
        if now - _LOOK.stat().st_mtime < _PERIOD:
            return
    _LOOK.touch()
    os.utime(_LOOK, (now, now))
    found = []
    for path in BUILD.iterdir():
        if _is_preset(path):
            used = max(
                (one.stat().st_mtime for one in (path / ".ninja_log", path / base.LOCK) if one.exists()),
                default=0,
            )
            found.append((used, path, size(path)))
    total = sum(count for _, _, count in found)
    for used, path, count in sorted(found):
        if total <= _limit():
            return
        if now - used > _RECENT and _remove(path):
            total -= count
            base.say(
                f"removed '{base.relative(path)}' ({shown(count)}), which was not used for longest: build "
                f"folders had more than {shown(_limit())} ({LIMIT_VARIABLE}=GB)"
            )


@click.command("clean", short_help="Remove what was built, and say how much.")
@click.option(
    "--all", "everything", is_flag=True, help="Also what was downloaded, here and in ~/.cache/redzone."
)
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be removed.")
@click.pass_context
def clean_verb(context, everything, dry_run):
    """Remove kernels, objects, logs and cached verdicts from build/. Downloaded sources stay, unless --all is
    given.

    Old build folders also go by themselves: once a day, if all have more than 4 GB (REDZONE_BUILD_LIMIT=GB),
    those that were not used for longest.

    \b
    Exit status: 0 all is removed, 3 another command uses a part, which stays.
    """
    context.exit(clean(everything, dry_run))


def register(group):
    group.add_command(clean_verb)
