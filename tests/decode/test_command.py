# SPDX-License-Identifier: MIT
"""The command `./redzone decode`: exit statuses, standard input, --json, --baseline, messages."""

import json
import os
import re
import subprocess

import pytest
from conftest import ROOT, decode
from redzone.core import process
from redzone.decode import model
from redzone.testing.needs import need

GOLDEN = ROOT / "tests" / "golden"
UAF = GOLDEN / "slab-use-after-free.log"
OOB = GOLDEN / "slab-out-of-bounds.log"


def test_no_report(run_decode, tmp_path):
    log = tmp_path / "log"
    log.write_text("nothing\nat all\n", encoding="utf-8")
    result = run_decode(log)
    assert (result.returncode, result.stdout, result.stderr) == (0, "no report in 2 lines\n", "")
    assert run_decode("/dev/null").stdout == "no report in 0 lines\n"


def test_a_report(run_decode):
    result = run_decode(UAF, status=1)
    assert "1. KASAN: slab-use-after-free Read in read_after_free" in result.stdout
    address = re.search(r"at addr (\w+)", UAF.read_text(encoding="utf-8"))[1]
    access = f"read_after_free() read 8 bytes at 0x{address}, 24 bytes inside of an 80-byte object"
    assert access in result.stdout
    assert "1 report, 1 bug (generic 1)" in result.stdout


def test_standard_input(run_decode):
    for arguments in ((), ("-",)):
        result = run_decode(*arguments, "-q", input=UAF.read_text(encoding="utf-8"), status=1)
        assert "slab-use-after-free" in result.stdout


def test_json(run_decode, tmp_path):
    file = tmp_path / "out.json"
    run_decode(UAF, OOB, "-q", "--json", file, status=1)
    log = model.from_json(json.loads(file.read_text(encoding="utf-8")))
    assert (log.schema, log.reports, log.sources) == (1, 2, [str(UAF), str(OOB)])
    result = run_decode(UAF, OOB, "--json", "-")
    assert model.from_json(json.loads(result.stdout)) == log


def test_json_of_another_schema():
    data = model.to_json(decode(UAF.read_bytes()))
    with pytest.raises(ValueError, match="schema 2"):
        model.from_json({**data, "schema": 2})
    # A newer version of the schema may have more fields.
    assert model.from_json({**data, "news": 1}).reports == 1


def test_documented_schema():
    """docs/use/decode.md has each field of each class, and no other."""
    text = (ROOT / "docs" / "use" / "decode.md").read_text(encoding="utf-8")
    found = {
        name: set(re.findall(r"^  (\w+): ", fields, re.MULTILINE))
        for name, fields in re.findall(r"^interface (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    }
    import dataclasses

    classes = {
        name: {one.name for one in dataclasses.fields(value)}
        for name, value in vars(model).items()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    }
    assert found == classes


def test_baseline(run_decode, tmp_path):
    """A bug that the baseline has does not count; a new one does."""
    file = tmp_path / "known.json"
    run_decode(UAF, "-q", "--json", file, status=1)
    result = run_decode(UAF, "--baseline", file, status=0)
    assert "known" in result.stdout
    result = run_decode(UAF, OOB, "--baseline", file, status=1)
    assert "new" in result.stdout
    assert "heap_overflow() wrote" in result.stdout
    assert "read_after_free() read" not in result.stdout
    signature = json.loads(file.read_text(encoding="utf-8"))["bugs"][0]["signature"]
    plain = tmp_path / "known.txt"
    plain.write_text(f"# known\n{signature}  since 2021\n\n", encoding="utf-8")
    run_decode(UAF, "-q", "--baseline", plain, status=0)


def test_signature_of_the_next_build():
    """Addresses, offsets and times do not go into the signature; the function and the kind of access do."""
    text = UAF.read_text(encoding="utf-8")
    first = decode(text).bugs[0].signature
    moved = re.sub(r"\+0x[0-9a-f]+/0x[0-9a-f]+", "+0x123/0x456", text).replace("ffff00001f", "ffff00002f")
    assert decode(moved.replace("read_after_free+", "read_after_free.isra.0+")).bugs[0].signature == first
    assert decode(text.replace("Read of size", "Write of size")).bugs[0].signature != first
    assert decode(text.replace("read_after_free", "other")).bugs[0].signature != first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-log"], "there is no file 'no-such-log'"),
        (["-", "-"], "can be read once only"),
        ([str(UAF), "--modules", "."], "--modules also needs the kernel itself"),
        ([str(UAF), "--elf", "no-such-image"], "cannot read 'no-such-image'"),
        ([str(UAF), "--elf", str(UAF)], "cannot be read as ELF"),
        ([str(UAF), "--source", "no-such-folder"], "there is no such folder"),
        ([str(UAF), "--baseline", "no-such-file"], "cannot be read"),
        ([str(UAF), "--baseline", str(UAF)], "is not a signature"),
        ([str(UAF), "--json", "/no-such-folder/x"], "--json"),
    ],
)
def test_wrong_usage(run_decode, arguments, message):
    result = run_decode(*arguments, status=2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_damaged_images(run_decode, tmp_path):
    """An ELF file that was cut, or whose bytes were changed, gives a message and no traceback."""
    need("clang-19")
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    subprocess.run(["clang-19", "-g", "-c", str(source), "-o", str(tmp_path / "a.o")], check=True)
    data = (tmp_path / "a.o").read_bytes()
    for name, damaged in (
        ("cut", data[: len(data) // 2]),
        ("head", data[:52]),
        ("bad", data[:40] + b"\xff" * 24 + data[64:]),
    ):
        (tmp_path / name).write_bytes(damaged)
        result = run_decode(UAF, "-q", "--elf", tmp_path / name)
        assert "Traceback" not in result.stderr
        assert result.returncode == 2


def test_a_closed_pipe():
    """`| head` ends without a message."""
    result = process.run(
        f"{ROOT}/redzone decode {UAF} | head -1", shell=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert "Traceback" not in result.stderr


def test_titles_of_syzkaller():
    """The titles of syzkaller's own test data, if its suite has fetched it."""
    folders = sorted((ROOT / "build" / "syzkaller").glob("**/pkg/report/testdata/linux/report"))
    if not folders:
        pytest.skip("syzkaller's test data is not there; ./redzone test syzkaller fetches it")
    # A test's own kmalloc_oob_right() is skipped there, because its name looks like an allocator's.
    known = {"KASAN: slab-out-of-bounds Write in do_one_initcall"}
    seen, wrong = 0, []
    for path in sorted(folders[0].iterdir()):
        text = path.read_bytes().decode("utf-8", "replace")
        title = re.match(r"TITLE: (KASAN: .*)", text)
        if title is None or "CORRUPTED: Y" in text.split("\n\n")[0] or title[1] in known:
            continue
        log = decode(text.split("\n\n", 1)[1].split("\nREPORT:\n")[0])
        found = log.bugs[0].title if log.bugs else ""
        seen += 1
        if re.sub("double-free(?: or invalid-free)?", "invalid-free", found) != title[1]:
            wrong.append((path.name, title[1], found))
    assert seen > 50
    assert not wrong
