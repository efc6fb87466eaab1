# SPDX-License-Identifier: MIT
"""Gets Debian's package of Linux's source, and extracts the few files that a suite compiles or calls.

It looks in this order: the installed package, in any version; an unpacked one, in the known version; the
machine's own apt sources, and then the backports and security suites of the same archive, for the known
version, else for the one that they have. For those suites it uses a package list of its own below build/: it
does not touch the machine's apt configuration, and installs nothing.

ports/linux-kunit/linux-source.json has the known version and the checksums of its files. The results that the
suite expects of each case were recorded with these files.
"""

import json
import lzma
import re
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from redzone import base
from redzone.apt import newer_lists
from redzone.base import BUILD, Failure
from redzone.process import call, last_line

PINS = json.loads(Path(__file__).with_name("linux-source.json").read_text(encoding="utf-8"))
FOLDER = BUILD / "linux-source"
USR_SRC = Path("/usr/src")
# Unpacked along with the test: Linux's own readers of kernel consoles.
TOOLS = ("tools/testing/kunit", "scripts/decode_stacktrace.sh")


class Unavailable(Exception):
    """The source is not available; the text says why, and what to do."""


@dataclass
class Source:
    """An unpacked source. folder: Linux's tree. version: the package's. digests: {test file: its SHA-256}.
    differing: the test files that differ from those of the known version.
    """

    folder: Path
    version: str
    digests: dict
    differing: list


def _installed():
    """Return (version, tar file) of the installed package, in any version, or None."""
    command = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", PINS["package"]]
    status, output = call(command)
    word, _, version = output.strip().partition(" ")
    path = USR_SRC / f"{PINS['package']}.tar.xz"
    return (version, path) if status == 0 and word == "installed" and path.is_file() else None


def _fetch(wanted):
    """Have apt-get download the package @wanted, which may name a version, into FOLDER. Returns (status,
    output)."""
    status, output = call(["apt-get", "-q", "download", wanted], cwd=FOLDER)
    if status != 0:
        options = newer_lists(FOLDER / "apt")
        if options is not None:
            status, output = call(["apt-get", "-q", *options, "update"], cwd=FOLDER)
            if status == 0:
                status, output = call(["apt-get", "-q", *options, "download", wanted], cwd=FOLDER)
    return status, output


def _download():
    """Return (version, the package's file), and fetch it if necessary: the known version if the archives have
    it, else the one that they have."""
    name = f"{PINS['package']}_{PINS['version'].replace(':', '%3a')}_all.deb"
    path = FOLDER / name
    if path.is_file() and base.sha256(path) == PINS["deb"]:
        return PINS["version"], path
    path.unlink(missing_ok=True)
    wanted = f"{PINS['package']}={PINS['version']}"
    base.say(f"fetching {wanted} (150 MB) into {base.relative(FOLDER)}")
    status, output = _fetch(wanted)
    if status == 0 and path.is_file():
        if base.sha256(path) != PINS["deb"]:
            raise Failure(f"{base.relative(path)} is not the package whose checksum this repository has")
        return PINS["version"], path
    base.say(f"{wanted} is not in the archives; fetching the version that they have")
    before = set(FOLDER.glob(f"{PINS['package']}_*.deb"))
    status, other = _fetch(PINS["package"])
    new = sorted(set(FOLDER.glob(f"{PINS['package']}_*.deb")) - before) or sorted(before)
    if new:
        status, version = call(["dpkg-deb", "-f", str(new[-1]), "Version"])
        if status == 0:
            return version.strip(), new[-1]
    last = last_line(other if status else output)
    raise Unavailable(
        f"{PINS['package']} is not installed and cannot be fetched: {last}; "
        f"install it (apt-get install {PINS['package']}) or give this machine a way to Debian's archive"
    )


def _extract(deb):
    """Extract the source's tar file from the package's file @deb. Return its path."""
    archive = FOLDER / f"{PINS['package']}.tar.xz"
    status, output = call(
        [
            *("sh", "-ec", 'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$3" > "$2"', "sh"),
            *(str(deb), str(archive), archive.name),
        ]
    )
    if status != 0:
        raise Failure(f"{base.relative(deb)} cannot be unpacked:\n{output}")
    return archive


def _unpack(archive, folder):
    """Fill @folder from the source's tar file @archive."""
    wanted = tuple(f"{PINS['package']}/{name}" for name in (*PINS["tests"], *TOOLS))
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    # In Python: the command tar would need the command xz, which a minimal system lacks.
    try:
        with lzma.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as members:
            for member in members:
                chosen = member.name in wanted or member.name.startswith(tuple(f"{name}/" for name in wanted))
                if not chosen or not member.isfile() or ".." in member.name.split("/"):
                    continue
                # Leave out the archive's own top folder.
                target = new / member.name.partition("/")[2]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(members.extractfile(member).read())
            # To the end, or a file that was cut off between two members would pass for a shorter archive.
            while stream.read(1 << 20):
                pass
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise Failure(f"{archive} cannot be unpacked: {error}") from None
    finally:
        if archive.parent == FOLDER:
            archive.unlink()
    missing = _missing(new)
    if missing:
        raise Failure(f"{archive} cannot be unpacked: {missing[0]} is not in it")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def _folder(version):
    return FOLDER / re.sub(r"[~:]", "-", version)


def _missing(folder):
    """Return the needed files that @folder lacks."""
    return [name for name in (*PINS["tests"], *TOOLS) if "." in name and not (folder / name).is_file()]


def _complete(folder):
    return not _missing(folder)


def _get():
    """Return (version, folder), unpacked."""
    installed = _installed()
    if installed is not None:
        version, archive = installed
        folder = _folder(version)
        stamp = folder / ".archive"
        # Two packages may have the same version if they were built locally.
        state = f"{archive.stat().st_size} {archive.stat().st_mtime_ns}"
        if not _complete(folder) or not stamp.is_file() or stamp.read_text(encoding="utf-8") != state:
            _unpack(archive, folder)
            stamp.write_text(state, encoding="utf-8")
        return version, folder
    if _complete(_folder(PINS["version"])):
        return PINS["version"], _folder(PINS["version"])
    version, deb = _download()
    folder = _folder(version)
    if not _complete(folder):
        _unpack(_extract(deb), folder)
    return version, folder


def unpacked():
    """Return the Source, unpacked in Linux's own tree. Raises Unavailable or Failure."""
    with base.locked(FOLDER):
        version, folder = _get()
        digests = {name: base.sha256(folder / name) for name in PINS["tests"]}
    differing = [name for name, digest in digests.items() if digest != PINS["tests"][name]]
    if differing and version == PINS["version"]:
        raise Failure(
            f"{base.relative(folder / differing[0])} is not that of {PINS['package']} {version}; "
            f"remove {base.relative(folder)}"
        )
    return Source(folder, version, digests, differing)
