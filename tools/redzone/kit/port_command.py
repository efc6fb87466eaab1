# SPDX-License-Identifier: MIT
"""`./redzone port NAME`: another system under the runtime. Each port's own port.py has its verb."""

import copy
import functools

import click

from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure
from redzone.decode.output import wanted
from redzone.kit import ports


def _list(context, param, value):
    """--list: print the ports, and end."""
    if not value:
        return
    width = max(map(len, ports.names()))
    commands = ports.names("port")
    for name in ports.names():
        where = "" if name in commands else f" (no command: see ports/{name}/README.md)"
        click.echo(f"{name:{width}}  {ports.summary(name)}{where}")
    context.exit()


@click.command()
@wanted.options
def _outputs(**options):
    """Only its parameters are used."""


def _run(own, **options):
    """Call a port's verb @own with its @options; then write what was asked for of the consoles it noted."""
    outputs = wanted.Outputs(**{one.name: options.pop(one.name) for one in _outputs.params})
    outputs.check(others=[("--log", options.get("log"))])
    # The trees of others are built with make.
    builder.check_make(base.ROOT, base.BUILD)
    ports.consoles.clear()
    ended = None
    with outputs.plain():
        try:
            own(**options)
        except click.exceptions.Exit as error:
            ended = error
    if outputs.wanted():
        images = dict.fromkeys(image for _, images in ports.consoles for image in images)
        outputs.write_consoles([(path, base.relative(path)) for path, _ in ports.consoles], [*images])
    if ended is not None:
        raise ended


def with_outputs(command):
    """Return a port's @command with --html and its like. It stays as it is if it has such options itself."""
    if {one.name for one in _outputs.params} & {one.name for one in command.params}:
        return command
    command = copy.copy(command)
    command.params = [*command.params, *_outputs.params]
    command.callback = functools.partial(_run, command.callback)
    return command


class Ports(click.Group):
    """The verbs of the ports. A port's code is read only when its verb is used."""

    def list_commands(self, context):
        return ports.names("port")

    def get_command(self, context, name):
        ports.check(name)
        if name not in ports.names("port"):
            raise Failure(f"the port '{name}' has no command; ports/{name}/README.md says how it is used")
        command = getattr(ports.load(name, "port"), "command", None)
        if not isinstance(command, click.Command):
            raise Failure(f"ports/{name}/port.py has no click command called 'command'; see ports/README.md")
        command = with_outputs(command)
        command.epilog = ports.STATUSES
        return command

    def format_commands(self, context, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, ports.summary(name)) for name in self.list_commands(context)])


def register(group):
    """Add the verb to the command."""
    listing = click.option(
        "--list",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_list,
        help="List all ports, also those without a command, and end.",
    )

    @group.group(
        "port",
        cls=Ports,
        invoke_without_command=True,
        short_help="Build and boot someone else's system under KASAN.",
    )
    @listing
    @click.pass_context
    def port_verb(context):
        """Build and boot someone else's system under KASAN.

        Nothing of that system is kept here: its source is fetched when it is needed. Each name has its own
        --help.

        \b
        Examples:
          ./redzone port --list
          ./redzone port u-boot --run
          ./redzone port u-boot --help
        """
        if context.invoked_subcommand is None:
            verbs = ", ".join(ports.names("port"))
            raise Failure(f"which port? Those with a command: {verbs} (see ./redzone port --help)")
