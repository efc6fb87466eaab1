# SPDX-License-Identifier: MIT
"""`./redzone run --watch`: builds and runs again whenever a file of the program is saved.

It looks at the times of the files ten times a second: that needs no library, works on every file system and
in containers, and costs little for the few hundred files of a program. A save during a run ends that run.
"""

import contextlib
import dataclasses
import os
import threading
import time
from pathlib import Path

from redzone.build import headers
from redzone.core import base
from redzone.core.base import Failure
from redzone.machine import qemu

_PERIOD = 0.1
# A new file in a folder matters if it has such a name. Editors and the run itself write the others.
_SUFFIXES = (".c", ".h", ".S", ".inc", ".def")


def _state(path):
    """Return what is different after the file @path has been saved; None: it is not there."""
    try:
        info = os.stat(path)
        if os.path.isdir(path):
            return tuple(sorted(name for name in os.listdir(path) if name.endswith(_SUFFIXES)))
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


def _named(options):
    """Return the absolute paths of what the job.Options @options name, whatever is wrong with it."""
    names = [*options.files, *options.modules, *options.library, *(path for _, path in options.data)]
    names += [*options.includes, *filter(None, [options.stdin, options.project])]
    if options.project:
        names.append(Path(options.project) / "compile_commands.json")
    return [Path(name).absolute() for name in names]


class Watcher:
    """Knows the files that count, and whether one has changed."""

    def __init__(self):
        self._states = {}

    def note(self, paths, since=None):
        """From now on @paths count too. @since: one that was saved after this time has changed."""
        for path in paths:
            if path not in self._states:
                state = _state(path)
                late = since is not None and state and not path.is_dir() and state[0] > since * 1e9
                self._states[path] = None if late else state

    def changed(self):
        """Return the files that are not as they were."""
        return [path for path, before in self._states.items() if _state(path) != before]

    def wait(self):
        """Wait for a change. Return the files."""
        while not (found := self.changed()):
            time.sleep(_PERIOD)
        while True:
            # An editor may write a file in steps, and several files one after the other.
            states = {path: _state(path) for path in found}
            time.sleep(_PERIOD / 2)
            found = self.changed()
            if states == {path: _state(path) for path in found}:
                break
        self._states |= states
        return found

    @contextlib.contextmanager
    def ends_runs(self):
        """While it lasts, a change ends the machine: qemu.boot() raises Cancelled."""
        over = threading.Event()

        def look():
            while not over.wait(_PERIOD):
                if self.changed():
                    qemu.cancel()

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            qemu.forget_cancel()


def _note_job(watcher, work, since):
    """Let @watcher know the files of the job.Job @work, and the headers that were found."""
    if not work.made_of:
        # It did not compile.
        work.note_made_of()
    found = headers.users(work.made_of)
    watcher.note([*work.sources, *work.modules, *work.code["includes"]], since)
    watcher.note([path for path in found if path.suffix != ".c"], since)
    watcher.note({path.parent for path in work.sources})


def run(options, once):
    """Call once(options, on_job) again and again, until the user interrupts it. on_job(): gets the job.Job.

    The job.Options @options are checked anew each time: folders may have other files."""
    watcher, jobs, begun = Watcher(), [], False
    watcher.note(_named(options))
    while True:
        since = time.time()
        fresh = dataclasses.replace(options, files=list(options.files), data=list(options.data))
        try:
            with watcher.ends_runs():
                once(fresh, jobs.append)
        except qemu.Cancelled:
            pass
        except Failure as error:
            if not (begun or jobs):
                # No save changes options.
                raise
            base.say(f"error: {error}")
            if error.table is not None:
                error.table.show()
        if jobs:
            _note_job(watcher, jobs.pop(), since)
            begun = True
        jobs.clear()
        if not watcher.changed():
            base.say(f"watching; a save runs it again, Ctrl-C ends ({time.time() - since:.1f} s)")
        found = watcher.wait()
        names = [base.relative(path) for path in found]
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        base.say(f"--- {', '.join(names[:2])}{more} changed at {time.strftime('%H:%M:%S')} ---")
