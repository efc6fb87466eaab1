# SPDX-License-Identifier: MIT
set(REDZONE_LIB_SOURCES
    console.c
    early_printk.c
    initrd.c
    kallsyms.c
    kallsyms_empty.S
    kasan_port.c
    kstrto.c
    mem.c
    panic.c
    params.c
    printk.c
    random.c
    sort.c
    string.c
    vsprintf.c)

# Reports use these; the checked memcpy() ends in mem.c.
set(REDZONE_LIB_UNINSTRUMENTED
    console.c
    early_printk.c
    kallsyms.c
    kasan_port.c
    mem.c)
