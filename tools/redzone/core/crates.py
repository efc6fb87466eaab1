# SPDX-License-Identifier: MIT
"""C sources that suites test as shipped: cargo fetches the crate that has them, and its checksum is tested.

A folder of tests has a Cargo.toml with the crate and fixed versions, and NAME.sha256 with its checksum.
"""

import hashlib
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base, process
from redzone.core.base import BUILD, Failure

FETCH_TIMEOUT = 300
# Cargo wants a target in every package.
NOTHING = "// Nothing to build.\n"


class Unavailable(Exception):
    """The source is not available: the suite is skipped for this reason."""


@dataclass(frozen=True)
class Crate:
    """@name, @version: of the crate. @tests: the folder with Cargo.toml and the checksum.

    @inside: the crate's folder with the source.
    """

    name: str
    version: str
    tests: Path
    inside: str

    @property
    def full_name(self):
        return f"{self.name}-{self.version}"

    @property
    def folder(self):
        return BUILD / "crates" / self.name

    def _verify(self, crate):
        """Raise Failure unless the unpacked crate has the checksum that this repository records."""
        wanted = (self.tests / f"{self.name}.sha256").read_text(encoding="utf-8").split()[0]
        record = json.loads((crate / ".cargo-checksum.json").read_text(encoding="utf-8"))
        if record["package"] != wanted:
            raise Failure(
                f"{self.full_name} has checksum {record['package']}, not {wanted}: it is another crate"
            )
        for name, digest in record["files"].items():
            if not name.startswith(f"{self.inside}/"):
                continue
            if hashlib.sha256((crate / name).read_bytes()).hexdigest() != digest:
                changed = base.relative(crate / name)
                raise Failure(f"{changed} was changed; remove {base.relative(self.folder)}")

    def source(self):
        """Fetch the crate unless it is there already. Return the folder of its source."""
        crate = self.folder / "vendor" / self.full_name
        if not (crate / ".cargo-checksum.json").is_file():
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            shutil.copyfile(self.tests / "Cargo.toml", self.folder / "Cargo.toml")
            (self.folder / "lib.rs").write_text(NOTHING, encoding="utf-8")
            try:
                self._fetch()
            except BaseException:
                # Half of a crate would pass for a whole one of other contents.
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
        self._verify(crate)
        return crate / self.inside

    def _fetch(self):
        command = ["cargo", "vendor", "--quiet", "--versioned-dirs", "vendor"]
        try:
            result = process.run(command, cwd=self.folder, timeout=FETCH_TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"cargo did not fetch {self.full_name} within {FETCH_TIMEOUT} s") from None
        if result.returncode != 0:
            why = process.reason(result.stderr, self.folder).strip()
            raise Unavailable(f"cargo cannot fetch {self.full_name}: {why}")
