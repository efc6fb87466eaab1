# SPDX-License-Identifier: MIT
"""What `./redzone audit` warns of: inline checks in a system whose device registers have no shadow.

A call finds out that an address lies in no window. An inline check reads the address's shadow wherever the
offset puts it. Where nothing answers there, the first access to a register faults, before any report.
"""

from redzone.core import base

# Where processors have their registers: the memory map of Armv6-M to Armv8-M. Others leave it to the board.
_DEVICES = {"arm": ("on Cortex-M, ", (0x40000000, 0x5FFFFFFF))}
_REPORTS = ("__asan_report_", "__hwasan_report_")


def _is_inline(function):
    return function.traps or any(name.startswith(_REPORTS) for name in function.calls)


def warnings(image, facts, shift):
    """Return the warnings about the linked @image; @facts: of its shadow, as the audit prints them."""
    if facts.get("layout") != "windowed" or "offset" not in facts:
        return []
    count = sum(1 for function in image.functions if _is_inline(function))
    if not count:
        return []
    example = ""
    if image.arch in _DEVICES:
        where, devices = _DEVICES[image.arch]
        mask = (1 << 8 * image.word) - 1
        low, high = ((address >> shift) + int(facts["offset"], 0) & mask for address in devices)
        example = f" ({where}that of {devices[0]:#x}..{devices[1]:#x} would be {low:#x}..{high:#x})"
    return [
        f"{base.plural(count, 'function')} with inline checks: an access outside of every window, "
        f"such as one to a device's register, reads shadow that is not reserved{example}. "
        "Where nothing answers there it faults at once: use outline checks, or compile the files that touch "
        "devices without checks"
    ]
