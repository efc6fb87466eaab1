# SPDX-License-Identifier: MIT
"""What the types of reports mean, for readers who meet one for the first time, and their CWE numbers.

CWE is the list of weaknesses at cwe.mitre.org; code scanning groups results by it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A type of report. @cwe: for reads and for others; @text: one sentence."""

    text: str
    cwe: tuple = ()


_BOUNDS = (125, 787)
# Types of KASAN, ASan and HWASan. Where one name is used by several, it means the same.
_TYPES = {
    "slab-out-of-bounds": Kind("An access beside an object of the slab allocator.", _BOUNDS),
    "heap-buffer-overflow": Kind("An access beside an object of the heap.", _BOUNDS),
    "heap-out-of-bounds": Kind("An access beside an object of the heap.", _BOUNDS),
    "out-of-bounds": Kind("An access beside an object.", _BOUNDS),
    "global-out-of-bounds": Kind("An access beside a global variable.", _BOUNDS),
    "global-buffer-overflow": Kind("An access beside a global variable.", _BOUNDS),
    "stack-out-of-bounds": Kind("An access beside a variable on the stack.", _BOUNDS),
    "stack-buffer-overflow": Kind("An access beside a variable on the stack.", _BOUNDS),
    "stack-buffer-underflow": Kind("An access before a variable on the stack.", _BOUNDS),
    "dynamic-stack-buffer-overflow": Kind("An access beside a variable-length array.", _BOUNDS),
    "alloca-out-of-bounds": Kind("An access beside a variable-length array or an alloca() block.", _BOUNDS),
    "vmalloc-out-of-bounds": Kind("An access beside an area of vmalloc().", _BOUNDS),
    "container-overflow": Kind("An access to a part of a container that holds no element.", _BOUNDS),
    "slab-use-after-free": Kind("An access to an object of the slab allocator after it was freed.", (416,)),
    "heap-use-after-free": Kind("An access to an object of the heap after it was freed.", (416,)),
    "use-after-free": Kind("An access to memory after it was freed.", (416,)),
    "use-after-poison": Kind("An access to memory that the program has marked as not in use.", (416,)),
    "use-after-scope": Kind("An access to a variable after the block that it belongs to.", (825,)),
    "stack-use-after-scope": Kind("An access to a variable after the block that it belongs to.", (825,)),
    "stack-use-after-return": Kind("An access to a variable after its function has returned.", (562,)),
    "double-free": Kind("An object was freed twice.", (415,)),
    "invalid-free": Kind("A free of an address at which no object starts.", (763,)),
    "double-free or invalid-free": Kind("A free of memory that is not a live object.", (763,)),
    "bad-free": Kind("A free of an address that the allocator never returned.", (763,)),
    "alloc-dealloc-mismatch": Kind("An object was freed by the function of another allocator.", (762,)),
    "null-ptr-deref": Kind("An access through a null pointer.", (476,)),
    "invalid-call": Kind("A call of an address that has no code.", (824,)),
    "dma-use": Kind("A CPU accessed a buffer that a device has.", (362,)),
    "dma-invalid-unmap": Kind("A DMA buffer was unmapped in another way than it was mapped.", (664,)),
    "dma-out-of-bounds": Kind("A device wrote past the end of its buffer.", _BOUNDS),
    "memcpy-param-overlap": Kind("A copy between ranges that overlap.", (475,)),
    "wild-memory-access": Kind("An access to an address at which the system has no memory.", (119,)),
    "user-memory-access": Kind("The kernel accessed an address of user space directly.", (119,)),
    "invalid-access": Kind("An access through a pointer whose tag differs from the memory's tag.", (119,)),
    "tag-mismatch": Kind("An access through a pointer whose tag differs from the memory's tag.", (119,)),
    "memory-leak": Kind("Memory that nothing points to any more.", (401,)),
    "data-race": Kind("Two accesses without a lock, one of which is a write.", (362,)),
    "stack-overflow": Kind("A task used more stack than it has.", (674,)),
}
# Kinds of reports (model.KINDS), for types that the table above does not have.
_KINDS = {
    "kasan": Kind("The Kernel Address Sanitizer found an invalid memory access.", (119,)),
    "asan": Kind("AddressSanitizer found an invalid memory access.", (119,)),
    "hwasan": Kind("HWAddressSanitizer found an invalid memory access.", (119,)),
    "mte": Kind("The CPU found an access through a pointer whose tag differs from the memory's tag.", (119,)),
    "kfence": Kind("KFENCE found an invalid memory access.", (119,)),
    "kmsan": Kind("The Kernel Memory Sanitizer found a use of memory that had no value.", (908,)),
    "kcsan": Kind("The Kernel Concurrency Sanitizer found two accesses that race.", (362,)),
    "ubsan": Kind("The Undefined Behavior Sanitizer found an operation that C does not define.", (758,)),
    "oops": Kind("The kernel met a fault that it could not handle."),
    "warning": Kind("The kernel met a state that its authors ruled out."),
    "panic": Kind("The kernel stopped."),
}
_OTHER = Kind("A report of a sanitizer or of the kernel.")
# How the kinds are written.
NAMES = {
    "kasan": "KASAN",
    "asan": "ASan",
    "hwasan": "HWASan",
    "mte": "MTE",
    "kfence": "KFENCE",
    "kmsan": "KMSAN",
    "kcsan": "KCSAN",
    "ubsan": "UBSan",
    "oops": "oops",
    "warning": "warning",
    "panic": "panic",
}
MODES = {"generic": "Generic", "sw_tags": "software tags", "hw_tags": "hardware tags"}


def known(bug):
    """Return the Kind of @bug."""
    return _TYPES.get(bug.type) or _KINDS.get(bug.kind, _OTHER)


def text(bug):
    """Return a sentence about the type of @bug."""
    return known(bug).text


def cwe(bug, access=""):
    """Return the CWE number of @bug, or None. @access: Access.kind of its report."""
    numbers = known(bug).cwe
    if not numbers:
        return None
    return numbers[0] if access == "read" else numbers[-1]


def is_error(bug):
    return bug.kind != "warning"
