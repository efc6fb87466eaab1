# SPDX-License-Identifier: MIT
"""`./redzone bench programs`: the tables, and what is refused before anything is built."""

import pytest
from redzone.bench import programs
from redzone.core.base import Failure

FIGURES = {
    "libdeflate": {
        "host": {"seconds": 0.08},
        "host ASan": {"seconds": 0.125},
        "off": {"seconds": 0.5, "instructions": 769899000},
        "generic inline": {"seconds": 1.0, "instructions": 1856614000},
    }
}


def test_tables_compare_with_asan_on_the_host():
    titles = {"libdeflate": "libdeflate, 30 x 200 KB"}
    assert list(programs.rows(FIGURES, titles)) == [
        ["CPU seconds (to host ASan)", "host", "host ASan", "off", "generic inline"],
        ["libdeflate, 30 x 200 KB", "0.08 (0.6)", "0.12 (1.0)", "0.50 (4.0)", "1.00 (8.0)"],
    ]
    assert list(programs.instruction_rows(FIGURES, titles)) == [
        ["million instructions", "off", "generic inline"],
        ["libdeflate, 30 x 200 KB", "770", "1,857"],
    ]


def test_instructions_are_the_time_of_the_end():
    console = "[    0.000000] Booting\nresult 5\n[    1.856614] reboot: System halted\n"
    assert programs.instructions(console) == 1856614000
    with pytest.raises(Failure, match="did not say when it stopped"):
        programs.instructions("result 5\n")


def test_columns_of_ubsan_are_other_kernels():
    for name in ("off", "generic inline"):
        plain, checked = programs.COLUMNS[name], programs.COLUMNS[f"{name}, ubsan"]
        assert checked.preset == f"{plain.preset}+ubsan"


def test_columns_of_page_redzones_are_other_boots_of_one_kernel():
    plain = programs.COLUMNS["generic inline"]
    speed = programs.Speed("empty", "", [], [], [], [], "")
    for name, value in (("no page redzones", "off"), ("all page redzones", "all")):
        column = programs.COLUMNS[f"generic inline, {name}"]
        assert column.preset == plain.preset
        assert programs._machine(None, column, speed, True).append == [f"kasan.page_redzone={value}"]
    assert programs._machine(None, plain, speed, True).append == []
