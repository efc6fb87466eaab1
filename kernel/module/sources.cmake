# SPDX-License-Identifier: MIT
set(REDZONE_MODULE_SOURCES
    boot.c
    core.c
    elf_check.c
    list.c
    loader.c
    lookup.c
    space.c)
# Reports name their frames by it.
set(REDZONE_MODULE_UNINSTRUMENTED lookup.c)
