# SPDX-License-Identifier: MIT
"""Fixtures for the files of CI systems: their checkers, from package registries."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from redzone.core import base, process
from redzone.core.base import ROOT
from redzone.testing import pypi
from redzone.testing.needs import need

HERE = Path(__file__).resolve().parent
FOLDER = base.BUILD / "ci-files"
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint"


@pytest.fixture(scope="session")
def fetched():
    """Names and objects of what PyPI has."""
    site = FOLDER / "site"
    try:
        pypi.install(HERE / "requirements.txt", site)
    except pypi.Unavailable as error:
        pytest.skip(str(error))
    sys.path.append(str(site))
    import fastjsonschema
    from ruamel.yaml import YAML

    schemas = site / "check_jsonschema" / "builtin_schemas" / "vendor"

    def valid(schema, text):
        """Raise unless the YAML @text is valid by the @schema."""
        data = json.loads((schemas / f"{schema}.json").read_text(encoding="utf-8"))
        fastjsonschema.compile(data, use_default=False)(read(text))

    def read(text):
        return YAML(typ="safe", pure=True).load(text)

    return SimpleNamespace(valid=valid, read=read, bin=site / "bin")


@pytest.fixture(scope="session")
def actionlint(fetched):
    """A function that returns what actionlint says about the text of a workflow."""
    need("go")
    folder = FOLDER / "go"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(HERE / name, folder / name)
    program = FOLDER / "actionlint"
    # A Go that is too old must not fetch another one.
    environment = {**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    try:
        built = process.run(
            ["go", "build", "-o", program, ACTIONLINT], cwd=folder, env=environment, timeout=600
        )
    except subprocess.TimeoutExpired:
        pytest.skip("Go did not fetch and build actionlint within 600 s")
    if built.returncode != 0:
        pytest.skip(f"Go cannot build actionlint: {process.last_line(built.stderr)}")

    def said(text):
        command = [program, "-no-color", "-shellcheck", fetched.bin / "shellcheck", "-pyflakes", "", "-"]
        return process.run(command, input=text, cwd=ROOT).stdout

    return said


def blocks(path, language):
    """Return the blocks of @language in the Markdown file @path, {first line without `# `: text}."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {block.splitlines()[0].removeprefix("# "): block for block in found}
