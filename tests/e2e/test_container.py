# SPDX-License-Identifier: MIT
"""The Dockerfile and the dev container, as far as that goes without a container."""

import json
import os
import shutil
import subprocess

import pytest
from redzone.core import doctor, outside, process
from redzone.core.base import ROOT, Failure
from redzone.testing import dockerfile
from redzone.testing.suites import fresh_machine

INSTRUCTIONS = dockerfile.parse((ROOT / "Dockerfile").read_text(encoding="utf-8"))


def stage(name):
    """Return the instructions of the stage @name, without its FROM."""
    at = next(
        i for i, one in enumerate(INSTRUCTIONS) if one.name == "FROM" and one.text.endswith(f" AS {name}")
    )
    rest = INSTRUCTIONS[at + 1 :]
    end = next((i for i, one in enumerate(rest) if one.name == "FROM"), len(rest))
    return rest[:end]


def test_instructions():
    releases = {step.release for step in fresh_machine.steps(False)}
    first = next(one for one in INSTRUCTIONS if one.name == "FROM")
    assert first.text.split()[0].removeprefix("debian:") in releases
    for one in INSTRUCTIONS:
        if one.name == "COPY":
            assert all((ROOT / source).exists() for source in one.text.split()[:-1]), one
        if one.name == "RUN":
            subprocess.run(["sh", "-n", "-c", one.text], check=True)
    assert INSTRUCTIONS[-2].name == "ENTRYPOINT" and json.loads(INSTRUCTIONS[-2].text)
    with pytest.raises(Failure, match="HEALTHCHECK is not known"):
        dockerfile.script(dockerfile.parse("HEALTHCHECK none"), "/")


def test_what_is_installed_is_what_doctor_wants(tmp_path):
    """In a folder: the copies are enough for doctor, and it installs what run needs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in (
        "sh",
        "mkdir",
        "cp",
        "rm",
        "python3",
        "readlink",
        "dirname",
        "cmp",
        "env",
        "id",
        "cat",
        "grep",
    ):
        (programs / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
    for name, text in (("apt-get", 'echo "$@" >>"$APT_LOG"'), ("sudo", '[ "$1" != -n ] || shift; exec "$@"')):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    text = dockerfile.script(stage("tools"), ROOT, root=tmp_path).replace("/var/lib/apt", f"{tmp_path}/lists")
    log = tmp_path / "apt.log"
    result = process.run(
        ["sh", "-c", text], cwd=tmp_path,
        env={
            "PATH": str(programs), "APT_LOG": str(log), "HOME": str(tmp_path),
            # The C library is not looked for in the network.
            "REDZONE_MUSL": str(tmp_path / "none"),
        },
    )  # fmt: skip
    # Nothing has been installed, and doctor says so.
    assert result.returncode == 2 and "Still missing: " in result.stdout, result.stdout + result.stderr
    installs = [line.split() for line in log.read_text().splitlines() if " install " in f" {line} "]
    asked = {word for words in installs for word in words[words.index("--no-install-recommends") + 1 :]}
    run = [tool for tool in outside.TOOLS if tool.level == "run" and tool.key != "venv"]
    assert asked - {"ca-certificates", "git", "python3", "python3-venv"} == {*doctor.packages_of(run)}
    assert (tmp_path / "opt" / "redzone" / "tools" / "redzone" / "core" / "doctor.py").exists()
    assert not (tmp_path / "opt" / "redzone" / "runtime").exists()


def test_dev_container():
    text = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    build = text["build"]
    assert (ROOT / ".devcontainer" / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (ROOT / ".devcontainer" / build["context"]).resolve() == ROOT
    assert stage(build["target"])
    for command in text["postCreateCommand"].split(" && "):
        assert command.startswith("./redzone "), command
    result = process.run([ROOT / "redzone", "doctor", "--help"], env=os.environ, check=True)
    assert "--for USE" in result.stdout and "test" in result.stdout
