# SPDX-License-Identifier: MIT
"""Fetches the sources of public libraries from package registries: Debian's pool, PyPI, and crates.

Each source is one archive in one version with one checksum. fetch(folder) brings its files below @folder
unless they are there, and root(folder) is where they are then.
"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from redzone.core import apt, base, crates, doctor, process, tarball


class Unavailable(Exception):
    """The source is not there, and it cannot be fetched: the library is skipped for this reason."""


@dataclass(frozen=True)
class _Archive:
    """An archive with the SHA-256 @digest, whose files are in its top folder @inside."""

    where: str
    digest: str
    inside: str

    def root(self, folder):
        return folder / self.inside

    def archive(self, folder):
        """Return the Path of the archive in @folder."""
        raise NotImplementedError

    def download(self, folder):
        """Bring the archive to its place in @folder. Return None, or why that was not possible."""
        raise NotImplementedError

    def _unpack(self, folder):
        new = folder / "new"
        tarball.unpack(self.archive(folder), new)
        target = self.root(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        (new / self.inside).rename(target)
        shutil.rmtree(new)

    def fetch(self, folder, yes=False):
        """Fetch and unpack the archive unless it is there. yes: as Crate takes it. Raise Unavailable."""
        archive = self.archive(folder)
        if not archive.is_file() or base.sha256(archive) != self.digest:
            shutil.rmtree(self.root(folder), ignore_errors=True)
            archive.unlink(missing_ok=True)
            why = self.download(folder)
            if why is None and base.sha256(archive) != self.digest:
                why = f"{archive.name} has another checksum than the tested one"
            if why is not None:
                archive.unlink(missing_ok=True)
                raise Unavailable(f"{archive.name} cannot be fetched: {why}")
        if not self.root(folder).is_dir():
            self._unpack(folder)


@dataclass(frozen=True)
class Debian(_Archive):
    """@where: the path in Debian's pool."""

    def archive(self, folder):
        return folder / Path(self.where).name

    def download(self, folder):
        return apt.pool_file(self.where, self.digest, self.archive(folder))


@dataclass(frozen=True)
class PyPI(_Archive):
    """@where: NAME==VERSION, of which the source archive is taken."""

    def archive(self, folder):
        return folder / f"{self.where.replace('==', '-')}.tar.gz"

    def download(self, folder):
        name = self.where.split("==", 1)[0]
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
        status, output = process.call(
            [*command, "--no-deps", "--no-binary", name, "--dest", str(folder), self.where]
        )
        if status == 0 and self.archive(folder).is_file():
            return None
        if status == 0:
            return f"pip brought no {self.archive(folder).name}"
        return process.reason(output, folder)


@dataclass(frozen=True)
class Crate:
    """A crate, which cargo fetches. It is not below the library's own folder."""

    crate: crates.Crate

    def root(self, folder):
        return self.crate.folder / "vendor" / self.crate.full_name / self.crate.inside

    def fetch(self, folder, yes=False):
        """Fetch the crate unless it is there. yes: install cargo if it is missing. Raise Unavailable."""
        try:
            if not self.root(folder).is_dir():
                doctor.require(("cargo",), f"fetch {self.crate.full_name}", yes)
            self.crate.source()
        except (doctor.Missing, crates.Unavailable) as error:
            raise Unavailable(str(error)) from None
