# SPDX-License-Identifier: MIT
"""Bad options, bad files and missing tools: one clear message, exit status 2, and no traceback."""

import json
import os
import re
from pathlib import Path

import pytest
from conftest import fake_apt
from redzone.core import doctor, outside
from redzone.testing.needs import first

BAD_OPTIONS = [
    (("run", "--arch", "vax"), "accepted: arm64"),
    (("run", "--mode", "fast"), "accepted: generic, sw_tags, hw_tags, off"),
    (("run", "--cc", "tcc"), "accepted: clang-19, clang-22, gcc"),
    (("run", "--smp", "0"), "an integer from 1 to 8"),
    (("run", "--smp", "many"), "an integer from 1 to 8"),
    (("run", "--mem", "1T"), "64M to 64G"),
    (("run", "--mem", "8M"), "64M to 64G"),
    (("run", "--stack", "63K"), "64K to 1G"),
    (("run", "--stack", "8"), "64K to 1G"),
    (("run", "--timeout", "0"), "a number from 0.1"),
    (("run", "--timeout", "nan"), "a number from 0.1"),
    (("run", "--max-reports", "0"), "an integer from 1"),
    (("run", "--file", "input"), "NAME=HOSTPATH"),
    (("run", "main.c", "--file", "input=absent.bin"), "absent.bin"),
    (("run", "main.c", "--file", ".redzone/stdin=notes.txt"), "names in .redzone/ are taken"),
    (("run", "main.c", "--stdin", "absent"), "--stdin 'absent' cannot be read: No such file"),
    (("run", "main.c", "--stdin", "."), "--stdin '.' is a directory"),
    (("run", "--stdin", "notes.txt"), "need files: a program"),
    (("run", "main.c", "--log", "notes.txt", "--stdin", "notes.txt"), "would overwrite"),
    (("run", "main.c", "--env", "A"), "NAME=VALUE"),
    (("run", "main.c", "--env", "=A"), "NAME=VALUE"),
    (("run", "main.c", "--env", "A=1", "--env", "A=2"), "--env names 'A' twice"),
    (("run", "main.c", "--save", "a"), "NAME=HOSTPATH"),
    (("run", "main.c", "--kernel-headers", "--each"), "--kernel-headers does not go with --each"),
    (("run", "main.c", "-n", "3"), "No such option '-n'; options of your program go after --"),
    (("run", "main.c", "--each", "--save", "a=b"), "--save does not go with --each"),
    (("run", "main.c", "--save", "a=b", "--save", "a=c"), "--save names 'a' twice"),
    (("run", "main.c", "--save", "a=c", "--save", "b=c"), "host's file 'c' twice"),
    (("run", "main.c", "--save", "a=main.c"), "would overwrite a source file"),
    (("run", "main.c", "--save", "a=absent/b"), "its folder does not exist"),
    (("run", "main.c", "--save", "a=."), "is a directory"),
    (("run", "main.c", "-I", "absent"), "'absent' is not a directory"),
    (("run", "main.c", "--log", "."), "is a directory"),
    (("run", "main.c", "--log", "main.c"), "would overwrite 'main.c'"),
    (("run", "main.c", "--log", "./pi|pe.c"), "would overwrite a source file"),
    (("run", "--log", "main.c"), "would overwrite a source file"),
    (("run", "main.c", "--file", "in=notes.txt", "--log", "../{folder}/notes.txt"), "would overwrite"),
    (("run", "main.c", "--html", "main.c"), "--html 'main.c' would overwrite"),
    (("run", "main.c", "--sarif", "absent/a.sarif"), "--sarif 'absent/a.sarif' cannot be written"),
    (("run", "main.c", "--junit", "a.xml", "--html", "a.xml"), "--html and --junit name the same file"),
    (("run", "main.c", "--html", "a.html", "--log", "a.html"), "--log and --html name the same file"),
    (("decode", "notes.txt", "--html", "notes.txt"), "would overwrite 'notes.txt'"),
    (("decode", "notes.txt", "--github", "--json", "-"), "both write to stdout"),
    (("run", "main.c", "-D", "1X"), "NAME(PARAMETERS)=VALUE"),
    (("run", "main.c", "-D", "A-B=1"), "NAME(PARAMETERS)=VALUE"),
    (("run", "main.c", "-O4"), "accepted: 0, 1, 2, 3, s"),
    (("run", "main.c", "--inline", "--outline"), "exclude each other"),
    (("run", "main.c", "--mode", "hw_tags", "--outline"), "--mode hw_tags with --outline: the CPU checks"),
    (("run", "main.c", "--mode", "hw_tags", "--inline"), "--mode hw_tags with --inline: the CPU checks"),
    (("run", "main.c", "--mode", "off", "--outline"), "--mode off with --outline: nothing is checked"),
    (("run", "--each"), "--each needs files"),
    (("run", "main.c", "-q", "--no-symbolize"), "--quiet shows lines of source"),
    (("run", "main.c", "--each", "--json", "main.c"), "--json 'main.c' would overwrite 'main.c'"),
    (("run", "main.c", "--each", "--json", "absent/out.json"), "absent/out.json"),
    (("run", "main.c", "--each", "--module", "main.c"), "exclude each other"),
    (("run", "main.c", "--each", "--max-reports", "3"), "--max-reports does not go with --each"),
    (("run", "main.c", "verbose"), "'verbose' does not exist; arguments of the program go after --"),
    (("bench", "--modes", "none,fast"), "accepted: none, generic-inline, generic-outline"),
    (("bench", "--against", "absent.json"), "absent.json"),
    (("bench", "--against", "main.c"), "is not a result of ./redzone bench --json"),
    (("run", "--frobnicate"), "--frobnicate"),
    (("run", "absent.c"), "'absent.c' does not exist"),
    (("run", "."), "'|'"),
    (("run", "pi|pe.c"), "'|'"),
    (("run", "notes.txt"), "is not a .c, .S, .o or .a file"),
    (("run", "--each", "notes.txt"), "is not a .c file"),
    (("run", "main.c", "@absent.txt"), "'@absent.txt' cannot be read"),
    (("run", "main.c", "--shard", "1/2"), "--shard goes with --each"),
    (("run", "main.c", "--each", "--shard", "3/2"), "I/N with I from 1 to N"),
    (("run", "main.c", "--library", "main.c"), "--library goes with --each"),
    (("run", "main.c", "--each", "--library", "main.c"), "is a program and in the library"),
    (("run", "main.c", "--target", "all"), "--target goes with --project"),
    (("run", "main.c", "--project", "absent.json"), "'absent.json' cannot be read"),
    (("merge",), "FILE.json"),
    (("merge", "notes.txt"), "is not a file of --json"),
    (("run", "main.c", "main.c"), "named twice"),
    (("run", "main.c", "--log", "absent/console.log"), "absent/console.log"),
    (("run", "main.c", "--append", "x" * 5000), "bytes long"),
    (("run", "main.c", "--", *["x"] * 256), "at most 255"),
    (("port", "u-boot", "--fuzz", "usb"), "accepted: net, fs, fit, env, efi, dtb"),
    (("port", "u-boot", "--time", "5"), "--time needs --fuzz"),
    (("port", "u-boot", "--engine", "afl++"), "--engine needs --fuzz"),
    (("port", "u-boot", "--fuzz", "fs", "--engine", "honggfuzz"), "accepted: libfuzzer, afl++"),
    (("fuzz", "main.c", "--engine", "honggfuzz"), "accepted: libfuzzer, afl++"),
    (("port", "u-boot", "--fuzz", "fs", "--repeat", "absent.bin"), "'absent.bin' is not a file"),
    (("port", "u-boot", "--fuzz", "fs", "--repeat", "main.c", "--first"), "--repeat and --first exclude"),
    (("port", "u-boot", "--fuzz", "fs", "--plain"), "--plain and --fuzz exclude each other"),
    (("frobnicate",), "frobnicate"),
    (("build", "frobnicate"), "there is no preset 'frobnicate'"),
    (("test", "frobnicate"), "accepted: "),
    (("test", "style", "--", "x"), "only ./redzone run"),
    (("doctor", "--frobnicate"), "--frobnicate"),
    (("port", "frobnicate"), "frobnicate"),
    (
        ("doctor", "--install", "--for", "flight"),
        "--for 'flight' is not accepted; accepted: run, test, slow, ",
    ),
    (("doctor", "--install", "flight"), "no program here is called 'flight'"),
    (("doctor", "--for", "test"), "--for and names of programs go with --install or --distribution"),
    (("doctor", "--distribution", "beos"), "'beos' is not accepted; accepted: debian, fedora, arch"),
    (("doctor", "--distribution", "fedora", "--install"), "give one of them"),
    (("doctor", "--install", "--for"), "--for '' is not accepted"),
    (("test", "cases", "--cases-dir", "."), "has no INDEX.tsv"),
    (("test", "style", "--seconds", "60"), "no chosen suite takes --seconds; those that do: "),
    (("test", "style", "--seed", "1"), "no chosen suite takes --seed; those that do: "),
    (("test", "soak", "--rounds", "9"), "no chosen suite takes --rounds; those that do: "),
    (("test", "workqueue-stress", "--rounds", "0"), "'0' is not accepted; accepted: an integer from 1 to"),
    (("test", "traces", "--quick"), "no chosen suite takes --quick; those that do: "),
    (("test", "--quick", "--rest"), "--quick and --rest exclude each other"),
    (("test", "style", "--filter", "slab*"), "no chosen suite takes --filter; those that do: "),
    (
        ("test", "kunit", "--filter", "slab cost"),
        "'slab cost' is not accepted; accepted: suites or suite.case",
    ),
    (("test", "soak", "--seconds", "0"), "'0' is not accepted; accepted: an integer from 1 to 1000000"),
    (("test", "soak", "--seed", "x"), "'x' is not accepted; accepted: an integer from 0 to"),
    (("test", "tag-entropy", "--mode", "off"), "no mode 'off'; accepted: sw_tags, hw_tags"),
    (("build", "arm64-off-clang+fast"), "no feature 'fast'; accepted: scs, scs-runtime, compare, mtestack"),
    (
        ("build", "arm64-off-clang+erase+scs"),
        "features come once each, in the order scs, scs-runtime, compare",
    ),
    (("run", "--mte-stack", "--mode", "hw_tags", "--cc", "gcc"), "GCC does not tag stack variables"),
    (("run", "--mte-stack", "--mode", "generic"), "this mode checks stack variables anyway"),
    (("run", "--mte-stack", "--mode", "off"), "it needs --mode hw_tags"),
    (("run", "--tagged-globals", "--mode", "sw_tags", "--cc", "gcc"), "GCC does not tag global variables"),
    (("run", "--tagged-globals", "--mode", "generic"), "this mode checks global variables anyway"),
    (("run", "--tagged-globals", "--mode", "hw_tags"), "no compiler tags global variables of a kernel"),
    (("run", "--tagged-globals", "--mode", "off"), "it needs --mode sw_tags"),
    (("run", "--module", "absent.c"), "'absent.c' does not exist"),
    (("bench", "--json", "no/file"), "no/file' cannot be written"),
    (("bench", "--markdown", "."), "cannot be written"),
    (("bench", "--modes", "generic"), "'generic' is not accepted; accepted: none, generic-inline"),
    (("bench", "trace"), "'trace'; there are: traces, stackleak, lockdep, rt, programs, sampling, time, "),
    (
        ("bench", "--json", "x", "traces"),
        "give the options of a table after its name: ./redzone bench traces",
    ),
    (("bench", "traces", "all"), "unexpected extra argument (all)"),
    (("bench", "profile"), "Missing argument 'OPERATION'"),
    (("bench", "profile", "kfree_64"), "there is no operation 'kfree_64' to profile"),
    (("bench", "profile", "kmalloc_64", "--mode", "fast"), "accepted: none, generic-inline"),
    (("bench", "profile", "kmalloc_64", "--json", "."), "cannot be written"),
    (("bench", "programs", "--columns", "tags"), "no column matches 'tags'; there are: off"),
    *(
        (("bench", table, "--json", "no/file"), "no/file' cannot be written")
        for table in ("traces", "stackleak", "lockdep", "rt", "programs", "sampling")
    ),
    *(
        (("run", "main.c", option, "-"), f"error: {option} '-': standard output has the console already")
        for option in ("--log", "--sarif", "--html", "--junit")
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_OPTIONS, ids=lambda value: str(value)[:60])
def test_bad_usage(redzone, source, arguments, message):
    source("int main(void) { return 0; }", "main.c")
    source("int main(void) { return 0; }", "pi|pe.c")
    notes = source("text", "notes.txt")
    before = sorted(notes.parent.iterdir())
    result = redzone(*(text.replace("{folder}", notes.parent.name) for text in arguments), status=2)
    assert result.stdout == "" and sorted(notes.parent.iterdir()) == before
    assert notes.read_text() == "text"
    assert (notes.parent / "main.c").read_text() == "int main(void) { return 0; }"
    assert message in result.stderr
    assert result.stderr.startswith("redzone: error: ")
    assert len(result.stderr.splitlines()) == 1, result.stderr


def test_unreadable_file(redzone, tmp_path):
    """No user can read address 0 of a process. A file's mode would not stop root."""
    file = tmp_path / "program.c"
    file.symlink_to("/proc/self/mem")
    result = redzone("run", file, status=2)
    assert "cannot be read" in result.stderr


@pytest.mark.parametrize(
    "verb",
    [
        (),
        ("run",),
        ("test",),
        ("build",),
        ("doctor",),
        ("bench",),
        ("bench", "rt"),
        ("port",),
        ("port", "u-boot"),
    ],
)
def test_help(redzone, verb):
    result = redzone(*verb, "--help", status=0)
    assert "Usage: ./redzone" in result.stdout
    assert result.stderr == ""


def test_help_has_the_exit_statuses(redzone):
    text = redzone("run", "--help").stdout
    statuses = [line.split()[0] for line in text.partition("Exit status:")[2].splitlines() if line.strip()]
    assert statuses[:7] == ["0", "1", "2", "3", "4", "5", "130"]
    assert "the first in this order decides: KASAN report, crash" in text


def test_version(redzone):
    result = redzone("--version", status=0)
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", (redzone.root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert result.stdout == f"redzone {newest[1]}\n"


def test_the_kernel_has_the_same_version(redzone, source):
    version = redzone("--version").stdout.split()[1]
    result = redzone("run", source("int main(void) { return 0; }"))
    assert f"Redzone reference kernel {version} (" in result.stdout


def test_clangd_finds_how_files_are_compiled(redzone, source):
    redzone("run", source("int main(void) { return 0; }"))
    entries = json.loads((redzone.root / "build" / "compile_commands.json").read_text())
    found = {
        str(Path(entry["file"]).relative_to(redzone.root)): entry
        for entry in entries
        if Path(entry["file"]).is_relative_to(redzone.root)
    }
    for name in ("kernel/init/main.c", "runtime/report/report.c"):
        assert "-ffreestanding" in found[name].get("command", "") + " ".join(found[name].get("arguments", ()))
    assert len(found) == len(entries), "one entry a file, none of a user's program"


def test_log_is_left_alone_until_the_machine_starts(redzone, source, tmp_path):
    (tmp_path / "console.log").write_text("old")
    redzone("run", "--log", "console.log", source("int main(void) { return absent; }"), status=2)
    assert (tmp_path / "console.log").read_text() == "old"


def test_help_names_only_verbs_that_exist(redzone):
    text = redzone("--help").stdout
    verbs = [line.split()[0] for line in text.partition("Commands:")[2].splitlines() if line.strip()]
    expected = "run test bench build doctor merge flags amalgamate audit ksyms size budget decode port fuzz "
    expected += "clean release help completion"
    assert verbs == expected.split(" ")


def test_version_of_nothing_is_needed_to_list(redzone):
    assert "kunit" in redzone("test", "--list").stdout
    assert "arm64-generic-inline-clang" in redzone("build", "--list").stdout


COMPILE_ERRORS = [
    ("int main(void) { return missing; }", "program.c:1:25: error:", None),
    ("int start(void) { return 0; }", "main", "no file has a main()"),
    ("#include <windows.h>\nint main(void) { return 0; }", "windows.h", "-I DIR adds folders of your own"),
    ("int absent(void);\nint main(void) { return absent(); }", "undefined symbol: absent", "neither in"),
]


@pytest.mark.parametrize(("text", "message", "hint"), COMPILE_ERRORS, ids=lambda value: str(value)[:40])
def test_program_does_not_build(redzone, source, text, message, hint):
    result = redzone("run", source(text), status=2)
    assert "the program does not" in result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    if hint:
        assert f"hint: {hint}" in result.stderr or hint in result.stderr.partition("hint:")[2]


def test_two_programs_in_a_folder(redzone, tmp_path):
    for name in ("first.c", "second.c"):
        (tmp_path / name).write_text("int main(void) { return 0; }\n", encoding="utf-8")
    result = redzone("run", tmp_path, status=2)
    assert "the program does not link" in result.stderr
    assert "hint: two files have a main()" in result.stderr
    redzone("run", "--each", tmp_path, status=0)


def test_warnings_are_shown(redzone, source):
    """Those that the compiler gives by itself; with --warnings more."""
    file = source("int main(void) { signed char small = 300; int unused_variable; return small - 44; }")
    result = redzone("run", file, status=0)
    assert "-Wconstant-conversion" in result.stderr
    assert "-Wunused-variable" not in result.stderr
    result = redzone("run", "--warnings", file, status=0)
    assert "-Wunused-variable" in result.stderr


def test_unknown_cpu(redzone, source):
    result = redzone("run", "--cpu", "pdp11", source("int main(void) { return 0; }"), status=2)
    assert "pdp11" in result.stderr


@pytest.mark.parametrize(
    ("command", "package"), [("qemu-system-aarch64", "qemu-system-arm"), ("clang-19", "clang-19")]
)
def test_missing_tool(redzone, source, path_without, command, package):
    result = redzone("run", source("int main(void) { return 0; }"), PATH=path_without(command), status=2)
    assert command in result.stderr
    assert package in result.stderr
    assert "./redzone doctor --install" in result.stderr


def test_engine_is_missing(redzone, source, path_without):
    target = source("int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { return 0; }")
    result = redzone("fuzz", target, "--engine", "afl++", PATH=path_without("afl-fuzz"), status=2)
    said = re.search(r"^redzone: error: (.*) not found, needed to fuzz a program; (.*)$", result.stderr, re.M)
    assert said, result.stderr
    assert "afl-fuzz" in said[1]
    assert re.match(r"\./redzone doctor --install .*\bafl-fuzz installs .*\bafl\+\+", said[2])


@pytest.mark.parametrize(
    ("tool", "words", "message"),
    [
        (
            "afl++",
            ("--engine", "afl++", "--libfuzzer=-len_control=0"),
            "--libfuzzer needs --engine libfuzzer",
        ),
        ("libfuzzer", ("--afl=-Z",), "--afl needs --engine afl++"),
    ],
)
def test_options_of_another_engine(redzone, source, tool, words, message):
    if outside.missing([tool]):
        pytest.skip(f"{tool} is not installed, which is said first; ./redzone doctor --install")
    target = source("int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { return 0; }")
    result = redzone("fuzz", target, *words, CI="", status=2)
    assert message in result.stderr


def test_port_names_what_is_missing(redzone, tmp_path, path_without):
    """The command names perl, and apart from it only programs that this machine does not have. The source,
    which comes first, is there."""
    source = tmp_path / "xv6"
    (source / "kernel").mkdir(parents=True)
    for name in ("Makefile", "kernel/kalloc.c"):
        (source / name).write_text("", encoding="utf-8")
    result = redzone("port", "xv6-riscv", "--source", source, PATH=path_without("perl"), status=2)
    said = re.search(
        r"^redzone: error: (.*) not found, needed to build xv6 and run it; "
        r"./redzone doctor --install (.*) installs (.*)$",
        result.stderr,
        re.MULTILINE,
    )
    assert said, result.stderr
    absent = [tool.command or tool.package for tool in outside.TOOLS if outside.status(tool)[0] == "missing"]
    named = said[1].split(", ")
    assert "perl" in named and "perl" in said[2].split() and "perl" in said[3].split()
    assert set(named) <= {"perl", *absent}


def test_doctor_names_what_is_missing(redzone, path_without):
    result = redzone("doctor", PATH=path_without("qemu-system-aarch64", "go"), status=2)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["missing", "qemu-system-aarch64", "qemu-system-arm"] in [line[:3] for line in lines]
    assert ["missing", "go", "golang-go"] in [line[:3] for line in lines]
    assert "./redzone doctor --install" in result.stdout


def real(command):
    for directory in os.environ["PATH"].split(":"):
        if os.access(f"{directory}/{command}", os.X_OK):
            return f"{directory}/{command}"
    raise FileNotFoundError(command)


@pytest.mark.parametrize("how", ["--yes", "CI"])
def test_missing_tool_is_installed(redzone, source, path_without, how):
    folder = path_without("qemu-system-aarch64")
    fake_apt(folder, {"qemu-system-aarch64": real("qemu-system-aarch64")})
    file = source("int main(void) { return 0; }")
    changes = {"CI": "true"} if how == "CI" else {}
    options = ["--yes"] if how == "--yes" else []
    redzone("run", *options, file, PATH=folder, **changes, status=0)
    calls = (Path(folder) / "calls").read_text()
    assert "update" in calls
    assert "install --no-install-recommends qemu-system-arm" in calls
    assert "clang" not in calls


# What follows --install, and the levels or packages that it stands for.
CHOICES = [
    ((), ("run",)),
    (("--for=fuzz", "--for=port"), ("run", "fuzz", "port")),
    (("cargo", "--for", "run"), ("run", "cargo")),
    (("--for", "all"), ("run", "test", "fuzz", "port", "slow")),
    (("--for", "run"), ("run",)),
    (("--for", "test"), ("run", "test")),
    (("cargo", "chromium"), ("cargo", "chromium")),
    (("cmake",), ()),
]


@first(3, ("words", "wanted"), CHOICES)
def test_doctor_installs_only_what_is_missing(redzone, path_without, words, wanted):
    """For each use: what doctor calls missing, by the names that it shows; cargo is so on a small machine."""
    folder = path_without("qemu-system-aarch64", "cargo", "chromium", "afl-fuzz", "bison", "apt-cache")
    before = redzone("doctor", PATH=folder).stdout
    missing, level = {}, None
    titles = {title: level for level, title in doctor.LEVELS.items()}
    for line in before.splitlines():
        level = titles.get(line, level)
        # A row has the command (or the package if there is no command) and the package. The row of the QEMU
        # for hardware tags, which doctor does not install, has a path only.
        if line.startswith("  missing") and len(line.split()) > 2:
            missing.setdefault(level, set()).add(line.split()[2])
    assert missing["run"] == {"qemu-system-arm"}
    assert {"cargo"} <= missing["test"] and {"chromium"} <= missing["slow"]
    for level, title in doctor.LEVELS.items():
        more = "" if level == "run" else f" --for {level}"
        assert (f"{title}, and missing: ./redzone doctor --install{more}" in before) == (level in missing)
    fake_apt(folder, {})
    redzone("doctor", "--install", *words, PATH=folder)
    calls = Path(folder) / "calls"
    lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
    installs = [line.partition("--no-install-recommends ")[2] for line in lines]
    expected = set().union(*(missing.get(one, set() if one in doctor.LEVELS else {one}) for one in wanted))
    assert [set(line.split()) for line in installs if line] == ([expected] if expected else [])


@pytest.mark.rest
def test_doctor_shows_the_size_and_asks(redzone, path_without):
    folder = path_without("qemu-system-aarch64")
    fake_apt(folder, {"qemu-system-aarch64": real("qemu-system-aarch64")})
    calls = Path(folder) / "calls"
    status, output = redzone.on_terminal("doctor", "--install", answer=b"n\n", PATH=folder)
    assert status == 2
    assert "redzone: 12.3 MB to download, 45.6 MB on disk" in output
    assert "Install 1 package? [Y/n]" in output and "Still missing: qemu-system-arm" in output
    assert "install" not in calls.read_text()
    status, output = redzone.on_terminal("doctor", "--install", answer=b"\x04", PATH=folder)
    assert status == 2 and "Traceback" not in output
    status, output = redzone.on_terminal("doctor", "--install", "--yes", PATH=folder)
    assert status == 0 and "[Y/n]" not in output and "12.3 MB to download" in output
    (Path(folder) / "qemu-system-aarch64").unlink()
    status, output = redzone.on_terminal("doctor", "--install", answer=b"y\n", PATH=folder)
    assert status == 0 and "Everything" in output, output
    # Nobody to ask: a script that says --install means it.
    (Path(folder) / "qemu-system-aarch64").unlink()
    result = redzone("doctor", "--install", PATH=folder, status=0)
    assert "12.3 MB to download" in result.stderr


@pytest.mark.parametrize(("archive", "package"), [("cargo-web", "cargo-web"), ("nothing", "cargo")])
def test_the_newer_package_is_installed(redzone, path_without, archive, package):
    """Debian 12 has a second package of cargo, whose version can read its registry."""
    folder = path_without("cargo", "apt-cache")
    fake_apt(folder, {})
    cache = Path(folder) / "apt-cache"
    cache.write_text(f'#!/bin/sh\n[ "$*" = "show {archive}" ] && echo "Package: $2"\n', encoding="utf-8")
    cache.chmod(0o755)
    redzone("doctor", "--install", "cargo", PATH=folder)
    installs = [line for line in (Path(folder) / "calls").read_text().splitlines() if "install" in line]
    assert package in installs[0].split()


def test_offer_to_install_on_a_terminal(redzone, source, path_without):
    folder = path_without("qemu-system-aarch64")
    fake_apt(folder, {"qemu-system-aarch64": real("qemu-system-aarch64")})
    file = source("int main(void) { return 0; }")
    status, output = redzone.on_terminal("run", file, answer=b"n\n", PATH=folder)
    assert status == 2
    assert "Install qemu-system-arm with apt-get now?" in output
    assert not (Path(folder) / "calls").exists()
    status, output = redzone.on_terminal("run", file, answer=b"y\n", PATH=folder)
    assert status == 0, output
    assert (Path(folder) / "calls").exists()


def test_skipped_by_name_when_a_tool_is_missing(redzone, path_without):
    result = redzone("test", "style", PATH=path_without("clang-format-19", "clang-tidy-19"))
    assert "style.clang-format # SKIP clang-format-19 not found" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("2 skipped")
    # What it took: each process of the suite counts.
    took = re.search(r"(?m)^# style: .* \((\d+) s, (\d+) s CPU\)$", result.stdout)
    assert took and int(took[2]) >= 1, result.stdout
