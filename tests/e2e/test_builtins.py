# SPDX-License-Identifier: MIT
"""kernel/builtins, what compilers call: the results are libgcc's, and the shadow call stack is left alone.
All other code that is linked in leaves it alone as well."""

import subprocess
from fnmatch import fnmatch

import shadow_calls
from redzone.build import builder
from redzone.core import process
from redzone.core.base import BUILD, ROOT
from redzone.testing.needs import first, need

COMPILERS = ("clang-19", "gcc")
GCC = "aarch64-linux-gnu-gcc"
# One round compares each function in each rounding mode.
ROUNDS = 2000


@first(1, "cc", COMPILERS)
def test_results_are_those_of_libgcc(redzone, tmp_path, cc):
    """Bit for bit, with the exceptions of floating point. `run` with more rounds takes the same program."""
    need(GCC)
    own = process.output([GCC, "-print-libgcc-file-name"])
    library = tmp_path / "libgcc.a"
    subprocess.run(["llvm-objcopy-19", "--prefix-symbols=gcc_", own.strip(), str(library)], check=True)
    program = ROOT / "tests" / "builtins" / "compare.c"
    result = redzone("run", "--mode", "off", "--cc", cc, program, library, "--", ROUNDS, status=0)
    checked = next(line for line in result.stdout.splitlines() if line.startswith("checked "))
    assert int(checked.split()[1].rstrip(",")) > 150 * ROUNDS
    assert checked.endswith("different 0")


# What libgcc has and kernel/builtins has not. The last four came with GCC 13 and 14.
ABSENT = {
    "__bswapsi2 __bswapdi2 __clrsbdi2 __clrsbti2 __cmpti2 __ucmpti2 __multi3 __negti2 "
    "__fixunssfdi __fixunsdfdi": "compilers make one or a few instructions of it",
    "__enable_execute_stack __eprintf __gcc_bcmp": "not for code of today",
    "__aarch64_sync_cache_range __sfp_handle_exceptions __udiv_w_sdiv": "called by libgcc itself only",
    "__aarch64_cas16_acq __aarch64_cas16_acq_rel __aarch64_cas16_rel __aarch64_cas16_relax "
    "__aarch64_cas16_sync": "programs have no atomic access to 16 bytes: it is in libatomic",
    "__bid* __binary*_to_bid* __dfp_* isinfd*": "decimal floating point",
    "__*bitint*": "_BitInt of more than 128 bits",
    "__*bf2 __extendbf*2 __float*bf": "__bf16, which small CPUs convert by calls",
    "__hardcfr_check __strub_* __init_cpu_features*": "options that no program here is compiled with",
}


def test_every_name_of_libgcc(redzone):
    """A compiler may call each of them; a later one may call more than today's."""
    need(GCC)
    preset = "arm64-off-clang"
    redzone("build", preset, status=0)
    # Only programs are linked with them.
    process.output(["cmake", "--build", str(BUILD / preset), "--target", "kernel-builtins"])

    def functions(*files):
        lines = process.output(["llvm-nm-19", "--defined-only", "--format=posix", *map(str, files)])
        return {line.split()[0] for line in lines.splitlines() if " T " in line}

    folder = BUILD / preset / "CMakeFiles" / "kernel-builtins.dir"
    objects = sorted(folder.rglob("*.obj"))
    assert objects
    library = process.output([GCC, "-print-libgcc-file-name"]).strip()
    absent = [pattern for group in ABSENT for pattern in group.split()]
    missing = functions(library) - functions(*objects)
    assert [name for name in sorted(missing) if not any(fnmatch(name, one) for one in absent)] == []


NUMBERS = """\
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	volatile long double third = 1;
	volatile unsigned __int128 wide = (unsigned __int128)1 << 100;
	volatile __int128 negative = -(__int128)wide;
	volatile double complex i = I;
	__int128 product;

	third /= 3;
	wide /= 1000000007;
	i /= 2 - I;
	printf("%f %.20Lf %llx%016llx %d\\n", strtod("3.25", NULL), third, (unsigned long long)(wide >> 64),
		(unsigned long long)wide, __builtin_mul_overflow(negative, negative, &product));
	printf("%.2f %.2f\\n", creal(i), cimag(i));
	return 0;
}
"""
QUOTIENT = f"{2**100 // 1000000007:x}"


# Each needs a kernel of its own.
@first(
    0,
    ("mode", "cc"),
    [
        ("generic", "clang-19"),
        ("sw_tags", "gcc"),
        ("generic", "gcc"),
        ("sw_tags", "clang-19"),
        ("hw_tags", "clang-19"),
        ("hw_tags", "gcc"),
    ],
)
def test_with_a_shadow_call_stack(redzone, source, cc, mode):
    # GCC has no inline checks with software tags.
    where = "outline" if (cc, mode) == ("gcc", "sw_tags") else "inline"
    options = ["--outline"] if where == "outline" else []
    result = redzone(
        "run", "--shadow-call-stack", "--cc", cc, "--mode", mode, *options, source(NUMBERS), status=0
    )
    assert f"3.250000 0.33333333333333333333 {QUOTIENT} 1\n-0.20 0.40\n" in result.stdout
    preset = builder.preset_name(compiler=cc, mode=mode, instrumentation=where) + "+scs"
    nm = ["llvm-nm-19", "--defined-only", "--format=just-symbols"]
    nm += [str(path) for path in (BUILD / preset / "CMakeFiles").rglob("kernel/**/*.S.obj")]
    assembly = set(process.output(nm).split())
    assert {"el1_irq", "cpu_switch_to", "setjmp"} <= assembly
    found = shadow_calls.users("llvm-objdump-19", BUILD / preset / "program.elf")
    # The kernel's own assembly keeps the pointer, and a call on another stack puts it back
    # (kasan_arch_call_on()). No other code does more than push, pop and copy.
    assert {"el1_irq", "cpu_switch_to"} <= set(found)
    assert set(found) - assembly <= {"kasan_on_own_stack"}
    assert found.get("kasan_on_own_stack", ["mov x18, x21"])[0] == "mov x18, x21"


SCRATCH = """\
__attribute__((noinline)) long middle(long a)
{
	register long scratch __asm__("x18") = a;

	__asm__ volatile("" : "+r"(scratch));
	return scratch;
}
"""
CALLER = "long middle(long a);\n\nint main(void)\n{\n\treturn (int)middle(1) - 1;\n}\n"


@first(1, "option", ["", "--each"])
def test_objects_that_use_the_register(redzone, source, tmp_path, option):
    """Code that was compiled without -ffixed-x18 is refused: it would return to nowhere."""
    made = tmp_path / "scratch.o"
    command = [
        "clang-19",
        "--target=aarch64-linux-gnu",
        "-O2",
        "-c",
        source(SCRATCH, "scratch.c"),
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True)
    words = ["run", source(CALLER), *(["--each", "--library"] if option else []), made]
    redzone(*words, status=0)
    result = redzone(*words, "--shadow-call-stack", status=2)
    assert "error: middle() uses register x18 (" in result.stderr
    assert "compile its file with -ffixed-x18, or run without --shadow-call-stack" in result.stderr


def users(folder, lines, *options):
    """Assemble @lines, {name of a function: code}. Return what shadow_calls.users() finds."""
    text = "".join(f".type {name}, %function\n{name}:\n\t{code}\n" for name, code in lines.items())
    (folder / "uses.s").write_text(text, encoding="utf-8")
    subprocess.run(["clang-19", *options, "-c", "uses.s", "-o", "uses.o"], cwd=folder, check=True)
    return shadow_calls.users("llvm-objdump-19", folder / "uses.o")


def test_uses_of_the_register(tmp_path):
    """What is a use: not a push, a pop, a copy, nor a name or a number that looks like the register."""
    lines = {
        "push": "str x30, [x18], #8",
        "pop": "ldr x30, [x18, #-8]!",
        "copy": "mov x9, x18",
        "number": "ldr x0, [sp, #0x18]",
        "call": "bl f_x18",
        "f_x18": "ret",
        "moved": "mov x18, x9",
        "narrow": "add w18, w18, #1",
        "stored": "stp x17, x18, [sp]",
        "base": "ldr x0, [x18]",
    }
    found = users(tmp_path, lines, "--target=aarch64-none-elf")
    assert set(found) == {"moved", "narrow", "stored", "base"}


def test_uses_of_the_registers_of_riscv64(tmp_path):
    """There the pointer is gp, and the running task s11, which may be read."""
    lines = {
        "push": "addi gp, gp, 8\n\tsd ra, -8(gp)",
        "pop": "ld ra, -8(gp)\n\taddi gp, gp, -8",
        "copy": "mv a0, gp",
        "task": "mv a0, s11",
        "cpu": "ld a0, 112(s11)",
        "field": "sd a0, 8(s11)",
        "branch": "beqz s11, branch",
        "saved": "sd s11, 8(sp)",
        "call": "call f_gp",
        "f_gp": "ret",
        "moved": "mv gp, a0",
        "raised": "addi gp, gp, 16",
        "base": "ld a0, 0(gp)",
        "restored": "ld s11, 8(sp)",
        "counted": "addi s11, s11, 1",
        "set": "li s11, 1",
    }
    found = users(tmp_path, lines, "--target=riscv64-unknown-elf", "-march=rv64gc")
    assert set(found) == {"moved", "raised", "base", "restored", "counted", "set"}
    assert {one[1] for one in found.values()} == {"gp", "s11"}
