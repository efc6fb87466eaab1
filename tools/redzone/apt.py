# SPDX-License-Identifier: MIT
"""Asks Debian's tools for packages, with package lists of our own below build/.

The machine's configuration of apt stays as it is, nothing is installed, and no root is needed. Standard
library only: `doctor` uses it, which runs before there is a virtual environment.
"""

from pathlib import Path

from redzone.process import call


def options(folder, name, sources):
    """Write @sources into @folder as apt's file @name. Return options of apt that read this file alone.

    name: ends in .list for one-line sources, in .sources for deb822 stanzas. Lists and cache are kept in
    @folder as well.
    """
    for part in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "parts" / name).write_text(sources, encoding="utf-8")
    values = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": folder / "parts",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        # When root runs apt, it drops its rights, and then it cannot write here.
        "APT::Sandbox::User": "root",
    }
    return [part for key, value in values.items() for part in ("-o", f"{key}={value}")]


def codename():
    """Return the code name of this machine's release, "" if it has none."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("VERSION_CODENAME", "").strip('"')


def newer_lists(folder):
    """Return options of apt that read the backports and security suites of the machine's own archives.

    The lists are kept in @folder. Return None if the machine has no archive of Debian's.
    """
    release = codename()
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"]
    status, targets = call(command)
    lines = []
    for target in sorted(set(targets.splitlines())) if status == 0 and release else []:
        uri, _, suite = target.partition(" ")
        if suite == release:
            lines.append(f"deb {uri} {release}-backports main")
        elif suite == f"{release}-security":
            lines.append(f"deb {uri} {suite} main")
    return options(folder, "newer.list", "\n".join(lines) + "\n") if lines else None
