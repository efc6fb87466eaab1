# SPDX-License-Identifier: MIT
"""clean, help, completion, --version, the manual page and redzone.toml."""

import os
import re
import shutil
import subprocess
import threading
import time

import click
import pytest
from redzone import cli
from redzone.core import process
from redzone.core.base import ROOT
from redzone.verbs import clean, settings

pytestmark = pytest.mark.quick


def folder_of_preset(build, name, size, used):
    """Make a build folder with @size bytes that was used at the time @used."""
    folder = build / name
    folder.mkdir(parents=True)
    (folder / "CMakeCache.txt").write_text("")
    (folder / "object").write_bytes(b"x" * size)
    (folder / ".ninja_log").write_text("")
    os.utime(folder / ".ninja_log", (used, used))
    return folder


def test_clean(redzone, tmp_path):
    build = tmp_path / "built"
    one = folder_of_preset(build, "arm64-generic-inline-clang", 3 << 20, 0)
    (build / "libc" / "musl").mkdir(parents=True)
    (build / "libc" / "musl" / "malloc.c").write_bytes(b"x" * (2 << 20))
    (build / "venv").symlink_to(ROOT / ".venv")
    place = {"REDZONE_BUILD": str(build), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    result = redzone("clean", "-n", status=0, **place)
    assert re.search(r"3\.0 MB  would remove .*arm64-generic-inline-clang", result.stdout)
    assert one.exists()
    # A folder that another command uses stays.
    with clean.base.locked(one):
        assert "in use: built/arm64-generic-inline-clang" in redzone("clean", status=3, **place).stdout
    result = redzone("clean", status=0, **place)
    assert not one.exists() and (build / "libc" / "musl" / "malloc.c").exists()
    assert "2.0 MB  stay, mostly downloads; --all removes them too" in result.stdout
    redzone("clean", "--all", status=0, **place)
    assert [path.name for path in build.iterdir() if not path.name.startswith(".")] == ["venv"]
    assert "nothing to remove" in redzone("clean", status=0, **place).stdout


def test_build_folders_have_a_bound(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(clean, "BUILD", tmp_path)
    monkeypatch.setattr(clean, "_LOOK", tmp_path / ".looked")
    now = 1_800_000_000
    for name, hours in (("new", 0.5), ("old", 50), ("oldest", 90)):
        folder_of_preset(tmp_path, name, 4 << 20, now - hours * 3600)
    (tmp_path / "libc").mkdir()
    left = lambda: sorted(path.name for path in tmp_path.iterdir() if path.name[0] != ".")  # noqa: E731
    clean.bound(now)
    assert left() == ["libc", "new", "old", "oldest"]
    monkeypatch.setenv("REDZONE_BUILD_LIMIT", "0.009")
    # It looks once a day.
    clean.bound(now + 3600)
    assert "oldest" in left()
    clean.bound(now + 24 * 3600)
    assert left() == ["libc", "new", "old"]
    assert "oldest" in capsys.readouterr().err
    # The newest folder stays, whatever the limit is.
    monkeypatch.setenv("REDZONE_BUILD_LIMIT", "0")
    for name in ("new", "old"):
        used = now + 48 * 3600 - (60 if name == "new" else 9000)
        os.utime(tmp_path / name / ".ninja_log", (used, used))
    clean.bound(now + 48 * 3600)
    assert left() == ["libc", "new"]


def test_other_installed_versions_are_in_the_bound(tmp_path, monkeypatch, capsys):
    installed, now = tmp_path / "installed", 1_800_000_000
    monkeypatch.setattr(clean, "INSTALLATIONS", installed)
    monkeypatch.setattr(clean, "BUILD", installed / "0.2.0-own")
    monkeypatch.setattr(clean, "_LOOK", installed / "0.2.0-own" / ".looked")
    monkeypatch.setenv("REDZONE_BUILD_LIMIT", "0.009")
    for version, hours in (("0.2.0-own", 70), ("0.1.0-used", 90), ("0.1.1-locked", 80), ("0.1.2-new", 60)):
        folder_of_preset(installed / version, "arm64-generic-inline-clang", 4 << 20, now - hours * 3600)
    (installed / "0.1.0-used" / "libc").mkdir()
    # Whatever is locked stays, wherever in a version's folder it is.
    run = installed / "0.1.1-locked" / "runs" / "one"
    with clean.base.locked(run):
        os.utime(run / clean.base.LOCK, (now - 80 * 3600, now - 80 * 3600))
        clean.bound(now)
        left = sorted(path.name for path in installed.iterdir())
        assert left == ["0.1.1-locked", "0.1.2-new", "0.2.0-own"]
        assert not (installed / "0.2.0-own" / "arm64-generic-inline-clang").exists()
        assert clean.clean(False, False) == clean.base.CRASHED
    assert sorted(path.name for path in installed.iterdir()) == ["0.1.1-locked", "0.2.0-own"]
    assert clean.clean(False, False) == clean.base.OK
    assert [path.name for path in installed.iterdir()] == ["0.2.0-own"]
    assert "0.1.0-used" in capsys.readouterr().err


def test_who_waits_for_a_removed_folder_makes_it_anew(tmp_path):
    folder, entered = tmp_path / "preset", threading.Event()

    def wait():
        with clean.base.locked(folder):
            assert (folder / clean.base.LOCK).exists()
            (folder / "made").write_text("")
        entered.set()

    folder.mkdir()
    held = clean.base.lock(folder / clean.base.LOCK)
    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    assert not clean._remove(folder) and not entered.is_set()
    folder.rename(tmp_path / "going")
    held.close()
    waiting.join(30)
    assert entered.is_set() and (folder / "made").exists()


def verbs(group=cli.command, before=()):
    """Yield the words of all commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        yield (*before, name)
        if isinstance(inner, click.Group) and name != "port":
            yield from verbs(inner, (*before, name))


def test_version_and_help_everywhere(redzone):
    newest = redzone("--version", status=0).stdout
    for words in (("run",), ("decode",), ("doctor",), ("bench", "traces"), ("help",)):
        assert redzone(*words, "--version", status=0).stdout == newest
    for words in verbs():
        if words != ("doctor",) and words[:2] != ("bench", "linux"):
            context = click.Context(cli.command)
            command = cli.command
            for word in words:
                command = command.get_command(context, word)
            assert any("--version" in one.opts for one in command.params), words
    assert redzone("help", "run", status=0).stdout == redzone("run", "--help", status=0).stdout
    assert redzone("help", "doctor", status=0).stdout == redzone("doctor", "--help", status=0).stdout
    assert "Commands:" in redzone("help", status=0).stdout
    assert "there is no command 'bench walk'" in redzone("help", "bench", "walk", status=2).stderr


def test_manual_page(redzone):
    text = redzone("help", "--man", status=0).stdout
    for words in verbs():
        if len(words) == 1:
            assert f"\n.SS redzone {words[0]}" in text
    assert text.count(r"\-\-watch") >= 1 and "./redzone doctor" in text
    if shutil.which("groff"):
        made = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-rLL=78n"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        assert made.stderr == ""
        assert "run C code in a real kernel under KASAN" in made.stdout


COMPLETE = {
    # Words typed so far, and some of what must come.
    ("ru",): ["run"],
    ("run", "--mo"): ["--mode", "--module"],
    ("run", "--mode", "sw"): ["sw_tags"],
    ("bench", "tr"): ["traces"],
    ("completion", ""): ["bash", "zsh", "fish"],
}
ASK = {
    "bash": (
        "source {script}; COMP_WORDS=({words}); COMP_CWORD={at}; _redzone_completion {command}; "
        'printf "%s\\n" "${{COMPREPLY[@]}}"'
    ),
    "fish": 'source {script}; complete -C "{command} {line}"',
    # The functions that zsh has while it completes.
    "zsh": (
        'compdef() {{ true; }}; _files() {{ true; }}; compadd() {{ print -l -- ${{(P)5}}; }}; '
        '_describe() {{ print -l -- ${{(P)3}}; }}; source {script}; '
        'words=({words}); CURRENT=$(({at}+1)); _redzone_completion'
    ),
}  # fmt: skip


@pytest.mark.parametrize("shell", list(ASK))
def test_completion(redzone, tmp_path, shell):
    script = tmp_path / f"redzone.{shell}"
    script.write_text(redzone("completion", shell, status=0).stdout)
    assert "Save it, once, as ~/" in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is missing")
    command = ROOT / "redzone"
    for words, expected in COMPLETE.items():
        typed = " ".join(f"'{word}'" for word in (str(command), *words))
        question = ASK[shell].format(
            script=script, words=typed, at=len(words), command=command, line=" ".join(words)
        )
        _, output = process.call([shell, "-c", question], cwd=tmp_path)
        found = {line.split("\t")[0].split(":")[0] for line in output.splitlines()}
        assert found.issuperset(expected), (words, output)


TOML = """\
[run]
mode = "sw_tags"
I = ["include"]
file = ["input=data/in.txt"]
timeout = 7
quiet = true
"""


def test_settings(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "redzone.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path / "src")
    found = settings.Settings(settings.find("."), cli.command)
    context = cli.command.make_context("redzone", ["run", "x.c"], default_map=found.defaults)
    run = cli.command.commands["run"]
    inner = run.make_context("run", ["--mode", "generic", "x.c"], parent=context)
    assert inner.params["mode"] == "generic" and inner.params["timeout"] == 7 and inner.params["quiet"]
    # Paths are relative to the file, wherever the command is called.
    assert inner.params["includes"] == (f"{tmp_path}/include",)
    assert [str(path) for _, path in inner.params["data"]] == [f"{tmp_path}/data/in.txt"]
    line = found.line(inner)
    assert line == "../redzone.toml: -I include --file input=data/in.txt --timeout 7 --quiet"
    # Without a work tree of Git, folders above are somebody else's.
    (tmp_path / ".git").rmdir()
    assert settings.find(".") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run]\nmoed = 'generic'\n", "[run] has no option 'moed'"),
        ("[rnu]\nmode = 'generic'\n", "[rnu] is not a command"),
        ("[run]\nmode = 'fast'\n", "'fast' is not accepted"),
        ("[run]\nquiet = 'yes'\n", "quiet is true or false"),
        ("[run]\nmode = ['generic']\n", "takes one value, not a list"),
        ("[run\n", "cannot be read"),
    ],
)
def test_wrong_settings(redzone, text, message):
    (redzone.folder / "redzone.toml").write_text(text)
    assert message in redzone("run", "x.c", status=2).stderr


def test_settings_are_shown(redzone, source):
    (redzone.folder / "redzone.toml").write_text('[run]\nfiles = ["program.c"]\ntimeout = 9\n')
    source("int main(void) { return 5; }")
    result = redzone("run", "-v", status=4)
    assert "redzone: redzone.toml: program.c --timeout 9" in result.stderr
    assert "the program returned 5" in result.stderr
