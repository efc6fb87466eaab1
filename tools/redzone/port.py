# SPDX-License-Identifier: MIT
"""`./redzone port NAME`: someone else's system under the runtime. Each system is a verb of its own below."""

import click

from redzone import port_uboot


def register(group):
    """Add the verb to the command."""

    @group.group("port", short_help="Build and boot someone else's system under KASAN.")
    def port_verb():
        """Build and boot someone else's system under KASAN.

        Nothing of that system is kept here: its source is fetched when it is needed. Each name has its own
        --help.

        \b
        Examples:
          ./redzone port u-boot --run
          ./redzone port u-boot --help
        """

    assert isinstance(port_verb, click.Group)
    port_uboot.register(port_verb)
