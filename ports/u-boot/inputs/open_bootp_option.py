# SPDX-License-Identifier: MIT
"""Open in the patched source: bootp_process_vendor() reads the length of an option behind the packet.

The last byte of the packet is the number of an option. The loop checks that there is a number, not that there
is a length behind it.
"""

from . import bootp

FUNCTION = "bootp_process_vendor"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("setenv autoload no", "bootp")
DHCP = False


def server():
    return bootp.Server(bootp.MAGIC + bytes(59) + b"\x01")
