# SPDX-License-Identifier: MIT
"""Asks Debian's tools for packages, with its own package lists below build/.

It does not touch the machine's apt configuration, installs nothing, and needs no root. Standard library only:
`doctor` uses it, and runs before there is a virtual environment.
"""

import shutil

from redzone.core import base, distributions
from redzone.core.base import Failure
from redzone.core.process import call, reason

# The answer of an archive that is not there must not take minutes.
_PATIENCE = [
    part
    for option in ("http::Timeout=20", "https::Timeout=20", "Retries=1")
    for part in ("-o", f"Acquire::{option}")
]


def options(folder, name, sources):
    """Write @sources into @folder as apt's file @name. Return the apt options that make apt read only this
    file.

    name: ends in .list for one-line sources, in .sources for deb822 stanzas. Lists and cache go into @folder
    as well. apt takes the newest version of all sources: by itself it would prefer any other suite to
    backports, and the machine's own preferences may exclude a suite.
    """
    for part in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "parts" / name).write_text(sources, encoding="utf-8")
    (folder / "preferences").write_text("Package: *\nPin: release *\nPin-Priority: 500\n", encoding="utf-8")
    values = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": folder / "parts",
        "Dir::Etc::Preferences": folder / "preferences",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        # Run by root, apt drops its privileges, and then it cannot write here.
        "APT::Sandbox::User": "root",
    }
    return [part for key, value in values.items() for part in ("-o", f"{key}={value}")]


def codename():
    """Return the code name of this machine's release, "" if it has none."""
    return distributions.os_release().get("VERSION_CODENAME", "")


def targets():
    """Return the (URI, suite) pairs that this machine's apt reads.

    Container images have no package lists: without the option apt would leave out sources whose lists are not
    there.
    """
    command = ["apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI) $(RELEASE)"]
    status, output = call([*command, "Created-By: Packages"])
    return [tuple(pair.split(" ", 1)) for pair in sorted(set(output.splitlines()))] if status == 0 else []


def pool_file(name, digest, target):
    """Fetch the file @name of Debian's pool, as in "pool/main/m/musl/...", to @target, from the machine's own
    archives. digest: its SHA-256, which apt checks.

    Return None, or why that was not possible; then there is no @target. Raise base.DiskFull.
    """
    release = codename()
    uris = sorted({uri for uri, suite in targets() if release and suite == release})
    if not uris:
        return "this machine uses no archive of Debian"
    for uri in uris:
        command = ["/usr/lib/apt/apt-helper", *_PATIENCE, "-o", "APT::Sandbox::User=root"]
        url = f"{uri.rstrip('/')}/{name}"
        status, output = call([*command, "download-file", url, str(target), f"SHA256:{digest}"])
        if status == 0:
            return None
        try:
            why = reason(output, target.parent)
        finally:
            target.unlink(missing_ok=True)
    return why


def suite_lists(folder, suite):
    """Return the apt options that read @suite, "unstable" for instance, of the machine's own archives.

    The lists go into @folder. Return None if the machine uses no Debian archive.
    """
    own = {codename(), suite, "sid"} - {""}
    uris = sorted({uri for uri, name in targets() if name in own})
    text = "".join(f"deb {uri} {suite} main\n" for uri in uris)
    return options(folder, f"{suite}.list", text) if uris else None


def newer_lists(folder):
    """Return the apt options that read the backports and security suites of the machine's own archives.

    The lists go into @folder. Return None if the machine uses no Debian archive.
    """
    release = codename()
    lines = []
    for uri, suite in targets() if release else []:
        if suite == release:
            lines.append(f"deb {uri} {release}-backports main")
        elif suite == f"{release}-security":
            lines.append(f"deb {uri} {suite} main")
    return options(folder, "newer.list", "\n".join(lines) + "\n") if lines else None


def fetch_newer(folder, packages, megabytes):
    """Unpack @packages of the backports suite into @folder/root. @megabytes: what all of it takes.

    Raise Failure with the reason, as in "this machine has no archive with a newer one", or base.DiskFull."""
    given = newer_lists(folder / "apt")
    if given is None:
        raise Failure("this machine has no archive with a newer one")
    # With less, apt-get update does not end.
    base.check_room(folder, megabytes=megabytes)
    # Parts of a download that failed, or another version.
    for package in folder.glob("*.deb"):
        package.unlink()
    for command in (["update"], ["download", *packages]):
        status, output = call(["apt-get", "-q", *given, *command], cwd=folder)
        if status != 0:
            raise Failure(f"a newer one cannot be fetched: {reason(output, folder)}")
    unpack(sorted(folder.glob("*.deb")), folder / "root")


class Unavailable(Failure):
    """There is no QEMU that is new enough, and it cannot be fetched."""


def fetch_qemu(folder, packages, megabytes, download, why):
    """fetch_newer() of QEMU's @packages. @why: the installed one will not do. Raise Unavailable."""
    base.say(f"{why}; fetching Debian's newer one ({download} MB) into {base.relative(folder)}")
    try:
        fetch_newer(folder, packages, megabytes)
    except base.DiskFull:
        raise
    except Failure as error:
        raise Unavailable(f"{why}, and {error}") from None


def state_of(version, binary, why, advice):
    """Return ("ok" | "missing" | "broken", version, file, what to do) of a QEMU that fetch_qemu() may unpack.

    binary: its file, None for the machine's own. why: it does not start a machine, None if it does or is not
    there. advice: how to get it."""
    if binary and not binary.is_file():
        return "missing", "", binary, advice
    if why is None:
        return "ok", version, binary, ""
    return "broken", version, binary, f"It does not start a machine: {why}."


def unpacked_qemu(folder, name):
    """Return the command of the QEMU @name that fetch_qemu() unpacks, and the options that it always needs.

    Without -audio it loads the installed QEMU's modules for sound, if there are any, and then it aborts."""
    root = folder / "root" / "usr"
    return [str(root / "bin" / name), "-L", str(root / "share" / "qemu"), "-audio", "none"]


def unpack(packages, folder):
    """Unpack the files @packages into the new @folder, and delete them. Raise Failure."""
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    for package in packages:
        status, output = call(["dpkg-deb", "-x", str(package), str(new)])
        if status != 0:
            base.check_room(new, output)
            raise Failure(f"{base.relative(package)} cannot be unpacked:\n{output}")
        package.unlink()
    new.rename(folder)


def fetch(folder, packages, arch):
    """Fetch @packages of this machine's release for @arch, Debian's name, with all that they depend on.

    Return their files below @folder. Raise Failure.
    """
    release = codename()
    uris = sorted({uri for uri, suite in targets() if release and suite == release})
    if not uris:
        raise Failure(f"{', '.join(packages)} cannot be fetched: this machine uses no archive of Debian")
    text = "".join(f"deb [arch={arch}] {uri} {release} main\n" for uri in uris)
    given = options(folder, f"{arch}.list", text)
    # Nothing is installed on the machine that these packages are for.
    (folder / "status").write_text("", encoding="utf-8")
    values = {"APT::Architecture": arch, "APT::Architectures": arch, "Dir::State::status": folder / "status"}
    given += [part for key, value in values.items() for part in ("-o", f"{key}={value}")]
    for command in (["update"], ["-y", "-d", "--no-install-recommends", "install", *packages]):
        status, output = call(["apt-get", "-q", *given, *_PATIENCE, *command], timeout=None)
        if status != 0:
            raise Failure(f"{', '.join(packages)} cannot be fetched: {reason(output, folder)}")
    return sorted((folder / "cache/archives").glob("*.deb"))
