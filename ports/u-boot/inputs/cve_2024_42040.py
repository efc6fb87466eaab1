# SPDX-License-Identifier: MIT
"""CVE-2024-42040: bootp_process_vendor() mistakes the length of the packet for that of its options.

The reply ends with options that are all padding: U-Boot reads on, 240 bytes past the packet. It takes the
bytes there for options, and may send them to the server. Only a configuration without DHCP has this function.
"""

from . import bootp

FUNCTION = "bootp_process_vendor"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("setenv autoload no", "bootp")
DHCP = False


def server():
    return bootp.Server(bootp.MAGIC + bytes(60))
