# SPDX-License-Identifier: MIT
"""The architectures of `./redzone port linux`: what is chosen for each, without a build."""

import pytest
from redzone.core import outside
from redzone.core.base import Failure
from redzone.kit.ports.linux import suite
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


def test_an_architecture_is_chosen_by_its_name():
    assert [kernel[0] for kernel in suite.kernels("all")] == [*build.ARCHES]
    assert suite.kernels("riscv") == (("riscv", "generic-inline", "clang"),)
    assert {kernel[0] for kernel in suite.kernels()} == {"arm64", "x86_64"}
    assert suite.kernels(pattern="*") == tuple(suite.BOOTS)
    with pytest.raises(Failure, match="--arch vax: the suite has arm64, x86_64"):
        suite.kernels("vax")
