# SPDX-License-Identifier: MIT
"""Fixtures of the end-to-end tests: run ./redzone as a user would, in a known environment."""

import os
import pty
import select
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from redzone.core import process
from redzone.core.base import ROOT

TIMEOUT = 300
_UNSET = ("CI", "GITHUB_ACTIONS", "REDZONE_CASES", "TEST_TOTAL_SHARDS", "CI_NODE_TOTAL", "CIRCLE_NODE_TOTAL",
          "BUILDKITE_PARALLEL_JOB_COUNT")  # fmt: skip


class Command:
    """Runs ./redzone. Results have returncode, stdout, stderr."""

    def __init__(self, folder, root=ROOT):
        """@folder: where it runs. @root: the tree whose command it is."""
        self.folder, self.root = folder, root

    def environment(self, **changes):
        """The environment without CI, so that a test never installs anything unnoticed, and without what CI
        systems say of parts. No test knows another one's verdicts."""
        result = {key: value for key, value in os.environ.items() if key not in _UNSET}
        result["REDZONE_VERDICTS"] = f"{self.folder}-verdicts"
        result.update(changes)
        return result

    def __call__(self, *arguments, cwd=None, status=None, **changes):
        """@status: the exit status that it must have, None: any. @changes: of the environment."""
        result = process.run(
            [self.root / "redzone", *arguments],
            cwd=cwd or self.folder,
            env=self.environment(**changes),
            timeout=TIMEOUT,
        )
        # Without its C library no program can run on this machine; test_libc.py has what is said then.
        if result.returncode == 2 and "which programs need, cannot be fetched" in result.stderr:
            pytest.skip(result.stderr.splitlines()[-1])
        assert status in (None, result.returncode), result.stdout + result.stderr
        return result

    def start(self, *arguments, **changes):
        """Like a call, but do not wait. Returns the Popen object."""
        # A shell's background job ignores SIGINT, and so would all that it starts.
        return subprocess.Popen(
            [str(ROOT / "redzone"), *map(str, arguments)],
            cwd=self.folder,
            env=self.environment(**changes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def on_terminal(self, *arguments, answer=b"", **changes):
        """Run with a terminal for stdin, stdout and stderr. @answer: to the question that it asks. Returns
        (status, output)."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            path = str(ROOT / "redzone")
            os.execve(path, [path, *map(str, arguments)], self.environment(TERM="xterm", **changes))
        output = b""
        try:
            while select.select([terminal], [], [], TIMEOUT)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                output += data
                # Not before: an end of file is lost when the program changes the terminal's mode.
                if answer and output.endswith(b"[Y/n] "):
                    os.write(terminal, answer)
                    answer = b""
            else:
                os.kill(child, signal.SIGKILL)
                pytest.fail(f"no output for {TIMEOUT} seconds after: {output[-1000:]!r}")
        finally:
            _, status = os.waitpid(child, 0)
            os.close(terminal)
        return os.waitstatus_to_exitcode(status), output.decode("utf-8", "replace")


@pytest.fixture
def redzone(tmp_path):
    return Command(tmp_path)


@pytest.fixture
def source(tmp_path):
    """Write a C file into the test's folder; returns its path."""

    def write(text, name="program.c"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def path_without(tmp_path):
    """Return a PATH value that has everything except the commands named."""

    def make(*hidden):
        folder = tmp_path / "bin"
        folder.mkdir()
        for directory in os.environ["PATH"].split(":"):
            if not Path(directory).is_dir():
                continue
            for entry in Path(directory).iterdir():
                target = folder / entry.name
                if entry.name not in (*hidden, "apt-get", "sudo") and not target.is_symlink():
                    target.symlink_to(shutil.which(entry.name, path=directory) or entry)
        return str(folder)

    return make


def copy_command(tree):
    """Copy what ./redzone needs, and nothing else, to the folder @tree. Return it."""
    shutil.copytree(ROOT / "tools", tree / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("redzone", "CMakePresets.json", "include/kasan/version.h", "kernel/config.cmake"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    return tree


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a function that builds a preset and returns its folder."""

    def build(preset):
        Command(tmp_path_factory.mktemp("build"))("build", preset, status=0)
        return ROOT / "build" / preset

    return build


def fake_apt(folder, commands):
    """Put an apt-get into @folder that writes its arguments to a file, and creates @commands."""
    script = "#!/bin/sh\n"
    script += 'case "$*" in *--assume-no*) echo "Need to get 12.3 MB of archives."\n'
    script += 'echo "After this operation, 45.6 MB of additional disk space will be used."; exit 1 ;; esac\n'
    script += f'echo "$@" >>{folder}/calls\n'
    for name, target in commands.items():
        script += f'case "$*" in *install*) ln -sf {target} {folder}/{name} ;; esac\n'
    path = Path(folder) / "apt-get"
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    sudo = Path(folder) / "sudo"
    sudo.write_text('#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n', encoding="utf-8")
    sudo.chmod(0o755)
