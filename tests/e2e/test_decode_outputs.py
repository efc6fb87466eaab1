# SPDX-License-Identifier: MIT
"""--html, --sarif, --junit, --code-quality and --github of decode, run and port; the suite decode-page looks
closer."""

import html.parser
import json
import re
import xml.etree.ElementTree as ET

import pytest
from conftest import Command, copy_command

pytestmark = pytest.mark.quick

PORT = '''
import click
from redzone.kit import ports

@click.command()
@click.option("--fail", is_flag=True)
@click.pass_context
def command(context, fail):
    """Say hello."""
    ports.note_console("{log}")
    click.echo("::error::of the console")
    context.exit(3 if fail else 0)
'''


class Page(html.parser.HTMLParser):
    """Checks that a page opens and closes its elements in order, and collects them."""

    VOID = ("meta", "link", "input", "rect", "path")

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.addresses, self.ids = [], set(), [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        named = dict(attributes)
        self.addresses += [named[key] for key in ("href", "src") if key in named]
        self.ids += [named["id"]] if "id" in named else []
        assert "style" not in named and not any(key.startswith("on") for key in named)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def outputs(folder):
    """Return the options for all files in @folder, and their paths."""
    paths = [folder / name for name in ("bugs.html", "bugs.sarif", "bugs.xml", "quality.json")]
    return ["--html", paths[0], "--sarif", paths[1], "--junit", paths[2], "--code-quality", paths[3]], paths


def check(paths, bugs):
    """Check the files @paths, which must have so many @bugs."""
    text = paths[0].read_text(encoding="utf-8")
    page = Page(text)
    assert all(address.startswith("#") or address == "data:," for address in page.addresses)
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert len([one for one in page.ids if re.fullmatch(r"bug-\d+", one)]) == bugs
    results = json.loads(paths[1].read_text(encoding="utf-8"))["runs"][0]["results"]
    assert len(results) == bugs
    # A second suite has the tests of the log, as with --each.
    assert int(ET.parse(paths[2]).getroot().find("testsuite").get("failures")) == bugs
    issues = json.loads(paths[3].read_text(encoding="utf-8"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == bugs
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["path"] and issue["location"]["lines"]["begin"] >= 1
        assert "\n" not in issue["description"]
    return text, results


def test_decode(redzone, tmp_path):
    logs = sorted((redzone.root / "tests" / "golden").glob("*.log"))
    options, paths = outputs(tmp_path)
    result = redzone("decode", *logs, *options, "--github", status=1)
    check(paths, len(logs))
    assert result.stdout.count("::error title=") == len(logs)


def test_hostile_log(redzone, tmp_path):
    """Names in a log neither become elements of the page nor commands of GitHub."""
    log = tmp_path / "hostile.log"
    name = "<script>alert(1)</script>\x1b]0;x\x07"
    golden = (redzone.root / "tests" / "golden" / "slab-out-of-bounds.log").read_text(encoding="utf-8")
    text = golden.replace("kmalloc-16", name).replace("task main", f"task {name}")
    log.write_text(f"::error::before\n{text}\n::set-output name=x::y\n", encoding="utf-8")
    options, paths = outputs(tmp_path)
    result = redzone("decode", log, *options, "--github", "--all", status=1)
    text, _ = check(paths, 1)
    assert text.count("<script>") == 1
    assert "&lt;script&gt;alert(1)" in text
    for path in paths:
        assert "\x1b" not in path.read_text(encoding="utf-8")
    (token,) = re.findall(r"^::stop-commands::(\w+)$", result.stdout, re.MULTILINE)
    _, _, after = result.stdout.partition(f"\n::{token}::\n")
    assert len(re.findall(r"^\s*::", after, re.MULTILINE)) == 1


def test_no_report(redzone, tmp_path):
    (tmp_path / "quiet.log").write_text("all is well\n", encoding="utf-8")
    options, paths = outputs(tmp_path)
    redzone("decode", tmp_path / "quiet.log", *options, "--github", status=0)
    text, _ = check(paths, 0)
    assert "There is no report in this log" in text
    assert ET.parse(paths[2]).getroot().get("tests") == "1"


def test_baseline(redzone, tmp_path):
    """Known bugs are no failures, no annotations, and marked in SARIF and on the page."""
    log = redzone.root / "tests" / "golden" / "double-free.log"
    known = tmp_path / "known.json"
    redzone("decode", log, "--json", known, status=1)
    options, paths = outputs(tmp_path)
    result = redzone("decode", log, "--baseline", known, *options, "--github", status=0)
    assert "::error" not in result.stdout
    data = json.loads(paths[1].read_text(encoding="utf-8"))
    assert [one["baselineState"] for one in data["runs"][0]["results"]] == ["unchanged"]
    root = ET.parse(paths[2]).getroot()
    assert root.get("failures") == "0" and root.find(".//skipped") is not None
    assert json.loads(paths[3].read_text(encoding="utf-8")) == []
    assert '<span class="badge">known</span>' in paths[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("each", (False, True), ids=("together", "each"))
def test_run(redzone, tmp_path, each):
    """The bugs are at their lines of the example."""
    options, paths = outputs(tmp_path)
    program = redzone.root / "examples" / "heap_bugs.c"
    files = ["--each", program] if each else []
    result = redzone("run", *files, *options, "--github", "--timeout", "300", status=1)
    # With --each a program ends with its first report.
    text, results = check(paths, 1 if each else 2)
    lines = program.read_text(encoding="utf-8").splitlines()
    where = results[0]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"].endswith("examples/heap_bugs.c")
    number = where["region"]["startLine"]
    assert f"line={number}," in result.stdout
    (first, *_) = json.loads(paths[3].read_text(encoding="utf-8"))
    path = where["artifactLocation"]["uri"].removeprefix("file://")
    place = {"path": path, "lines": {"begin": number}}
    assert first["location"] == place and first["check_name"] == "kasan/slab-out-of-bounds"
    assert f'<span class="line">&gt;{number:5} </span>' in text
    assert lines[number - 1].strip()


def test_port(redzone, tmp_path):
    """A port that notes its consoles has the options; its exit status stays."""
    tree = copy_command(tmp_path / "tree")
    (tree / ".venv").symlink_to(redzone.root / ".venv")
    log = redzone.root / "tests" / "golden" / "double-free.log"
    (tree / "ports" / "hello").mkdir(parents=True)
    (tree / "ports" / "hello" / "port.py").write_text(PORT.format(log=log), encoding="utf-8")
    (tree / "ports" / "hello" / "README.md").write_text("# hello: a port\n", encoding="utf-8")
    options, paths = outputs(tmp_path)
    result = Command(tmp_path, tree)("port", "hello", "--fail", *options, "--github", status=3)
    check(paths, 1)
    stopped, _, _ = result.stdout.partition("::error::of the console")
    assert stopped.startswith("::stop-commands::")
