# SPDX-License-Identifier: MIT
"""The architectures of `./redzone port linux`: what is chosen for each, without a build."""

import click
import pytest
from click.testing import CliRunner
from redzone.core import outside
from redzone.kit.ports.linux.host import build

pytestmark = pytest.mark.quick


def chosen(*arguments):
    """Return (arch, mode) that the options of the port make of @arguments."""
    seen = {}

    @click.command()
    @build.options
    def command(**options):
        seen.update(options)

    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return seen["arch"], seen["mode"]


def test_the_usual_mode_of_an_architecture():
    assert chosen() == ("arm64", "generic-inline")
    assert chosen("--arch", "riscv") == ("riscv", "generic-inline")
    # Whatever comes first.
    assert chosen("--mode", "generic-outline", "--arch", "riscv") == ("riscv", "generic-outline")
    assert chosen("--arch", "powerpc") == ("powerpc", "generic-outline")
    for arch in build.ARCHES:
        build.check(*chosen("--arch", arch), "clang")


@pytest.mark.parametrize("arch", build.ARCHES)
def test_each_architecture_has_its_options_and_programs(arch):
    mode = build.ARCHES[arch].modes[0]
    files = build.fragments(arch, mode)
    assert build.CONFIG / f"{arch}.config" in files
    assert all(path.is_file() for path in files)
    compiler = "gcc" if build.ARCHES[arch].gcc else "clang"
    keys = (*build.tools(arch, compiler), build.ARCHES[arch].machine)
    assert not {*keys} - {*outside.BY_KEY}


def test_what_an_architecture_cannot_do_wins():
    """Linux for powerpc has no inline checks, so no stack variables, which the mode asks for."""
    assert build.wanted(build.fragments("powerpc", "generic-outline"))["CONFIG_KASAN_STACK"] == "n"
    assert build.wanted(build.fragments("riscv", "generic-outline"))["CONFIG_KASAN_STACK"] == "y"
    # Without KASAN nothing of it is asked for.
    assert "CONFIG_KASAN_STACK" not in build.wanted(build.fragments("powerpc", build.PLAIN))
