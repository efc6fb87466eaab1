# SPDX-License-Identifier: MIT
"""For tests under pytest: the outside programs that a test needs, or the reason for which it is skipped; and
which of its values it takes by default."""

import functools
import os

from redzone.core import doctor, outside

# "1": a test may install what it needs, as the suite that runs it was told by --yes.
VARIABLE = "REDZONE_TEST_YES"


@functools.cache
def reason(command):
    """Return why a test that needs the program @command is skipped, None if the program is there."""
    found = outside.called(command)
    if not found:
        raise LookupError(f"redzone.core.outside does not know the program {command}")
    try:
        doctor.require([found[0].key], "run this test", os.environ.get(VARIABLE) == "1")
    except doctor.Missing as error:
        return str(error)
    return None


def need(*commands):
    """Skip the test if one of the programs @commands is missing and cannot be installed."""
    # Here, because the runner of suites imports this file.
    import pytest

    for command in commands:
        if why := reason(command):
            pytest.skip(why)


def first(count, names, values, **options):
    """Parametrize a test with @values. By default the first @count of them run; --rest runs the others.
    @options: such as ids."""
    import pytest

    rows = [(value,) if isinstance(names, str) else value for value in values]
    marks = [(), (pytest.mark.rest,)]
    return pytest.mark.parametrize(
        names,
        [pytest.param(*row, marks=marks[place >= count]) for place, row in enumerate(rows)],
        **options,
    )
