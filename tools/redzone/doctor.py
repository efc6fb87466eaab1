# SPDX-License-Identifier: MIT
"""`./redzone doctor`: say which outside programs are there, and install those that are not.

Standard library only: it has to work before the virtual environment exists.
"""

import os
import shutil
import subprocess
import sys
import textwrap

from redzone import base, mteqemu, process, tools
from redzone.base import say

USAGE = """Usage: ./redzone doctor [--install] [--yes]

  Shows the programs that Redzone calls: version, package, what needs them.

Options:
  --install  Install what is missing (Debian and Ubuntu; as root or through sudo).
  --yes      Do not ask.
  --help     Show this message and exit.

Exit status: 0 if everything that `./redzone run` needs is there, 2 if not.
"""


# The title of each level of tools.
LEVELS = {
    "run": "Needed by ./redzone run",
    "test": "Needed by some of ./redzone test",
    "port": "Also needed by ./redzone port",
    "fuzz": "Also needed by ./redzone fuzz",
}


class Missing(base.Failure):
    """Outside programs are missing and were not installed. The text says what to do."""


def interactive():
    return sys.stdin.isatty() and sys.stderr.isatty()


def privilege():
    """Return the command prefix that gives root, or None if there is no way."""
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        return None
    return ["sudo"] if interactive() else ["sudo", "-n"]


def newest(package):
    """Return the name under which this machine's archives have the newest version of @package."""
    other = tools.NEWER.get(package)
    if other is None or not shutil.which("apt-cache"):
        return package
    known = subprocess.run(["apt-cache", "show", other], check=False, capture_output=True)
    return other if known.returncode == 0 and known.stdout else package


def install(packages):
    """Install Debian @packages with apt-get. Return those that could not be installed."""
    if not shutil.which("apt-get"):
        say("this is not Debian or Ubuntu: install the programs of these packages by hand:")
        say("  " + " ".join(packages))
        return list(packages)
    prefix = privilege()
    if prefix is None:
        say("root or sudo is needed; run as root: apt-get install " + " ".join(packages))
        return list(packages)
    # A half-done installation is worse than one that outlives this command.
    environment = ["env", "-u", process.Guard.VARIABLE, "DEBIAN_FRONTEND=noninteractive"]
    quiet = [] if sys.stderr.isatty() else ["-qq"]
    get = [*prefix, *environment, "apt-get", "-y", *quiet, "-o", "DPkg::Lock::Timeout=300"]
    say("installing: " + " ".join(packages))
    say("apt-get update")
    subprocess.run([*get, "update"], check=False, stdout=sys.stderr)
    packages = [newest(package) for package in packages]
    say("apt-get install --no-install-recommends " + " ".join(packages))
    install_some = [*get, "install", "--no-install-recommends"]
    if subprocess.run([*install_some, *packages], check=False, stdout=sys.stderr).returncode == 0:
        say("installed")
        return []
    # One unknown package must not block the others.
    failed = []
    for number, package in enumerate(packages, 1):
        say(f"[{number}/{len(packages)}] {package}")
        if subprocess.run([*install_some, package], check=False, stdout=sys.stderr).returncode != 0:
            failed.append(package)
    if failed:
        say("could not install: " + " ".join(failed))
    return failed


def packages_of(found):
    return list(dict.fromkeys(tool.package for tool in found))


def require(keys, purpose, assume_yes=False):
    """Make sure that the tools named @keys are there; install them if that is allowed.

    purpose: completes "needed to". Raise Missing if a tool is not there.
    """
    found = tools.missing(keys)
    if not found:
        return
    packages = packages_of(found)
    commands = ", ".join("python3 with venv" if t.key == "venv" else t.command or t.package for t in found)
    if not assume_yes and interactive():
        say(f"to {purpose}, these are missing: {commands}")
        answer = input(f"Install {' '.join(packages)} with apt-get now? [Y/n] ")
        assume_yes = answer.strip().lower() in ("", "y", "yes")
    if assume_yes:
        say(f"to {purpose}, these are missing: {commands}")
        install(packages)
        found = tools.missing(keys)
        if not found:
            return
        packages = packages_of(found)
    raise Missing(
        f"{commands} not found, needed to {purpose}; ./redzone doctor --install installs {' '.join(packages)}"
    )


# Of a line below a tool's row.
INDENT = 11
# How a row starts, by tools.status(): the word and its color.
MARKS = {
    "ok": ("ok", "32"),
    "missing": ("missing", "31"),
    "old": ("too old", "33"),
    "broken": ("broken", "31"),
}


def _mark(state):
    word, code = MARKS[state]
    return f"\033[{code}m{word:8}\033[0m" if sys.stdout.isatty() else f"{word:8}"


def table():
    """Print the table of tools. Return those that are missing, too old or broken."""
    widths = [
        max(len(tool.command or tool.package) for tool in tools.TOOLS),
        12,
        max(len(tool.package) for tool in tools.TOOLS),
    ]
    lacking = []
    for level, title in LEVELS.items():
        print(title)
        for tool in (tool for tool in tools.TOOLS if tool.level == level):
            state, version, why = tools.status(tool)
            if state != "ok":
                lacking.append(tool)
            name = tool.command or tool.package
            line = f"  {_mark(state)} {name:{widths[0]}}  {version:{widths[1]}}  {tool.package:{widths[2]}}  "
            line += tool.use
            if state == "old":
                line += f" (at least {'.'.join(map(str, tool.minimum))})"
            print(line.rstrip(), flush=True)
            if why:
                print(f"{'':{INDENT}}does not start a machine: {why}", flush=True)
    for problem in tools.PROBLEMS:
        say(f"left out: {problem}")
    return lacking


# The verbs and suites that boot kernels with hardware tags.
HW_TAGS_USE = "run, test and bench with --mode hw_tags, suites hw-tags and porting"


def second_qemu():
    """Say which QEMU runs kernels with hardware tags. It need not be an installed package: see mteqemu.py."""
    state, version, binary, advice = mteqemu.state()
    print(f"For hardware tags: a QEMU of at least {'.'.join(map(str, mteqemu.MINIMUM))}, for {HW_TAGS_USE}")
    where = base.relative(binary) if binary else f"{mteqemu.COMMAND}, the one above"
    print(f"  {_mark(state)} {where}  {version}".rstrip())
    for line in textwrap.wrap(advice, 98, break_on_hyphens=False):
        print(f"{'':{INDENT}}{line}")


def main(argv):
    """Run the verb with the arguments @argv. Return the exit status."""
    if "--help" in argv or "-h" in argv:
        print(USAGE, end="")
        return 0
    unknown = [word for word in argv if word not in ("--install", "--yes")]
    if unknown:
        say(f"error: doctor: unknown argument '{unknown[0]}'; accepted: --install, --yes, --help")
        return 2
    lacking = table()
    if "--install" in argv and lacking:
        states = {tool: tools.status(tool)[0] for tool in lacking}
        missing = [tool for tool in lacking if states[tool] == "missing"]
        if missing:
            install(packages_of(missing))
        for tool in lacking:
            if states[tool] == "old":
                say(f"{tool.command} is too old and cannot be replaced by this system's packages")
        print()
        lacking = table()
    second_qemu()
    needed = [tool for tool in lacking if tool.level == "run"]
    broken = [tool.command for tool in lacking if tools.status(tool)[0] == "broken"]
    print()
    if broken:
        print(f"Broken: {' '.join(broken)}; see above")
    elif not lacking:
        print("Everything is there.")
    elif "--install" not in argv:
        print("Install what is missing: ./redzone doctor --install")
    elif needed:
        print("Still missing: " + " ".join(packages_of(needed)))
    else:
        print("Everything that ./redzone run needs is there.")
    return 2 if needed else 0
