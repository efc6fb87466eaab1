# SPDX-License-Identifier: MIT
"""U-Boot's source for the port: Debian's source package, fetched by apt, unpacked with and without patches.

ports/u-boot/source.json names the package and its checksums. apt reads the machine's own package sources,
turned into sources of source packages, from lists below build/u-boot. This changes no configuration of the
machine, installs nothing, and needs no root.
"""

import json
import re
import shutil
from pathlib import Path

from redzone.core import apt, base
from redzone.core.base import BUILD, Failure, say
from redzone.core.process import execute

PORT = Path(__file__).resolve().parent.parent
HOME = BUILD / "u-boot"
DOWNLOAD = HOME / "download"
PINS = json.loads((PORT / "source.json").read_text(encoding="utf-8"))
VERSION = PINS["version"]
# Megabytes that package lists and the package take.
ROOM = 160
# "original" has the bugs, "patched" has all of Debian's patches.
TREES = ("patched", "original")


# --- Fetch ----------------------------------------------------------------------------------------


def _one_line_source(line):
    """Return a line of a sources.list as a deb822 stanza of source packages, or None."""
    match = re.match(r"\s*deb(?:-src)?\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)", line)
    if not match:
        return None
    options, uri, suite, components = match.groups()
    stanza = f"Types: deb-src\nURIs: {uri}\nSuites: {suite}"
    if components.strip():
        stanza += f"\nComponents: {components.strip()}"
    for key, value in re.findall(r"(signed-by|trusted|check-valid-until)=(\S+)", options or ""):
        stanza += f"\n{key.title()}: {value}"
    return stanza


def source_stanzas(etc="/etc/apt"):
    """Return the package sources in folder @etc as deb822 stanzas of source packages."""
    stanzas = []
    parts = Path(etc) / "sources.list.d"
    for path in sorted(parts.glob("*.sources")):
        text = re.sub(r"(?m)^#.*\n?", "", path.read_text(encoding="utf-8", errors="replace"))
        for stanza in re.split(r"\n\s*\n", text):
            if re.search(r"(?im)^URIs:", stanza) and not re.search(r"(?im)^Enabled:\s*no", stanza):
                stanzas.append(re.sub(r"(?im)^Types:.*$", "Types: deb-src", stanza).strip())
    for path in [Path(etc) / "sources.list", *sorted(parts.glob("*.list"))]:
        if not path.is_file():
            continue
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            stanza = _one_line_source(line)
            if stanza and stanza not in stanzas:
                stanzas.append(stanza)
    return stanzas


def of_release(stanzas, names):
    """Return the @stanzas that have a suite of a release with one of @names."""
    pattern = re.compile(rf"(?im)^Suites:.*?(?<!\S)(?:{'|'.join(map(re.escape, names))})(?:-\S+|/\S*)?(?!\S)")
    return [stanza for stanza in stanzas if pattern.search(stanza)]


def for_release(stanzas, names):
    """Return the @stanzas that have a suite of a release with one of @names, changed to the release that has
    the package: the same archive may hold that release as well."""
    words = "|".join(map(re.escape, names))
    return [
        re.sub(
            r"(?im)^Suites:.*$",
            lambda line: re.sub(rf"(?<!\S)(?:{words})(?=[-/\s]|$)", PINS["release"], line[0]),
            stanza,
        )
        for stanza in of_release(stanzas, names)
    ]


def absent_files(folder=None):
    """Return the names of the package's files that are not in @folder (None: DOWNLOAD). Raise Failure if one
    has the wrong contents."""
    folder = folder or DOWNLOAD
    absent = []
    for name, expected in PINS["files"].items():
        path = folder / name
        if not path.is_file():
            absent.append(name)
        elif base.sha256(path) != expected:
            raise Failure(
                f"{base.relative(path)} is not the file that the port was made for: "
                "its SHA-256 differs; remove it"
            )
    return absent


def _by_hand(why):
    names = " and ".join(PINS["files"])
    return Failure(
        f"U-Boot's source cannot be fetched: {why}\n"
        f"get {names} of Debian's source package {PINS['package']} {VERSION} "
        f"by another way, and put them into {base.relative(DOWNLOAD)}"
    )


def _apt(stanzas, log):
    """Have apt fetch the package from the sources @stanzas. Raise Failure if it cannot."""
    options = apt.options(HOME / "apt", "port.sources", "\n\n".join(stanzas) + "\n")
    get = ["apt-get", *options]
    # With less, apt-get update does not end.
    base.check_room(HOME, megabytes=ROOM)
    # Some of the sources may have no source packages; the next step shows whether that matters.
    update = None
    try:
        execute([*get, "-o", "APT::Update::Error-Mode=any", "update"], log)
    except base.DiskFull:
        raise
    except Failure as error:
        update = error
    try:
        execute([*get, "source", "--download-only", f"{PINS['package']}={VERSION}"], log, cwd=DOWNLOAD)
    except Failure as error:
        # Without lists apt complains about missing sources, which is not the actual problem.
        raise update or error from None


def _release_names():
    """Return the names that the machine's own release has in package sources."""
    names = ["stable", "testing", "unstable", "sid"]
    return [apt.codename(), *names] if apt.codename() else names


def fetch():
    """Download the missing files of the source package."""
    DOWNLOAD.mkdir(parents=True, exist_ok=True)
    if not absent_files():
        return
    if not shutil.which("apt-get"):
        raise _by_hand("there is no apt-get on this machine")
    say(f"fetching the source package {PINS['package']} {VERSION} (16 MB) into {base.relative(DOWNLOAD)}")
    every, names = source_stanzas(), _release_names()
    attempts = [of_release(every, names) or every]
    if PINS["release"] not in names:
        attempts.append(for_release(every, names))
    log = HOME / "fetch.log"
    log.unlink(missing_ok=True)
    why = "this machine's apt has no package sources"
    for stanzas in attempts:
        if not stanzas:
            continue
        try:
            _apt(stanzas, log)
        except base.DiskFull:
            raise
        except Failure as error:
            why = str(error)
        if not absent_files():
            return
    raise _by_hand(why)


# --- Unpack ---------------------------------------------------------------------------------------


def _patch(source, log):
    """Apply Debian's patches, in the order of their list."""
    folder = HOME / "source" / "debian"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    execute(["tar", "xf", DOWNLOAD / PINS["debian"], "--strip-components=1", "-C", folder], log)
    patches = folder / "patches"
    for line in (patches / "series").read_text(encoding="utf-8").splitlines():
        name = line.partition("#")[0].strip()
        if name:
            execute(["patch", "-p1", "--silent", "-i", patches / name], log, cwd=source)


def _stamp(tree):
    return HOME / "source" / tree / ".redzone-unpacked"


def _is_unpacked(tree):
    stamp = _stamp(tree)
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == VERSION


def obtain(tree):
    """Make sure that the source of @tree is on this machine, unpacked or not."""
    with base.locked(HOME / "source"):
        if not _is_unpacked(tree):
            fetch()


def unpacked(tree):
    """Return the source folder of @tree, one of TREES."""
    source, stamp = HOME / "source" / tree, _stamp(tree)
    with base.locked(HOME / "source"):
        if _is_unpacked(tree):
            return source
        fetch()
        say(f"unpacking U-Boot's {tree} source")
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        log = HOME / f"unpack-{tree}.log"
        log.unlink(missing_ok=True)
        execute(["tar", "xf", DOWNLOAD / PINS["original"], "--strip-components=1", "-C", source], log)
        if tree == "patched":
            _patch(source, log)
        stamp.write_text(VERSION, encoding="utf-8")
    return source
