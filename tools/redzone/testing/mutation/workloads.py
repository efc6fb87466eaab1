# SPDX-License-Identifier: MIT
"""Says which of a library's tests the mutation suite runs: all, or a short part of a large library's.

Each bug costs one run on the host and one in the kernel. The suite `libraries` runs the whole.
"""

import dataclasses
from dataclasses import dataclass

from redzone.libraries import catalogue


@dataclass(frozen=True)
class Workload:
    """The Program called @name alone, with other @arguments and more @options."""

    name: str
    arguments: tuple
    options: tuple = ()


_XZ_FILES = (
    *("good-1-check-sha256.xz", "good-1-delta-lzma2.tiff.xz", "good-1-x86-lzma2.xz", "good-2-lzma2.xz"),
    *("good-1-sparc-lzma2.xz", "good-known_size-with_eopm.lzma", "good-1-v1.lz", "good-0cat-empty.xz"),
    *("bad-1-check-crc32.xz", "bad-1-lzma2-8.xz", "bad-2-index-1.xz", "unsupported-filter_flags-1.xz"),
)
# Those of Lua's tests that work alone and are short.
_LUA_FILES = (
    *("strings", "tpack", "utf8", "vararg", "goto", "events", "closure", "literals", "bitwise"),
    *("coroutine", "constructs", "calls", "pm", "nextvar", "db"),
)
# constructs.lua draws a number and prints it: with this seed, the output is always the same.
_LUA = (
    f"{catalogue.LUA_BEFORE}; _soft, _port, _nomsg = true, true, true; Message = function() end; "
    "math.randomseed(1); "
    f"for name in ('{' '.join(_LUA_FILES)}'):gmatch('%w+') do dofile(name .. '.lua') end"
)
_MBEDTLS = ("mpi", "rsa", "x509", "base64", "gcm", "ccm", "md5", "sha256", "hmac_drbg", "ctr_drbg")
WORKLOADS = {
    # All qualities, with files of no byte and of 119 bytes.
    "brotli": Workload("files", ("tests/testdata/empty", "tests/testdata/ukkonooa")),
    "lua": Workload("tests", ("-e", _LUA)),
    "mbedtls": Workload("selftest", _MBEDTLS),
    # It is one file, which -O1 compiles in half a minute, -O0 in four seconds.
    "sqlite": Workload("statements", (), ("-D", "STATEMENTS=300", "--cflag", "-O0")),
    "xz": Workload("files", _XZ_FILES, ("-D", "MADE=3000")),
    "zstd": Workload("files", ("tests/golden-compression/http",)),
}


def programs(library):
    """Return the libraries.Programs of the libraries.Library @library to plant bugs under."""
    chosen = WORKLOADS.get(library.name)
    if chosen is None:
        return library.programs
    program = next(program for program in library.programs if program.name == chosen.name)
    options = (*program.options, *chosen.options)
    return (dataclasses.replace(program, arguments=chosen.arguments, options=options),)
