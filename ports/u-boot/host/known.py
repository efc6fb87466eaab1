# SPDX-License-Identifier: MIT
"""Which bug a finding of fuzzing is: the CVEs of the original source, and the open bugs of bugs.md."""

from dataclasses import dataclass

from redzone.decode import decoder, symbols

# Functions that do what their callers ask: the bug is further up. So do those of the port and the sanitizer.
_ROLES = ("helper", "sanitizer")
_ACCESSORS = ("__get_unaligned_", "get_unaligned_", "net_read_")


@dataclass(frozen=True)
class Bug:
    """name: of the CVE, or its number in bugs.md. types: of the report. access: "read", "write" or "".

    function: the innermost one of the trace that is no string function, or, with @above, any of the trace.
    """

    name: str
    types: tuple
    access: str
    function: str
    above: bool = False


# Not 2024-57254: what KASAN reports of it looks like bug no. 6, so a report does not tell the two apart. Not
# 2024-42040, which needs another configuration.
CVES = (
    Bug("CVE-2024-57259", ("slab-out-of-bounds",), "write", "sqfs_search_dir"),
    Bug("CVE-2024-57255", ("wild-memory-access", "slab-out-of-bounds"), "write", "sqfs_resolve_symlink"),
    Bug("CVE-2024-57256", ("slab-out-of-bounds",), "write", "ext4fs_read_symlink", above=True),
    Bug("CVE-2024-57257", ("stack-out-of-bounds",), "", "sqfs_search_dir", above=True),
)
_BEYOND = (
    *("slab-out-of-bounds", "slab-use-after-free", "out-of-bounds"),
    *("global-out-of-bounds", "wild-memory-access"),
)
# The bugs of the patched source, by their numbers in bugs.md.
OPEN = (
    Bug("4", ("null-ptr-deref",), "write", "ext4fs_read_symlink", above=True),
    Bug("5", ("stack-out-of-bounds",), "", "sqfs_size", above=True),
    Bug("6", _BEYOND, "read", "sqfs_find_inode", above=True),
    # The inode that it found where there is none.
    *(Bug("6", _BEYOND, "read", name) for name in ("sqfs_dir_offset", "sqfs_read_nest", "sqfs_size_nest")),
    Bug("7", ("slab-out-of-bounds",), "read", "sqfs_count_tokens"),
    Bug("9", ("global-out-of-bounds",), "read", "rtc_calc_weekday"),
    Bug("10", ("out-of-bounds", "slab-out-of-bounds"), "", "fdt_packblocks_"),
    Bug("11", ("wild-memory-access", "out-of-bounds"), "", "fdt_fixup_memory_banks", above=True),
    Bug("12", ("stack-out-of-bounds",), "read", "fdt_get_path"),
    Bug("13", ("global-out-of-bounds",), "read", "fdt_print", above=True),
    Bug("14", _BEYOND, "read", "overlay_update_local_node_references"),
    # Nos. 15 and 17 are reads of two lines of one function.
    Bug("15 or 17", _BEYOND, "read", "efi_load_pe"),
    Bug("16", _BEYOND, "", "efi_loader_relocate"),
    Bug("18", _BEYOND, "write", "efi_load_pe"),
    Bug("19", _BEYOND, "read", "sqfs_read_entry"),
    # The header of the next group of entries lies behind the last entry.
    Bug("19", _BEYOND, "read", "sqfs_readdir_nest"),
    # It reads the inode of no. 6 as well.
    Bug("6 or 20", _BEYOND, "read", "sqfs_search_dir"),
    Bug("20", _BEYOND, "read", "sqfs_opendir_nest"),
    Bug("21", _BEYOND, "read", "sqfs_read_inode_table", above=True),
    Bug("21", _BEYOND, "read", "sqfs_read_directory_table", above=True),
    Bug("22", _BEYOND, "read", "nfs_read_reply"),
    Bug("23", (*_BEYOND, "stack-out-of-bounds"), "", "store_block"),
    Bug("24", _BEYOND, "read", "dhcp_process_options"),
    Bug("24", _BEYOND, "read", "dhcp_packet_process_options", above=True),
    Bug("24", _BEYOND, "read", "dhcp_message_type"),
    Bug("25", _BEYOND, "read", "tftp_handler", above=True),
    Bug("26", _BEYOND, "read", "dns_handler"),
    Bug("27", _BEYOND, "write", "get_fatent", above=True),
    Bug("28", _BEYOND, "read", "sqfs_frag_lookup"),
    Bug("29", _BEYOND, "write", "sqfs_frag_lookup"),
)


def _functions(frame):
    """Return the names of the functions of @frame, the innermost inlined one first."""
    return [place.function for place in frame.locations] or [frame.name]


def _is(bug, report):
    stack = report.stack("call")
    if report.type not in bug.types or bug.access not in ("", report.access.kind) or stack is None:
        return False
    frames = [frame for frame in stack.frames if frame.role not in _ROLES]
    if bug.above:
        return any(bug.function in _functions(frame) for frame in frames)
    names = [name for frame in frames for name in _functions(frame)]
    return next((name for name in names if not name.startswith(_ACCESSORS)), None) == bug.function


def name(report, bugs):
    """Return the name of the one of @bugs that the decoded @report is, None if it is none of them."""
    return next((bug.name for bug in bugs if _is(bug, report)), None)


def _read(console, elf):
    """Return the bugs, decoded, in the file @console of a U-Boot that is @elf."""
    with symbols.Symbols([str(elf)], None) as found:
        one = decoder.Decoder(found)
        decoder.read_file(one, str(console))
        return one.finish().bugs


def of_console(console, elf, bugs):
    """Return the names of those of @bugs that the file @console of a U-Boot that is @elf has reports of."""
    return {name(report, bugs) for bug in _read(console, elf) for report in bug.reports} - {None}


def of_finding(folder, elf, bugs):
    """Return the name of the one of @bugs that the finding in @folder is, None if it is none of them.

    The console has all reports of the input. The signature of the finding's own is the name of the folder.
    """
    found = _read(folder / "console.log", elf)
    own = next((bug for bug in found if bug.signature == folder.name), None)
    return name(own.reports[0], bugs) if own else None


def of_stored(stored, elf, bugs, scratch):
    """Return the name of the one of @bugs that the findings.Stored is, None if it is none of them.

    @scratch: a file. Most findings are other reads, which their first lines show: decoding takes a second.
    """
    head = stored.shown().partition(b"Call trace:")[0].decode(errors="replace").lower()
    if not any(kind in head and bug.access in head for bug in bugs for kind in bug.types):
        return None
    scratch.write_bytes(stored.shown())
    found = _read(scratch, elf)
    return name(found[0].reports[0], bugs) if found else None


def of_folder(findings, elf, bugs):
    """Return {folder of a finding: name of the one of @bugs that it is, or None} for those in @findings."""
    places = [title.parent for title in sorted(findings.glob("*/title"))]
    return {place: of_finding(place, elf, bugs) for place in places}
