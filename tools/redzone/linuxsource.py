# SPDX-License-Identifier: MIT
"""Gets Debian's package of Linux's source and takes the few files out of it that a suite compiles or calls.

Which version, and its checksums: ports/linux-kunit/linux-source.json. Looked for in this order: unpacked
already, installed, offered by the machine's own apt sources, offered by the backports or security suite of
the same archive. For the last a list of our own is read, below build/: the machine's configuration of apt
stays as it is, and nothing is installed.
"""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from redzone import base, builder
from redzone.base import BUILD, ROOT, Failure

PINS = json.loads((ROOT / "ports" / "linux-kunit" / "linux-source.json").read_text(encoding="utf-8"))
FOLDER = BUILD / "linux-source"
# What is unpacked beside the test: Linux's own readers of kernel consoles.
TOOLS = ("tools/testing/kunit", "scripts/decode_stacktrace.sh")
TIMEOUT = 900


class Unavailable(Exception):
    """The source cannot be had: the suite is skipped with this reason."""


def call(command, **options):
    """Run @command. Returns (status, output); a missing command is a failed one."""
    try:
        result = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            **options,
        )
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return 124, f"{command[0]}: no end after {TIMEOUT} s"
    return result.returncode, result.stdout


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _archive():
    """Return the source's tar file if that very version of the package is installed, else None."""
    status, version = call(["dpkg-query", "-W", "-f", "${Version}", PINS["package"]])
    path = Path("/usr/src") / f"{PINS['package']}.tar.xz"
    return path if status == 0 and version == PINS["version"] and path.is_file() else None


def own_lists(folder):
    """Write a source list with the backports and security suites of the machine's own archives.

    Returns apt options that read it and nothing else, or None if the machine has no archive of Debian's.
    """
    release = dict(
        line.split("=", 1)
        for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
        if "=" in line
    )
    codename = release.get("VERSION_CODENAME", "").strip('"')
    status, targets = call(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"]
    )
    lines = []
    for target in sorted(set(targets.splitlines())) if status == 0 and codename else []:
        uri, _, suite = target.partition(" ")
        if suite == codename:
            lines.append(f"deb {uri} {codename}-backports main")
        elif suite == f"{codename}-security":
            lines.append(f"deb {uri} {suite} main")
    if not lines:
        return None
    for name in ("lists/partial", "cache/archives/partial", "none"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [
        *("-o", f"Dir::Etc::SourceList={folder / 'sources.list'}"),
        *("-o", f"Dir::Etc::SourceParts={folder / 'none'}"),
        *("-o", f"Dir::State::Lists={folder / 'lists'}"),
        *("-o", f"Dir::Cache={folder / 'cache'}"),
    ]


def _download():
    """Return the package's file, fetched if it is not there."""
    name = f"{PINS['package']}_{PINS['version'].replace(':', '%3a')}_all.deb"
    path = FOLDER / name
    if path.is_file() and _digest(path) == PINS["deb"]:
        return path
    path.unlink(missing_ok=True)
    wanted = f"{PINS['package']}={PINS['version']}"
    base.say(f"fetching {wanted} (150 MB) into {base.relative(FOLDER)}")
    status, output = call(["apt-get", "-q", "download", wanted], cwd=FOLDER)
    if status != 0:
        options = own_lists(FOLDER / "apt")
        if options is not None:
            status, output = call(["apt-get", "-q", *options, "update"], cwd=FOLDER)
            if status == 0:
                status, output = call(["apt-get", "-q", *options, "download", wanted], cwd=FOLDER)
    if status != 0 or not path.is_file():
        last = (output.strip().splitlines() or ["no output"])[-1]
        raise Unavailable(f"{wanted} is not installed and cannot be fetched: {last}")
    if _digest(path) != PINS["deb"]:
        raise Failure(f"{base.relative(path)} is not the package whose checksum this repository has")
    return path


def _unpack(folder):
    """Fill @folder."""
    archive = _archive()
    top = PINS["package"]
    members = [f"{top}/{name}" for name in (*PINS["tests"], *TOOLS)]
    if archive is None:
        archive = FOLDER / f"{top}.tar.xz"
        deb = _download()
        status, output = call(
            [
                *("sh", "-ec", 'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$3" > "$2"', "sh"),
                *(str(deb), str(archive), archive.name),
            ]
        )
        if status != 0:
            raise Failure(f"{base.relative(deb)} cannot be unpacked:\n{output}")
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    status, output = call(["tar", "-xJf", str(archive), "-C", str(new), "--strip-components=1", *members])
    if archive.parent == FOLDER:
        archive.unlink()
    if status != 0:
        raise Failure(f"{archive} cannot be unpacked:\n{output}")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def unpacked():
    """Return the folder that has the files, in Linux's own tree. Raises Unavailable or Failure."""
    folder = FOLDER / PINS["version"].replace("~", "-")
    with builder.locked(FOLDER):
        if not all((folder / name).is_file() for name in PINS["tests"]):
            _unpack(folder)
        for name, digest in PINS["tests"].items():
            if _digest(folder / name) != digest:
                raise Failure(
                    f"{base.relative(folder / name)} is not what is expected; remove {base.relative(folder)}"
                )
    return folder
