# SPDX-License-Identifier: MIT
"""Gets Debian's packages of Linux's source, and extracts the few files that a suite compiles or calls.

There are two lines of Linux. For 6.12 it looks in this order: the installed package, in any version; an
unpacked one, in the known version; the machine's own apt sources, and then the backports and security suites
of the same archive, for the known version, else for the one that they have. Linux 7 is in Debian's unstable
suite, where packages come and go: after an installed and an unpacked one it takes the newest that the suite's
package index lists, and compares its checksum with the index, which is signed.

For other suites than the machine's own it uses package lists below build/: it does not touch the machine's
apt configuration, and installs nothing.

ports/linux-kunit/linux-source.json has the known versions and the checksums of their files. The results that
the suite expects of each case were recorded with these files.
"""

import fnmatch
import functools
import json
import lzma
import re
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.core.apt import newer_lists, suite_lists
from redzone.core.base import BUILD, Failure
from redzone.core.process import call, reason

# {line of Linux: what is known of its package}
PINS = json.loads(Path(__file__).with_name("linux-source.json").read_text(encoding="utf-8"))
LINES = tuple(PINS)
FOLDER = BUILD / "linux-source"
# Megabytes that package lists, the package and what is in it take.
ROOM = 500
USR_SRC = Path("/usr/src")
# Unpacked along with the test: Linux's own readers of kernel consoles.
TOOLS = ("tools/testing/kunit", "scripts/decode_stacktrace.sh")


class Unavailable(Exception):
    """The source is not available; the text says why, and what to do."""


@dataclass
class Source:
    """An unpacked source. folder: Linux's tree. package, version: where it is from. digests: {test file: its
    SHA-256}. differing: the test files that differ from those of the known version.
    """

    folder: Path
    package: str
    version: str
    digests: dict
    differing: list


def _newer(version, other):
    return call(["dpkg", "--compare-versions", version, "gt", other])[0] == 0


def _newest(pairs):
    """Return the (package, version, ...) with the highest version, None if there is none."""
    order = functools.cmp_to_key(lambda one, other: 1 if _newer(one[1], other[1]) else -1)
    return max(pairs, key=order, default=None)


def _installed(pins):
    """Return (package, version, tar file) of the installed package, in any version, or None."""
    command = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\\n", pins["package"]]
    status, output = call(command)
    rows = [line.split() for line in output.splitlines()] if status == 0 else []
    found = [
        (row[1], row[2], USR_SRC / f"{row[1]}.tar.xz")
        for row in rows
        if len(row) == 3 and row[0] == "installed" and (USR_SRC / f"{row[1]}.tar.xz").is_file()
    ]
    return _newest(found)


def _fetch(wanted):
    """Have apt-get download the package @wanted, which may name a version, into FOLDER. Returns (status,
    output). Raises base.DiskFull."""
    before = set(FOLDER.glob("*.deb"))
    # With less, apt-get update does not end.
    base.check_room(FOLDER, megabytes=ROOM)
    status, output = call(["apt-get", "-q", "download", wanted], cwd=FOLDER)
    if status != 0:
        options = newer_lists(FOLDER / "apt")
        if options is not None:
            status, output = call(["apt-get", "-q", *options, "update"], cwd=FOLDER)
            if status == 0:
                status, output = call(["apt-get", "-q", *options, "download", wanted], cwd=FOLDER)
    if status != 0:
        # A part of a package has a version as well.
        for path in set(FOLDER.glob("*.deb")) - before:
            path.unlink()
        base.check_room(FOLDER, output)
    return status, output


def _file_of(package, version):
    return FOLDER / f"{package}_{version.replace(':', '%3a')}_all.deb"


def _download_known(pins):
    """Return (package, version, its file), and fetch it if necessary: the known version if the archives have
    it, else the one that they have."""
    package = pins["package"]
    path = _file_of(package, pins["version"])
    if path.is_file() and base.sha256(path) == pins["deb"]:
        return package, pins["version"], path
    path.unlink(missing_ok=True)
    wanted = f"{package}={pins['version']}"
    base.say(f"fetching {wanted} (150 MB) into {base.relative(FOLDER)}")
    status, output = _fetch(wanted)
    if status == 0 and path.is_file():
        if base.sha256(path) != pins["deb"]:
            raise Failure(f"{base.relative(path)} is not the package whose checksum this repository has")
        return package, pins["version"], path
    base.say(f"{wanted} is not in the archives; fetching the version that they have")
    before = set(FOLDER.glob(f"{package}_*.deb"))
    status, other = _fetch(package)
    new = sorted(set(FOLDER.glob(f"{package}_*.deb")) - before) or sorted(before)
    if new:
        status, version = call(["dpkg-deb", "-f", str(new[-1]), "Version"])
        if status == 0:
            return package, version.strip(), new[-1]
    last = reason(other if status else output, FOLDER)
    raise Unavailable(
        f"{package} is not installed and cannot be fetched: {last}; "
        f"install it (apt-get install {package}) or give this machine a way to Debian's archive"
    )


def listed(index, pattern):
    """Return the (package, version, SHA-256) of the newest package in @index, stanzas as `apt-cache show`
    prints them, whose name matches @pattern; None if there is none."""
    found = []
    for stanza in index.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): *(\S.*)$", stanza, re.MULTILINE))
        if fnmatch.fnmatchcase(fields.get("Package", ""), pattern) and {"Version", "SHA256"} <= set(fields):
            found.append((fields["Package"], fields["Version"], fields["SHA256"]))
    return _newest(found)


def _download_listed(pins):
    """Return (package, version, its file) of the newest package that the suite's index lists."""
    pattern, suite = pins["package"], pins["suite"]
    why = f"{pattern} is not installed and cannot be fetched from Debian's suite {suite}"
    options = suite_lists(FOLDER / f"apt-{suite}", suite)
    if options is None:
        raise Unavailable(f"{why}: this machine uses no archive of Debian")
    base.check_room(FOLDER, megabytes=ROOM)
    # Without the mode, apt-get update succeeds with old lists, or none.
    command = ["apt-get", "-q", *options, "-o", "APT::Update::Error-Mode=any", "update"]
    status, output = call(command, cwd=FOLDER)
    if status != 0:
        raise Unavailable(f"{why}: {reason(output, FOLDER)}")
    _, names = call(["apt-cache", *options, "pkgnames", pattern.partition("*")[0]])
    names = [name for name in names.split() if fnmatch.fnmatchcase(name, pattern)]
    status, index = call(["apt-cache", *options, "show", *names]) if names else (1, "")
    chosen = listed(index, pattern) if status == 0 else None
    if chosen is None:
        raise Unavailable(f"{why}: there is no such package now")
    package, version, digest = chosen
    path = _file_of(package, version)
    if path.is_file() and base.sha256(path) == digest:
        return package, version, path
    path.unlink(missing_ok=True)
    wanted = f"{package}={version}"
    base.say(f"fetching {wanted} (160 MB) from Debian's suite {suite} into {base.relative(FOLDER)}")
    status, output = call(["apt-get", "-q", *options, "download", wanted], cwd=FOLDER)
    if status != 0 or not path.is_file():
        raise Unavailable(f"{why}: {reason(output, FOLDER)}")
    if base.sha256(path) != digest:
        path.unlink()
        raise Failure(f"{base.relative(path)} is not the package whose checksum the suite's index has")
    return package, version, path


def _extract(deb, package):
    """Extract the source's tar file from the file @deb of @package. Return its path."""
    archive = FOLDER / f"{package}.tar.xz"
    status, output = call(
        [
            *("sh", "-ec", 'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$3" > "$2"', "sh"),
            *(str(deb), str(archive), archive.name),
        ]
    )
    if status != 0:
        archive.unlink(missing_ok=True)
        base.check_room(FOLDER, output)
        raise Failure(f"{base.relative(deb)} cannot be unpacked:\n{output}")
    return archive


def _unpack(archive, folder, pins, package):
    """Fill @folder from the source's tar file @archive of @package."""
    wanted = tuple(f"{package}/{name}" for name in (*pins["tests"], *TOOLS))
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
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        shutil.rmtree(new, ignore_errors=True)
        base.check_room(FOLDER, error if isinstance(error, OSError) else "")
        raise Failure(f"{archive} cannot be unpacked: {error}") from None
    finally:
        if archive.parent == FOLDER:
            archive.unlink()
    missing = _missing(new, pins)
    if missing:
        raise Failure(f"{archive} cannot be unpacked: {missing[0]} is not in it")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def _folder(version):
    return FOLDER / re.sub(r"[~:]", "-", version)


def _missing(folder, pins):
    """Return the needed files that @folder lacks."""
    return [name for name in (*pins["tests"], *TOOLS) if "." in name and not (folder / name).is_file()]


def _kept(pins):
    """Return (package, version, folder) of the newest source that was fetched and unpacked earlier, None if
    there is none. A package without a pin has the version that the archive had then."""
    if "deb" in pins:
        folder = _folder(pins["version"])
        return None if _missing(folder, pins) else (pins["package"], pins["version"], folder)
    found = []
    for stamp in FOLDER.glob("*/.package"):
        package, _, version = stamp.read_text(encoding="utf-8").partition(" ")
        if fnmatch.fnmatchcase(package, pins["package"]) and not _missing(stamp.parent, pins):
            found.append((package, version, stamp.parent))
    return _newest(found)


def _get(pins):
    """Return (package, version, folder), unpacked."""
    installed = _installed(pins)
    if installed is not None:
        package, version, archive = installed
        folder = _folder(version)
        stamp = folder / ".archive"
        # Two packages may have the same version if they were built locally.
        state = f"{archive.stat().st_size} {archive.stat().st_mtime_ns}"
        if _missing(folder, pins) or not stamp.is_file() or stamp.read_text(encoding="utf-8") != state:
            _unpack(archive, folder, pins, package)
            stamp.write_text(state, encoding="utf-8")
        return package, version, folder
    kept = _kept(pins)
    if kept is not None:
        return kept
    package, version, deb = (_download_known if "deb" in pins else _download_listed)(pins)
    folder = _folder(version)
    if _missing(folder, pins):
        _unpack(_extract(deb, package), folder, pins, package)
        (folder / ".package").write_text(f"{package} {version}", encoding="utf-8")
    if "deb" not in pins:
        # From now on the folder is used.
        deb.unlink()
    return package, version, folder


def archive(line):
    """Return (package, version, path of its tar file with all of Linux) of @line, one of LINES. Raises
    Unavailable or Failure."""
    pins = PINS[line]
    with base.locked(FOLDER):
        installed = _installed(pins)
        if installed is not None:
            return installed
        package, version, deb = (_download_known if "deb" in pins else _download_listed)(pins)
        return package, version, _extract(deb, package)


def unpacked(line):
    """Return the Source of @line, one of LINES, unpacked in Linux's own tree. Raises Unavailable or
    Failure."""
    pins = PINS[line]
    with base.locked(FOLDER):
        package, version, folder = _get(pins)
        digests = {name: base.sha256(folder / name) for name in pins["tests"]}
    differing = [name for name, digest in digests.items() if digest != pins["tests"][name]]
    if differing and version == pins["version"]:
        raise Failure(
            f"{base.relative(folder / differing[0])} is not that of {package} {version}; "
            f"remove {base.relative(folder)}"
        )
    return Source(folder, package, version, digests, differing)
