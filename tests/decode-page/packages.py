# SPDX-License-Identifier: MIT
"""Fetches what these tests use of package registries: schemas, their validators, the browser's driver.

Nothing of it is part of the repository; the two lists of this folder pin it by hash.
"""

import shutil
import sys
import tarfile
from pathlib import Path

from redzone.core import base
from redzone.testing import pypi
from redzone.testing.pypi import Unavailable as Unavailable

HERE = Path(__file__).resolve().parent
FOLDER = base.BUILD / "decode-page"
SITE = FOLDER / "site"
XSD = FOLDER / "junit.xsd"


def _junit_schema():
    sources = FOLDER / "sources"
    isolated = ["--no-binary=:all:", "--no-build-isolation"]
    pypi.pip(HERE / "sources.txt", "download", *isolated, "-d", sources, PYTHONPATH=str(SITE))
    (archive,) = sources.glob("pytest-*.tar.gz")
    with tarfile.open(archive) as files:
        (name,) = [one for one in files.getnames() if one.endswith("/junit-10.xsd")]
        XSD.write_bytes(files.extractfile(name).read())


def fetch():
    """Fetch what is not there yet, and make the packages importable. Raise Unavailable if that fails."""
    sources = (HERE / "sources.txt").read_text(encoding="utf-8")
    pypi.install(HERE / "requirements.txt", SITE)
    stamp = FOLDER / "stamp"
    with base.locked(FOLDER):
        if not (XSD.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == sources):
            shutil.rmtree(FOLDER / "sources", ignore_errors=True)
            _junit_schema()
            stamp.write_text(sources, encoding="utf-8")
    if str(SITE) not in sys.path:
        # Behind the packages of .venv, which are those that the command itself runs with.
        sys.path.append(str(SITE))
