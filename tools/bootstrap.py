# SPDX-License-Identifier: MIT
"""First use: make the virtual environment, .venv, from tools/requirements.txt, then run the command in it.

It runs under the system's Python, so it uses only the standard library. It runs `doctor` itself, because
`doctor` has to work on a machine that cannot make the environment yet.
"""

import errno
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "tools" / "requirements.txt"

sys.path.insert(0, str(ROOT / "tools"))
from redzone.core import base, doctor, outside  # noqa: E402  (standard library only, all of them)
from redzone.core.base import BUILD, VENV, say  # noqa: E402

# A copy of the requirements inside the environment marks it as complete.
STAMP = VENV / "requirements.txt"


def complete():
    return (VENV / "bin" / "python").exists() and (
        STAMP.is_file() and STAMP.read_bytes() == REQUIREMENTS.read_bytes()
    )


def make_environment(argv):
    """Create .venv. If two first uses run at once, the second waits for the first and finds it done."""
    BUILD.mkdir(parents=True, exist_ok=True)
    # Or pip would be the one to find it out, in the middle.
    folder = VENV if VENV.exists() else VENV.parent
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    with base.lock(BUILD / "venv.lock"):
        if complete():
            return
        try:
            doctor.require(("venv",), "set up its Python environment", outside.assume_yes(argv))
        except doctor.Missing as error:
            say(f"error: {error}")
            sys.exit(2)
        started = time.monotonic()
        names = "capstone, click, jinja2, rich, pyelftools, pytest, ruff, tree-sitter"
        say(f"first use: setting up {base.relative(VENV)} with {names} (pinned by hash)")
        # Once python3-venv is installed, the system's Python can do it.
        python = outside.venv_python() or sys.executable
        pip = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        pinned = ["--require-hashes", "--only-binary=:all:", "-r", str(REQUIREMENTS)]
        steps = (
            [python, "-m", "venv", "--clear", str(VENV)],
            [*pip, "install", *pinned],
        )
        for step in steps:
            result = subprocess.run(step, check=False, capture_output=True, text=True)
            if result.returncode != 0:
                try:
                    base.check_room(VENV.parent, result.stdout + result.stderr)
                except base.DiskFull as error:
                    say(f"error: {error}")
                    sys.exit(2)
                sys.stderr.write(result.stdout + result.stderr)
                say("error: the environment could not be made, see above")
                sys.exit(2)
        shutil.copyfile(REQUIREMENTS, STAMP)
        say(f"environment ready ({time.monotonic() - started:.0f} s)")


def main():
    argv = sys.argv[1:]
    outside.use_plain_names()
    if argv[:1] == ["doctor"]:
        sys.exit(doctor.main(argv[1:]))
    try:
        make_environment(argv)
    except OSError as error:
        say(f"error: {base.explain(error)}")
        sys.exit(2)
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "tools"))
    python = str(VENV / "bin" / "python")
    os.execve(python, [python, "-m", "redzone", *argv], environment)


if __name__ == "__main__":
    main()
