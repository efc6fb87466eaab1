# SPDX-License-Identifier: MIT
"""`./redzone run --gdb`: the machine waits for a debugger, which gets the symbols and a command of ours."""

import socket
from pathlib import Path

from redzone.core import base
from redzone.core.arch import KERNELS
from redzone.core.base import BUILD, ROOT
from redzone.run import in_debugger

# QEMU's own default.
_PORT = 1234
FOLDER = BUILD / "debug"
# It is called when a report is to be printed, and no other CPU prints one.
_STOP = "kasan_port_report_begin"


def _free_port():
    """Return a TCP port of this machine that nothing listens at."""
    for number in (_PORT, 0):
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("127.0.0.1", number))
            except OSError:
                continue
            return one.getsockname()[1]
    return _PORT


def _python(debugger, mode, arch):
    """Return lines of Python that add the command to the @debugger, "gdb" or "lldb"."""
    settings = {
        "registers": KERNELS[arch].registers,
        "saved": KERNELS[arch].saved,
        "granule": 8 if mode == "generic" else 16,
        "roots": [str(ROOT), base.PREBUILT_TREE],
        "folder": str(Path.cwd()),
    }
    first = "gdb" if debugger == "gdb" else "lldb, lldb.debugger"
    return [
        f"import sys; sys.path.insert(0, {str(Path(in_debugger.__file__).parent)!r})",
        f"import in_debugger; in_debugger.begin_{debugger}({first}, **{settings!r})",
    ]


def prepare(elf, mode, arch):
    """Write the scripts for the kernel @elf of @mode and @arch. Return QEMU's options."""
    port = _free_port()
    FOLDER.mkdir(parents=True, exist_ok=True)
    gdb = [
        "set confirm off",
        f"file {elf}",
        f"set substitute-path {base.PREBUILT_TREE}/build {BUILD}",
        f"set substitute-path {base.PREBUILT_TREE} {ROOT}",
        "python",
        *_python("gdb", mode, arch),
        "end",
        f"target remote 127.0.0.1:{port}",
        # The MMU is still off, so the debugger cannot write an instruction there.
        f"hbreak {_STOP}",
        "echo The machine waits. `continue` runs it up to the first report. Then try `redzone`.\\n",
    ]
    lldb = [
        f'target create "{elf}"',
        f"settings set target.source-map {base.PREBUILT_TREE}/build {BUILD} {base.PREBUILT_TREE} {ROOT}",
        *(f"script {line}" for line in _python("lldb", mode, arch)),
        f"gdb-remote 127.0.0.1:{port}",
        # Nothing says where a kernel was loaded.
        f'target modules load --file "{elf}" --slide 0',
        f"breakpoint set --hardware --name {_STOP}",
    ]
    (FOLDER / "gdb").write_text("\n".join(gdb) + "\n", encoding="utf-8")
    (FOLDER / "lldb").write_text("\n".join(lldb) + "\n", encoding="utf-8")
    base.say(f"the machine waits for a debugger, at port {port}. In another terminal:")
    base.say(f"  gdb-multiarch -x {base.relative(FOLDER / 'gdb')}")
    base.say(f"  lldb -s {base.relative(FOLDER / 'lldb')}")
    return ["-gdb", f"tcp:127.0.0.1:{port}", "-S"]
