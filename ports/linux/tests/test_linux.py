# SPDX-License-Identifier: MIT
"""The port to Linux without Linux: --apply and --revert, the prefix of names, the configuration, the readers.

Tests that need the source are in the suite `linux`.
"""

import os
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from redzone.core import base, options
from redzone.core.base import ROOT, Failure
from redzone.kit.ports.linux import port, suite
from redzone.kit.ports.linux.host import apply, boot, build, disk, names, source
from redzone.machine import ktap

pytestmark = pytest.mark.quick

PUBLIC = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/kasan").glob("*.h"))]


def contents(folder):
    """Return {place: bytes} of all files below @folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- A user's tree --------------------------------------------------------------------------------


def test_revert_gives_back_every_byte(tree):
    before = contents(tree)
    apply.apply(tree)
    assert contents(tree) != before
    apply.revert(tree)
    assert contents(tree) == before


def test_apply_changes_nothing_but_mm_kasan(tree):
    before = contents(tree)
    apply.apply(tree)
    after = contents(tree)
    assert {place for place in before if not place.startswith("mm/kasan/")} <= set(after)
    assert all(place.startswith(("mm/kasan/", "mm/.kasan-linux/")) for place in set(after) - set(before))
    saved = {place: data for place, data in after.items() if place.startswith("mm/.kasan-linux/")}
    assert saved == {
        place.replace("mm/kasan/", "mm/.kasan-linux/"): data
        for place, data in before.items()
        if place.startswith("mm/kasan/")
    }
    for name in apply.KEPT:
        assert after[f"mm/kasan/{name}"] == before[f"mm/kasan/{name}"]


def test_applied_twice_is_applied_once(tree):
    apply.apply(tree)
    once = contents(tree)
    assert "already" in apply.apply(tree)[0]
    assert contents(tree) == once
    apply.revert(tree)
    assert "not in this tree" in apply.revert(tree)[0]


def test_sources_are_newer_than_objects_of_a_build_before(tree):
    """make compiles shadow.c anew, although both folders have one, in both directions."""
    for work in (apply.apply, apply.revert):
        # All of this is older than the objects of a build.
        for folder in ("mm/kasan", "mm/.kasan-linux"):
            for path in (tree / folder).glob("*"):
                os.utime(path, (0, 0))
        # The clock of a file system is coarse.
        built = time.time() - 0.1
        work(tree)
        assert (tree / "mm/kasan/shadow.c").stat().st_mtime > built


def test_an_update_leaves_alone_what_is_the_same(tree):
    apply.apply(tree)
    other = tree / "mm/kasan/slab.c"
    manifest = tree / "mm/kasan" / apply.MANIFEST
    kept = (tree / "mm/kasan/port.c").stat().st_mtime_ns
    # An older state of the port: slab.c was another one, and old.c was there.
    other.write_text("older\n", encoding="utf-8")
    (tree / "mm/kasan/old.c").write_text("older\n", encoding="utf-8")
    text = manifest.read_text(encoding="utf-8")
    recorded = base.sha256(other)
    current = base.sha256(ROOT / "ports/linux/kasan/slab.c")
    text = text.replace(current, recorded).replace('"slab.c"', f'"old.c": "{recorded}",\n  "slab.c"')
    manifest.write_text(text, encoding="utf-8")
    assert "up to date" in apply.apply(tree)[0]
    assert other.read_bytes() == (ROOT / "ports/linux/kasan/slab.c").read_bytes()
    assert not (tree / "mm/kasan/old.c").exists()
    assert (tree / "mm/kasan/port.c").stat().st_mtime_ns == kept
    assert "already" in apply.apply(tree)[0]


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_an_interrupted_apply_can_be_reverted(tree, monkeypatch, when):
    """Killed before the first rename, between the two, after the second."""
    before = contents(tree)
    left = {"before": 0, "between": 1, "after": 2}[when]
    rename = apply.Path.rename

    def dying(path, target):
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        return rename(path, target)

    monkeypatch.setattr(apply.Path, "rename", dying)
    if when == "after":
        apply.apply(tree)
    else:
        with pytest.raises(KeyboardInterrupt):
            apply.apply(tree)
    monkeypatch.undo()
    if when == "between":
        with pytest.raises(Failure, match=r"half applied.*--revert"):
            apply.apply(tree)
    apply.revert(tree)
    assert contents(tree) == before


def test_changed_files_of_the_port_are_not_lost(tree):
    apply.apply(tree)
    path = tree / "mm/kasan/slab.c"
    path.write_text("mine\n", encoding="utf-8")
    for work in (apply.revert, apply.apply):
        with pytest.raises(Failure, match=r"slab\.c was changed"):
            work(tree)
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_a_file_that_is_missing_comes_back(tree):
    """What the error of the test above tells the user to do."""
    apply.apply(tree)
    path = tree / "mm/kasan/slab.c"
    path.unlink()
    assert "up to date" in apply.apply(tree)[0]
    assert path.read_bytes() == (ROOT / "ports/linux/kasan/slab.c").read_bytes()


@pytest.mark.parametrize(
    ("makefile", "message"),
    [
        (
            "VERSION = 6\nPATCHLEVEL = 18\nSUBLEVEL = 1\n",
            "is Linux 6.18.1; this port is for Linux 6.12 and",
        ),
        ("all:\n", "not a source tree of Linux"),
    ],
)
def test_another_version_is_refused(tree, makefile, message):
    (tree / "Makefile").write_text(makefile, encoding="utf-8")
    before = contents(tree)
    with pytest.raises(Failure, match=message):
        apply.apply(tree)
    assert contents(tree) == before


def test_a_folder_that_is_not_linuxs_is_refused(tree):
    (tree / "mm/kasan/report.c").unlink()
    before = contents(tree)
    with pytest.raises(Failure, match=r"has no report\.c"):
        apply.apply(tree)
    assert contents(tree) == before


# --- --source DIR -----------------------------------------------------------------------------------


def test_what_changes_in_the_users_tree_changes_in_the_copy(tree, home):
    copy = source.tree(str(tree))
    (copy / "mark").touch()
    assert source.tree(str(tree)) == copy and (copy / "mark").exists()
    (tree / "include/linux/kasan.h").write_text("another interface\n", encoding="utf-8")
    source.tree(str(tree))
    assert (copy / "include/linux/kasan.h").read_text(encoding="utf-8") == "another interface\n"


def test_only_what_has_changed_is_copied_again(tree, home):
    (tree / "drivers").mkdir()
    (tree / "drivers/old.c").touch()
    (tree / "drivers/now_a_folder").touch()
    (tree / "link").symlink_to("Makefile")
    copy = source.tree(str(tree))
    apply.apply(copy)
    os.link(copy / "include/linux/kasan.h", home / "kept")
    (tree / "drivers/old.c").unlink()
    (tree / "drivers/new.c").write_text("new\n", encoding="utf-8")
    (tree / "drivers/now_a_folder").unlink()
    (tree / "drivers/now_a_folder").mkdir()
    (tree / "link").unlink()
    (tree / "link").symlink_to("drivers")
    source.tree(str(tree))
    assert contents(copy) == contents(tree)
    assert (copy / "link").readlink() == Path("drivers")
    assert (copy / "include/linux/kasan.h").samefile(home / "kept")


def test_builds_of_another_tree_are_not_used(tree, home):
    built = home / "arm64-generic-inline/fragments"
    source.tree(str(tree))
    assert not built.exists()
    other = home / "arm64-generic-inline-linux-7/fragments"
    for stamp, line in ((built, "6.12"), (other, "7")):
        stamp.parent.mkdir()
        stamp.touch()
        stamp.with_name("source").symlink_to(home / line)
    (tree / "Makefile").touch()
    source.tree(str(tree))
    assert built.exists()
    (home / "6.12.source").unlink()
    source.tree(str(tree))
    assert not built.exists() and other.exists()


def test_a_users_build_is_not_copied(tree, home):
    kept = {"drivers/a.c", "include/config.h", "arch/arm64/Kconfig"}
    made = {
        *(".config", ".git/HEAD", "include/config/auto.conf", "include/generated/autoconf.h"),
        *("arch/arm64/include/generated/asm/a.h", "drivers/a.o", "drivers/.a.o.cmd"),
    }
    for name in kept | made:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    copy = contents(source.tree(str(tree)))
    assert kept <= set(copy)
    assert not made & set(copy)


# --- The prefix -----------------------------------------------------------------------------------


def test_names_of_functions_and_types_get_the_prefix():
    text = """
    struct kasan_cache { const char *name; }; /* kasan_comment() */
    #define kasan_likely(x) (x)
    void kasan_port_print(const char *text);
    bool kasan_check_byte(const void *addr); // kasan_word
    #include <kasan/kasan.h>
    """
    assert names.renamed([text]) == ["kasan_cache", "kasan_check_byte"]
    begin, end = names.headers(["kasan_cache"])
    assert "#define kasan_cache redzone_cache\n" in begin
    assert "#undef kasan_cache\n" in end


def test_all_public_functions_get_the_prefix():
    found = names.renamed(PUBLIC)
    assert {"kasan_slab_alloc", "kasan_slab_free", "kasan_init", "kasan_record_aux_stack"} <= set(found)
    assert not [name for name in found if name.startswith("kasan_port_")]


def test_the_port_calls_the_runtime_by_the_prefix_only(tree):
    """Every redzone_ function that the port calls is one of the runtime's public ones, or its own. heaps.c
    has some in the runtime's place."""
    apply.apply(tree)
    bridge = (ROOT / "ports/linux/kasan/redzone.h").read_text(encoding="utf-8")
    own = {"redzone_start", "redzone_offsets", *re.findall(r"(?:#define|void) (redzone_\w+)", bridge)}
    public = {names.PREFIX + name.removeprefix(names.OWN) for name in names.renamed(PUBLIC)}
    for path in (ROOT / "ports/linux/kasan").glob("*.c"):
        text = path.read_text(encoding="utf-8")
        used = set(re.findall(r"\bredzone_\w+(?=\()", text))
        if path.name == "heaps.c":
            used -= set(re.findall(r"^(?:bool|void) (redzone_\w+)(?=\()", text, re.MULTILINE))
        assert used - own <= public, path.name


# --- Configuration and boot -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch", "mode"), [(name, mode) for name, arch in build.ARCHES.items() for mode in arch.modes]
)
def test_configuration_of_each_mode_names_it(arch, mode):
    options = build.wanted(build.fragments(arch, mode))
    names_of_modes = {"CONFIG_KASAN_GENERIC", "CONFIG_KASAN_SW_TAGS", "CONFIG_KASAN_HW_TAGS"}
    assert len(names_of_modes & set(options)) == 1
    assert options["CONFIG_KASAN_KUNIT_TEST"] == "y"


def test_full_configuration_lacks_only_what_it_names():
    options = build.wanted(build.fragments("arm64", "generic-inline", build.FULL))
    assert options["CONFIG_KASAN_GENERIC"] == options["CONFIG_DEBUG_INFO_NONE"] == "y"
    # Linux's suite needs tracing, which arm64's defconfig does not have; the small configuration's files
    # would take drivers away.
    assert options["CONFIG_KASAN_KUNIT_TEST"] == "n" and "CONFIG_USB_SUPPORT" not in options
    make = build.Make(Path("tree"), "generic-inline", start=build.FULL)
    assert make.output.name == "arm64-generic-inline-defconfig"


def test_options_that_linux_drops_are_found():
    options = {"CONFIG_A": "y", "CONFIG_B": "y", "CONFIG_C": "n", "CONFIG_D": "n", "CONFIG_E": "4"}
    text = "CONFIG_A=y\n# CONFIG_C is not set\nCONFIG_D=y\nCONFIG_E=4\n"
    assert build.lacking(options, text) == ["CONFIG_B", "CONFIG_D"]


def test_variables_of_make_give_the_kernel_a_name_and_no_folder():
    make = build.Make(Path("tree"), "generic-inline")
    other = build.Make(Path("tree"), "generic-inline", variables=("REDZONE_SCS=1",))
    assert other.output == make.output
    assert (make.name, other.name) == ("arm64-generic-inline", "arm64-generic-inline+redzone_scs")


def test_kernels_and_compilers_have_folders_of_their_own():
    makes = [
        build.Make(Path("tree"), mode, arch, compiler)
        for compiler, modes in build.OF_COMPILER.items()
        for arch in build.ARCHES
        for mode in (*modes, build.PLAIN)
    ]
    assert len({make.output for make in makes}) == len(makes)


def test_a_new_kernel_begins_with_what_another_of_its_mode_has(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "HOME", tmp_path)
    made = {}
    plain = "arm64-generic-inline"
    for name in (f"{plain}+scs", plain, f"{plain}-gcc", "arm64-sw_tags"):
        made[name] = tmp_path / name / "kernel" / "fork.o"
        made[name].parent.mkdir(parents=True)
        made[name].write_text(name)
        (tmp_path / name / "fragments").write_text(name)
    os.utime(made[plain], ns=(10**9, 10**9))
    make = build.Make(tmp_path / "tree", "generic-inline", more=(build.CONFIG / "module.config",))
    for _ in range(2):
        build._begin(make)
        object_ = make.output / "kernel" / "fork.o"
        assert object_.read_text() == plain
        assert object_.stat().st_mtime_ns == 10**9, "make compiles what is older than its source"
        made[plain].write_text("later")
    build._begin(build.Make(tmp_path / "tree", "hw_tags"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*made, make.output.name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--arch", "x86_64", "--mode", "hw_tags"],
            "with --arch x86_64 --mode is generic-inline or generic-outline",
        ),
        (["--cc", "gcc", "--mode", "sw_tags"], "--cc gcc is for Generic mode"),
        (["--run", "--apply", "x"], "--apply and --run exclude each other"),
    ],
)
def test_options_that_do_not_go_together(arguments, message):
    with pytest.raises(Failure, match=message):
        port.run(**port.command.make_context("linux", arguments).params)


def test_a_console_is_read_to_its_verdict(tmp_path):
    session = boot.Session(tmp_path / "log")
    text = "[    0.1] Kernel panic - not syncing: KASAN: panic_on_warn set ...\n"
    process = subprocess.Popen(["printf", "%s", text], stdout=subprocess.PIPE)
    boot._follow(process, session, 10, None)
    assert session.ended == "Kernel panic - not syncing: KASAN: panic_on_warn set ..."
    assert session.log.read_text(encoding="utf-8") == text


# --- The suite ------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [True, False])
def test_a_boot_of_linux_s_own_that_stops_is_repeated_once(monkeypatch, tmp_path, own):
    ends, begun = ["the output ends inside a suite", None], []

    def booted(image, log, smp, parameters):
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"boot {len(begun)}", encoding="utf-8")
        begun.append(log)
        return SimpleNamespace(ended=ends[len(begun) - 1])

    monkeypatch.setattr(suite.source, "HOME", tmp_path)
    monkeypatch.setattr(suite, "_session", booted)
    image = SimpleNamespace(own=own, make=SimpleNamespace(name="arm64-sw_tags"))
    found = suite._boots(image, [(4, ("kasan.stacktrace=off",))])
    (name, last), *rest = found.items()
    assert name == "arm64-sw_tags-4cpu-stacktrace-off" and not rest
    assert last.ended == (None if own else ends[0])
    logs = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "logs").iterdir()}
    if own:
        assert logs == {f"suite-{name}-own-stopped.log": "boot 0", f"suite-{name}-own.log": "boot 1"}
    else:
        assert logs == {f"suite-{name}.log": "boot 0"}


def test_a_case_that_is_worse_than_with_linuxs_own_is_named(tmp_path):
    def session(**results):
        cases = [ktap.Case(name, status) for name, status in results.items()]
        return boot.Session(tmp_path / "log", cases)

    own = session(one="pass", two="skip", three="fail", four="pass")
    assert suite.worse(own, session(one="pass", two="pass", three="pass", four="pass")) == []
    assert suite.worse(own, session(one="skip", two="fail", three="fail")) == [
        "one: pass with Linux's own, skip with Redzone",
        "two: skip with Linux's own, fail with Redzone",
        "four: pass with Linux's own, not run with Redzone",
    ]


def test_a_failure_that_the_case_expects_is_not_worse(tmp_path):
    own, ours, other = (
        boot.Session(tmp_path / "log", [case])
        for case in (
            ktap.Case("one", "pass"),
            ktap.Case("one", "skip", "XFAIL uninit bytes: 80"),
            ktap.Case("one", "skip", "Test requires CONFIG_X"),
        )
    )
    assert suite.worse(own, ours) == []
    assert suite.worse(own, other) == ["one: pass with Linux's own, skip with Redzone"]


def test_a_report_that_only_one_gives_is_named(tmp_path):
    own, ours = (boot.Session(tmp_path / "log", [ktap.Case("one", "pass", reports=n)]) for n in (1, 2))
    assert suite.worse(own, ours) == ["one: 1 reports with Linux's own, 2 with Redzone"]
    assert suite.worse(own, own) == []
    assert suite.worse(own, ours, exact=False) == []
    failed = boot.Session(tmp_path / "log", [ktap.Case("one", "fail", reports=0)])
    assert suite.worse(failed, ours) == []
    none = boot.Session(tmp_path / "log", [ktap.Case("one", "pass")])
    assert suite.worse(own, none, exact=False) == ["one: 1 reports with Linux's own, 0 with Redzone"]


def test_a_report_that_other_readers_do_not_understand_is_named(tmp_path, monkeypatch):
    """The title names no function, and a report has no beginning."""
    monkeypatch.setattr(suite.ports, "load", lambda *_: SimpleNamespace(kunit_parse=lambda *_: None))
    good = (ROOT / "tests/golden/slab-use-after-free.log").read_text(encoding="utf-8").splitlines()
    bad = [re.sub(r"(BUG: KASAN: [a-z-]+ in )\S+", r"\1[<ffff800080012340>]", line) for line in good]

    def session(lines):
        return boot.Session(tmp_path / "log", [ktap.Case("one", "pass")], lines)

    assert suite.readers(session(good), session(good), None) == []
    found = suite.readers(session(bad), session(good), None)
    assert found and found[0].startswith("syzkaller: ")
    # Linux's own may be as bad.
    assert suite.readers(session(bad), session(bad), None) == found
    hook = "BUG: KASAN: slab-use-after-free in __kasan_check_write+0x10/0x1c"
    bad = [hook if "BUG: KASAN: " in line else line for line in good]
    found = suite.readers(session(bad), session(good), None)
    assert found and found[0].startswith("1 reports name KASAN's own function: ")


def test_an_exception_is_one_report_with_and_without_a_line_of_kasan():
    unhandled = (
        "[    5.1] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000000"
    )
    line = "[    5.1] KASAN: null-ptr-deref in range [0x0000000000000000-0x0000000000000007]"
    assert [suite.exceptions(lines) for lines in ([unhandled], [unhandled, line], [line], [])] == [1, 1, 1, 0]


def test_only_exceptions_inside_redzone_are_its_own():
    arm = "[    4.0] Internal error: Oops: 0000000096000006 [#1] PREEMPT SMP"
    x86 = "[    4.0] Oops: general protection fault, probably for non-canonical address: 0000 [#1] SMP KASAN"
    ours = ("[    4.0] pc : redzone_slab_free+0x40/0x200", "[    4.0] RIP: 0010:__redzone_fill+0x4/0x20")
    assert suite.crashes([arm, "[    4.0] CPU: 0 UID: 0", ours[0]]) == [f"{arm} in redzone_slab_free()"]
    assert suite.crashes([x86, ours[1]]) == [f"{x86} in __redzone_fill()"]
    assert not suite.crashes(
        [arm, "[    4.0] pc : test_case+0x40/0x200", "[    4.0]  redzone_slab_free+0x1/0x2"]
    )
    assert not suite.crashes([ours[0]])


def test_a_boot_prints_the_result_of_each_case(capsys):
    """A console has thousands of lines. --verbose prints them all."""
    for line in (
        "[    1.092025] BUG: KASAN: slab-out-of-bounds in kmalloc_oob_right+0x587/0x650",
        "[    1.100026]     ok 1 kmalloc_oob_right",
        "[    1.204000]     not ok 2 kmalloc_oob_left",
        "[    1.300000]     ok 3 rust_uaf # SKIP Test requires CONFIG_RUST=y",
        "[    2.100000] ok 1 kasan",
    ):
        port._print_result(line)
    assert capsys.readouterr().out.splitlines() == [
        "ok 1 kmalloc_oob_right",
        "not ok 2 kmalloc_oob_left",
        "ok 3 rust_uaf # SKIP Test requires CONFIG_RUST=y",
        "ok 1 kasan",
    ]


def test_traces_that_are_too_short_are_a_failure(tmp_path):
    """Linux's suite also passes if each trace has one function only."""
    report = (
        "BUG: KASAN: slab-out-of-bounds in f+0x1/0x2\nWrite of size 1 at addr ffff888000001000 by task a/1\n"
        "Call Trace:\n f+0x1/0x2\n\nAllocated by task 1:\n{}\nMemory state around the buggy address:\n"
        + "="
        * 66
    )

    def session(frames):
        text = report.format("".join(f" f{number}+0x1/0x2\n" for number in range(frames)))
        return boot.Session(tmp_path / "log", [ktap.Case("one", "pass")], text.splitlines())

    own = session(8)
    assert suite.depth(own) == 8
    again = [line for line in own.lines for _ in range(60 if line.startswith(" f3") else 1)]
    assert suite.depth(boot.Session(tmp_path / "log", own.cases, again)) == 8
    assert suite._compare("x", own, session(5)).status == suite.PASS
    result = suite._compare("x", own, session(1))
    assert (result.status, result.detail) == (suite.FAIL, "traces have 1 functions, with Linux's own 8")


@pytest.mark.parametrize(
    ("name", "status"), [("arm64-generic-inline-1cpu", "FAIL"), ("arm64-hw_tags-1cpu", "PASS")]
)
def test_linuxs_own_strlen_is_noticed_where_redzones_must_be_in_use(tmp_path, name, status):
    case = ktap.Case("kasan_strings", "pass")
    lines = ["[    2.0] BUG: KASAN: slab-use-after-free in strlen+0x24/0x78"]
    session = boot.Session(tmp_path / "log", [case], lines)
    assert suite._compare(name, session, session).status == getattr(suite, status)


def test_the_lock_validator_must_have_nothing_to_say():
    warning = "WARNING: possible recursive locking detected"
    lines = ["[    0.1] BUG: KASAN: double-free in f+0x1/0x2", f"[    0.1] {warning}", "[    0.2] WARNINGS"]
    assert suite.warnings(lines) == [warning]


def test_a_linux_with_fewer_cpus_is_not_taken_for_the_whole_machine():
    assert boot.lacking_cpus(["[    0.6] smp: Brought up 1 node, 1 CPU"], 4) == "1 of 4 CPUs started"
    assert boot.lacking_cpus(["[    0.6] smp: Brought up 1 node, 4 CPUs"], 4) is None


def test_allocations_fail_after_the_boot_that_all_suites_take(monkeypatch, tmp_path):
    lines = ["[    0.000000] Booting", "[  138.277116] reboot: Restarting system", "stress"]
    assert (suite.seconds(lines), suite.seconds(["stress"])) == (138, 0)
    given = {}
    ended = ["[  150.1] Run /init as init process", "[  151.1] # kasan: pass:62 fail:0"]

    def kunit(image, log, **options):
        given.update(options)
        return boot.Session(log, lines=ended)

    monkeypatch.setattr(suite.disk, "script", lambda *_: tmp_path)
    monkeypatch.setattr(boot, "kunit", kunit)
    image = build.Image(tmp_path, tmp_path, build.Make(tmp_path, "sw_tags"), False)
    session = boot.Session(tmp_path / "log", [ktap.Case("kasan.one", "pass")], lines)
    assert suite._failing(image, session, 4).status == suite.PASS
    assert given["timeout"] == 138 + suite.FAILURES_TIMEOUT
    del ended[1]
    assert suite._failing(image, session, 4).status == suite.FAIL


def test_a_pattern_chooses_kernels():
    def names(pattern=None):
        return [make.name for _, make in suite.makes(Path("tree"), suite.BOOTS, 2, pattern)]

    assert len(names()) == len(suite.BOOTS)
    assert names("*scs") == ["arm64-generic-inline+scs"]
    both = ["arm64-generic-inline+scs", "arm64-generic-inline+rt+lockdep"]
    assert names("*+rt+*,*+scs") == both
    for name in names():
        assert names(options.Patterns().convert(name, None, None)) == [name]
    assert set(names("x86_64-*")) == {name for name in names() if name.startswith("x86_64")}
    with pytest.raises(Failure, match="matches no kernel"):
        names("riscv64-*")


NMI = [
    "[    9.1] BUG: KASAN: slab-out-of-bounds in read_at+0x1c/0x20 [nmi]",
    "[    9.1] Last potentially related work creation:",
    "[    9.1] Second to last potentially related work creation:",
]
NMI_END = "[    9.9] redzone-nmi: 400 NMIs, 2 bugs"


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([*NMI, *NMI, NMI_END], []),
        ([*NMI, *NMI], ["the module did not end"]),
        (["redzone-nmi: 0 NMIs, 0 bugs"], ["no bug: there were too few NMIs"]),
        ([*NMI, NMI[0], NMI_END], ["2 bugs in NMIs have 1 reports with a stack from an NMI"]),
        ([*NMI, NMI[1], NMI_END], ["2 bugs in NMIs have 1 reports"]),
        (
            [*NMI, *NMI, NMI[0].replace("read_at", "kfree"), NMI_END],
            ["another report: BUG: KASAN: slab-out-of-bounds in kfree+0x1c/0x20 [nmi]"],
        ),
    ],
)
def test_each_bug_in_an_nmi_has_a_report(lines, wrong):
    assert suite.nmi_faults(lines) == wrong


FAILED = "redzone: failed: write /sys/devices/system/memory/probe"


@pytest.mark.parametrize(
    ("first", "pfn", "wrong"),
    [
        ("", "0x2f1c", ["no report is about memory that came after the boot"]),
        ("", "0x10bd1c", []),
        (FAILED, "0x10bd1c", [FAILED]),
    ],
)
def test_reports_are_about_memory_that_came_after_the_boot(first, pfn, wrong):
    page = f"[    1.0] page: refcount:0 mapcount:0 mapping:0000000000000000 index:0x0 pfn:{pfn}"
    assert suite.hot([first, page]) == wrong


def test_the_machine_has_more_memory_than_linux_gets_at_boot(monkeypatch):
    boots = []
    monkeypatch.setattr(suite.disk, "modules", lambda _image, *_paths: {"kasan_test.ko": b""})
    monkeypatch.setattr(suite.disk, "script", lambda _image, lines, _files: lines)
    monkeypatch.setattr(suite.boot, "kunit", lambda _image, _log, **options: boots.append(options))
    image = SimpleNamespace(make=SimpleNamespace(more=[Path("module.config"), Path("hotplug.config")]))
    for parameters in ((), ("mem=768M", "kernelcore=200M")):
        suite._session(image, Path("log"), 1, parameters)
    plain, more = boots
    assert plain["initrd"] == ["load /kasan_test.ko"]
    assert "memory" not in plain
    assert more["memory"] == "3G"
    assert more["initrd"] == [*suite.HOTPLUG, "load /kasan_test.ko"]


def test_cpu_and_time_of_allocations():
    plain, full = "[    9.1] Freed by task 7:", "[    9.1] Freed by task 7 on cpu 1 at 2.123456s:"
    assert suite.extra_info([full]) == []
    assert suite.extra_info([full, plain]) == ["1 stacks without CPU and time: Freed by task 7:"]
    assert suite.extra_info([]) == ["no report says when an object was allocated"]


# --- The bench ------------------------------------------------------------------------------------


def members(data):
    """Read a cpio archive in the "newc" format as Linux does. Return [(name, mode, contents)]."""
    found, at = [], 0
    while at < len(data):
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        size, length = fields[6], fields[11]
        name = data[at + 110 : at + 110 + length]
        assert name.endswith(b"\0")
        at = at + 110 + length + -(at + 110 + length) % 4
        found.append((name[:-1].decode(), fields[1], data[at : at + size]))
        at += size + -size % 4
    return found


def test_the_initial_ram_disk_has_the_files():
    files = {"init": b"\x7fELF" + bytes(3), "measure.ko": bytes(range(256))}
    found = members(disk.archive(files))
    assert [(name, data) for name, _, data in found] == [*files.items(), ("TRAILER!!!", b"")]
    assert [mode for _, mode, _ in found[:2]] == [0o100755] * 2


def test_folders_and_links_of_the_disk():
    files = {"usr/bin/tool": b"x", "usr/lib": disk.Link("../lib"), "lib/a/b": b"y"}
    found = members(disk.archive(files))
    names = [name for name, _, _ in found]
    assert names == ["usr", "usr/bin", "usr/bin/tool", "usr/lib", "lib", "lib/a", "lib/a/b", "TRAILER!!!"]
    by_name = {name: (mode, data) for name, mode, data in found}
    assert by_name["usr"] == (0o040755, b"") and by_name["usr/lib"] == (0o120777, b"../lib")
