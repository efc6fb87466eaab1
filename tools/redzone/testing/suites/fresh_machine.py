# SPDX-License-Identifier: MIT
"""The README's commands on minimal Debian systems, bookworm and trixie, in a chroot (root; an hour and more).

Each system has only Python, Git and certificates, and a clone of the tree as committed. The commands install
what they need. On bookworm both README commands run in full; on trixie `run` and the suites style, unit and
e2e; with --quick `run`, in two modes, and e2e, on bookworm only. A third one is the container of the
Dockerfile. In the end `doctor` finds nothing broken. The last one has no clone: the wheel of
`./redzone release` is installed, and somebody who can write only to a home folder runs a file.

With --recommends the systems have QEMU before, and all that Debian recommends beside it: the modules for
sound and windows that a desktop has.

The base systems stay in build/fresh-machine/ for a week. Each command has its log in the suite's folder.
"""

import json
import os
import re
import time
from dataclasses import dataclass

from redzone.core import base, process
from redzone.core.base import BUILD, ROOT, Failure
from redzone.testing import debianroot, dockerfile
from redzone.testing.runner import FAIL, Result, result, when
from redzone.testing.suites import wheel

SLOW = True
QUICK = "part"
OPTIONS = ("recommends",)
TOOLS = debianroot.TOOLS
FOLDER = BUILD / "fresh-machine"
CLONE = "/root/redzone"
# The machine without a clone, its user's folder, and what the user does there.
WITHOUT_CLONE = "installed"
HOME = "/home/user"
INSTALL = """\
apt-get -q update
apt-get -q -y install --no-install-recommends python3-venv
python3 -m venv /opt/redzone
/opt/redzone/bin/pip -q install /root/redzone-*.whl
/opt/redzone/bin/redzone doctor --install --yes
chown -R 1000:1000 /home/user
"""
# It is somebody whom /etc/passwd does not know.
USER = ("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "env")
TIMEOUT = 4 * 3600
# After this many seconds without a finished suite, a note says how far a command is.
QUIET_SECONDS = 60
SKIPS_SHOWN = 20
# As a user installs it who has not changed what apt does.
QEMU = "apt-get -q update && apt-get -q -y install --install-recommends qemu-system-arm"
# What of it has lain in the way of another QEMU.
MODULES = "usr/lib/*/qemu/*-gtk.so"

_RESULT = re.compile(r"^(?P<word>ok|not ok) \d+ (?P<name>.+?)(?: # SKIP (?P<reason>.*))?$")
_TOTAL = re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?$")
_SUITE_END = re.compile(r"^# \S+: \d+ passed, \d+ failed")


@dataclass(frozen=True)
class Step:
    """One command in a fresh machine. judge(status, lines) returns what is wrong, or "". machine: its name,
    if it is not that of the release."""

    release: str
    name: str
    words: tuple
    judge: object
    machine: str = ""


def judge_run(status, lines):
    """Return what is wrong with `./redzone run`: its example has two bugs, and KASAN has to report both."""
    return _judge_reports(status, lines, "slab-out-of-bounds", "slab-use-after-free")


def judge_own(status, lines):
    """The same with the file of somebody who has no tree."""
    wrong = when(any("fetching" in line for line in lines), "it fetched something")
    return "\n".join([*wrong, *filter(None, [_judge_reports(status, lines, "slab-out-of-bounds")])])


def judge_no_home(status, lines):
    said = any("no home folder" in line and "REDZONE_BUILD=DIR" in line for line in lines)
    return "" if said and status == base.USAGE else "\n".join([_ended(status), *lines[-5:]])


def judge_install(status, lines):
    return "" if status == base.OK else "\n".join([_ended(status), *lines[-5:]])


def judge_hw_tags(status, lines):
    """The same with hardware tags, which see no byte behind an object in its last 16."""
    return _judge_reports(status, lines, "slab-use-after-free")


def _judge_reports(status, lines, *titles):
    wrong = [] if status == base.REPORTED else [_ended(status) + f", expected status {base.REPORTED}"]
    for title in titles:
        wrong += when(not any(f"BUG: KASAN: {title} " in line for line in lines), f"no report of the {title}")
    return "\n".join(wrong + (lines[-5:] if wrong else []))


def judge_test(status, lines):
    """Return what is wrong with `./redzone test`: the names of what failed, or that it did not end well."""
    failed = [match["name"] for match in map(_RESULT.match, lines) if match and match["word"] == "not ok"]
    total = _TOTAL.match(lines[-1]) if lines else None
    if total is None:
        return "\n".join([_ended(status) + ", without a line of totals", *lines[-5:]])
    if failed or int(total["failed"]):
        return "\n".join([f"{lines[-1]}:", *failed])
    if status != base.OK:
        return f"{_ended(status)} after '{lines[-1]}'"
    # --yes has promised to install it.
    if left := next((line for line in lines if "skipped for what can be installed" in line), None):
        return left.removeprefix("# ")
    return "" if int(total["passed"]) else "nothing was tested"


def judge_doctor(status, lines):
    """Return what is wrong with `./redzone doctor` where everything has been installed that `run` needs."""
    wrong = [] if status == base.OK else [_ended(status)]
    return "\n".join([*wrong, *(line.strip() for line in lines if "does not start a machine" in line)])


# What a container gets: a folder with a file of a user, who is not root, and no network. The reports that are
# looked for come last.
_CONTAINER = """\
cp /opt/redzone/examples/heap_bugs.c /src/bugs.c
chown -R 1234:1234 /src
user() { unshare --net setpriv --reuid 1234 --regid 1234 --clear-groups env HOME=/ %s "$@"; }
user run --each --mode hw_tags bugs.c || [ $? = 1 ]
user run --mode sw_tags --sarif bugs.sarif bugs.c || [ $? = 1 ]
[ "$(stat -c %%u bugs.sarif)" = 1234 ] && [ "$(ls)" = "$(printf 'bugs.c\nbugs.sarif')" ]
user run bugs.c
"""


def container():
    """Return the words of the command that does what the Dockerfile says, then what a container runs."""
    instructions = dockerfile.parse((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    entry = json.loads(next(one.text for one in reversed(instructions) if one.name == "ENTRYPOINT"))
    return ("sh", "-c", dockerfile.script(instructions, CLONE) + _CONTAINER % " ".join(entry))


def _ended(status):
    return f"no end after {TIMEOUT} s" if status is None else f"ended with status {status}"


def skipped(lines):
    """Return (name, reason) of each skipped test."""
    found = [_RESULT.match(line) for line in lines]
    return [(match["name"], match["reason"]) for match in found if match and match["reason"] is not None]


def steps(quick):
    """Return the Steps; those of one machine are adjacent."""
    run = ("./redzone", "run", "--yes")
    test = ("./redzone", "test", "--yes")
    doctor = ("./redzone", "doctor")
    words = ("/opt/redzone/bin/redzone", "run", "bug.c")
    own = (*USER, f"HOME={HOME}", *words)
    installed = [
        Step("bookworm", "install", ("sh", "-ec", INSTALL), judge_install, WITHOUT_CLONE),
        Step("bookworm", "first-run", own, judge_own, WITHOUT_CLONE),
        Step("bookworm", "second-run", own, judge_own, WITHOUT_CLONE),
        Step("bookworm", "no-home", (*USER, "-u", "HOME", *words), judge_no_home, WITHOUT_CLONE),
    ]
    if quick:
        return [
            Step("bookworm", "run", run, judge_run),
            Step("bookworm", "run-hw-tags", (*run, "--mode", "hw_tags"), judge_hw_tags),
            Step("bookworm", "test-e2e", (*test, "e2e"), judge_test),
            Step("bookworm", "doctor", doctor, judge_doctor),
            *installed,
        ]
    return [
        Step("bookworm", "run", run, judge_run),
        Step("bookworm", "test", test, judge_test),
        Step("bookworm", "doctor", doctor, judge_doctor),
        Step("bookworm", "container", container(), judge_run, "container"),
        Step("trixie", "run", run, judge_run),
        Step("trixie", "test-style-unit-e2e", (*test, "style", "unit", "e2e"), judge_test),
        Step("trixie", "doctor", doctor, judge_doctor),
        *installed,
    ]


class _Progress:
    """Notes on a running command: the end of each suite, what failed, how far it is."""

    def __init__(self, context, name):
        self.context, self.name = context, name
        self.lines, self.results = [], 0
        self.noted = time.monotonic()

    def line(self, text):
        self.lines.append(text)
        result = _RESULT.match(text)
        self.results += bool(result)
        if (result and result["word"] == "not ok") or _SUITE_END.match(text) or text.startswith("redzone: "):
            self._note(text.removeprefix("# "))
        elif time.monotonic() - self.noted >= QUIET_SECONDS:
            self._note(f"{base.plural(self.results, 'result')} so far, the last line is: {text[:100]}")

    def _note(self, text):
        self.context.note(f"{self.name}: {text}")
        self.noted = time.monotonic()


def _install_recommended(context, release, root):
    context.note(f"{release}: installing QEMU with what Debian recommends beside it")
    log = context.logs / f"{release}-recommends.log"
    status = debianroot.run(debianroot.inside(root, "/", ("sh", "-ec", QEMU)), log, timeout=TIMEOUT)
    if status != 0:
        raise Failure(f"QEMU could not be installed, {_ended(status)}; see {base.relative(log)}")
    if not any(root.glob(MODULES)):
        raise Failure(f"QEMU came without {MODULES}: this run would show nothing that another does not")


def _put_wheel(context, root):
    """Make the wheel, and put it and a program into the system @root."""
    context.note("making the wheel")
    status, output = process.call([ROOT / "redzone", "release", "--modes", "generic", "-o", root / "root"])
    if status != 0:
        raise Failure(f"the wheel cannot be made: {process.last_line(output)}")
    place = root / HOME.lstrip("/")
    place.mkdir(parents=True)
    (place / "bug.c").write_text(wheel.BUG, encoding="utf-8")


def _machine(context, machine, chosen):
    """Make the machine called @machine, and yield the Result of each Step of @chosen there."""
    root, release = FOLDER / machine, chosen[0].release
    try:
        cached = (FOLDER / f"{release}.tar").is_file()
        how = "unpacking" if cached else "making, which takes a minute or two,"
        context.note(f"{release}: {how} the base system")
        log = context.logs / f"{release}-base.log"
        debianroot.make_root(debianroot.base_system(release, FOLDER, log), root)
        where = HOME if machine == WITHOUT_CLONE else CLONE
        if machine == WITHOUT_CLONE:
            _put_wheel(context, root)
        else:
            debianroot.clone(ROOT, root, CLONE)
        if context.recommends:
            _install_recommended(context, release, root)
        for step in chosen:
            name = f"{release}.{step.name}"
            context.note(f"{name}: {' '.join(step.words).partition(chr(10))[0]}")
            progress = _Progress(context, name)
            log = context.logs / f"{name}.log"
            command = debianroot.inside(root, where, step.words)
            started = time.monotonic()
            status = debianroot.run(command, log, progress.line, TIMEOUT)
            context.note(f"{name}: {time.monotonic() - started:.1f} s")
            wrong = step.judge(status, progress.lines)
            left_out = skipped(progress.lines)
            for test, reason in left_out[:SKIPS_SHOWN]:
                context.note(f"{name}: skipped {test}: {reason}")
            if len(left_out) > SKIPS_SHOWN:
                context.note(f"{name}: and {len(left_out) - SKIPS_SHOWN} more were skipped")
            if not wrong and progress.lines and _TOTAL.match(progress.lines[-1]):
                context.note(f"{name}: {progress.lines[-1]}")
            yield result(name, wrong, log)
    except Failure as error:
        yield Result(f"{machine}.machine", FAIL, str(error), log)
    finally:
        debianroot.remove(root)


def run(context):
    if os.geteuid() != 0:
        # This suite runs only when it is named, so testing nothing is not a success.
        yield Result("all", FAIL, "root is needed for a chroot; run as root: ./redzone test fresh-machine")
        return
    changed = debianroot.uncommitted(ROOT)
    if changed:
        context.note(
            f"warning: the tree is tested as it is committed, without the changes to {changed[0]}"
            + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")
        )
    with base.locked(FOLDER):
        chosen = steps(context.quick)
        machines = {}
        for step in chosen:
            machines.setdefault(step.machine or step.release, []).append(step)
        for machine, own in machines.items():
            yield from _machine(context, machine, own)
