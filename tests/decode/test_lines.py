# SPDX-License-Identifier: MIT
"""Each frame of a log gets its exact line: logs are made here from an ELF file with known functions.

The test finds the calls in the machine code with llvm-objdump, and the lines by reading the source. Neither
depends on the code that is tested.
"""

import gzip
import lzma
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import decode, reports
from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.elf import elffile
from redzone.core import process
from redzone.decode import exact
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, NOTYPE, Functions
from redzone.testing.needs import need

HERE = Path(__file__).parent
SOURCE = HERE / "image.c"
TEXT = SOURCE.read_text(encoding="utf-8").splitlines()
# name: (compiler, its options, where the code lies)
TARGETS = {
    "arm64-clang": (["clang-19", "--target=aarch64-none-elf", "-fuse-ld=lld"], 0xFFFF800080010000),
    "arm64-gcc": (["aarch64-linux-gnu-gcc", "-fuse-ld=bfd"], 0xFFFF800080010000),
    "riscv64-clang": (
        ["clang-19", "--target=riscv64-none-elf", "-mcmodel=medany", "-fuse-ld=lld"],
        0x80200000,
    ),
    "x86_64-clang": (
        ["clang-19", "--target=x86_64-linux-gnu", "-mcmodel=kernel", "-fuse-ld=lld"],
        0xFFFFFFFF81000000,
    ),
    "x86_64-gcc": (["x86_64-linux-gnu-gcc", "-mcmodel=kernel", "-fno-pie", "-no-pie"], 0xFFFFFFFF81000000),
    "thumb-clang": (["clang-19", "--target=thumbv7m-none-eabi", "-fuse-ld=lld"], 0x08000000),
}
MOVED = 0x2E00000
_CALL = re.compile(r"^\s*([0-9a-f]+):.*?\s(?:bl|call|callq|jal|jalr|auipc)\b.*<([\w.]+)>")
_FUNCTION = re.compile(r"^([0-9a-f]+) <(\w+)>:")
_ADDRESS = re.compile(r"^\s*([0-9a-f]+):")


@dataclass
class Built:
    """An ELF file. functions: {name: (address, size)}; calls: {(caller, callee): [return addresses]}."""

    path: Path
    functions: dict
    calls: dict
    thumb: bool = False

    def frame(self, caller, callee, which=0):
        """Return (name, offset, size, address) of the frame in @caller that called @callee."""
        start, size = self.functions[caller]
        address = self.calls[caller, callee][which]
        return caller, address - start, size, address


def read(path):
    """Return (functions, calls) of an ELF file, from llvm-objdump's text."""
    text = process.output(["llvm-objdump-19", "-d", "--no-show-raw-insn", path])
    functions, calls, current, pending = {}, {}, None, None
    for line in text.splitlines():
        head = _FUNCTION.match(line)
        if head:
            start = int(head[1], 16)
            if current:
                functions[current] = (functions[current][0], start - functions[current][0])
            current, functions[head[2]] = head[2], (start, 0)
            pending = None
            continue
        at = _ADDRESS.match(line)
        if at and pending:
            calls.setdefault(pending, []).append(int(at[1], 16))
            pending = None
        call = _CALL.match(line)
        if call and "+" not in call[2] and call[2] != current:
            pending = current, call[2]
    if current:
        symbols = process.output(["llvm-nm-19", "-S", path])
        size = re.search(rf"^[0-9a-f]+ ([0-9a-f]+) [tT] {current}$", symbols, re.MULTILINE)
        functions[current] = (functions[current][0], int(size[1], 16))
    return functions, calls


def line_of(text):
    """Return the number of the only line of the source that has @text."""
    found = [number for number, line in enumerate(TEXT, 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


@pytest.fixture(scope="module", params=TARGETS)
def built(request, tmp_path_factory):
    need(TARGETS[request.param][0][0], "llvm-objdump-19", "llvm-nm-19", "llvm-symbolizer-19")
    return build(request.param, tmp_path_factory.mktemp("image"))


def build(target, folder, *options):
    command, where = TARGETS[target]
    path = folder / "image.elf"
    subprocess.run(
        [
            *(
                *command,
                "-O2",
                "-g",
                "-ffreestanding",
                "-nostdlib",
                "-static",
                "-fno-pic",
                "-fno-optimize-sibling-calls",
            ),
            *("-fno-stack-protector", "-Wall", "-Werror", "-Wl,--build-id=sha1", f"-Wl,-Ttext={where:#x}"),
            *(*options, str(SOURCE), "-o", str(path)),
        ],
        check=True,
    )
    return Built(path, *read(path), thumb=target.startswith("thumb"))


@pytest.fixture(scope="module")
def pie(tmp_path_factory):
    """A position-independent image, linked for 0."""
    need("clang-19", "ld.lld-19", "llvm-objdump-19", "llvm-nm-19", "llvm-symbolizer-19")
    options = ["-fpie", "-Wl,-pie,--no-dynamic-linker,-Ttext=0x1000"]
    return build("riscv64-clang", tmp_path_factory.mktemp("pie"), *options)


def access_frames(built):
    return [
        built.frame("parse_packet", "check_bad_access"),
        built.frame("receive", "parse_packet"),
        built.frame("_start", "receive"),
    ]


def check(report):
    """The lines of the report of write_log() are those of the calls in the source."""
    call, allocated, freed = (report.stack(kind) for kind in ("call", "allocated", "freed"))
    places = [[(one.function, one.line) for one in frame.locations] for frame in call.frames]
    assert places == [
        [
            ("fill", line_of("check_bad_access(packet->data")),
            ("parse_packet", line_of("\tfill(packet, index)")),
        ],
        [("receive", line_of("\tparse_packet(packet, index);"))],
        [("_start", line_of("receive(counters[1])"))],
    ]
    assert all(Path(one.path) == SOURCE for frame in call.frames for one in frame.locations)
    assert [(one.function, one.line) for one in allocated.frames[0].locations] == [
        ("new_packet", line_of("check_alloc(sizeof(*packet))"))
    ]
    assert [one.line for one in allocated.frames[1].locations] == [line_of("packet = new_packet();")]
    assert [one.line for one in freed.frames[0].locations] == [line_of("\tcheck_free(packet);")]
    assert [one.line for one in freed.frames[1].locations] == [line_of("\tdrop_packet(packet);")]


def linux(frames, allocated, freed, prefix="[   12.345678][  T123] ", module=""):
    """Return a report as Linux prints it."""

    def shown(trace, space=" "):
        return [f"{space}{name}+{offset:#x}/{size:#x}{module}" for name, offset, size, _ in trace]

    lines = [
        "=" * 66,
        f"BUG: KASAN: slab-use-after-free in {shown(frames, '')[0]}",
        "Write of size 1 at addr ffff888012345010 by task syz-executor.0/4711",
        "",
        "CPU: 1 UID: 0 PID: 4711 Comm: syz-executor.0 Not tainted 6.12.0 #1 ",
        "Call Trace:",
        " <TASK>",
        *shown(frames),
        " </TASK>",
        "",
        "Allocated by task 4711:",
        *shown(allocated),
        "",
        "Freed by task 4711:",
        *shown(freed),
        "",
        "The buggy address belongs to the object at ffff888012345000",
        " which belongs to the cache kmalloc-64 of size 64",
        "The buggy address is located 16 bytes inside of",
        " freed 56-byte region [ffff888012345000, ffff888012345038)",
        "",
        "Memory state around the buggy address:",
        " ffff888012344f80: fc fc fc fc fc fc fc fc fc fc fc fc fc fc fc fc",
        ">ffff888012345000: fa fb fb fb fb fb fb fb fc fc fc fc fc fc fc fc",
        "                         ^",
        " ffff888012345080: fc fc fc fc fc fc fc fc fc fc fc fc fc fc fc fc",
        "=" * 66,
    ]
    return "".join(f"{prefix}{line}\n" for line in lines)


def traces(built):
    return (
        access_frames(built),
        [built.frame("new_packet", "check_alloc"), built.frame("receive", "new_packet")],
        [built.frame("drop_packet", "check_free"), built.frame("receive", "drop_packet")],
    )


def test_linux(built):
    log = decode(linux(*traces(built)), [built.path])
    assert not log.notes
    check(reports(log)[0])
    assert reports(log)[0].title.startswith("BUG: KASAN: slab-use-after-free in parse_packet")


def test_addresses_only(built):
    """A microcontroller without a symbol table, with the Thumb bit where there is one."""
    bit = int(built.thumb)
    digits = 8 if built.thumb else 16
    text = linux(*traces(built), prefix="")
    for name, offset, size, address in [one for trace in traces(built) for one in trace]:
        text = text.replace(f"{name}+{offset:#x}/{size:#x}", f"0x{address | bit:0{digits}x}")
    log = decode(text, [built.path])
    report = reports(log)[0]
    check(report)
    assert [frame.name for frame in report.stack("call").frames] == ["parse_packet", "receive", "_start"]
    assert log.bugs[0].title == "KASAN: slab-use-after-free Write in parse_packet"


def test_kaslr_from_the_log(built):
    """Addresses only, moved by an offset that the log tells behind the report."""
    text = linux(*traces(built))
    for name, offset, size, address in [one for trace in traces(built) for one in trace]:
        text = text.replace(
            f" {name}+{offset:#x}/{size:#x}", f" [<{address + MOVED:016x}>] 0x{address + MOVED:x}"
        )
    text += "[   13.000000][  T123] Kernel Offset: 0x2e00000 from 0xffffffff81000000 \n"
    log = decode(text, [built.path])
    check(reports(log)[0])
    assert [one.offset for one in log.images] == [MOVED]


def moved_log(built, offset):
    """Return a log of addresses only, of the image moved by @offset."""
    mask = 0xFFFFFFFF if built.thumb else (1 << 64) - 1
    text = linux(*traces(built), prefix="")
    for name, offset_in, size, address in [one for trace in traces(built) for one in trace]:
        text = text.replace(f"{name}+{offset_in:#x}/{size:#x}", f"0x{(address + offset) & mask:x}")
    return text


@pytest.mark.parametrize("offset", [MOVED, -0x7000, 0xFFFFFFFF00000000])
def test_a_load_offset(built, offset):
    """The log has the line that a port prints at boot, or the user knows the number. A number without a sign
    also means that the image was moved down."""
    mask = 0xFFFFFFFF if built.thumb else (1 << 64) - 1
    text = moved_log(built, offset)
    line = f"Kernel Offset: {offset & mask:#x}\n"
    for log in (decode(line + text, [built.path]), decode(text, [built.path], offset=offset)):
        check(reports(log)[0])
        assert log.bugs[0].title == "KASAN: slab-use-after-free Write in parse_packet"
        assert not log.notes
    # The option is for logs whose line is another image's.
    log = decode(f"Kernel Offset: 0x1000\n{text}", [built.path], offset=offset)
    check(reports(log)[0])


def test_load_offset_as_an_option(pie, run_decode, tmp_path):
    file = tmp_path / "log"
    for offset, shown in ((0x80000000, "0x80000000"), (4096, "4096"), (-0x1000, "-0x1000")):
        file.write_text(moved_log(pie, offset), encoding="utf-8")
        result = run_decode(file, "--elf", pie.path, f"--load-offset={shown}", status=1)
        assert "parse_packet" in result.stdout and "image.c:" in result.stdout
    for wrong in ("far", "0x10000000000000000", ""):
        result = run_decode(file, "--elf", pie.path, f"--load-offset={wrong}", status=2)
        assert "accepted: a number" in result.stderr
    assert "--elf" in run_decode(file, "--load-offset=1", status=2).stderr


def test_no_frame_lies_in_the_image(pie):
    """A position-independent image whose place the log does not tell: a note says what to do."""
    log = decode(moved_log(pie, 0x80000000), [pie.path])
    (note,) = log.notes
    assert "--load-offset" in note and "kasan_print_load_offset()" in note and str(pie.path.name) in note
    found = [0x80000000 + address for trace in traces(pie) for *_, address in trace]
    assert f"({min(found):#x}..{max(found):#x})" in note
    # Not if the frames have names, or lie in the image.
    assert not decode(linux(*traces(pie)), [pie.path]).notes
    assert not decode(moved_log(pie, 0), [pie.path]).notes


def test_u_boot(built):
    """U-Boot's console: addresses without 0x of a program that moved itself, and a prompt."""
    text = linux(*traces(built), prefix="")
    for name, offset, size, address in [one for trace in traces(built) for one in trace]:
        text = text.replace(f"{name}+{offset:#x}/{size:#x}", f"{(address + 0x7F000) & (1 << 64) - 1:016x}")
    text = (
        f"KASAN: window 0x40000000-0x47000000 shadow 0x7f000000 relocated by 0x7f000\r\n=> kasan\r\n{text}=> "
    )
    log = decode(text, [built.path])
    check(reports(log)[0])
    assert log.bugs[0].title == "KASAN: slab-use-after-free Write in parse_packet"
    assert not reports(log)[0].truncated


def test_kaslr_from_a_frame(built):
    """One frame has both its address and its name."""
    moved = 0x1A40000
    frames, allocated, freed = traces(built)
    text = linux(frames, allocated, freed)
    for name, offset, size, address in allocated + freed + frames[1:]:
        text = text.replace(
            f" {name}+{offset:#x}/{size:#x}", f" [<{address + moved:016x}>] 0x{address + moved:x}"
        )
    name, offset, size, address = frames[0]
    text = text.replace(f"] {' '}{name}+", f"]  [<{address + moved:016x}>] {name}+")
    log = decode(text, [built.path])
    check(reports(log)[0])
    assert [one.offset for one in log.images] == [moved]


def test_type_and_explanation(built):
    log = decode(linux(*traces(built)), [built.path])
    report = reports(log)[0]
    assert report.object.size == 56
    # With pointers of 4 bytes the type is smaller than the object: then it is not said.
    assert report.object.type == ("" if built.thumb else "struct packet")
    assert [one.about for one in report.excerpts] == ["call", "allocated", "freed"]
    bad = [line.text for one in report.excerpts for line in one.lines if line.bad]
    assert "check_bad_access(packet->data + index);" in bad[0]
    assert "check_alloc(sizeof(*packet))" in bad[1]


def test_global_variable(built):
    """The address says which variable it is, and the debug information where it is declared."""
    text = process.output(["llvm-nm-19", built.path])
    start = int(re.search(r"^([0-9a-f]+) . counters$", text, re.MULTILINE)[1], 16)
    (name, offset, size, _), *_ = access_frames(built)
    log = decode(
        f"{'=' * 66}\nBUG: KASAN: global-out-of-bounds in {name}+{offset:#x}/{size:#x}\n"
        f"Read of size 4 at addr {start + 20:016x} by task main/2\n\n"
        f"Call trace:\n {name}+{offset:#x}/{size:#x}\n\n"
        "The buggy address belongs to the variable:\n counters+0x14/0x10\n defined in image.c\n"
        f"{'=' * 66}\n",
        [built.path],
    )
    found = reports(log)[0].object
    assert (found.kind, found.name, found.size, found.side, found.distance) == (
        "global",
        "counters",
        16,
        "right",
        4,
    )
    assert (Path(found.where.path), found.where.line) == (SOURCE, line_of("int counters[4]"))
    assert "4 bytes past the end of the 16-byte global variable counters" in reports(log)[0].explanation[0]


def test_a_port_that_knows_no_sizes(built):
    """A size of 0 is one that kasan_port_symbol() did not know: the name and the offset give the line."""
    frames, allocated, freed = (
        [(name, offset, 0, address) for name, offset, _, address in trace] for trace in traces(built)
    )
    log = decode(linux(frames, allocated, freed), [built.path])
    assert not log.notes
    check(reports(log)[0])


def test_another_build_has_no_lines(built):
    """A function that has another size in the image is not looked up, and a note says so."""
    frames, allocated, freed = traces(built)

    def other(trace):
        return [(name, offset, size + 0x1000, address) for name, offset, size, address in trace]

    log = decode(linux(other(frames), other(allocated), other(freed)), [built.path])
    assert not any(frame.locations for stack in reports(log)[0].stacks for frame in stack.frames)
    assert any("another build" in note for note in log.notes)


def test_wrong_build_id(built, run_decode, tmp_path):
    """The log names the kernel's build ID, and the image has another: refused with both."""
    own = re.search(
        r"Build ID: ([0-9a-f]{40})",
        process.output(["llvm-readelf-19", "-n", built.path]),
    )[1]
    other = "0123456789abcdef0123456789abcdef01234567"
    log = tmp_path / "log"
    log.write_text(linux(*traces(built)).replace("6.12.0 #1 ", f"6.12.0 #1 {other}"), encoding="utf-8")
    result = run_decode(log, "--elf", built.path, status=2)
    assert own in result.stderr
    assert other in result.stderr
    log.write_text(linux(*traces(built)).replace("6.12.0 #1 ", f"6.12.0 #1 {own}"), encoding="utf-8")
    run_decode(log, "--elf", built.path, status=1)


def compile_module(path):
    command = ["clang-19", "--target=aarch64-none-elf", "-O2", "-g", "-ffreestanding", "-DMODULE", "-c"]
    subprocess.run([*command, "-fno-optimize-sibling-calls", SOURCE, "-o", path], check=True)


@pytest.mark.parametrize("debug", [False, True])
def test_module(tmp_path, debug):
    """Frames of a module: found by name, and a folder may have a stripped one and its debug information."""
    need("clang-19", "ld.lld-19", "llvm-objdump-19", "llvm-symbolizer-19", "llvm-objcopy-19")
    kernel = build("arm64-clang", tmp_path)
    folder = tmp_path / "lib" / "drivers"
    folder.mkdir(parents=True)
    module = folder / "test-module.ko"
    compile_module(module)
    functions, _ = read(module)
    # The calls of an object file have no targets yet: count the instructions behind each `bl`.
    text = process.output(["llvm-objdump-19", "-dr", "--no-show-raw-insn", module])
    after = {
        name: [int(match, 16) + 4 for match in re.findall(r"^\s*([0-9a-f]+):\s+bl\b", body, re.MULTILINE)]
        for name, body in re.findall(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n)+)", text, re.MULTILINE)
    }
    if debug:
        shutil.copy(module, folder / "test-module.ko.debug")
        subprocess.run(["llvm-objcopy-19", "--strip-debug", str(module)], check=True)

    def frame(name, which):
        start, size = functions[name]
        return name, after[name][which] - start, size, 0

    trace = [frame("module_helper", 1), frame("module_entry", 0)]
    log = decode(linux(trace, trace, trace, module=" [test_module]"), [kernel.path], modules=tmp_path / "lib")
    found = reports(log)[0].stack("call").frames
    assert [[one.line for one in frame.locations] for frame in found] == [
        [line_of("\tcheck_bad_access(at);")],
        [line_of("int sum = module_helper(at);")],
    ]
    assert found[0].module == "test_module"


_PACKED = {
    ".gz": lambda data: gzip.compress(data),
    ".xz": lambda data: lzma.compress(data),
    ".zst": lambda data: subprocess.run(["zstd", "-qc"], input=data, check=True, capture_output=True).stdout,
}


@pytest.fixture(scope="module")
def packet_module(tmp_path_factory):
    """Return (the kernel, the bytes of a module, its build ID, a log with a frame of it, its line)."""
    need("clang-19", "ld.lld-19", "llvm-objdump-19", "llvm-symbolizer-19")
    folder = tmp_path_factory.mktemp("module")
    kernel = build("arm64-clang", folder)
    part, module = folder / "part.o", folder / "whole.ko"
    compile_module(part)
    subprocess.run(["ld.lld-19", "-r", "--build-id=sha1", str(part), "-o", str(module)], check=True)
    start, size = read(module)[0]["module_entry"]
    text = process.output(
        ["llvm-objdump-19", "-d", "--disassemble-symbols=module_entry", "--no-show-raw-insn", module]
    )
    call = int(re.search(r"^\s*([0-9a-f]+):\s+bl\b", text, re.MULTILINE)[1], 16)
    with open(module, "rb") as file:
        note = elffile.ELFFile(file).get_section_by_name(".note.gnu.build-id")
        build_id = next(note.iter_notes())["n_desc"]
    trace = [("module_entry", call + 4 - start, size, 0)]
    log = linux(trace, trace, trace, module=f" [test_module {build_id}]")
    return kernel, module.read_bytes(), build_id, log, line_of("int sum = module_helper(at);")


def lines_of_call(log):
    return [[one.line for one in frame.locations] for frame in reports(log)[0].stack("call").frames]


@pytest.mark.parametrize("suffix", _PACKED)
def test_packed_module(packet_module, tmp_path, suffix):
    """Distributions compress modules."""
    if suffix == ".zst":
        need("zstd")
    kernel, data, _, log, line = packet_module
    path = tmp_path / f"test-module.ko{suffix}"
    path.write_bytes(_PACKED[suffix](data))
    assert lines_of_call(decode(log, [kernel.path], modules=tmp_path)) == [[line]]
    # A damaged one is not used, and a note says so.
    path.write_bytes(path.read_bytes()[:-40])
    found = decode(log, [kernel.path], modules=tmp_path)
    assert lines_of_call(found) == [[]]
    assert any("cannot be unpacked" in note for note in found.notes)


def test_debug_file_by_build_id(packet_module, tmp_path):
    """Distributions keep debug information in files that are named by the build ID."""
    kernel, data, build_id, log, line = packet_module
    path = tmp_path / "usr/lib/debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert lines_of_call(decode(log, [kernel.path], modules=tmp_path)) == [[line]]


def first_byte(path, name):
    """Return where the variable @name begins, in bytes from its function's frame record."""
    with open(path, "rb") as file:
        dwarf = elffile.ELFFile(file).get_dwarf_info()
        (unit,) = dwarf.iter_CUs()
        die = next(one for one in unit.iter_DIEs() if name in map(str, map(_plain, one.attributes.values())))
        (operation,) = DWARFExprParser(unit.structs).parse_expr(die.attributes["DW_AT_location"].value)
        assert operation.op_name == "DW_OP_fbreg"
        return operation.args[0]


def _plain(attribute):
    return attribute.value.decode() if isinstance(attribute.value, bytes) else ""


@pytest.mark.parametrize("where", ["behind", "before", "inside"])
def test_variable_of_a_frame(tmp_path, where):
    """With tags on the stack, the report says where in a frame the memory is, and the image whose it is."""
    need("clang-19", "llvm-objdump-19", "llvm-symbolizer-19")
    code = tmp_path / "frame.c"
    code.write_text(
        "void use(volatile char *p) { *p = 1; }\n"
        "int outer(int n)\n{\n\tvolatile char only[24];\n\tvolatile char moves[n];\n\n"
        "\tuse(only);\n\tuse(moves);\n\treturn only[n];\n}\n"
        "void _start(void) { outer(1); }\n"
    )
    path = tmp_path / "frame.elf"
    options = ("--target=aarch64-none-elf", "-nostdlib", "-fuse-ld=lld", "-g", "-O0")
    command = ["clang-19", *options, "-fno-omit-frame-pointer", str(code), "-o", str(path)]
    subprocess.run(command, check=True)
    _, size = read(path)[0]["outer"]
    at, tagged, words = {
        "behind": (24, "which end 0 bytes before", "just past the end"),
        "before": (-1, "which begin 1 bytes behind", "1 byte before the start"),
        "inside": (3, "", "3 bytes inside"),
    }[where]
    tagged = f"The pointer's tag is that of 16 bytes, {tagged} it\n" if tagged else ""
    distance = -first_byte(path, "only") - at
    text = (
        f"{'=' * 66}\nBUG: KASAN: stack-out-of-bounds in use+0x4/0x8\n"
        "Write of size 1 at addr f1ff800012345010 by task a/1\nPointer tag: [f1], memory tag: [fe]\n\n"
        "Call trace:\n use+0x4/0x8\n\nThe buggy address belongs to stack of task a/1\n and is located "
        f"{distance} bytes below the frame record of:\n outer+0x10/{size:#x}\n{tagged}\n{'=' * 66}\n"
    )
    (report,) = reports(decode(text, [path]))
    wanted = f"The address lies {words} of the 24-byte variable 'only' (line 4) in the frame of outer()."
    assert wanted in report.explanation, report.explanation
    (excerpt,) = (one for one in report.excerpts if one.about == "variable")
    assert [line.text.strip() for line in excerpt.lines if line.bad] == ["volatile char only[24];"]


def test_interrupted_instruction(tmp_path):
    """The frame behind an exception's entry is the instruction itself, though it follows a call."""
    need("clang-19", "llvm-symbolizer-19")
    kernel = build("arm64-clang", tmp_path)
    name, offset, size, _ = kernel.frame("receive", "new_packet")
    text = (
        f"{'=' * 66}\nBUG: KASAN: invalid-access in {name}+{offset:#x}/{size:#x}\n"
        "Write at addr f1ff000012345010 by task a/1\nPointer tag: [f1], memory tag: [fe]\n\n"
        f"Call trace:\n do_mem_abort+0x3c/0xd4\n el1_abort+0x40/0x60\n el1h_64_sync_handler+0x6c/0xf8\n"
        f" el1h_64_sync+0x64/0x68\n {name}+{offset:#x}/{size:#x}\n{'=' * 66}\n"
    )
    log = decode(text, [kernel.path])
    frame = reports(log)[0].stack("call").frames[-1]
    assert frame.exact
    # Not the line of the call.
    assert frame.locations[-1].line != line_of("packet = new_packet();")


AFTER_CALLS = """
	.globl	_start, make, __asan_report_load4_noabort, first, second
	.type	make, %function
	.type	__asan_report_load4_noabort, %function
make:
	ret
	.size	make, . - make
__asan_report_load4_noabort:
	ret
	.size	__asan_report_load4_noabort, . - __asan_report_load4_noabort
_start:
	CALL	make
first:
	LOAD
	CALL	__asan_report_load4_noabort
second:
	LOAD
	ret
"""


@pytest.mark.parametrize(
    ("target", "call", "load"),
    [
        ("aarch64-none-elf", "bl", "ldr w0, [x0]"),
        ("riscv64-unknown-elf", "call", "lw a0, 0(a0)"),
        ("riscv64-unknown-elf", "jal", "lw a0, 0(a0)"),
        ("riscv64-unknown-elf", "call", "lw t0, 0(t1)"),
    ],
)
def test_an_access_after_a_call(tmp_path, target, call, load):
    """It is the place of the report, unless the call has made it for its caller."""
    need("clang-19")
    source, path = tmp_path / "calls.S", tmp_path / "calls.elf"
    source.write_text(AFTER_CALLS.replace("CALL", call).replace("LOAD", load))
    options = (f"--target={target}", "-nostdlib", "-fuse-ld=lld")
    subprocess.run(["clang-19", *options, source, "-o", path], check=True)
    file = File.open(path)
    functions = Functions(file, (FUNC, NOTYPE))
    first, second = (functions.find(name)[0].address for name in ("first", "second"))
    code = exact.Code(file, functions)
    assert code.follows_call(first) and code.follows_call(second)
    assert code.is_exact(first, False, 8, ("read", 4))
    assert not code.is_exact(first, False, 8, ("write", 4))
    assert not code.is_exact(first, False, 8, ("read", 8))
    assert not code.is_exact(first, False, 8, None)
    assert not code.is_exact(second, False, 16, ("read", 4))
