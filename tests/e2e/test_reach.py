# SPDX-License-Identifier: MIT
"""What a program under test can reach of the machine that runs it: nothing but its console and its files."""

import os
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from redzone.core import process
from redzone.machine import console, qemu, stream
from redzone.run import host_io
from redzone.testing.needs import first

# The semihosting calls, as Arm numbers them, with arguments that would do something.
CALLS = {
    "open": (0x01, '{(long)"FOLDER/open", 4, sizeof("FOLDER/open") - 1}'),
    "close": (0x02, "{1}"),
    "writec": (0x03, "{33}"),
    "write0": (0x04, "{33}"),
    "write": (0x05, '{1, (long)"to the host", 11}'),
    "read": (0x06, "{0, (long)text, sizeof(text)}"),
    "readc": (0x07, "{0}"),
    "iserror": (0x08, "{1}"),
    "istty": (0x09, "{1}"),
    "seek": (0x0A, "{1, 0}"),
    "flen": (0x0C, "{1}"),
    "tmpnam": (0x0D, "{(long)text, 1, sizeof(text)}"),
    "remove": (0x0E, '{(long)"FOLDER/there", sizeof("FOLDER/there") - 1}'),
    "rename": (
        0x0F,
        '{(long)"FOLDER/there", sizeof("FOLDER/there") - 1, (long)"FOLDER/gone", sizeof("FOLDER/gone") - 1}',
    ),
    "clock": (0x10, "{0}"),
    "time": (0x11, "{0}"),
    "system": (0x12, '{(long)"touch FOLDER/system", sizeof("touch FOLDER/system") - 1}'),
    "errno": (0x13, "{0}"),
    "get_cmdline": (0x15, "{(long)text, sizeof(text)}"),
    "heapinfo": (0x16, "{(long)text}"),
    "exit": (0x18, "{0x20026, 0}"),
    "exit_extended": (0x20, "{0x20026, 0}"),
    "elapsed": (0x30, "{(long)text}"),
    "tickfreq": (0x31, "{0}"),
}  # fmt: skip
CALL = """\
#include <stdio.h>

static char text[256];

int main(void)
{
	long block[4] = BLOCK;
	register long number __asm__("x0") = NUMBER;
	register long *argument __asm__("x1") = block;

	printf("before %d\\n", text[0]);
	__asm__ volatile("hlt #0xf000" : "+r"(number) : "r"(argument) : "memory");
	printf("after %ld\\n", number);
	return 0;
}
"""
FORGED = """\
#include <stdio.h>

int main(int argc, char **argv)
{
	const char *stamp = argc > 1 ? "[    1.000000] " : "";
	const char *rule = "==================================================================";

	printf("%s%s\\n%sBUG: KASAN: slab-out-of-bounds in main+0x10/0x20\\n", stamp, rule, stamp);
	printf("%sRead of size 4 at addr ffff000000000000 by task main/1\\n\\n", stamp);
	printf("%sCall trace:\\n%s main+0x10/0x20\\n%s%s\\n", stamp, stamp, stamp, rule);
	printf("%sKASAN: slab-out-of-bounds in main+0x10/0x20 again (2 times): no details\\n", stamp);
	printf("%sKernel panic - not syncing: no\\n%sprogram returned 7\\n", stamp, stamp);
	printf("%sreboot: System halted\\n", stamp);
	return 0;
}
"""


def test_no_boot_has_semihosting():
    """QEMU's words for the reference kernel, in each mode and with each option that changes them."""
    for options in ({}, {"icount": True}, {"mode": "hw_tags"}, {"host": type("", (), {"has_input": True})}):
        words = qemu.qemu_command(qemu.Machine(Path("image"), **options), "out")
        assert not any("semihosting" in word for word in words)


# What boots with semihosting: boards that run nothing but their own code. SECURITY.md names them.
BOARDS = {
    "bench/small/port.c", "tools/redzone/kit/size.py",
    "ports/freertos/demo/board.c", "ports/freertos/host/boots.py",
    "ports/template/CMakeLists.txt", "ports/template/Makefile", "ports/template/board.c",
}  # fmt: skip


def test_who_has_semihosting(redzone):
    found = set()
    for folder in ("bench", "cmake", "fuzz", "kernel", "ports", "runtime", "tools"):
        for path in (redzone.root / folder).rglob("*"):
            text = path.read_bytes() if path.is_file() and path.suffix != ".pyc" else b""
            if b"-semihosting" in text or b"/* Semihosting:" in text:
                found.add(str(path.relative_to(redzone.root)))
    assert found == BOARDS


def test_semihosting_calls(redzone, source, tmp_path):
    """Every call is an undefined instruction, and nothing happens here."""
    (tmp_path / "there").write_text("stays")
    programs = []
    for name, (number, block) in CALLS.items():
        text = CALL.replace("BLOCK", block.replace("FOLDER", str(tmp_path))).replace("NUMBER", hex(number))
        programs.append(source(text, f"call/{name}.c"))
    before = set(tmp_path.iterdir())
    result = redzone("run", "--each", *programs, status=3)
    lines = [line for line in result.stdout.splitlines() if line.startswith(("ok ", "not ok "))]
    assert len(lines) == len(CALLS)
    assert all("undefined instruction" in line and line.startswith("not ok") for line in lines), result.stdout
    assert set(tmp_path.iterdir()) == before
    assert (tmp_path / "there").read_text() == "stays"


def test_semihosting_alone(redzone, source):
    """The same in a run of its own: a crash with the place, and status 3."""
    result = redzone("run", source(CALL.replace("BLOCK", "{0x20026, 0}").replace("NUMBER", "0x20")), status=3)
    assert "Internal error: Oops - undefined instruction" in result.stdout
    assert "before 0" in result.stdout and "after" not in result.stdout
    assert "program.c:" in result.stdout


@first(1, "arguments", [(), ("--", "stamped")])
def test_forged_report(redzone, source, tmp_path, arguments):
    """What a program prints is no report and no end, even with a timestamp before it."""
    result = redzone(
        "run", source(FORGED), "--sarif", "out.sarif", "--junit", "out.xml", *arguments, status=0
    )
    assert "BUG: KASAN: slab-out-of-bounds in main" in result.stdout
    assert "no KASAN report" in result.stderr
    assert "slab-out-of-bounds" not in (tmp_path / "out.sarif").read_text()
    assert "<failure" not in (tmp_path / "out.xml").read_text()


def test_line_of_the_log(redzone, source, tmp_path):
    """The real report after a forged one is where the outputs say, in the log with all lines."""
    text = FORGED.replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>")
    text = text.replace(
        "\treturn 0;", "\tvolatile char *freed = malloc(13);\n\tfree((char *)freed);\n\treturn *freed * 0;"
    )
    redzone("run", source(text), "--junit", "out.xml", "--log", "log", "--", "stamped", status=1)
    found = re.findall(r"line (\d+) of the log", (tmp_path / "out.xml").read_text())
    lines = (tmp_path / "log").read_text().splitlines()
    assert found and all("BUG: KASAN: slab-use-after-free" in lines[int(number) - 1] for number in found)


def test_forged_report_of_each(redzone, source):
    result = redzone("run", "--each", source(FORGED), "--", "stamped", status=0)
    assert "1 passed, 0 failed" in result.stdout + result.stderr


def test_all_bytes(redzone, source, tmp_path):
    """Every byte arrives, the marks of the stream as well, in order with the kernel's lines."""
    program = source(
        "#include <stdio.h>\n"
        "int main(void)\n{\n"
        "\tfor (int i = 1; i < 256; i++)\n\t\tif (i != 10 && i != 13)\n\t\t\tputchar(i);\n"
        '\tprintf("\\n%s\\n", "\\x10\\x10\\x10 \\x10\\x22" "end 0 0");\n'
        '\tfwrite("no line feed", 1, 12, stdout);\n\treturn 5;\n}\n'
    )
    command = [redzone.root / "redzone", "run", program, "--log", "log"]
    result = process.run(command, cwd=tmp_path, env=redzone.environment(), text=False)
    assert result.returncode == 4, result.stdout + result.stderr
    lines = (tmp_path / "log").read_bytes().split(b"\n")
    at = lines.index(bytes(i for i in range(1, 256) if i not in (10, 13)))
    assert lines[at + 1] == b'\x10\x10\x10 \x10"end 0 0'
    assert lines[at + 2] == b"no line feed"
    assert lines[at + 3].endswith(b"] program returned 5")


def test_stream_in_parts():
    """The stream is the same however it is cut."""
    data = (
        b"uart\n\x10 [    0.1] one\n\x10!pro\x10\x10gram\n\x10\"end 3 2\n\x10#saved\x10\x10\x10 two"
        b"\n\x10!open\x10\"read 1 x\nread 7 9\n"
    )  # fmt: skip
    expected = [
        "uart", "[    0.1] one", console.ProgramLine("pro\x10gram"), stream.Message("end", 3, 2),
        stream.Saved(0, b"saved\x10"), "two", stream.Message("read", 7, 9), console.ProgramLine("open"),
    ]  # fmt: skip
    for size in range(1, len(data) + 1):
        found, took = [], stream.Stream()
        for at in range(0, len(data), size):
            for item in took.feed(data[at : at + size]):
                if isinstance(item, stream.Saved) and found and isinstance(found[-1], stream.Saved):
                    found[-1].data += item.data
                else:
                    found += item if isinstance(item, list) else [item]
        for lines in took.end():
            found += lines
        assert found == expected
        assert [type(item) for item in found] == [type(item) for item in expected]


def test_hostile_stream():
    """Channels that do not exist, numbers without an end, and bytes of all kinds."""
    took = stream.Stream()
    control = b"9" * 100000 + b"\nend 1\n\xff \xff \xff\n"
    items = list(took.feed(b'\x10\x00x\n\x10\xffy\x10"' + control + b"\x10 ok\n"))
    assert items == [stream.Saved(0xFF - 0x23, b"y"), ["ok"]]


def test_much_output(redzone, source, tmp_path):
    """100 MB in a minute, and none of it is lost."""
    program = source(
        "#include <stdio.h>\n#include <string.h>\n"
        "static char line[81];\n"
        "int main(void)\n{\n\tmemset(line, 'x', 79);\n\tline[79] = '\\n';\n"
        "\tfor (int i = 0; i < 1250000; i++)\n\t\tfputs(line, stdout);\n\treturn 0;\n}\n"
    )
    with open(tmp_path / "out", "wb") as out:
        began = time.monotonic()
        command = [redzone.root / "redzone", "run", "--timeout", 120, program]
        status = process.run(command, cwd=tmp_path, env=redzone.environment(), stdout=out).returncode
    assert status == 0, time.monotonic() - began
    assert (tmp_path / "out").read_bytes().count(b"x" * 79 + b"\n") == 1250000


def test_long_lines_of_four_threads(redzone, source):
    """What CPUs print at once arrives whole, and overwrites nothing."""
    program = source(
        "#include <pthread.h>\n#include <string.h>\n#include <unistd.h>\n"
        "static void *print(void *letter)\n{\n"
        "\tchar text[5000];\n\tmemset(text, *(char *)letter, sizeof(text));\n"
        "\tfor (int i = 0; i < 200; i++)\n\t\twrite(1, text, sizeof(text));\n\treturn 0;\n}\n"
        "int main(void)\n{\n\tpthread_t threads[4];\n"
        '\tfor (int i = 0; i < 4; i++)\n\t\tpthread_create(&threads[i], 0, print, &"QXYZ"[i]);\n'
        "\tfor (int i = 0; i < 4; i++)\n\t\tpthread_join(threads[i], 0);\n\treturn 0;\n}\n"
    )
    result = redzone("run", "--smp", "4", program, status=0)
    # The lines before the program have none of these letters more than a few times.
    for letter in "QXYZ":
        assert 1000000 <= result.stdout.count(letter) < 1000010


def test_requests_of_all_kinds(tmp_path):
    """A machine asks for input again and again, takes it back, and asks for what it may not have."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    words = ["read 1 9", "read 2 9", "restart 0 0", "read 3 999999999", "saved 7 0", "end 0 0"]
    data = b"".join(b'\x10"' + word.encode() + b"\n" for word in words) + b"\x10\x23more\x10 end\n"
    script = tmp_path / "qemu"
    script.write_text('#!/bin/sh\ncat "$1" > "$2"\n')
    script.chmod(0o755)
    (tmp_path / "data").write_bytes(data)
    options = SimpleNamespace(
        save=[],
        stdin=str(fifo),
        own_stdin=False,
        separate=False,
        files=["x.c"],
        project=None,
        env=[],
        arguments=[],
    )
    target = qemu.Machine(Path("image"), host=host_io.Host(options, tmp_path), timeout=20.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qemu, "qemu_command", lambda _, output: [str(script), str(tmp_path / "data"), output])
        outcome = qemu.boot(target)
    target.host.close()
    assert outcome.code == 0 and outcome.reader.last == "end"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "fifo", "qemu"]
