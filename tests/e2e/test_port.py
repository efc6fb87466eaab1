# SPDX-License-Identifier: MIT
"""`./redzone port`: which ports it finds, and that a broken port breaks nothing else.

The tests put their own ports into a copy of the tree.
"""

import re

import pytest
from conftest import ROOT, Command, copy_command
from redzone.kit import ports
from redzone.testing.needs import first

COMMAND = """
import click
from redzone.core import base
from .host.greeting import TEXT

@click.command()
@click.option("--twice", is_flag=True, help="Say it twice.")
@click.pass_context
def command(context, twice):
    \"\"\"Say hello.\"\"\"
    click.echo(TEXT * (2 if twice else 1))
    context.exit(base.CRASHED if twice else base.OK)
"""
SUITE = '''"""A suite of a port."""
from redzone.testing.runner import PASS, Result

TOOLS = ("frobnicator",)

def run(context):
    yield Result("one", PASS)
'''
TOOL = '{ key = "frobnicator", command = "frobnicate-7", package = "frob", use = "frobnicates" }'


@pytest.fixture
def tree(tmp_path):
    """A copy of the files that ./redzone needs. tree(...) runs it; tree.put() adds a file."""

    class Tree(Command):
        def put(self, name, text):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    root = copy_command(tmp_path / "tree")
    (root / ".venv").symlink_to(ROOT / ".venv")
    (root / "ports").mkdir()
    tree = Tree(root, root)
    # Every run of suites makes sure of this file.
    tree.put("tests/cases/INDEX.tsv", "")
    return tree


def one_error(result, *texts):
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stderr.startswith("redzone: error: ") and len(result.stderr.splitlines()) == 1, (
        result.stderr
    )
    for text in texts:
        assert text in result.stderr


def test_a_folder_is_a_port(tree):
    """Its command, its programs in doctor, and its suite; and a port without a Python part."""
    tree.put("ports/my-os/README.md", "# My own system\n")
    tree.put("ports/my-os/port.py", COMMAND)
    tree.put("ports/my-os/host/greeting.py", 'TEXT = "hello"\n')
    tree.put("ports/my-os/suite.py", SUITE)
    tree.put("ports/my-os/suite_more_of_it.py", SUITE.replace("A suite", "Another suite"))
    tree.put("ports/my-os/tools.toml", f"tool = [\n{TOOL},\n]\n")
    tree.put("ports/plain/README.md", "# Only C\n")
    assert tree("port", "--list").stdout.splitlines() == [
        "my-os  My own system",
        "plain  Only C (no command: see ports/plain/README.md)",
    ]
    text = tree("port", "--help").stdout
    assert "my-os  My own system" in text and "Only C" not in text
    assert "--twice" in tree("port", "my-os", "--help").stdout
    assert tree("port", "my-os").stdout == "hello\n"
    result = tree("port", "my-os", "--twice")
    assert (result.returncode, result.stdout) == (3, "hellohello\n")
    listing = tree("test", "--list").stdout
    assert "my-os " in listing and "A suite of a port" in listing
    assert "my-os-more-of-it " in listing and "Another suite of a port" in listing
    assert "my-os.all # SKIP frobnicate-7 not found" in tree("test", "my-os").stdout
    lines = [line.split() for line in tree("doctor").stdout.splitlines()]
    assert ["missing", "frobnicate-7", "frob", "frobnicates"] in lines
    one_error(tree("port", "plain"), "the port 'plain' has no command", "ports/plain/README.md")
    one_error(tree("port", "other"), "there is no port 'other'; those that exist: my-os, plain")
    one_error(tree("port"), "Those with a command: my-os")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def command(:\n", "ports/bad/port.py:1: SyntaxError"),
        ("\nimport absent\n", "ports/bad/port.py:2: ModuleNotFoundError"),
        ("from .late import x\n", "ports/bad/late.py:1: ZeroDivisionError"),
        ("raise SystemExit(0)\n", "ports/bad/port.py:1: SystemExit"),
        ("verb = None\n", "ports/bad/port.py has no click command called 'command'"),
    ],
)
def test_a_broken_command_names_its_file(tree, text, message):
    tree.put("ports/bad/README.md", "# Broken\n")
    tree.put("ports/bad/late.py", "x = 1 / 0\n")
    tree.put("ports/bad/port.py", text)
    one_error(tree("port", "bad"), message)


def test_other_verbs_do_not_read_a_broken_command(tree):
    tree.put("ports/bad/README.md", "# Broken\n")
    tree.put("ports/bad/port.py", "def command(:\n")
    tree.put("ports/bad/tools.toml", "tool = [\n")
    assert "bad  Broken" in tree("port", "--list").stdout
    for arguments in (("port", "--help"), ("test", "--list"), ("build", "--list")):
        result = tree(*arguments)
        assert (result.returncode, result.stderr) == (0, "")


def test_a_broken_suite_fails_alone(tree):
    tree.put("ports/bad/README.md", "# Broken\n")
    tree.put("ports/bad/suite.py", "import absent\n")
    result = tree("test", "--list")
    assert result.returncode == 0 and "bad" in result.stdout and "ports/bad/suite.py:1" in result.stdout
    result = tree("test", "bad")
    assert result.returncode == 1 and "not ok 1 bad.all" in result.stdout
    assert "ports/bad/suite.py:1: ModuleNotFoundError" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool = [\n", "TOMLDecodeError"),
        ('tool = [{ key = "x" }]\n', "TypeError"),
        ("[[tools]]\n", "KeyError: 'tool'"),
        (f"tool = [{TOOL.replace('frobnicator', 'make')}]\n", "the key 'make' belongs to another program"),
    ],
)
def test_broken_tools_name_their_file(tree, text, message):
    tree.put("ports/bad/README.md", "# Broken\n")
    tree.put("ports/bad/suite.py", SUITE)
    tree.put("ports/bad/tools.toml", text)
    result = tree("doctor")
    assert "left out: ports/bad/tools.toml: " in result.stderr and message in result.stderr
    result = tree("test", "bad")
    assert result.returncode != 0 and "ports/bad/tools.toml: " in result.stdout + result.stderr


@first(
    0,
    ("port", "tool", "mirror"),
    [
        ("xv6-riscv", "riscv64-linux-gnu-gcc", "REDZONE_XV6_GIT"),
        ("freertos", "arm-none-eabi-gcc", "REDZONE_FREERTOS_GIT"),
        ("u-boot", "flex", None),
    ],
)
def test_source_comes_before_programs(redzone, tmp_path, path_without, port, tool, mirror):
    """Nothing is installed, or asked for, for a source that cannot be had."""
    environment = {"PATH": path_without(tool), "REDZONE_BUILD": str(tmp_path / "build")}
    if mirror:
        environment[mirror] = f"file://{tmp_path}/nowhere"
    result = redzone("port", port, "--run", **environment, status=2)
    assert "cannot be fetched" in result.stderr
    assert tool not in result.stdout + result.stderr


def test_exit_statuses_are_the_same(redzone):
    """One rule for all ports, which --help and the README have as a table."""
    assert [
        ports.status_of(False),
        ports.status_of(True),
        ports.status_of(True, stopped=True),
        ports.status_of(False, stopped=True),
        ports.status_of(True, wrong=True),
    ] == [0, 1, 1, 3, 3]
    readme = (redzone.root / "ports" / "README.md").read_text(encoding="utf-8")
    table = [line.split("|")[1:3] for line in readme.splitlines() if re.match(r" +\| +\d+ \|", line)]
    rows = [f"  {number.strip()}  {text.strip().replace('`', '')}" for number, text in table]
    assert len(rows) == 5
    for port in ports.names("port"):
        shown = redzone("port", port, "--help").stdout.partition("Exit status:\n")[2].splitlines()
        assert [f"  {line.strip()}" for line in shown if line.strip()] == rows
