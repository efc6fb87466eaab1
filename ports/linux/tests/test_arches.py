# SPDX-License-Identifier: MIT
"""The architectures of `./redzone port linux`: what is chosen for each, without a build."""

import click
import pytest
from click.testing import CliRunner
from redzone.core import outside
from redzone.core.base import Failure
from redzone.kit.ports.linux import suite
from redzone.kit.ports.linux.host import build, source

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("arch", build.ARCHES)
def test_each_architecture_has_its_options_and_programs(arch):
    mode = build.ARCHES[arch].modes[0]
    files = build.fragments(arch, mode)
    assert build.CONFIG / f"{arch}.config" in files
    assert all(path.is_file() for path in files)
    keys = (*build.tools(arch, "gcc" if build.ARCHES[arch].gcc else "clang"), build.ARCHES[arch].machine)
    assert not {*keys} - {*outside.BY_KEY}


def test_an_architecture_is_chosen_by_its_name():
    assert [kernel[0] for kernel in suite.kernels("all")] == [*build.ARCHES]
    assert suite.kernels("riscv") == (("riscv", "generic-inline", "clang"),)
    assert {kernel[0] for kernel in suite.kernels()} == {"arm64", "x86_64"}
    assert suite.kernels(pattern="*") == tuple(suite.BOOTS)
    with pytest.raises(Failure, match="--arch vax: the suite has arm64, x86_64"):
        suite.kernels("vax")


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [
        ((), "generic-inline"),
        (("--arch", "powerpc"), "generic-outline"),
        (("--mode", "generic-outline", "--arch", "riscv"), "generic-outline"),
    ],
)
def test_the_mode_that_an_architecture_has_is_the_default(arguments, mode):
    @click.command()
    @build.options
    def show(**options):
        click.echo(options["mode"])

    assert CliRunner().invoke(show, arguments).output == f"{mode}\n"


@pytest.mark.parametrize("arch", ["loongarch", "powerpc"])
def test_gcc_is_refused_where_its_kernels_cannot_run(arch):
    mode = build.ARCHES[arch].modes[0]
    build.check(arch, mode, "clang")
    with pytest.raises(Failure, match=f"with --arch {arch} --cc is clang"):
        build.check(arch, mode, "gcc")


def test_what_an_architecture_cannot_do_wins():
    """Linux for these has no inline checks, so no stack variables, which the mode asks for."""
    for arch in ("loongarch", "powerpc"):
        assert build.wanted(build.fragments(arch, "generic-outline"))["CONFIG_KASAN_STACK"] == "n"
    assert build.wanted(build.fragments("riscv", "generic-outline"))["CONFIG_KASAN_STACK"] == "y"
    # Without KASAN nothing of it is asked for.
    assert "CONFIG_KASAN_STACK" not in build.wanted(build.fragments("loongarch", build.PLAIN))


def test_a_line_of_linux_has_kernels_and_builds_of_its_own():
    assert {*suite.kernels(boots=suite.BOOTS_7)} == {*suite.BOOTS_7}
    with pytest.raises(Failure, match="--arch s390: the suite has arm64"):
        suite.kernels("s390", boots=suite.BOOTS_7)
    for line, name in (("6.12", "arm64-generic-inline"), ("7", "arm64-generic-inline-linux-7")):
        assert build.Make(source.TREES[line], "generic-inline").name == name


@pytest.mark.parametrize(
    ("version", "asked"), [("VERSION = 6\nPATCHLEVEL = 12\n", True), ("VERSION = 7\nPATCHLEVEL = 2\n", False)]
)
def test_linux_7_is_not_asked_for_what_it_always_has(tree, home, monkeypatch, version, asked):
    def make(self, target):
        if target == build.SMALL:
            (self.output / ".config").touch()

    (tree / "Makefile").write_text(f"{version}SUBLEVEL = 1\n", encoding="utf-8")
    monkeypatch.setattr(build.Make, "__call__", make)
    one = build.Make(tree, "generic-inline")
    build._configure(one)
    config = (one.output / ".config").read_text(encoding="utf-8")
    assert ("CONFIG_ARM64_PAN=y" in config) == asked
    assert "CONFIG_KASAN=y" in config
