# SPDX-License-Identifier: MIT
"""`./redzone doctor`: say which outside programs are there, and install those that are not.

Standard library only: it has to work before the virtual environment exists.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap

from redzone.core import base, distributions, libc_source, maskqemu, mteqemu, outside, process
from redzone.core.base import say

USAGE = """Usage: ./redzone doctor [--install] [--for USE]... [--yes] [PROGRAM]...
       ./redzone doctor --distribution NAME [--for USE]... [PROGRAM]...

  Shows the programs that Redzone calls: version, package, and what needs them.

Options:
  --install  Install what is missing (Debian and Ubuntu; as root or through sudo).
             On a terminal it first shows the size and asks. The C library of
             programs is fetched as well, on every system.
  --for USE  What to install: what these need as well. USE is
             run (the default), test (the default suites), slow (those that run
             when they are named), port, fuzz, or all.
  --yes      Do not ask.
  --distribution NAME
             Print the command that installs it on another system, and nothing
             else. NAME is debian, fedora, arch, alpine, homebrew or nix.
  --help     Show this message and exit.

PROGRAM: install only this one, by the name that is shown.

Exit status: 0 if everything that `./redzone run` needs is there, and each
PROGRAM, 2 if not.
"""


# The title of each level of tools.
LEVELS = {
    "run": "Needed by ./redzone run",
    "test": "Needed by some of ./redzone test",
    "slow": "Needed by suites that run when they are named",
    "port": "Also needed by ./redzone port",
    "fuzz": "Also needed by ./redzone fuzz",
}
if base.INSTALLED:
    LEVELS = {level: LEVELS[level] for level in ("run", "fuzz")}
INSTALL = "./redzone doctor --install"
# What command_for() returns, in a message about something that is missing.
HINT = re.compile(re.escape(INSTALL) + r"((?: [\w.+-]+)*) (?:installs|gets) ")
# Packages that could not be installed: not to be tried again and again.
_failed = set()


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
    other = outside.NEWER.get(package)
    if other is None or not shutil.which("apt-cache"):
        return package
    known = subprocess.run(["apt-cache", "show", other], check=False, capture_output=True)
    return other if known.returncode == 0 and known.stdout else package


def _unknown(packages):
    """Return those of @packages that no archive of this machine has; [] if it has no package lists yet."""
    asked = list(dict.fromkeys([*packages, *filter(None, map(outside.NEWER.get, packages)), "bash"]))
    status, output = process.call(["apt-cache", "madison", *asked])
    found = {line.split("|")[0].strip() for line in output.splitlines()} if status == 0 else set()
    if "bash" not in found:
        return []
    return [package for package in packages if not found & {package, outside.NEWER.get(package)}]


def size_of(packages):
    """Return what apt says of the size of @packages, "" if it does not know. This needs no root."""
    command = ["env", "LC_ALL=C", "apt-get", "--assume-no", "-o", "Debug::NoLocking=1"]
    command += ["install", "--no-install-recommends", *map(newest, packages)]
    _, output = process.call(command)
    # "Need to get 1 MB/2 MB" if some of it has been downloaded before.
    load = re.search(r"^Need to get ([\d,.]+ \w*B)", output, re.MULTILINE)
    disk = re.search(r"^After this operation, ([\d,.]+ \w*B) of additional", output, re.MULTILINE)
    return f"{load[1]} to download, {disk[1]} on disk" if load and disk else ""


def _agreed(question):
    try:
        return input(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")
    except EOFError:
        # Ctrl-D
        print(file=sys.stderr)
        return False


def install(packages, ask=False):
    """Install Debian @packages with apt-get. ask: say how large they are, and ask, first.

    Return those that could not be installed."""
    known_bad = [package for package in packages if package in _failed]
    packages = [package for package in packages if package not in _failed]
    if not packages:
        return known_bad
    if not shutil.which("apt-get"):
        say("this is not Debian or Ubuntu: install the programs of these packages by hand:")
        say("  " + " ".join(packages))
        return known_bad + packages
    prefix = privilege()
    if prefix is None:
        say("root or sudo is needed; run as root: apt-get install " + " ".join(packages))
        return known_bad + packages
    # Two test processes may want something at once.
    with base.locked(base.BUILD / "apt"):
        return known_bad + _install(packages, prefix, ask)


def _install(packages, prefix, ask):
    # A half-done installation is worse than one that outlives this command.
    environment = ["env", "-u", process.Guard.VARIABLE, "DEBIAN_FRONTEND=noninteractive"]
    quiet = [] if sys.stderr.isatty() else ["-qq"]
    get = [*prefix, *environment, "apt-get", "-y", *quiet, "-o", "DPkg::Lock::Timeout=300"]
    say("to install: " + " ".join(packages))
    say("apt-get update")
    subprocess.run([*get, "update"], check=False, stdout=sys.stderr)
    if size := size_of(packages):
        say(size)
    if ask and not _agreed(f"Install {base.plural(len(packages), 'package')}?"):
        return packages
    names = {newest(package): package for package in packages}
    say("apt-get install --no-install-recommends " + " ".join(names))
    install_some = [*get, "install", "--no-install-recommends"]
    if subprocess.run([*install_some, *names], check=False, stdout=sys.stderr).returncode == 0:
        say("installed")
        return []
    # One unknown package must not block the others.
    failed = []
    for number, (name, package) in enumerate(names.items(), 1):
        say(f"[{number}/{len(names)}] {name}")
        if subprocess.run([*install_some, name], check=False, stdout=sys.stderr).returncode != 0:
            failed.append(package)
    if failed:
        say("could not install: " + " ".join(failed))
        _failed.update(failed)
    return failed


def packages_of(found):
    return list(dict.fromkeys(tool.package for tool in found))


def command_for(found):
    """Return the command that installs the tools @found, and nothing that ./redzone run does not need
    beside them."""
    if all(tool.level == "run" for tool in found):
        return INSTALL
    return " ".join([INSTALL, *dict.fromkeys(tool.name for tool in found)])


def command_of(hints):
    """Return one command for all of @hints, the texts of messages, or None if none of them has one."""
    found = [match[1].split() for match in map(HINT.search, hints) if match]
    if not found:
        return None
    names = sorted({name for names in found for name in names})
    return " ".join([INSTALL, *(["--for run"] if names and [] in found else []), *names])


def elsewhere(found):
    """Return the command that installs the tools @found on a system that is not Debian or Ubuntu, "" if this
    one is, or if no package of them is known."""
    system = distributions.here()
    return "" if system in (None, distributions.DEBIAN) or shutil.which("apt-get") else system.install(found)


def require(keys, purpose, assume_yes=False):
    """Make sure that the tools named @keys are there; install them if that is allowed.

    purpose: completes "needed to". Raise Missing if a tool is not there.
    """
    found = outside.missing(keys)
    if not found:
        return
    packages = packages_of(found)
    commands = ", ".join("python3 with venv" if t.key == "venv" else t.name for t in found)
    if command := elsewhere(found):
        raise Missing(f"{commands} not found, needed to {purpose}; install by: {command}")
    if not assume_yes and interactive():
        say(f"to {purpose}, these are missing: {commands}")
        if size := size_of(packages):
            say(size)
        assume_yes = _agreed(f"Install {' '.join(packages)} with apt-get now?")
    if assume_yes:
        say(f"to {purpose}, these are missing: {commands}")
        install(packages)
        found = outside.missing(keys)
        if not found:
            return
        packages = packages_of(found)
        _failed.update(packages)
        commands = ", ".join(tool.name for tool in found)
    problem = f"{commands} not found, needed to {purpose}; "
    if assume_yes:
        raise Missing(f"{problem}{' '.join(packages)} could not be installed")
    if unknown := _unknown(packages):
        raise Missing(f"{problem}no archive of this machine has {' '.join(unknown)}")
    raise Missing(f"{problem}{command_for(found)} installs {' '.join(packages)}")


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
    system = distributions.here() or distributions.DEBIAN
    packages = {tool.key: " ".join(system.packages([tool])[0]) for tool in outside.TOOLS}
    widths = [
        max(len(tool.command or tool.package) for tool in outside.TOOLS),
        12,
        max(map(len, packages.values())),
    ]
    lacking = []
    for level, title in LEVELS.items():
        print(base.called(title))
        for tool in (tool for tool in outside.TOOLS if tool.level == level):
            state, version, why = outside.status(tool)
            if state != "ok":
                lacking.append(tool)
            name = tool.command or tool.package
            line = f"  {_mark(state)} {name:{widths[0]}}  {version:{widths[1]}}  "
            line += f"{packages[tool.key]:{widths[2]}}  {tool.use}"
            if state == "old":
                line += f" (at least {'.'.join(map(str, tool.oldest()))})"
            print(line.rstrip(), flush=True)
            if why:
                print(f"{'':{INDENT}}does not start a machine: {why}", flush=True)
    for problem in outside.PROBLEMS:
        say(f"left out: {problem}")
    return lacking


def c_library():
    """Say where the source of the C library is. Return whether it is there."""
    found = libc_source.kept()
    place = found or libc_source.PLACES[0] / libc_source.ARCHIVE
    print(f"For programs: the source of musl {libc_source.VERSION}, a C library, for all trees of a user")
    print(f"  {_mark('ok' if found else 'missing')} {base.relative(place)}")
    if not found:
        print(base.called(f"{'':{INDENT}}./redzone run fetches it, and {INSTALL} does so now"))
    return bool(found)


# {what finds a QEMU that need not be an installed package: (what it is for, who boots such kernels)}
SECOND = {
    mteqemu: ("For hardware tags", "run, test and bench with --mode hw_tags, suites hw-tags and porting"),
    maskqemu: (
        "For software tags on riscv64",
        "run, test and bench with --arch riscv64 --mode sw_tags; with OpenSBI 1.6",
    ),
}


def second_qemu(finder):
    """Say which QEMU runs the kernels for which there is the module @finder, one of SECOND."""
    state, version, binary, advice = finder.state()
    title, use = SECOND[finder]
    print(f"{title}: a QEMU of at least {'.'.join(map(str, finder.MINIMUM))}, for {use}")
    where = base.relative(binary) if binary else f"{finder.COMMAND}, the one above"
    print(f"  {_mark(state)} {where}  {version}".rstrip())
    for line in textwrap.wrap(advice, 98, break_on_hyphens=False):
        print(f"{'':{INDENT}}{line}")


class _Wrong(Exception):
    """The command line is not one of this verb; the text says why."""


def _value(option, word, words, accepted):
    """Return what follows @option, which is the argument @word, or begins it; the other arguments: @words."""
    value = word.partition("=")[2] if "=" in word else (words.pop(0) if words else "")
    if value not in accepted:
        raise _Wrong(f"{option} '{value}' is not accepted; accepted: {', '.join(accepted)}")
    return value


def _parse(argv):
    """Return (--install, --yes, the tools that are wanted, those that were named, --distribution) of the
    arguments @argv."""
    words, uses, named, system = list(argv), [], [], None
    systems = {one.key: one for one in distributions.ALL}
    flags = {"--install": False, "--yes": outside.assume_yes()}
    while words:
        word = words.pop(0)
        if word in flags:
            flags[word] = True
        elif word.partition("=")[0] == "--for":
            uses.append(_value("--for", word, words, (*LEVELS, "all")))
        elif word.partition("=")[0] == "--distribution":
            system = systems[_value("--distribution", word, words, tuple(systems))]
        elif word.startswith("-"):
            known = "--install, --for USE, --yes, --distribution NAME, --help, PROGRAM"
            raise _Wrong(f"unknown argument '{word}'; accepted: {known}")
        elif not outside.called(word):
            raise _Wrong(f"no program here is called '{word}'; ./redzone doctor lists them")
        else:
            named += outside.called(word)
    if system and flags["--install"]:
        raise _Wrong("--install is for this machine, --distribution for another one; give one of them")
    if (uses or named) and not (flags["--install"] or system):
        raise _Wrong("--for and names of programs go with --install or --distribution")
    levels = {"run", *uses} if uses or not named else set()
    levels |= set(LEVELS if "all" in levels else ())
    wanted = [t for t in outside.TOOLS if t in named or t.level in levels]
    return flags["--install"], flags["--yes"], wanted, named, system


def _show(system, wanted):
    """Print how the tools @wanted are installed on the distributions.Distribution @system."""
    if command := system.install(wanted):
        print(command)
    if system.after:
        print(system.after)
    _, unknown = system.packages(wanted)
    if unknown:
        print(
            f"# {system.title} has no package, or none is known here, of: {' '.join(t.name for t in unknown)}"
        )


def _fetch_library():
    try:
        libc_source.archive()
    except base.Failure as error:
        say(f"error: {error}")


def _install_missing(wanted, ask):
    states = {tool: outside.status(tool)[0] for tool in wanted}
    missing = [tool for tool in wanted if states[tool] == "missing"]
    if command := elsewhere(missing):
        say(f"only Debian's and Ubuntu's packages are installed from here; install these by: {command}")
    elif missing:
        install(packages_of(missing), ask)
        print()
    for tool in wanted:
        if states[tool] == "old":
            say(f"{tool.command} is too old and cannot be replaced by this system's packages")


def main(argv):
    """Run the verb with the arguments @argv. Return the exit status."""
    if "--help" in argv or "-h" in argv:
        print(base.called(USAGE), end="")
        return 0
    if "--version" in argv:
        print(f"redzone {base.version()}")
        return 0
    try:
        installs, yes, wanted, named, system = _parse(argv)
    except _Wrong as error:
        say(f"error: doctor: {error}")
        return 2
    if system:
        _show(system, wanted)
        return 0
    if installs:
        _install_missing(wanted, interactive() and not yes)
    # Only programs were named: nothing else is installed.
    if installs and any(tool.level == "run" for tool in wanted if tool not in named):
        _fetch_library()
    lacking = table()
    library = c_library()
    for finder in SECOND:
        second_qemu(finder)
    needed = [tool for tool in lacking if tool.level == "run" or tool in named]
    broken = [tool.command for tool in lacking if outside.status(tool)[0] == "broken"]
    missing = [tool for tool in lacking if outside.status(tool)[0] == "missing"]
    print()
    for level in LEVELS if not installs else ():
        if own := [tool for tool in missing if tool.level == level]:
            more = "" if level == "run" else f" --for {level}"
            print(base.called(f"{LEVELS[level]}, and missing: {elsewhere(own) or INSTALL + more}"))
    if broken:
        print(f"Broken: {' '.join(broken)}; see above")
    elif not lacking and library:
        print("Everything is there.")
    elif still := [tool for tool in missing if installs and tool in wanted]:
        print("Still missing: " + " ".join(packages_of(still)))
    elif installs and not needed and library:
        print("Everything that was asked for is there.")
    return 0 if library and not needed else 2
