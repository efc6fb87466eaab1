# SPDX-License-Identifier: MIT
"""Fetches another project's source by git, pinned by a commit and by a hash of the files that a build reads.

A port's source.json has the repository, the commit and the hash. Nothing of the source is kept in this tree.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure, say
from redzone.core.process import call, reason


class Unavailable(Failure):
    """The source is not on this machine and cannot be fetched; the text says why, and what to do."""


def digest_of(folder, paths):
    """Return the SHA-256 of names and contents of the files @paths of @folder, in the order given."""
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.as_posix()} {base.sha256(folder / path)}\n".encode())
    return total.hexdigest()


@dataclass(frozen=True)
class Source:
    """One project. name: for people. repository, commit, hash: from source.json. digest(folder): the hash of
    what is there. mirror: environment variable with another URL to fetch from, such as one behind a
    firewall. advice: what to do without a network."""

    name: str
    repository: str
    commit: str
    hash: str
    digest: Callable[[Path], str]
    mirror: str
    advice: str

    def is_known(self, folder):
        """Is @folder the version that this project was pinned to?"""
        return self.digest(folder) == self.hash

    @property
    def url(self):
        return os.environ.get(self.mirror) or self.repository

    def obtain(self, folder, lock):
        """Return @folder, with the pinned source in it, fetched if it is not there yet. @lock: folder for the
        lock. Raise Unavailable or Failure."""
        with base.locked(lock):
            if not folder.is_dir():
                self.fetch(folder)
            if not self.is_known(folder):
                raise Failure(f"{base.relative(folder)} was changed; remove it")
        return folder

    def fetch(self, folder):
        """Make @folder with the pinned commit. Raise Unavailable if the repository cannot be reached or does
        not have it, Failure if the files are not those of the hash: then nothing is left behind."""
        new = folder.with_name(folder.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        say(f"fetching {self.name} (git, commit {self.commit[:12]}) into {base.relative(folder)}")
        # Never ask for a password, and take nothing from a configuration of the user's but the network's.
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        try:
            for words in (
                ("init", "--quiet"),
                ("fetch", "--quiet", "--depth", "1", self.url, self.commit),
                ("-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD"),
            ):
                status, output = call(["git", *words], cwd=new, env=environment)
                if status != 0:
                    raise Unavailable(
                        f"{self.name} is not here and cannot be fetched from {self.url}: "
                        f"{reason(output, new)}; {self.advice}, or the URL of a mirror with {self.mirror}=URL"
                    )
            found = self.digest(new)
            if found != self.hash:
                raise Failure(
                    f"{self.url} gave other files for {self.name} than the pinned ones: their hash is "
                    f"{found[:16]}..., expected {self.hash[:16]}...; they were not kept"
                )
            shutil.rmtree(folder, ignore_errors=True)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
