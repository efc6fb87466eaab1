# SPDX-License-Identifier: MIT
"""`./redzone bench traces`: the text of its tables, its input, and one kernel's figures."""

import pytest
from redzone.bench import page, traces
from redzone.build import builder
from redzone.core.base import Failure
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, Functions
from redzone.machine import execlog


def kernel(boot, programs, pair):
    return {"boot": boot, "programs": programs, "kmalloc_64": pair}


MEASURED = {
    "figures": {
        "off": kernel(10_000_000, 40_000_000, 250),
        "on": kernel(10_020_000, 41_200_000, 850),
        "collect": kernel(10_010_000, 40_800_000, 650),
        "off+scs": kernel(11_000_000, 50_000_000, 260),
        "on+scs": kernel(11_110_000, 51_000_000, 390),
        "off+scs-runtime": kernel(11_200_000, 50_000_000, 270),
        "on+scs-runtime": kernel(11_200_000, 52_000_000, 405),
    },
    "calls": {"boot": (40, 2), "programs": (1040, 902)},
}


def test_rows_are_shares_of_the_same_kernel_without_traces():
    heading, *body = traces.rows("generic", MEASURED)
    assert heading[0] == "stack traces" and len(heading) == 7
    assert body == [
        ["no traces", "0", "0", "10,000,000", "40,000,000", "250", "1.00"],
        ["unwinder", "+43.8 %", "+5.0 %", "+0.2 %", "+3.0 %", "850", "3.40"],
        ["unwinder, not saved to the depot", "no figure", "no figure", "+0.1 %", "+2.0 %", "650", "2.60"],
        ["shadow call stack", "+3.4 %", "no figure", "+0.0 %", "+4.0 %", "405", "1.50"],
        ["shadow call stack, helpers exempt", "no figure", "no figure", "+1.0 %", "+2.0 %", "390", "1.50"],
    ]


def test_no_published_figure_is_made_up():
    for mode, row in (("sw_tags", "unwinder"), ("sw_tags", "scs"), ("hw_tags", "unsaved")):
        assert row not in traces.MODES[mode].published
    _, base_row, unwinder, *_ = traces.rows("sw_tags", MEASURED)
    assert base_row[1] == unwinder[1] == "no figure"
    _, _, unwinder, _, scs, _ = traces.rows("hw_tags", MEASURED)
    assert (unwinder[1], scs[1]) == ("+51.0 %", "+5.4 %")


def test_remarks_say_what_is_in_the_figures():
    stored, itself, goal = traces.remarks("generic", MEASURED)
    assert stored == (
        "traces stored: 42 in the boot (40 allocations, 2 frees), 1,900 in the programs (1,000 and 900)"
    )
    assert itself.endswith("+10.0 % boot, +25.0 % boot, 256 programs, +4.0 % kmalloc(64)+kfree")
    assert goal.endswith("+3 % at most; +1.0 % boot, +2.0 % boot, 256 programs: met")


@pytest.mark.parametrize(("mode", "programs"), [("generic", 51_600_000), ("hw_tags", 52_600_000)])
def test_a_goal_can_be_missed(mode, programs):
    figures = dict(MEASURED["figures"], **{"on+scs": kernel(11_110_000, programs, 390)})
    *_, goal = traces.remarks(mode, {**MEASURED, "figures": figures})
    assert goal.endswith(": missed")


def test_the_document_has_a_table_for_each_mode():
    text = traces.page_of({"generic": MEASURED, "hw_tags": MEASURED}).markdown()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Generic mode, inline checks",
        "## Hardware tags",
    ]
    assert text.count("| no traces |") == 2
    assert "| unwinder | +51.0 % | +18.3 % |" in text


def test_every_kernel_that_a_row_needs_is_built_and_booted():
    kernels = {
        traces.key_of(features, parameter)
        for features, parameters in traces._kernels()
        for parameter in parameters
    }
    assert kernels == set(MEASURED["figures"])
    assert set(traces.presets(["generic"]).values()) == {
        "arm64-generic-inline-clang",
        "arm64-generic-inline-clang+scs",
        "arm64-generic-inline-clang+scs-runtime",
    }


def test_the_log_of_executed_code(tmp_path):
    log = tmp_path / "log"
    log.write_text(
        "Trace 0: 0x7fbe6c0f1c80 [0000000000104004/ffff800080000010/00000141/ff000200] name\n"
        "something else\n"
        "Trace 1: 0x7fbe6c0f1c81 [0000000000104004/ffff800080000010/00000141/ff000200] \n"
        "Trace 0: 0x7fbe6c0f1c90 [0000000000104004/ffff800080000014/00000141/ff000200] name\n"
    )
    assert execlog.executed(log) == {0xFFFF800080000010: 2, 0xFFFF800080000014: 1}


@pytest.fixture(scope="module")
def image():
    preset = builder.preset_name("generic", "inline", features=[])
    return builder.build(preset, targets=(page.KERNEL,))[page.KERNEL]


def test_one_kernel(image):
    off, on = (traces.measure_kernel(image, "generic", word, "test") for word in ("off", "on"))
    assert off["boot"] < off["programs"]
    assert all(off[name] < on[name] for name in traces.FIGURES)
    before, after = (traces._counts(image, "generic", programs) for programs in (4, 8))
    # What a program allocates it also frees; the last one's frees may come later.
    allocations, frees = (after[i] - before[i] for i in (0, 1))
    assert allocations >= 4 * 4 and abs(allocations - frees) <= 2
    with pytest.raises(Failure, match=r"the kernel does not take a boot parameter: .*kasan\.stacktrace"):
        traces.measure_kernel(image, "generic", "sometimes", "test")


def test_functions_of_an_image(image):
    functions = Functions(File.open(image.elf), (FUNC,))
    ((start, _, _),) = functions.find("kfree")
    assert functions.name(start) == functions.name(start + 4) == "kfree"
    with pytest.raises(Failure, match="the kernel has none of the functions no_such_function"):
        execlog.options("log", functions, ["no_such_function"])
