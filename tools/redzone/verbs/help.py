# SPDX-License-Identifier: MIT
"""`./redzone help` and `completion`: the help texts on a screen, as a manual page, and in a shell."""

import inspect
import re

import click
from click import shell_completion

from redzone.core import base
from redzone.core.base import Failure
from redzone.core.options import Choice

# Set by the shell's script when it asks what could come next.
VARIABLE = "_REDZONE_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")
_WHERE = {
    "bash": (
        "~/.local/share/bash-completion/completions/redzone",
        "mkdir -p ~/.local/share/bash-completion/completions; bash reads it if the package bash-completion\n"
        "# is installed; without that, ~/.bashrc must source the file",
    ),
    "zsh": ("~/.zfunc/_redzone", "mkdir -p ~/.zfunc; in ~/.zshrc, before compinit: fpath+=~/.zfunc"),
    "fish": ("~/.config/fish/completions/redzone.fish", "mkdir -p ~/.config/fish/completions"),
}
# zsh's script does nothing if the command knows nothing.
_ZSH = '    if [ -n "$completions" ]; then'
_ZSH_FILES = """\
    if [ -z "$completions$completions_with_descriptions" ]; then
        _files
    fi

"""
# The same in fish, which would offer files beside what the command knows.
_FISH = "    end;\nend;\n"
_FISH_FILES = """\
    end;

    if test -z "$response";
        __fish_complete_path (commandline -ct);
    end;
end;
"""
# Names of files are to be completed too. {shell: (click's words, better ones)}.
_FILES = {
    "bash": ("complete -o nosort -F", "complete -o nosort -o default -F"),
    "zsh": (_ZSH, _ZSH_FILES + _ZSH),
    "fish": (_FISH, _FISH_FILES),
}


_TYPED = (
    ("    (( ! $+commands[redzone] )) && return 1\n", ""),
    ("=zsh_complete redzone)", '=zsh_complete "${words[1]}")'),
    ("(commandline -t) redzone)", "(commandline -t) (commandline -opc)[1])"),
)


def script(group, shell):
    """Return the completion script of @shell, with a comment that says where it goes."""
    kind = shell_completion.get_completion_class(shell)
    text = kind(group, {}, "redzone", VARIABLE).source()
    before, after = _FILES[shell]
    if before not in text:
        raise Failure(f"this version of click has another script for {shell}")
    # The command is the one that was typed, wherever it is: ./redzone of a clone is not in the PATH.
    for found, better in _TYPED:
        text = text.replace(found, better)
    file, first = _WHERE[shell]
    note = (
        f"# Completion of redzone and ./redzone. Save it, once, as {file}\n"
        f"# ({first}):\n#   {base.COMMAND} completion {shell} > {file}\n"
    )
    text = text.replace(before, after).lstrip()
    if text.startswith("#compdef"):
        # zsh wants this line to be the first.
        line, _, rest = text.partition("\n")
        return f"{line}\n{note}{rest}".rstrip() + "\n"
    return (note + text).rstrip() + "\n"


def _find(context, words):
    """Return (command, its click.Context) of the verb @words, as in ("bench", "traces")."""
    command = context.command
    for at, word in enumerate(words):
        inner = command.get_command(context, word) if isinstance(command, click.Group) else None
        if inner is None:
            known = ", ".join(command.list_commands(context)) if isinstance(command, click.Group) else ""
            there = f"; there are: {known}" if known else ""
            raise Failure(f"there is no command '{' '.join(words[: at + 1])}'{there}")
        context = click.Context(inner, info_name=word, parent=context, **inner.context_settings)
        command = inner
    return command, context


# --- The manual page --------------------------------------------------------------------------------------


def _roff(text):
    """Return @text, a line or several, for troff."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def _body(text):
    """Return the help text @text in troff: paragraphs, and those after \\b as they are."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        lines = paragraph.splitlines()
        if lines and lines[0].strip() == "\b":
            parts.append(".nf\n" + "\n".join(map(_roff, lines[1:])) + "\n.fi")
        elif lines:
            parts.append(_roff(" ".join(line.strip() for line in lines)))
    return "\n.PP\n".join(parts)


def _entries(command, context):
    """Yield troff of the options of @command."""
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            yield f".TP\n.B {_roff(record[0])}\n{_roff(record[1])}"


def manual(context):
    """Return the manual page of all commands, for man(7)."""
    top = context.command
    parts = [
        f'.TH REDZONE 1 "" "redzone {base.version()}" "User Commands"',
        r".SH NAME" + "\n" + r"redzone \- run C code in a real kernel under KASAN",
        ".SH SYNOPSIS\n.B redzone\n.I COMMAND\n[OPTION]...",
        ".SH DESCRIPTION\n" + _body(base.called(top.help or "")),
        ".SH COMMANDS",
    ]
    for name in top.list_commands(context):
        command, inner = _find(context, [name])
        if name == "doctor":
            from redzone.core import doctor

            parts.append(f".SS redzone {name}\n.nf\n{_roff(base.called(doctor.USAGE))}.fi")
            continue
        words = " ".join(command.collect_usage_pieces(inner))
        parts.append(f".SS redzone {name} {_roff(words)}\n{_body(base.called(command.help or ''))}")
        parts += _entries(command, inner)
        if command.epilog:
            parts.append(".PP\n" + _body(base.called(command.epilog)))
    return "\n".join(part for part in parts if part) + "\n"


def register(group):
    """Add the verbs to the command."""

    @group.command("help", short_help="Show the help of a command; --man: all as a manual page.")
    @click.argument("words", nargs=-1, metavar="[COMMAND]...")
    @click.option("--man", is_flag=True, help="Print the manual page of all commands.")
    @click.pass_context
    def help_verb(context, words, man):
        """Show the help of COMMAND, as COMMAND --help does.

        \b
        Examples:
          ./redzone help run
          ./redzone help bench traces
          ./redzone help --man > ~/.local/share/man/man1/redzone.1

        \b
        Exit status: 0, or 2 if there is no such command.
        """
        if man:
            click.echo(manual(context.parent), nl=False)
        elif words == ("doctor",):
            from redzone.core import doctor

            click.echo(base.called(doctor.USAGE), nl=False)
        else:
            command, inner = _find(context.parent, words)
            click.echo(command.get_help(inner))

    @group.command("completion", short_help="Print a script that completes commands in a shell.")
    @click.argument("shell", type=Choice(_SHELLS))
    @click.pass_context
    def completion_verb(context, shell):
        """Print the completion script of SHELL: bash, zsh or fish. Its first lines say where to put it.

        \b
        Examples:
          ./redzone completion bash > ~/.local/share/bash-completion/completions/redzone
          source <(./redzone completion bash)        for this shell only

        \b
        Exit status: 0, or 2 for another shell.
        """
        click.echo(script(context.parent.command, shell), nl=False)


def add_version(command):
    """Give @command and all commands in it the option --version."""
    option = click.version_option(
        base.version(), prog_name="redzone", message="%(prog)s %(version)s", hidden=True
    )
    for inner in getattr(command, "commands", {}).values():
        if not any("--version" in one.opts for one in inner.params) and not inner.context_settings.get(
            "ignore_unknown_options"
        ):
            option(inner)
        add_version(inner)
