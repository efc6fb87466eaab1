# SPDX-License-Identifier: MIT
"""How a program's functions lie in pages: tools/build-scripts/pages.py."""

import random
import subprocess

import constructors
import pages
import pytest


def ends(page, sizes):
    """Yield (index, start, end) of the functions in @page, from its start, as a linker places them."""
    at = 0
    for index in page:
        size, align = sizes[index]
        at = -(-at // align) * align
        yield index, at, at + size
        at += size


@pytest.mark.parametrize("seed", range(20))
def test_no_function_that_fits_lies_across_a_border(seed):
    rng = random.Random(seed)
    sizes = [
        (rng.choice([4, 100, 1000, 4096, 5000, rng.randint(1, 9000)]), rng.choice([4, 16, 64]))
        for _ in range(rng.randint(1, 200))
    ]
    made = pages.arrange(sizes)
    assert sorted(index for page in made for index in page) == list(range(len(sizes)))
    for page in made:
        assert page == sorted(page)
        large = [index for index in page if sizes[index][0] + sizes[index][1] - 1 > pages.PAGE]
        assert len(large) <= 1
        for index, start, end in ends(page, sizes):
            if not large:
                assert end <= pages.PAGE, (index, start, end)


def test_pages_are_filled():
    """The room that is left over is less than a tenth."""
    rng = random.Random(1)
    sizes = [(rng.randint(40, 3000), 4) for _ in range(500)]
    assert len(pages.arrange(sizes)) * pages.PAGE < 1.1 * sum(size for size, _ in sizes)


SOURCE = """\
#define F(n) int f##n(int x) { return x ? f##n##_(x - 1) * n : n; }
int f1_(int), f2_(int), f3_(int);
F(1)
F(2)
F(3)
__attribute__((section(".text.own"))) int own(void) { return 4; }
int data = 5;
"""


def test_sections_of_an_object(tmp_path):
    (tmp_path / "a.c").write_text(SOURCE, encoding="utf-8")
    options = ["--target=aarch64-none-elf", "-O1", "-ffunction-sections", "-c"]
    subprocess.run(["clang-19", *options, "a.c", "-o", "a.o"], check=True, cwd=tmp_path)
    before = constructors.Object((tmp_path / "a.o").read_bytes())
    data, made = constructors.prepare((tmp_path / "a.o").read_bytes())
    assert made == []
    after = constructors.Object(data)
    changed = [
        (old.name, new.name, new.align)
        for old, new in zip(before.sections, after.sections, strict=True)
        if (old.name, old.align) != (new.name, new.align)
    ]
    assert changed == [
        (".text.f1", ".text.page.000000", 4096),
        (".text.f2", ".text.page.000000", 4),
        (".text.f3", ".text.page.000000", 4),
        (".text.own", ".text.page.000000", 4),
    ]
