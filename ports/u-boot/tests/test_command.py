# SPDX-License-Identifier: MIT
"""The options of `./redzone port u-boot`: conflicting ones give one clear message and status 2."""

import os

import pytest
from redzone.core import process
from redzone.core.base import ROOT

pytestmark = pytest.mark.quick

BAD_OPTIONS = [
    (("--frobnicate",), "see ./redzone port u-boot --help"),
    (("--run", "--console"), "exclude each other"),
    (("--input", "CVE-2000-1"), "accepted: all, CVE-2024-57259"),
    (("--cc", "tcc"), "accepted: clang-19, gcc"),
    (("--run", "--mem", "64M"), "needs 128M"),
    (("--console", "--disk", "absent.img"), "'absent.img' is not a file"),
    (("--run", "--disk", "main.c"), "--disk needs --console or --command"),
    (("--cost", "--plain"), "leave out the others"),
    (("--jobs", "0"), "an integer from 1"),
    (("--run", "--log", "absent/console.log"), "its folder does not exist"),
]


def port(folder, *arguments):
    (folder / "main.c").write_text("int main(void) { return 0; }")
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    return process.run([ROOT / "redzone", "port", "u-boot", *arguments], cwd=folder, env=environment)


@pytest.mark.parametrize(("arguments", "message"), BAD_OPTIONS, ids=lambda value: str(value)[:60])
def test_bad_usage(tmp_path, arguments, message):
    result = port(tmp_path, *arguments)
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stderr.startswith("redzone: error: ") and message in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr


def test_help_has_the_exit_statuses(tmp_path):
    result = port(tmp_path, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    statuses = [
        line.split()[0] for line in result.stdout.partition("Exit status:")[2].splitlines() if line.strip()
    ]
    assert statuses[:5] == ["0", "1", "2", "3", "130"]
