# SPDX-License-Identifier: MIT
"""Arranges a program's functions in pages, so that as few as possible lie across the border of two.

An emulator that translates code in blocks, such as QEMU, links a block to the next one only within a page.
Each jump, call or step into another page is a search. So a loop across a border may take twice as long.

A program is compiled with a section for each function. Here each section of code gets the name of its page,
and the first one of a page gets a page's alignment. The linker script sorts by these names.
"""

from redzone.elf.file import SHF_EXECINSTR, SHT_PROGBITS

PAGE = 4096
NAME = ".text.page."


def arrange(sizes):
    """Return the functions of each page: [[index, ...], ...], each in ascending order.

    @sizes: [(bytes, alignment)] of the functions. None that fits into a page lies across a border. Smaller
    ones fill the last page of one that is larger. The largest are placed first.
    """
    pages, rooms = [], []
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index][0]):
        size, align = sizes[index]
        # At the worst place in its page.
        needs = size + align - 1
        place = next((place for place, room in enumerate(rooms) if needs <= room), len(pages))
        if place == len(pages):
            pages.append([])
            rooms.append(-(-needs // PAGE) * PAGE)
        pages[place].append(index)
        rooms[place] -= needs
    return [sorted(page) for page in pages]


def pack(elf):
    """Arrange the functions of the constructors.Object @elf."""
    code = [
        section
        for section in elf.sections
        if section.type == SHT_PROGBITS and section.flags & SHF_EXECINSTR and section.size
        if section.name.startswith(".text")
    ]
    pages = arrange([(section.size, section.align) for section in code])
    names = elf.add_names([f"{NAME}{number:06}" for number in range(len(pages))])
    for name, page in zip(names, pages, strict=True):
        # The linker's sorting keeps the order of those with the same name.
        code[page[0]].align = PAGE
        for index in page:
            code[index].name_at = name
