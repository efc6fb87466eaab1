# SPDX-License-Identifier: MIT
"""`./redzone bench stackleak`: the text of its table, its input, and one kernel's figures."""

import pytest
from redzone.bench import page, stackleak
from redzone.core.base import Failure

MEASURED = {
    "clang-19": {
        "base": {"getpid": 200, "pipe": 2000},
        "off": {"getpid": 204, "pipe": 2010},
        "generic": {"getpid": 400, "pipe": 3000},
        "on": {"getpid": 390, "pipe": 2970},
    }
}


def test_rows_compare_with_the_kernel_without_erasing():
    heading, getpid, pipe = stackleak.rows(MEASURED)
    assert len(heading) == 9
    assert getpid == [
        *("getpid, Clang 19", "200.0", "204.0", "400.0", "390.0", "+2.0 %", "+95.0 %", "2.5 %", "1.7 %")
    ]
    assert pipe[4:] == ["2,970.0", "+0.5 %", "+48.5 %", "1.0 %", "0.9 %"]
    assert "| getpid, Clang 19 | 200.0 |" in stackleak.page_of(MEASURED).markdown()


def test_a_slower_entry_shows_as_such():
    figures = {"generic": {"getpid": 400}, "on": {"getpid": 410}}
    assert f"{stackleak.saved(figures, 'getpid'):.1f}" == "-2.5"


def test_kernels_are_built_with_and_without_erasing():
    assert set(stackleak.presets(["gcc", "generic"]).values()) == {
        "arm64-off-gcc",
        "arm64-off-gcc+erase",
        "arm64-generic-inline-clang",
        "arm64-generic-inline-clang+erase",
    }


@pytest.fixture(scope="module")
def images():
    return page.build(stackleak.presets(["clang-19"]), yes=False)


def test_one_kernel(images):
    figures = stackleak.measure(images, ["clang-19"], lambda text: None)["clang-19"]
    for name in stackleak.OPERATIONS:
        # Built in and off it is a load and a branch for each call; on, it writes at least the used stack.
        assert 0 < figures["off"][name] - figures["base"][name] <= 20
        assert figures["off"][name] < figures["on"][name] < figures["generic"][name]


def test_a_kernel_that_cannot_erase_is_refused(images):
    wrong = dict.fromkeys(images, images["clang-19", False])
    with pytest.raises(Failure, match="the kernel was built without stack erasing"):
        stackleak.measure(wrong, ["clang-19"], lambda text: None)
