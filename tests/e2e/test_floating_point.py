# SPDX-License-Identifier: MIT
"""Programs that compute with floating point: results are the host's, bit for bit, and bugs are reported."""

import json
import re
import shlex
import struct
from pathlib import Path

from redzone.build import builder
from redzone.core import process
from redzone.core.base import BUILD
from redzone.testing.needs import first

ROUNDS = 300_000
# Each step needs the last one's exact result. The machine's timer interrupts it a hundred times a second.
PROGRAM = """\
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf env;

static double logistic(double x, unsigned long steps)
{
	while (steps--)
		x = 3.9990234375 * x * (1.0 - x);
	return x;
}

static void show(const char *name, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	printf("%s %016llx\\n", name, (unsigned long long)bits);
}

static double add(int count, ...)
{
	double sum = 0;
	va_list args;

	va_start(args, count);
	while (count--)
		sum += va_arg(args, double);
	va_end(args);
	return sum;
}

static __attribute__((noinline)) double jump(double kept)
{
	double before = kept * 3.0;

	if (!setjmp(env)) {
		show("inside", logistic(0.25, 10));
		longjmp(env, 1);
	}
	return before + kept;
}

int main(int argc, char **argv)
{
	double *numbers = malloc(10 * sizeof(*numbers));
	volatile int at = AT;

	for (int i = 0; i < 8; i++)
		show("logistic", logistic(1.0 / (i + 3), ROUNDS));
	show("sum", add(10, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0));
	show("jump", jump(0.7));
	for (int i = 0; i < 10; i++)
		numbers[i] = i / 7.0;
	numbers[at] = 2.5;
	show("ninth", numbers[9]);
	free(numbers);
	return 0;
}
"""


def expected():
    def line(name, number):
        return f"{name} {struct.unpack('<Q', struct.pack('<d', number))[0]:016x}"

    def logistic(x, steps):
        for _ in range(steps):
            x = 3.9990234375 * x * (1.0 - x)
        return x

    lines = [line("logistic", logistic(1.0 / (i + 3), ROUNDS)) for i in range(8)]
    total = 0.0
    for number in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        total += number
    lines += [line("sum", total), line("inside", logistic(0.25, 10)), line("jump", 0.7 * 3.0 + 0.7)]
    return [*lines, line("ninth", 9 / 7.0)]


@first(
    2,
    "options",
    [(), ("--cc", "gcc"), ("--mode", "hw_tags")],
    ids=lambda options: "-".join(options) or "clang",
)
def test_results_are_the_hosts(redzone, source, options):
    words = ("--smp", "2", *options, "--cflag=-ffp-contract=off", f"-DROUNDS={ROUNDS}", "-DAT=3")
    result = redzone("run", *words, source(PROGRAM), status=0)
    names = ("logistic", "sum", "inside", "jump", "ninth")
    assert [line for line in result.stdout.splitlines() if line.startswith(names)] == expected()


def test_overflow_by_a_double(redzone, source):
    result = redzone("run", "-DROUNDS=1", "-DAT=10", source(PROGRAM), status=1)
    assert "BUG: KASAN: slab-out-of-bounds in main" in result.stdout
    assert "Write of size 8" in result.stdout


def test_neighbours_are_stored_one_by_one(redzone, source):
    """With vector registers a compiler could join these stores; the report would then name a wrong size."""
    text = """\
#include <stdlib.h>
int main(void)
{
	volatile unsigned long bytes = 3 * sizeof(int);
	int *p = malloc(bytes);

	p[0] = 1;
	p[1] = 2;
	p[2] = 3;
	p[3] = 4;
	__asm__ volatile("" : : "r"(p) : "memory");
	return 0;
}
"""
    result = redzone("run", source(text), status=1)
    assert "Write of size 4" in result.stdout
    assert "located 0 bytes to the right of" in result.stdout


# All but tests, and the files that only programs run.
WITHOUT_REGISTERS = ("kernel", "kernel-libc", "runtime")
VECTOR = re.compile(r"[\t ,{][vqdshb](?:[12]?\d|3[01])(?:\.\d*[bhsdq])?(?:\[\d+\])?(?=[,}]|$)")


def uses_of_registers(objects):
    """Return {object's file name: its instructions with a register of floating point}."""
    command = ["llvm-objdump-19", "-d", "--no-show-raw-insn", *map(str, objects)]
    found, name = {}, ""
    for line in process.output(command).splitlines():
        if "file format" in line:
            name = Path(line.partition(":")[0]).name
        elif re.match(r" *[0-9a-f]+:", line) and VECTOR.search(line.partition(":")[2].partition("<")[0]):
            found.setdefault(name, []).append(line)
    return found


@first(1, "cc", ["clang-19", "gcc"])
def test_kernel_has_none(redzone, source, cc):
    """No code of the kernel, its library and the runtime uses the registers, which are the program's: only
    the files that save them do. Floating point in a file of the kernel is an error."""
    redzone("run", "--cc", cc, source("int main(void)\n{\n\treturn 0;\n}\n"), status=0)
    preset = builder.preset_name(compiler=cc)
    entries = json.loads((BUILD / preset / "compile_commands.json").read_text(encoding="utf-8"))
    parts = {}
    for entry in entries:
        path = Path(entry["directory"], re.search(r" -o (\S+)", entry["command"])[1])
        part = re.search(r"CMakeFiles/([\w.-]+)\.dir/", str(path))[1]
        if path.exists():
            parts.setdefault(part, []).append(path)
    assert len(parts["kernel"]) > 100 and len(parts["runtime"]) > 30
    checked = [path for part in WITHOUT_REGISTERS for path in parts[part]]
    assert uses_of_registers(checked).keys() == {"fpu.S.obj", "setjmp.S.obj"}
    # It sees them where they are.
    assert "convert.c.obj" in uses_of_registers(parts["kernel-builtins"])
    kernel = next(entry for entry in entries if entry["file"].endswith("kernel/lib/sort.c"))
    words = shlex.split(kernel["command"])
    words[words.index("-o") + 1] = "/dev/null"
    words[words.index("-c") + 1] = source("double half(double x)\n{\n\treturn x / 2;\n}\n", "half.c")
    made = process.run(words, cwd=kernel["directory"])
    assert made.returncode != 0
    said = "aapcs" if cc == "clang-19" else "-mgeneral-regs-only"
    assert said in made.stderr, made.stderr
