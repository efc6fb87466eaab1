# SPDX-License-Identifier: MIT
"""Which functions of the C library work: those of which each way does not end in a system call that the
kernel does not have (kernel/libc/syscall.c).

The answer comes from the sources: which system calls the library's files name, and which functions they call.
A file may have another way if a call fails, or may need a call that it makes beside others: the sources do
not say so, the tables below do. stale() says where they do not fit the sources.
"""

import re
import sys
from functools import cached_property

from redzone.core.base import ROOT

sys.path.insert(0, str(ROOT / "tools" / "build-scripts"))
import link_libc as link

KERNEL = ROOT / "kernel" / "libc" / "syscall.c"
# Files of which no function, or only a side of it, needs what the kernel does not have.
WITHOUT = {
    "__libc_start_main": "asks for descriptors only in a program with special rights",
    "__xstat": "only __xmknod() makes a device",
    "aio": "without signals",
    "lio_listio": "without signals",
    "getgr_a": "of the file /etc/group, if the program writes one",
    "getpw_a": "of the file /etc/passwd, if the program writes one",
    "sync": "nothing is kept elsewhere",
    "sysconf": "some of its many values",
    "mlock": "by the older of two calls",
    "preadv2": "without flags",
    "pwritev2": "without flags",
    "fchmodat": "without flags",
    "fstatat": "by the older call",
    "faccessat": "without flags",
    "redzone_threads": "a process in vain, which the kernel then tells the user",
    "pthread_create": "a thread has the scheduling of the one that made it",
    "clock_gettime": "by the first of two calls",
    "membarrier": "by signals to all threads",
    "affinity": "asks; to choose is another function",
}
# Files that do not work without one of the calls that the kernel does not have, although it has others of
# them.
NEEDS = frozenset(
    (
        *(
            "_Fork",
            "posix_spawn",
            "accept4",
            "socketpair",
            "signalfd",
            "mq_notify",
            "timer_create",
            "timer_delete",
        ),
        *("setgroups", "socket"),
    )
)
# Functions that do not work although others of their files do, for want of shared memory or shared objects,
# or because other machines have them.
SINGLE = frozenset(
    (
        *("clone", "sched_setaffinity", "pthread_setaffinity_np"),
        *("dlopen", "dlsym", "dlclose", "dlerror", "dladdr", "dlinfo", "dl_iterate_phdr"),
        *("iopl", "ioperm", "shm_open", "shm_unlink", "sem_open", "sem_close", "sem_unlink"),
    )
)
# Functions that are the compiler's.
BUILTIN = frozenset(("alloca",))
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def implemented():
    """Return the names of the system calls that the kernel has."""
    return {name.lower() for name in re.findall(r"\bcase NR_(\w+):", KERNEL.read_text(encoding="utf-8"))}


class Support:
    """Which of the library's functions work. @options: the file OPTIONSFILE of link_libc.py."""

    def __init__(self, options):
        self._library = link.Library.of(options)
        self._texts = {
            name: _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
            for name, path in self._library.files.items()
        }
        self._called = {name: set(re.findall(r"\b(\w+)\s*\(", text)) for name, text in self._texts.items()}
        self._functions = {}
        for name, file in self._library.owners.items():
            self._functions.setdefault(file, set()).add(name)

    @cached_property
    def calls(self):
        """{file: (system calls that the kernel has, those that it has not)} of the files that make any."""
        source = self._library.source / "arch" / self._library.arch / "bits" / "syscall.h.in"
        numbers = set(re.findall(r"__NR_(\w+)", source.read_text(encoding="utf-8")))
        there, found = implemented(), {}
        for name, text in self._texts.items():
            made = set(re.findall(r"\bSYS_(\w+)", text)) & numbers
            made |= set(re.findall(r"\b_*sys_(\w+?)(?:_cp)?\(", text)) & numbers
            made |= set(re.findall(r"\b_*socketcall(?:_cp)?\((\w+)", text))
            if made:
                found[name] = (made & there, made - there)
        return found

    @cached_property
    def lacking(self):
        """{file: why} of the files whose functions do not work."""
        found = {}
        for name, (have, lack) in self.calls.items():
            if lack and name not in WITHOUT and (not have or name in NEEDS):
                found[name] = "system call " + ", ".join(sorted(lack))
        new = set(found)
        while new:
            bad = {function for name in new for function in self._functions[name]}
            new = set()
            for name, called in self._called.items():
                if called & bad and name not in found and name not in WITHOUT:
                    found[name] = "function " + ", ".join(sorted(called & bad))
                    new.add(name)
        return found

    def works(self, function):
        """Return whether @function links, and can do what it is for."""
        if function in SINGLE:
            return False
        # Those of <sanitizer/...> are the kernel's as well.
        if function in link.KERNELS | BUILTIN or function.startswith(("__asan_", "__sanitizer_")):
            return True
        file = self._library.owners.get(function)
        return file is not None and file not in self.lacking

    def stale(self):
        """Return the entries of the tables that no longer say anything, and the files that are in none of
        them and should be."""
        bad = {function for file in self.lacking for function in self._functions[file]}
        callers = {name for name, called in self._called.items() if called & bad}
        lacks = {name for name, (_, lack) in self.calls.items() if lack}
        partly = {name for name in lacks if self.calls[name][0]}
        return sorted((set(WITHOUT) - lacks - callers) | (NEEDS - partly) | (partly - set(WITHOUT) - NEEDS))
