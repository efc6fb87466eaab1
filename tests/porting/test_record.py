# SPDX-License-Identifier: MIT
"""The crash record on machines that are reset: by themselves, and in the middle of writing a report."""

import re
import shutil
import threading

import pytest
from kit import ROOT, boot, make_template
from redzone.core import process
from redzone.core.base import Failure
from redzone.decode import record
from redzone.machine import gdbstub

DEFINE = "KASAN_DEFINES=CONFIG_KASAN_DEPOT_SIZE=65536UL CONFIG_KASAN_DEPOT_BUCKETS=256 CONFIG_KASAN_RECORD=1"
TARGETS = [("arm64", "clang-19", 0x42000000), ("cortex-m3", "gcc", 0x203F0000)]
# Places in the record: of the header's words, and of the first report.
BEGUN, FIRST = 16, 32


class Stub(gdbstub.Stub):
    """Can wait for stores."""

    def run_to_store(self, address, times):
        """Run until the byte at @address has been written so many @times."""
        for _ in range(times):
            assert self._ask(f"Z2,{address:x},1") == "OK"
            assert self._ask("c").startswith("T")
            # The machine has stopped before the store.
            assert self._ask(f"z2,{address:x},1") == "OK"
            assert self._ask("s").startswith("T")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Return a function that builds the image of a target once."""
    built = {}

    def image(arch, cc):
        if arch not in built:
            tree = tmp_path_factory.mktemp(arch) / "tree"
            shutil.copytree(ROOT / "ports" / "template", tree, ignore=shutil.ignore_patterns("build"))
            shutil.copy(ROOT / "tests" / "porting" / "images" / "record.c", tree / "main.c")
            built[arch], _ = make_template(tree, arch, cc, DEFINE)
        return built[arch]

    return image


def boot_cut(arch, elf, path, address, times):
    """Boot the image; reset it when the byte at @address has been written @times. Return the console."""
    errors, ended = [], threading.Event()

    def follow():
        try:
            with Stub(path, 30, ended.is_set) as stub:
                stub.run_to_store(address, times)
                stub.monitor("system_reset")
                stub.let_go()
        except (Failure, AssertionError) as error:
            errors.append(error)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        status, console = boot(arch, elf, "generic", *gdbstub.options(path))
    finally:
        ended.set()
        thread.join()
    assert not errors, errors
    assert status == 0, console
    return console


def records(console):
    return [bytes.fromhex(text) for text in re.findall(r"^record ([0-9a-f]*)$", console, re.MULTILINE)]


def decode(*arguments):
    return process.run([ROOT / "redzone", "decode", *arguments], timeout=120)


def types(text):
    return re.findall(r"^BUG: KASAN: ([\w-]+) in ", text, re.MULTILINE)


@pytest.mark.parametrize(("arch", "cc", "at"), TARGETS)
def test_reports_after_a_reset(images, tmp_path, arch, cc, at):
    """The decoder makes the same bugs of the record as of the console, with stacks and lines."""
    elf = images(arch, cc)
    status, console = boot(arch, elf)
    assert status == 0, console
    first, second, cleared = records(console)
    place = record.place_of([elf])
    found = record.Record(first, place)
    assert types(found.text) == types(console)[:3] and found.reports == 3 and not found.notes
    later = record.Record(second, place)
    assert types(later.text) == types(console)
    assert later.notes == ["crash record: report 4 is of boot 2 since the record was cleared"]
    assert len(second) <= 512
    assert record.Record(cleared, place).reports == 0 and len(cleared) == 32
    file = tmp_path / "record.hex"
    file.write_text(second.hex(), encoding="ascii")
    result = decode("--record", file, "--elf", elf, "--all")
    assert result.returncode == 1, result.stdout + result.stderr
    log = tmp_path / "console.log"
    log.write_text(console, encoding="utf-8")
    plain = decode(log, "--elf", elf)
    titles = re.findall(r"^\d+\. (KASAN: .*)$", result.stdout, re.MULTILINE)
    assert len(titles) == 4 and titles == re.findall(r"^\d+\. (KASAN: .*)$", plain.stdout, re.MULTILINE)
    assert "16-byte object" in result.stdout and "allocated" in result.stdout.lower()
    assert re.search(r"heap_overflow.*main\.c:\d+", result.stdout)
    # As it is, too, and without an image.
    file.write_bytes(second)
    assert len(types(record.Record(record.read(file)).text)) == 4
    assert decode("--record", file, "-q").returncode == 1


# When: the byte, and how often it has been written. Then: whole reports at the next boot, and what is said.
CUTS = {
    "as the record is made": (100, 1, None, ""),
    "before a report is begun": (BEGUN, 3, 0, "reset when it began to write report 1"),
    "with nothing written": (FIRST, 2, 0, "report 1 is torn"),
    "in the type": (FIRST + 14, 2, 0, "report 1 is torn"),
    "in the trace": (FIRST + 40, 2, 1, "report 1 is torn"),
    "with all but the state": (FIRST + 4, 2, 1, "report 1 is torn"),
    "with all but the header": (FIRST, 3, 1, ""),
}


@pytest.mark.parametrize(("arch", "cc", "at"), TARGETS)
@pytest.mark.parametrize("cut", CUTS)
def test_resets_in_the_middle(images, tmp_path, arch, cc, at, cut):
    offset, times, whole, said = CUTS[cut]
    elf = images(arch, cc)
    console = boot_cut(arch, elf, tmp_path / "gdb", at + offset, times)
    first, second, _ = records(console)
    place = record.place_of([elf])
    found = record.Record(first, place)
    if whole is None:
        # No record was there, so the bugs came again.
        assert found.reports == 3 and not found.notes
        return
    assert said in " ".join(found.notes) and bool(said) == bool(found.notes), found.notes
    assert types(found.text) == ["slab-out-of-bounds"] * whole, found.text
    # What comes later is whole.
    assert types(record.Record(second, place).text)[-1] == "double-free"


def test_overwritten_bytes(images):
    """Whatever byte a bug changes: nothing wrong is shown as right, and what is not touched is shown."""
    elf = images(*TARGETS[0][:2])
    _, console = boot(TARGETS[0][0], elf)
    good = records(console)[1]
    place = record.place_of([elf])
    right = record.Record(good, place)
    blocks = set(right.text.split(66 * "="))
    for at in range(4, len(good)):
        for change in (0xFF, 0x01):
            bad = bytearray(good)
            bad[at] ^= change
            found = record.Record(bytes(bad), place)
            said = " ".join(found.notes)
            assert "overwritten" in said or "cut" in said, (at, found.notes)
            if at >= FIRST:
                assert found.reports == 3, at
            assert set(found.text.split(66 * "=")) <= blocks, at
    for length in range(32, len(good)):
        found = record.Record(good[:length], place)
        assert set(found.text.split(66 * "=")) <= blocks and "was cut" in " ".join(found.notes)
    for text in (b"", b"RCZ", b"12", b"hello"):
        with pytest.raises(Failure):
            record.Record(text)
