# SPDX-License-Identifier: MIT
"""Calls pip for the packages that tests use and the command does not: each pinned by version and hash."""

import os
import shutil
import subprocess
import sys

from redzone.core import base, process

TIMEOUT = 900


class Unavailable(Exception):
    """The registry cannot be reached. The text is the reason for skipping a test."""


def pip(requirements, *arguments, **environment):
    """Call pip for the packages of the file @requirements, which is whole: none is taken because another one
    wants it. Raise Unavailable."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    command += ["--require-hashes", "--no-deps", "-r", str(requirements)]
    try:
        result = process.run(command, timeout=TIMEOUT, env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip took more than {TIMEOUT} s") from None
    if result.returncode != 0:
        why = process.reason(result.stderr, base.BUILD).strip()
        raise Unavailable(f"pip cannot fetch the packages of {base.relative(requirements)}: {why}")


def install(requirements, site):
    """Put the packages of the file @requirements into the folder @site, unless they are there."""
    wanted, stamp = requirements.read_text(encoding="utf-8"), site / "stamp"
    with base.locked(site.parent):
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
            shutil.rmtree(site, ignore_errors=True)
            pip(requirements, "install", "--only-binary=:all:", "--target", site)
            stamp.write_text(wanted, encoding="utf-8")
