# SPDX-License-Identifier: MIT
"""The suite `linux-stress` without a boot: which kernels it takes, and what it makes of their consoles."""

import re
from types import SimpleNamespace

import pytest
from redzone.core.base import ROOT
from redzone.kit.ports.linux import suite, suite_stress
from redzone.kit.ports.linux.host import boot, build, disk, source

pytestmark = pytest.mark.quick

BUG = "[    9.1] redzone-bug: read-after-free"
REPORT = "[    9.1] BUG: KASAN: slab-use-after-free in read_at+0x1c/0x20 [bugs]"
FREE = "MemFree:         1000000 kB"


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([FREE, BUG, REPORT, BUG, REPORT, FREE], []),
        ([FREE, BUG, BUG, REPORT, FREE], ["bug 1, read-after-free: no report"]),
        ([FREE, BUG, REPORT, REPORT, FREE], ["a report of no bug: "]),
        ([FREE, BUG, REPORT], ["the stress did not end"]),
        ([FREE, FREE], ["no bug was planted"]),
        ([FREE, BUG, REPORT, "MemFree: 500000 kB"], ["500,000 KiB less memory is free after it"]),
        (
            [FREE, BUG, REPORT.replace("slab-use-after-free", "wild-memory-access"), FREE],
            ["bug 1, read-after"],
        ),
        (
            [FREE, BUG, REPORT.replace("read_at", "__kasan_slab_free"), FREE],
            ["bug 1, read-after-free: its report names KASAN's own function"],
        ),
    ],
)
def test_each_planted_bug_has_a_report_and_nothing_else_has(lines, wrong):
    found = suite_stress.wrong_with(lines)
    assert len(found) == len(wrong)
    assert all(have.startswith(want) for have, want in zip(found, wrong, strict=True))


def test_hardware_tags_find_one_access_and_every_double_free():
    free = [
        BUG.replace("read-after-free", "double-free"),
        REPORT.replace("slab-use-after-free", "double-free"),
    ]
    assert suite_stress.wrong_with([FREE, BUG, REPORT, BUG, *free, BUG, FREE], once=True) == []
    assert suite_stress.wrong_with([FREE, BUG, BUG, REPORT, FREE], once=True) != []
    assert suite_stress.wrong_with([FREE, BUG, REPORT, free[0], BUG, FREE], once=True) != []


def test_a_pattern_chooses_the_kernels_under_stress(monkeypatch, tmp_path):
    booted = []

    def run(image, log, parameters, **_):
        booted.append((image.make.name, "kasan.stacktrace=off" in parameters))
        return boot.Session(log, lines=[FREE, BUG, REPORT, FREE])

    def build_(make):
        return build.Image(tmp_path / "Image", tmp_path / "vmlinux", make, False)

    monkeypatch.setattr(source, "tree", lambda: tmp_path)
    monkeypatch.setattr(suite_stress, "_root", dict)
    monkeypatch.setattr(build, "build", build_)
    monkeypatch.setattr(disk, "own_modules", lambda _: {})
    monkeypatch.setattr(disk, "script", lambda *_: tmp_path)
    monkeypatch.setattr(boot, "run", run)
    context = SimpleNamespace(seconds=None, filter="*sw_tags*", jobs=1, missing=lambda *_: None)
    assert [(found.name, found.status) for found in suite_stress.run(context)] == [
        ("sw_tags", suite.PASS),
        ("sw_tags-stacktrace-off", suite.PASS),
    ]
    assert booted == [("arm64-sw_tags+stress", False), ("arm64-sw_tags+stress", True)]
    context.filter = None
    assert len([*suite_stress.run(context)]) == 5
    assert "filter" in suite_stress.OPTIONS


def test_the_bugs_of_the_module_are_those_of_the_suite():
    code = (ROOT / "ports/linux/module/bugs.c").read_text(encoding="utf-8")
    assert set(re.findall(r'\{"([\w-]+)", \w+\}', code)) == set(suite_stress.TITLES)
