# SPDX-License-Identifier: MIT
"""GCC's register variables before inline assembly: outline checks overwrite them, and `audit --dumps`
finds where."""

import subprocess

import pytest
from kit import call, first, need
from redzone.core import process
from redzone.core.base import Failure
from redzone.kit import audit, audit_dumps

STRUCT = "struct args { long number, first; };\n"
# As a system call is written: two registers, from memory.
LOST = (
    STRUCT
    + """
long call(struct args *a)
{
	register long number __asm__("%s") = a->number;
	register long first __asm__("%s") = a->first;

	__asm__ volatile("nop\\n\\tnop" : "+r"(number) : "r"(first) : "memory");
	return number;
}
"""
)
RIGHT = (
    STRUCT
    + """
long call(struct args *a)
{
	const long wanted = a->number, given = a->first;
	register long number __asm__("%s") = wanted;
	register long first __asm__("%s") = given;

	__asm__ volatile("nop\\n\\tnop" : "+r"(number) : "r"(first) : "memory");
	return number;
}
"""
)
MAIN = """
struct args { long number, first; };
long call(struct args *a);
void __asan_load8_noabort(void *addr) {
	__asm__ volatile("xor %%eax, %%eax" : : : "rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11");
}
int main(void) { struct args a = {5, 7}; return (int)call(&a); }
"""
CHECKS = ["-fsanitize=kernel-address", "--param", "asan-instrumentation-with-call-threshold=0"]
INLINE = [*CHECKS[:2], "asan-instrumentation-with-call-threshold=10000", "-fasan-shadow-offset=0x1000000"]
GCC = {
    "x86_64": ("x86_64-linux-gnu-gcc", "rax", "rdi", "rbx"),
    "arm64": ("aarch64-linux-gnu-gcc", "x8", "x0", "x19"),
    "arm": ("arm-none-eabi-gcc", "r3", "r0", "r6"),
    "riscv64": ("riscv64-linux-gnu-gcc", "a7", "a0", "s1"),
}


def dump(folder, arch, source, *options, where="-fdump-tree-optimized-lineno"):
    need(GCC[arch][0])
    folder.mkdir(exist_ok=True)
    (folder / "call.c").write_text(source)
    call([GCC[arch][0], "-O2", *options, where, "-c", "call.c", "-o", "call.o"], folder)
    return audit_dumps.findings([folder], arch)


@first(2, "arch", GCC)
def test_what_an_outline_check_overwrites_is_found(tmp_path, arch):
    _, number, other, kept = GCC[arch]
    lost = dump(tmp_path / "lost", arch, LOST % (number, other), *CHECKS)
    assert len(lost) == 1 and f"register variable number ({number})" in lost[0], lost
    assert lost[0].startswith("call.c:") and "__asan_load" in lost[0] and "in call()" in lost[0]
    assert (
        len(dump(tmp_path / "plain", arch, LOST % (number, other), *CHECKS, where="-fdump-tree-optimized"))
        == 1
    )
    for name, source, options in (
        ("right", RIGHT % (number, other), CHECKS),
        ("unchecked", LOST % (number, other), []),
        ("inline", LOST % (number, other), INLINE),
        ("kept", LOST % (kept, other), CHECKS),
    ):
        assert dump(tmp_path / name, arch, source, *options) == [], name


def test_the_code_is_wrong_and_the_mended_code_is_not(tmp_path):
    """GCC drops the first assignment. The call gives 5 without checks, and if memory was read before."""
    need("x86_64-linux-gnu-gcc")
    (tmp_path / "main.c").write_text(MAIN)

    def result(source, *options):
        (tmp_path / "call.c").write_text(source % ("rax", "rdi"))
        call(["x86_64-linux-gnu-gcc", "-O2", *options, "-c", "call.c"], tmp_path)
        call(["x86_64-linux-gnu-gcc", "-O1", "main.c", "call.o", "-o", "run"], tmp_path)
        return process.run([tmp_path / "run"], stderr=subprocess.STDOUT, timeout=20).returncode

    assert result(LOST) == 5
    assert result(LOST, *CHECKS) != 5
    assert result(RIGHT, *CHECKS) == 5


def test_the_audit_takes_dumps(tmp_path):
    dump(tmp_path, "arm64", LOST % ("x8", "x0"), *CHECKS)
    found = audit.audit([tmp_path / "call.o"], dumps=[tmp_path])["findings"]
    assert any("register variable number (x8)" in finding for finding in found)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Failure, match="-fdump-tree-optimized-lineno"):
        audit_dumps.findings([empty], "arm64")
    with pytest.raises(Failure, match="cannot read"):
        audit_dumps.findings([tmp_path / "none.optimized"], "arm64")
