# SPDX-License-Identifier: MIT
"""The steps of action.yml, run as they are written, as GitHub's runner does it. The suite ci-files looks at
its form."""

import json
import re
import textwrap

import pytest
from redzone import cli
from redzone.core import process
from redzone.core.base import ROOT
from redzone.run import job

TEXT = (ROOT / "action.yml").read_text(encoding="utf-8")
INPUTS, STEPS = TEXT.split("runs:\n")
DEFAULTS = dict(
    re.findall(r"^  ([a-z-]+):\n(?:    .*\n)*?    default: \"?([^\"\n]*)\"?$", INPUTS, re.MULTILINE)
)
LISTED = set(re.findall(r"^  ([a-z-]+):$", INPUTS.partition("outputs:")[0], re.MULTILINE))
OVER = """\
#include <own.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char *p = malloc(OWN);

	if (argc != 2 || strcmp(argv[1], "two words"))
		return 3;
	p[OWN] = 1;
	free(p);
	return 0;
}
"""
LINE = OVER.splitlines().index("\tp[OWN] = 1;") + 1


def scripts():
    """Return {name of a step: its script}."""
    found = {}
    for step in re.split(r"^    - ", STEPS, flags=re.MULTILINE)[1:]:
        name = re.match("name: (.*)", step)[1]
        if one := re.search(r"^      run: '(.*)'$", step, re.MULTILINE):
            found[name] = one[1]
        elif one := re.search(r"^      run: \|\n((?:        .*\n|\n)+)", step, re.MULTILINE):
            found[name] = textwrap.dedent(one[1])
    return found


@pytest.fixture
def action(redzone, tmp_path):
    """Return action(**inputs): run the steps until one fails. Returns (status, output, the steps' outputs).

    install: also the step that installs."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    outputs = tmp_path / "outputs"

    def run(install=False, **inputs):
        given = {**DEFAULTS, **inputs}
        mapped = re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.([a-z-]+) \}\}$", STEPS, re.MULTILINE)
        outputs.write_text("")
        environment = redzone.environment(
            **{name: given[key] for name, key in mapped},
            CI="true", GITHUB_ACTIONS="true", GITHUB_ACTION_PATH=str(ROOT), GITHUB_OUTPUT=str(outputs),
            GITHUB_WORKSPACE=str(tmp_path), RUNNER_TEMP=str(tmp_path),
        )  # fmt: skip
        said = ""
        for script in list(scripts().values())[not install :]:
            path = tmp_path / "step.sh"
            path.write_text(script)
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", path]
            result = process.run(command, cwd=folder, env=environment, timeout=300)
            said += result.stdout + result.stderr
            if result.returncode:
                break
        pairs = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
        return result.returncode, said, pairs

    run.folder = folder
    return run


def test_all_inputs_have_defaults_and_are_used():
    assert set(DEFAULTS) == LISTED and list(scripts()) == ["Install what Redzone calls", "Run the programs"]
    assert {name for name in LISTED if f"inputs.{name}" in STEPS} == LISTED
    # What somebody writes into an input is never a part of a script.
    assert not any("${{" in script for script in scripts().values())


def test_bugs(action, source):
    """A pattern, options with quotes, the programs' arguments: annotations and SARIF have the bug's line."""
    source(OVER, "project/tests/one/over.c")
    source("int main(void) { return 0; }\n", "project/tests/clean.c")
    source("#define OWN 24\n", "project/own headers/own.h")
    options = "--each\n-I 'own headers' -- \"two words\"\n"
    status, said, outputs = action(True, files="tests/clean.c\ntests/**/over.c", options=options)
    assert status == 1, said
    assert outputs == {"status": "1", "sarif": str(action.folder / "redzone.sarif")}
    assert f"::error file=project/tests/one/over.c,line={LINE},title=KASAN%3A slab-out-of-bounds" in said
    assert said.count("\n::error ") == 1
    results = json.loads((action.folder / "redzone.sarif").read_text())["runs"][0]["results"]
    (where,) = [one["locations"][0]["physicalLocation"] for one in results]
    assert where["artifactLocation"]["uri"] == "project/tests/one/over.c"
    assert where["region"]["startLine"] == LINE


def test_nothing_is_built(action):
    """The old file of another run is not taken for a result, and no input is run by the shell."""
    (action.folder / "redzone.sarif").write_text("{}")
    status, said, outputs = action(
        files="no/*.c", options="-I '$(touch made)' `touch made`", mode="$(touch made)"
    )
    assert status == 2 and outputs == {"status": "2"}, said
    status, said, outputs = action(files="no/*.c")
    assert status == 2 and outputs == {"status": "2"}
    assert "no/*.c" in said
    assert list(action.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "variable", "wanted"),
    [([], "true", True), (["--no-github"], "true", False), ([], "", False), (["--github"], "", True)],
)
def test_annotations_by_themselves(monkeypatch, words, variable, wanted):
    monkeypatch.setenv("GITHUB_ACTIONS", variable)
    options = job.Options(arguments=[], **cli.run_options([*words, "a.c"]))
    assert options.outputs().github is wanted and options.outputs().wanted() is wanted
