# SPDX-License-Identifier: MIT
"""The architectures of `./redzone port linux`: what is chosen for each, without a build."""

import pytest
from redzone.core import outside
from redzone.kit.ports.linux.host import build

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("arch", build.ARCHES)
def test_each_architecture_has_its_options_and_programs(arch):
    mode = build.ARCHES[arch].modes[0]
    files = build.fragments(arch, mode)
    assert build.CONFIG / f"{arch}.config" in files
    assert all(path.is_file() for path in files)
    keys = (*build.tools(arch, "gcc"), build.ARCHES[arch].machine)
    assert not {*keys} - {*outside.BY_KEY}
