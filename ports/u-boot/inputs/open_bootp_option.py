# SPDX-License-Identifier: MIT
"""Open in the patched source: bootp_process_vendor() reads the length of an option past the packet.

The last byte of the packet is the number of an option. The loop checks that there is a number, but not that a
length follows it.
"""

from . import bootp

FUNCTION = "bootp_process_vendor"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("setenv autoload no", "bootp")
DHCP = False


def server():
    return bootp.Server(bootp.MAGIC + bytes(59) + b"\x01")
