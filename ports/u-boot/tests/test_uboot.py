# SPDX-License-Identifier: MIT
"""The U-Boot port without U-Boot: its generators, its compiler script, and its package sources.

Tests that need the source are in the suite `u-boot`.
"""

import struct

import pytest
from redzone.core import process
from redzone.core.base import ROOT, Failure
from redzone.fuzz import findings
from redzone.kit import ports
from redzone.kit.ports.u_boot.host import boots, build, fetch

pytestmark = pytest.mark.quick

BUGS = boots.CVES + boots.OPEN
SCRIPT = ROOT / "ports" / "u-boot" / "cc"


# --- Generators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUGS)
def test_input_is_the_same_every_time(name):
    module = boots.input_module(name)
    assert module.TYPES and module.FUNCTION and module.COMMANDS
    assert module.__doc__.startswith(name if name.startswith("CVE") else "Open in the patched source")
    if hasattr(module, "image"):
        image = module.image()
        assert image == module.image()
        assert image and len(image) % 512 == 0
    else:
        first, second = module.server(), module.server()
        first.close()
        second.close()
        assert first.vendor == second.vendor


def test_disks_for_fuzzing_have_two_forms():
    seeds = ports.load("u-boot", "fuzz.seeds")
    for disk in seeds.disks().values():
        short = seeds.parts(disk)
        assert short.startswith(seeds.PARTS) and len(short) < 2048
        assert seeds.whole(short) == disk.rstrip(b"\0") == seeds.whole(disk.rstrip(b"\0"))


def test_second_report_of_an_input_keeps_the_place_of_the_code():
    window = b"[    0.1] KASAN: window 0x49a08000-0x4e000000 shadow 0x4e000000 relocated by 0x4dbc9000\n"
    console = b"handling\n" + window + b"first report\n" + b"second report\n"
    at = console.index(b"second")
    stored = findings.Stored("title", 1, at, b"", console)
    assert stored.shown() == window + b"second report\n"
    stored = findings.Stored("title", 1, 0, b"", console)
    assert stored.shown() == console


def test_ordinary_disks_are_the_same_every_time():
    ordinary = boots.load_input("ordinary")
    assert ordinary.disks() == ordinary.disks()
    assert all(len(disk) % 512 == 0 for disk in ordinary.disks())
    assert ordinary.served() == ordinary.served()


def test_squashfs_says_what_was_asked():
    squashfs = boots.load_input("squashfs")
    link = squashfs.Symlink("link", b"target", size=0xFFFFFFFF)
    image = squashfs.Writer(squashfs.Dir("", [squashfs.File("file", b"contents"), link])).image()
    magic, inodes = struct.unpack_from("<II", image)
    table, directories = struct.unpack_from("<QQ", image, 64)
    assert (magic, inodes) == (0x73717368, 3)
    # An uncompressed metadata block that fills exactly the space up to the next table.
    assert struct.unpack_from("<H", image, table)[0] & 0x7FFF == directories - table - 2
    assert image[96:104] == b"contents"
    assert struct.pack("<II", 1, 0xFFFFFFFF) + b"target" in image[table:directories]


def test_ext2_link():
    ext2 = boots.load_input("ext2")
    volume = ext2.Image()
    volume.add("short", ext2.SYMLINK, b"elsewhere")
    volume.add("long", ext2.SYMLINK, b"/x", size=0xFFFFFFFF)
    image = bytes(volume)
    assert struct.unpack_from("<H", image, ext2.BLOCK + 56)[0] == 0xEF53
    short, long = (image[5 * ext2.BLOCK + (number - 1) * 128 :][:128] for number in (11, 12))
    assert short[40:49] == b"elsewhere"
    assert struct.unpack_from("<I", long, 4)[0] == 0xFFFFFFFF


def test_bootp_frame():
    bootp = boots.load_input("bootp")
    request = bytes(range(236))
    answer = bootp.reply(request, bootp.MAGIC + b"\xff")
    frame = bootp.frame(b"\x52" * 6, answer)
    head = frame[14:34]
    total = sum(struct.unpack(">10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    assert total == 0xFFFF
    assert struct.unpack(">H", head[2:4])[0] == len(frame) - 14
    # The transaction is the client's own, and the options end with the packet.
    assert answer[4:8] == request[4:8]
    assert frame.endswith(bootp.MAGIC + b"\xff") and len(answer) == 236 + 5


# --- Ordinary commands ----------------------------------------------------------------------------


def test_ordinary_commands():
    commands = boots.ordinary_commands()
    assert len(commands) >= 200
    assert sum(bool(texts) for _, texts in commands) >= 150


def test_expectation_without_command(tmp_path):
    path = tmp_path / "commands.txt"
    path.write_text("# comment\n> text\n")
    with pytest.raises(Failure, match="without a command"):
        boots.ordinary_commands(path)


def test_shortcomings():
    commands = [("one", ["a", "b"]), ("two", [])]
    assert boots.shortcomings(commands, [["ba"], []]) == []
    assert boots.shortcomings(commands, [["a"], []]) == ["'one' does not print 'b'"]


# --- The compiler script --------------------------------------------------------------------------


def through_script(*arguments, cc="clang-19", **environment):
    """Return the arguments that the compiler gets."""
    result = process.run(
        [SCRIPT, *arguments],
        env={"PATH": "/usr/bin:/bin", "REDZONE_UBOOT_CC": f"echo {cc}" if cc == "gcc" else cc, **environment},
        check=True,
    )
    return result.stdout.split()[1:]


@pytest.fixture
def compilers(tmp_path):
    """A folder with a clang-19 that only prints its arguments."""
    fake = tmp_path / "clang-19"
    fake.write_text('#!/bin/sh\necho clang-19 "$@"\n')
    fake.chmod(0o755)
    return f"{tmp_path}:/usr/bin:/bin"


def test_script_drops_what_clang_refuses(compilers):
    words = through_script("-ffixed-r9", "--debug-prefix-map=a=b", "-O2", "a.c", PATH=compilers)
    assert words[:2] == ["-O2", "a.c"]
    assert words[2:] == ["-include", str(SCRIPT.parent / "clang.h")]
    assert through_script("-ffixed-r9", "a.c", cc="gcc") == ["-ffixed-r9", "a.c"]


@pytest.mark.parametrize(
    ("file", "checked"),
    [
        ("lib/string.c", True),
        ("arch/arm/cpu/start.S", False),
        ("lib/efi_loader/efi_freestanding.c", False),
        ("lib/asm-offsets.c", False),
        ("drivers/sysreset/a.c", False),
    ],
)
def test_script_adds_checks_where_they_belong(compilers, file, checked):
    words = through_script(
        f"/source/{file}",
        PATH=compilers,
        REDZONE_UBOOT_KASAN="-fsanitize=kernel-address",
        REDZONE_UBOOT_PLAIN_FILES="*/drivers/sysreset/*",
    )
    assert ("-fsanitize=kernel-address" in words) == checked


def test_script_keeps_the_heap_unchecked(compilers):
    file = "/source/common/dlmalloc.c"
    options = {"PATH": compilers, "REDZONE_UBOOT_KASAN": "-fsanitize=kernel-address"}
    assert "-Dmemcpy=__memcpy" in through_script(file, **options)
    assert "-Dmemcpy=__memcpy" not in through_script(file, PATH=compilers)


def test_efi_runtime_functions(tmp_path):
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "a.c").write_text(
        "static int __efi_runtime first(void) { return 0; }\n"
        "efi_status_t __efi_runtime EFIAPI second(\n\tint x)\n{ return x; }\n"
        "void third(void) { }\n"
        "static int __efi_runtime_data table[2] = { 1, 2 };\n"
    )
    assert build.efi_runtime(tmp_path) == {"first": "lib/a.c", "second": "lib/a.c"}


# --- The source -----------------------------------------------------------------------------------


@pytest.fixture
def etc(tmp_path):
    """A folder like /etc/apt."""
    parts = tmp_path / "apt" / "sources.list.d"
    parts.mkdir(parents=True)
    (tmp_path / "apt" / "sources.list").write_text(
        "# comment\n"
        "deb [signed-by=/keys/a.gpg arch=amd64] http://mirror.example/debian trixie main contrib # note\n"
        "deb-src http://mirror.example/debian trixie main\n"
    )
    (parts / "debian.sources").write_text(
        "Types: deb\n# comment\nURIs: http://mirror.example/debian-security\nSuites: trixie-security\n"
        "Components: main\nSigned-By: /keys/b.gpg\n\n"
        "Types: deb\nURIs: http://off.example\nSuites: trixie\nEnabled: no\n"
    )
    (parts / "other.list").write_text("deb http://other.example/apt tool-trixie main\n")
    return tmp_path / "apt"


def test_sources_become_sources_of_sources(etc):
    stanzas = fetch.source_stanzas(etc)
    assert [stanza.splitlines()[0] for stanza in stanzas] == ["Types: deb-src"] * len(stanzas)
    text = "\n\n".join(stanzas)
    assert "Suites: trixie\nComponents: main contrib\nSigned-By: /keys/a.gpg" in text
    assert "debian-security" in text and "Signed-By: /keys/b.gpg" in text
    assert "off.example" not in text and "comment" not in text and "note" not in text


def test_other_release_of_the_same_archive(etc):
    stanzas = fetch.source_stanzas(etc)
    own = fetch.of_release(stanzas, ["trixie", "stable"])
    assert len(own) == 3 and not any("other.example" in stanza for stanza in own)
    text = "\n".join(fetch.for_release(stanzas, ["trixie", "stable"]))
    assert "Suites: bookworm\n" in text and "Suites: bookworm-security" in text and "trixie" not in text
    assert fetch.of_release(stanzas, ["noble"]) == []


def test_wrong_file_is_refused(tmp_path):
    assert fetch.absent_files(tmp_path) == list(fetch.PINS["files"])
    name = next(iter(fetch.PINS["files"]))
    (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(Failure, match="SHA-256 differs"):
        fetch.absent_files(tmp_path)


def test_no_apt(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "DOWNLOAD", tmp_path / "download")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match=r"no apt-get.*\n.*orig\.tar\.xz.*by another way"):
        fetch.fetch()
