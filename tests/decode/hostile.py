# SPDX-License-Identifier: MIT
"""Decodes random hostile logs and checks what must hold for each: nothing fails, nothing escapes, all is bounded.

    python tests/decode/hostile.py --rounds 1000000 --seed 1

Input N of a seed is always the same, so `--only N` repeats one that failed.
"""

# Lines of logs.
# ruff: noqa: E501

import argparse
import base64
import io
import json
import random
import re
import sys
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(Path(__file__).parent)]

import test_systems  # noqa: E402
from redzone.decode import collect, decoder, lines, model, parse, scan, terminal  # noqa: E402

# Every so many inputs are shown as well, which takes longer than decoding them.
SHOWN = 250
# A small input must not grow: its JSON has at most this many bytes for each byte of it, and this many more.
GROWTH, GROWTH_MORE = 120, 60000
_BAD = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_NUMBER = re.compile(rb"\d+|[0-9a-f]{4,16}")

_EVIL = (
    b"<script>alert(1)</script>",
    b"</td></tr><img src=x onerror=alert(1)>",
    b"\x1b[2J\x1b[31m",
    b"[0;31mx[0m",
    b"\x1b]0;owned\x07",
    b"\x1b]8;;http://x\x1b\\",
    b"\x9b31m",
    b"\xc2\x9b31m",
    b"\xe2\x80\xae",
    b"\xff\xfe\x00",
    b"\x00",
    b"\r",
    b"\x08\x08\x08",
    b"{{ 7*7 }}{% for x in y %}",
    b"[bold red]x[/]",
    b"::error file=a,line=1::x",
    b"%s%n%x",
    b"../../../../etc/passwd:1",
    b"\"'`$(id)",
    b"]]>",
    b"9" * 300,
    b"f" * 300,
    b"(" * 200,
    b" #" * 100,
    b"_Z" * 100,
    b"0x",
    b"\xf0\x9f\x92\xa5",
    b"&#27;[31m&lt;b&gt;",
    b"=1B=5B31m=",
    b"<br>",
    b'{"log": "\\u001b[31mBUG: KASAN: x in y\\n"}',
    b"Content-Transfer-Encoding: quoted-printable",
    b"Content-Transfer-Encoding: base64\n",
    b"Content-Transfer-Encoding: base64\n\n"
    + base64.encodebytes(b"BUG: KASAN: double-free in f+0x1/0x2\n" * 4),
)
_PREFIXES = (
    b"",
    b"[   12.345678] ",
    b"[   12.345678][  T123] ",
    b"[   12.345679][    C1] ",
    b"<6>[   12.345678] ",
    b"Nov 23 10:55:10 host kernel: ",
    b"11-23 10:55:10.123  1234  1234 E kernel  : ",
    b"6,416,1758426,-,caller=T1;",
    b"[Mon Nov 23 10:55:10 2026] ",
    b"2026-11-23T10:55:10.123456+00:00 host kernel: ",
    b"\x1b[32m[   12.345678]\x1b[0m ",
    b"> ",
    b"  | ",
    b"   ",
    b"18:49:56 kernel: ",
    b"[    0.000000] [pid:0,cpu0,swapper/0]",
    b"rig7 <5> :: ",
)
_EXTRA = b"""==1234==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x4f5e7d bp 0x7ffe sp 0x7ffd
READ of size 1 at 0x602000000011 thread T0
    #0 0x4f5e7d in main /tmp/a.c:5:10
    #1 0x7f01 in __libc_start_main (/lib/libc.so.6+0x29d8f) (BuildId: 69389d485a9793dbe873f0ea2c93e02efaa9aa3d)
0x602000000011 is located 0 bytes after 1-byte region [0x602000000010,0x602000000011)
allocated by thread T0 here:
    #0 0x4b in malloc (/tmp/a+0x4b)
=>0x0c047fff8000: fa fa[01]fa fa fa fa fa fa fa fa fa fa fa fa fa
==1234==ABORTING
UBSAN: array-index-out-of-bounds in drivers/a.c:12:3
a.c:3:5: runtime error: signed integer overflow: 1 + 2
BUG: KFENCE: use-after-free read in foo+0x1/0x2
Use-after-free read at 0xffff88823bc8cf68 (in kfence-#69):
kfence-#69 [0xffff88823bc8ce00-0xffff88823bc8cfa7, size=424, cache=kmalloc-512] allocated by task 9997:
Unable to handle kernel paging request at virtual address dead4ead00000100
Internal error: Oops: 96000004 [#1] SMP
Kernel panic - not syncing: Fatal exception
WARNING: CPU: 0 PID: 6694 at net/a.c:2063 foo+0xd92/0x1150
KASAN: slab-out-of-bounds in fill+0x58/0x7c again (12 times): write of size 1 at addr ffff00000612a04d by task main/21, called by main+0x48/0x120 < x+0x24/0x60
KTAP version 1
1..2
    # Subtest: kasan
    ok 1 kmalloc_oob_right
not ok 2 kasan # SKIP no
Kernel Offset: 0x2e00000 from 0xffffffff81000000
[<c0012345>] (unwind_backtrace) from [<c0010001>] (show_stack+0x10/0x14)
 do_thing net/a.c:12 [inline]
 [32, 42) 'name' (line 77)
This frame has 99999999999 objects:
The buggy address belongs to stack of task main/2
 and is located at offset 42 in frame:
Memory state around the buggy address:
The buggy address belongs to the variable:
 table+0x28/0x28
""".splitlines()


def seeds():
    """Return lists of lines: our golden reports, and lines of the other sanitizers."""
    golden = sorted((ROOT / "tests" / "golden").glob("**/*.log"))
    own = sorted((Path(__file__).parent / "logs").glob("*.log"))
    other = [text.encode().splitlines() for _, text, _ in test_systems.LOGS]
    return [path.read_bytes().splitlines() for path in (*golden, *own)] + [_EXTRA, *other]


def make(rng, pool):
    """Return the bytes of a hostile log."""
    out = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        log = rng.choice(pool)
        start = rng.randrange(len(log))
        out += log[start : start + rng.choice((3, 10, 25, 60))]
    for _ in range(rng.randrange(12)):
        _mutate(rng, out, pool)
    prefix = rng.choice(_PREFIXES) if rng.random() < 0.3 else None
    if prefix is not None:
        out = [prefix + line.partition(b"] ")[2] if line[:1] == b"[" else prefix + line for line in out]
    data = rng.choice((b"\n", b"\n", b"\n", b"\r\n")).join(out)
    if rng.random() < 0.2:
        at = rng.randrange(len(data) + 1)
        data = data[at:] if rng.random() < 0.5 else data[:at]
    if rng.random() < 0.05:
        data = bytes(letter ^ (1 << rng.randrange(8)) if rng.random() < 0.02 else letter for letter in data)
    return data


def _mutate(rng, out, pool):
    """Change the lines @out in one way."""
    at = rng.randrange(len(out)) if out else 0
    kind = rng.randrange(10)
    if not out or kind == 0:
        out.insert(at, rng.choice(rng.choice(pool)))
    elif kind == 1:
        del out[at]
    elif kind == 2:
        out.insert(rng.randrange(len(out)), out[at])
    elif kind == 3:
        column = rng.randrange(len(out[at]) + 1)
        out[at] = out[at][:column] + rng.choice(_EVIL) + out[at][column:]
    elif kind == 4:
        number = rng.choice((b"0", b"18446744073709551616", b"-1", b"9" * 40, b"ffffffffffffffff", b"7"))
        out[at] = _NUMBER.sub(number, out[at], count=rng.randrange(1, 4))
    elif kind == 5:
        other = rng.randrange(len(out))
        out[at], out[other] = out[other], out[at]
    elif kind == 6:
        out[at] = out[at][: rng.randrange(len(out[at]) + 1)]
    elif kind == 7:
        out[at : at + 1] = [out[at]] * rng.choice((2, 5, 40))
    elif kind == 8:
        out.insert(at, rng.choice(_EXTRA))
    else:
        out[at] = rng.choice(_EVIL) * rng.choice((1, 3, 50))


def decode(data, step):
    one = decoder.Decoder()
    one.begin("log")
    for at in range(0, len(data), step):
        one.feed(data[at : at + step])
    return one.finish()


def strings(value):
    """Return all strings in @value, which is as to_json() makes it."""
    found, left = [], [value]
    for one in left:
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            found += one
            left += one.values()
    return found


def check(data, number, show=False):
    """Decode @data and raise AssertionError if something does not hold."""
    log = decode(data, max(len(data), 1))
    form = model.to_json(log)
    text = json.dumps(form)
    assert len(text) <= GROWTH * len(data) + GROWTH_MORE, f"{len(text)} bytes of JSON from {len(data)}"
    found = strings(form)
    if _BAD.search("".join(found)):
        assert not (bad := [one for one in found if _BAD.search(one)]), f"control characters in {bad!r}"
    assert max(map(len, found)) <= lines.MAX_LINE + 200, f"string of {max(map(len, found))}"
    assert log.reports == sum(bug.count for bug in log.bugs) + log.dropped
    for bug in log.bugs:
        assert 1 <= len(bug.reports) <= collect.KEEP
        assert all(len(report.raw) <= parse.MAX_LINES for report in bug.reports)
        assert all(len(stack.frames) <= parse.MAX_FRAMES for one in bug.reports for stack in one.stacks)
        assert all(not one.lines for report in bug.reports for one in report.excerpts), "a file was read"
    if number % 8 == 0:
        thrice = decode(data * 3, len(data) * 3 + 1)
        assert model.from_json(json.loads(text)) == log
        # However the log is cut into pieces, the reports are the same.
        again = decode(data, 1 + number % 97)
        assert again == log
        # Reports that are taken in one piece are as those that are read line by line.
        with unittest.mock.patch.object(scan.Scanner, "_whole", lambda *_: 0):
            assert decode(data * 3, len(data) * 3 + 1) == thrice, "line by line it is another log"
    if show:
        shown(log)


def shown(log):
    """Check what the terminal and the page get."""
    stream = io.StringIO()
    terminal.show(log, everything=True, stream=stream)
    assert "\x1b" not in stream.getvalue()
    assert not _BAD.search(stream.getvalue().replace("\n", ""))


def run(seed, first, rounds, progress=None):
    """Check @rounds inputs of @seed from number @first on. Return the number of the one that failed and why, or
    None."""
    pool = seeds()
    for number in range(first, first + rounds):
        data = make(random.Random(f"{seed}/{number}"), pool)
        try:
            check(data, number, number % SHOWN == 0)
        except Exception as error:
            return number, f"{type(error).__name__}: {error}"
        if progress and number % 10000 == 9999:
            progress(number + 1 - first)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, help="print this input, and check it")
    options = parser.parse_args()
    if options.only is not None:
        data = make(random.Random(f"{options.seed}/{options.only}"), seeds())
        sys.stdout.buffer.write(data + b"\n")
        check(data, options.only, True)
        return
    failed = run(options.seed, options.first, options.rounds, lambda done: print(done, flush=True))
    if failed:
        sys.exit(f"input {failed[0]} of seed {options.seed}: {failed[1]}")
    print(f"{options.rounds} inputs")


if __name__ == "__main__":
    main()
