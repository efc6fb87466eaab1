# SPDX-License-Identifier: MIT
"""The helpers of these tests: which combinations run by default."""

import itertools

import pytest
from kit import few

pytestmark = pytest.mark.quick

THREE = list(itertools.product("abc", "de", "fg"))


def parts(mark):
    """Return (default, rest) of a test's combinations."""
    default = [row.values for row in mark.args[1] if not row.marks]
    return default, [row.values for row in mark.args[1] if row.marks]


@pytest.mark.parametrize(("size", "pairs"), [(2, True), (1, False)])
def test_few_have_every_pair_or_every_value(size, pairs):
    def covered(chosen):
        return {group for values in chosen for group in itertools.combinations(enumerate(values), size)}

    default, rest = parts(few(("x", "y", "z"), THREE, pairs).mark)
    assert sorted(default + rest) == sorted(THREE)
    assert covered(default) == covered(THREE)
    assert len(default) == (6 if pairs else 3)


def test_combinations_that_are_no_product():
    default, rest = parts(few(("x", "y"), [("a", "d"), ("b", "d"), ("b", "e")], pairs=False).mark)
    assert (default, rest) == ([("a", "d"), ("b", "e")], [("b", "d")])
