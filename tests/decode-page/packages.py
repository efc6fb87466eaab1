# SPDX-License-Identifier: MIT
"""Fetches what these tests use of package registries: schemas, their validators, the browser's driver.

Nothing of it is part of the repository; the two lists of this folder pin it by hash.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from redzone.core import base, process

HERE = Path(__file__).resolve().parent
TIMEOUT = 900
FOLDER = base.BUILD / "decode-page"
SITE = FOLDER / "site"
XSD = FOLDER / "junit.xsd"


class Unavailable(Exception):
    """The registry cannot be reached. The text is the reason for skipping a test."""


def _pip(*arguments, **environment):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    try:
        result = process.run(
            [*command, "--require-hashes", "--no-deps"], timeout=TIMEOUT, env={**os.environ, **environment}
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip took more than {TIMEOUT} s") from None
    if result.returncode != 0:
        why = process.reason(result.stderr, FOLDER).strip()
        raise Unavailable(f"pip cannot fetch the packages of tests/decode-page: {why}")


def _junit_schema():
    sources = FOLDER / "sources"
    isolated = ["--no-binary=:all:", "--no-build-isolation"]
    _pip("download", *isolated, "-d", str(sources), "-r", str(HERE / "sources.txt"), PYTHONPATH=str(SITE))
    (archive,) = sources.glob("pytest-*.tar.gz")
    with tarfile.open(archive) as files:
        (name,) = [one for one in files.getnames() if one.endswith("/junit-10.xsd")]
        XSD.write_bytes(files.extractfile(name).read())


def fetch():
    """Fetch what is not there yet, and make the packages importable. Raise Unavailable if that fails."""
    wanted = "".join(
        (HERE / name).read_text(encoding="utf-8") for name in ("requirements.txt", "sources.txt")
    )
    stamp = FOLDER / "stamp"
    with base.locked(FOLDER):
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
            for folder in (SITE, FOLDER / "sources"):
                shutil.rmtree(folder, ignore_errors=True)
            _pip(
                "install", "--only-binary=:all:", "--target", str(SITE), "-r", str(HERE / "requirements.txt")
            )
            _junit_schema()
            stamp.write_text(wanted, encoding="utf-8")
    if str(SITE) not in sys.path:
        # Behind the packages of .venv, which are those that the command itself runs with.
        sys.path.append(str(SITE))
