# SPDX-License-Identifier: MIT
"""The Action, the examples of docs/use/ci.md and the Dockerfile are what their systems accept."""

import re
import subprocess

import pytest
from conftest import blocks
from redzone import cli
from redzone.build import builder
from redzone.core import process
from redzone.core.base import ROOT

ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
OWN = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
EXAMPLES = blocks(ROOT / "docs" / "use" / "ci.md", "yaml")
WORKFLOW, GITLAB = EXAMPLES[".github/workflows/redzone.yml"], EXAMPLES[".gitlab-ci.yml"]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("github-actions", ACTION),
        ("github-workflows", OWN),
        ("github-workflows", WORKFLOW),
        ("gitlab-ci", GITLAB),
    ],
    ids=("action", "own", "workflow", "gitlab"),
)
def test_schemas(fetched, schema, text):
    fetched.valid(schema, text)
    # A checker that accepts anything would prove nothing.
    with pytest.raises(Exception, match=r"^data.*must"):
        fetched.valid(schema, re.sub(r"(?m)^(\s+)(run|runs-on|using|script):", r"\1\2x:", text, count=1))


@pytest.mark.parametrize("text", (OWN, WORKFLOW), ids=("own", "workflow"))
def test_actionlint(actionlint, text):
    # It cannot look into an action that has no repository.
    assert actionlint(text) == ""
    assert "is not defined in object type" in actionlint(text.replace("${{ ", "${{ matrix.absent || ", 1))


def test_the_example_calls_the_action_as_it_is(fetched):
    """Its inputs exist, and its modes do."""
    action, workflow = fetched.read(ACTION), fetched.read(WORKFLOW)
    (job,) = workflow["jobs"].values()
    (step,) = [one for one in job["steps"] if "redzone" in one.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    modes = [
        *job["strategy"]["matrix"]["mode"],
        *(one["mode"] for one in job["strategy"]["matrix"]["include"]),
    ]
    assert sorted(modes) == sorted(builder.MODES)
    text = (ROOT / "docs" / "use" / "ci.md").read_text(encoding="utf-8")
    rows = text.partition("| input |")[2].partition("\n\n")[0].splitlines()[2:]
    assert {name for row in rows for name in re.findall("`([^`]+)`", row.split("|")[1])} == set(
        action["inputs"]
    )


def test_the_options_of_the_gitlab_job(fetched):
    (job,) = fetched.read(GITLAB).values()
    (line,) = job["script"]
    words = line.replace('"$MODE"', "generic").split()
    assert words[:2] == ["/opt/redzone/redzone", "run"]
    given = cli.command.commands["run"].make_context("run", words[2:]).params
    reports = job["artifacts"]["reports"]
    assert (reports["junit"], reports["codequality"]) == (given["junit"], given["code_quality"])


def test_shellcheck(fetched, tmp_path):
    action = fetched.read(ACTION)
    checker = fetched.bin / "shellcheck"
    for number, step in enumerate(step for step in action["runs"]["steps"] if "run" in step):
        script = tmp_path / f"{number}.sh"
        script.write_text(f"#!/bin/bash\nset -eo pipefail\n{step['run']}", encoding="utf-8")
        result = process.run([checker, script])
        assert result.stdout == "", step["name"]
    for name in ("redzone", ".ci/run"):
        assert process.run([checker, ROOT / name]).stdout == ""
    script.write_text("#!/bin/sh\nrm $1\n", encoding="utf-8")
    assert "SC2086" in process.run([checker, script]).stdout


def test_hadolint(fetched):
    # Packages are those of the release that FROM names.
    command = [fetched.bin / "hadolint", "--ignore", "DL3008", "--no-color"]
    result = process.run([*command, ROOT / "Dockerfile"])
    assert (result.stdout, result.returncode) == ("", 0)
    bad = subprocess.run(
        [*command, "-"], input="FROM debian\nRUN cd /\n", text=True, capture_output=True, check=False
    )
    assert "DL3006" in bad.stdout
