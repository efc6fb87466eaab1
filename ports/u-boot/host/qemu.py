# SPDX-License-Identifier: MIT
"""Runs U-Boot in QEMU.

It copies itself to the top of RAM, and the port prints the distance.
"""

import re
from pathlib import Path

from redzone.core.base import ROOT
from redzone.kit import guest, ports
from redzone.kit.guest import Stopped

__all__ = ["PROMPT", "Machine", "Stopped"]
PROMPT = "=> "
_RELOCATED = re.compile(r"^KASAN: window .* relocated by 0x([0-9a-f]+)")


class Machine(guest.Machine):
    """One U-Boot in QEMU. Use it in a with statement.

    image: build.Image. disks: raw image files, virtio 0, 1, ... in this order; protect: nothing is written to
    them. network: a -netdev argument with id=net, "user" for QEMU's own, None for no network. extra: more
    arguments for QEMU. The other arguments are guest.Machine's.
    """

    def __init__(
        self,
        image,
        source=None,
        memory="512M",
        disks=(),
        protect=False,
        network="user",
        extra=(),
        **options,
    ):
        command = ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57", "-m", memory]
        command += ["-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot"]
        command += ["-bios", image.binary]
        for number, disk in enumerate(disks):
            drive = f"if=none,file={ports.option_value(disk)},format=raw,id=disk{number}"
            command += ["-drive", drive + (",snapshot=on" if protect else "")]
            # U-Boot counts by address, and QEMU hands out the last slot first.
            command += ["-device", f"virtio-blk-device,drive=disk{number},bus=virtio-mmio-bus.{number}"]
        if network:
            netdev = "user,id=net" if network == "user" else network
            command += ["-netdev", netdev, "-device", "virtio-net-device,netdev=net"]
        else:
            command += ["-nic", "none"]
        names = None
        if image.kasan:
            # Debian's patches make paths relative, so that they seem to lie in the build folder.
            names = guest.Names(image.elf, [*([source] if source else []), Path(image.elf).parent, ROOT])
            names.moved = None
        super().__init__("U-Boot", [*command, *extra], PROMPT, names=names, **options)

    def feed(self, text):
        relocated = _RELOCATED.match(text)
        if relocated and self.names:
            self.names.moved = int(relocated[1], 16)
        return super().feed(text)
