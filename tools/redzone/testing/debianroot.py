# SPDX-License-Identifier: MIT
"""Makes minimal Debian systems and runs commands inside, for tests that must not depend on this machine's
tools.

A command runs in its own mount and process namespaces. When it ends, or is killed, the kernel removes its
mounts and all of its processes. So this machine never sees a mount below the root, and removing the root
cannot reach the machine's own files.
"""

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from pathlib import Path

from redzone.core import apt, base, process
from redzone.core.base import Failure

TOOLS = ("mmdebstrap", "unshare", "git")
INCLUDE = "python3,git,ca-certificates"
# A base system is rebuilt when it is older than this many days.
FRESH_DAYS = 7
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The files with which the machine reaches package archives. Copied into each new root, and removed with it.
CONFIGURATION = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/ssl/certs/ca-certificates.crt",
    "/usr/local/share/ca-certificates",
)
HOME_CONFIGURATION = (
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".cargo/config.toml",
    ".cargo/config",
    ".config/go/env",
    ".netrc",
)
# The part of apt's configuration that says how to reach an archive.
_APT_ACCESS = re.compile(r"^Acquire::(https?::|ftp::|socks::|Check-|Retries|ForceIPv|Max-)", re.IGNORECASE)
# The part of the environment that does.
_ACCESS = re.compile(
    r"^((http|https|ftp|all|no)_proxy|PIP_\w+|GOPROXY|GO(NO)?SUMDB|GOPRIVATE|GOINSECURE|CARGO_(HTTP|NET|REGISTR)\w*"
    r"|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO)$",
    re.IGNORECASE,
)
# $1: the root. The rest is the command, which `env` starts.
_SCRIPT = """
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
status=0
chroot "$root" "$@" || status=$?
exit $status
"""


def access_options(dump):
    """Return the lines of `apt-config dump` (@dump) that say how to reach an archive."""
    return [line for line in dump.splitlines() if _APT_ACCESS.match(line) and not line.endswith(' "";')]


def sources(release, own_release, targets):
    """Return apt's source lines of Debian's @release, from the archives that this machine uses.

    own_release: the code name of this machine's release. targets: (URI, suite) of each of its lists.
    Return no lines if it uses no Debian archive: mmdebstrap then takes the public ones.
    """
    if not own_release:
        return []
    lines = []
    for uri, suite in targets:
        for ending in ("", "-updates", "-security"):
            if suite == own_release + ending:
                lines.append(f"deb {uri.rstrip('/')} {release}{ending} main")
    return lines if any(line.endswith(f" {release} main") for line in lines) else []


def environment(outside, root):
    """Return the part of the environment @outside that goes into @root: ways to archives; paths only if they
    exist."""
    result = {"PATH": PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    for name, value in outside.items():
        if not _ACCESS.match(name):
            continue
        if value.startswith("/") and not (Path(root) / value.lstrip("/")).exists():
            continue
        result[name] = value
    return result


def mounts_below(folder, mountinfo="/proc/self/mountinfo"):
    """Return the mount points at or below @folder, as this process sees them."""
    folder = os.path.realpath(folder)
    text = Path(mountinfo).read_text(encoding="utf-8", errors="surrogateescape")
    points = [line.split()[4] for line in text.splitlines()]
    points = [re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point) for point in points]
    return [point for point in points if point == folder or point.startswith(folder + "/")]


def remove(folder):
    """Remove the root @folder. Raise Failure, and touch nothing, if something is mounted there."""
    mounted = mounts_below(folder)
    if mounted:
        raise Failure(f"{mounted[0]} is a mount point: umount it, then remove {base.relative(folder)}")
    if Path(folder).is_dir():
        shutil.rmtree(folder)


def _make_base(release, folder, log):
    """Have mmdebstrap write the base system of @release to @folder/RELEASE.tar."""
    _, dump = process.call(["apt-config", "dump"])
    lines = sources(release, apt.codename(), apt.targets())
    options = folder / "access.conf"
    options.write_text("".join(f"{line}\n" for line in access_options(dump)), encoding="utf-8")
    new = folder / f"{release}.new.tar"
    scratch = folder / "mmdebstrap"
    remove(scratch)
    scratch.mkdir()
    command = ["env", f"TMPDIR={scratch}"]
    command += ["mmdebstrap", "--variant=minbase", f"--include={INCLUDE}"]
    command += [f"--aptopt={options}", release, str(new), *lines]
    try:
        status = run(command, log)
        if status != 0:
            raise Failure(
                f"mmdebstrap could not make a minimal Debian {release} (status {status}): "
                + process.reason(log.read_text(encoding="utf-8", errors="replace"), folder)
            )
        new.replace(folder / f"{release}.tar")
    finally:
        new.unlink(missing_ok=True)
        options.unlink(missing_ok=True)
        remove(scratch)


def base_system(release, folder, log):
    """Return the tar file of a minimal Debian @release in @folder. Make it if it is missing or old."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{release}.tar"
    if not path.is_file() or time.time() - path.stat().st_mtime > FRESH_DAYS * 86400:
        _make_base(release, folder, log)
    return path


def make_root(tar, root):
    """Unpack the base system @tar as @root, and copy this machine's access to package archives there."""
    remove(root)
    root.mkdir(parents=True)
    status, output = process.call(["tar", "-xf", str(tar), "-C", str(root)])
    if status != 0:
        tar.unlink(missing_ok=True)
        raise Failure(f"{base.relative(tar)} cannot be unpacked: {process.reason(output, root)}; try again")
    pairs = [(Path(name), root / name.lstrip("/")) for name in CONFIGURATION]
    pairs += [(Path.home() / name, root / "root" / name) for name in HOME_CONFIGURATION]
    for source, target in pairs:
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            # A link would lead to a file of this machine.
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)


def clone(source, root, where):
    """Clone the repository @source, as committed, to the folder @where inside @root."""
    target = root / where.lstrip("/")
    status, output = process.call(["git", "clone", "-q", "--no-hardlinks", str(source), str(target)])
    if status != 0:
        raise Failure(f"{source} cannot be cloned: {process.reason(output, root)}")


def uncommitted(source):
    """Return the names of files in the repository @source that differ from the commit."""
    _, output = process.call(["git", "-C", str(source), "status", "--porcelain"])
    return [line[3:] for line in output.splitlines() if line[2:3] == " "]


def inside(root, where, words):
    """Return the command that runs @words in the folder @where of @root, in its own namespaces."""
    settings = [f"{name}={value}" for name, value in environment(os.environ, root).items()]
    return [
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"),
        *("sh", "-ec", _SCRIPT, "sh", str(root)),
        *("env", "-i", *settings, "sh", "-ec", 'cd "$1"; shift; exec "$@"', "sh", where, *words),
    ]


def run(command, log, on_line=None, timeout=None):
    """Run @command, write its output to the file @log, and call on_line(text) for each line.

    Return its exit status, or None if it was still running after @timeout seconds. However this function
    returns, the command has ended, and so have all processes that it started in its group.
    """
    ends = None if timeout is None else time.monotonic() + timeout
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        with open(log, "w", encoding="utf-8", errors="surrogateescape", buffering=1) as file:
            for text in _lines(process, ends):
                file.write(text + "\n")
                if on_line is not None:
                    on_line(text)
        left = None if ends is None else max(ends - time.monotonic(), 0.1)
        return process.wait(left)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            _end(process)
        process.stdout.close()


def _end(process):
    """End the group of @process: gently first, so that mmdebstrap removes its folder, then by force."""
    for number, seconds in ((signal.SIGTERM, 20), (signal.SIGKILL, 60)):
        try:
            os.killpg(process.pid, number)
            process.wait(seconds)
            return
        except ProcessLookupError:
            process.wait()
            return
        except subprocess.TimeoutExpired:
            continue


def _lines(process, ends):
    """Yield the lines that @process prints. Raise TimeoutExpired when the clock passes @ends."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = None if ends is None else ends - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(process.args, 0)
            if not selector.select(left):
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.rstrip(b"\r").decode("utf-8", "surrogateescape") for line in lines)
    if rest:
        yield rest.decode("utf-8", "surrogateescape")
