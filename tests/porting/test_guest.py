# SPDX-License-Identifier: MIT
"""What ports have in common to run a system: a shell stands for QEMU, and a small image for the system."""

import re
import time

import pytest
from kit import call, compiler, need
from redzone.kit import guest

CODE = """\
void stop(int);
__attribute__((noinline)) void stop(int n) { __asm__ volatile("" ::"r"(n)); }
static inline void inner(int n) { stop(n); __asm__ volatile(""); }
void outer(int n)
{
	inner(n);
	stop(1);
	__asm__ volatile("");
}
"""
# Asks twice, repeats what it gets, and ends with the status 3, or panics and goes on for ever.
SHELL = """\
printf '> '
while read -r line; do
    [ "$line" = end ] && exit 3
    rule=$(printf %066d 0 | tr 0 =)
    printf '%s\\r\\n%s\\r\\nBUG: KASAN: double-free in %s+0x1/0x2\\r\\n' "$line" "$rule" "$line"
    printf 'Free of addr 0000000087ef4038 by task a/3\\r\\n%s\\r\\n' "$rule"
    [ "$line" = panic ] && { echo "panic: no more"; sleep 100; }
    printf '> '
done
"""
LAST_WORDS = re.compile("panic: ")


def machine(tmp_path, **options):
    return guest.Machine("sh", ["sh", "-c", SHELL], "> ", LAST_WORDS, log=tmp_path / "log", **options)


def test_commands_and_their_end(tmp_path):
    shown = []
    with machine(tmp_path, echo=shown.append) as running:
        running.wait_prompt()
        assert running.command("f")[1] == "BUG: KASAN: double-free in f+0x1/0x2"
        running.command("g")
        assert [report.where for report in running.reports] == ["f", "g"]
        running.type("end\n")
        assert running.wait_end() == 3
    assert shown[0] == "> f" and len(shown) == 11
    assert b"f+0x1/0x2\r\n" in (tmp_path / "log").read_bytes()


def test_last_words_and_no_answer(tmp_path):
    with machine(tmp_path) as running:
        running.wait_prompt()
        began = time.monotonic()
        with pytest.raises(guest.Stopped, match="panic: no more"):
            running.command("panic", 60)
        assert time.monotonic() - began < 30
        assert running.wait_end(0) is None
    with machine(tmp_path) as running, pytest.raises(guest.Stopped, match="no answer in time"):
        running.wait_text("never", 0.5)


@pytest.mark.parametrize("arch", ["arm64", "arm"])
def test_names(tmp_path, arch):
    """Addresses of calls get a function, a place and the inlined functions between."""
    need("llvm-nm-19", "llvm-objdump-19", "llvm-symbolizer-19", "ld.lld-19")
    (tmp_path / "code.c").write_text(CODE)
    options = ["-O1", "-g", "-nostdlib", "-ffreestanding", "-Wl,-Ttext=0x8000000", "-Wl,-e,outer"]
    options += ["--ld-path=ld.lld-19", *(["-mthumb", "-mcpu=cortex-m3"] if arch == "arm" else [])]
    call([*compiler("clang-19", arch), *options, "code.c", "-o", "code.elf"], tmp_path)
    text = call(["llvm-objdump-19", "-d", "--no-show-raw-insn", "code.elf"], tmp_path)
    lines = text.partition("<outer>:\n")[2].splitlines()
    calls = [at for at, line in enumerate(lines) if re.search(r"\sbl\s.*<stop>", line)]
    first, second = (int(lines[at + 1].split(":")[0], 16) | (arch == "arm") for at in calls)
    names = guest.Names(tmp_path / "code.elf", [tmp_path])
    try:
        named, shown, fed = names.line(f" 0x{first:x}")
        assert re.fullmatch(r" outer\+0x\w+/0x\w+", named)
        assert re.fullmatch(r" outer\S+ +code\.c:6 \(inlined: inner\(\) code\.c:3\)", shown)
        assert fed == [f" inner {tmp_path}/code.c:3 [inline]", f"{named} {tmp_path}/code.c:6"]
        assert names.line(f"BUG: KASAN: double-free in 0x{second:x}").text.startswith(
            "BUG: KASAN: double-free in outer+0x"
        )
        names.moved = 0x1000
        assert names.line(f" {second + 0x1000:016x}").shown.endswith(" code.c:7")
        names.moved = None
        assert names.line(f" 0x{first:x}").text == f" 0x{first:x}"
        wide, shown, _ = names.line("Write of size 1 at addr 20006f9d by task sensor/3")
        assert wide == "Write of size 1 at addr 0000000020006f9d by task sensor/3"
        assert shown == "Write of size 1 at addr 20006f9d by task sensor/3"
    finally:
        names.close()
