# SPDX-License-Identifier: MIT
if(REDZONE_IRQSOFF)
  set(irqsoff irqsoff.c)
else()
  set(irqsoff)
endif()
set(REDZONE_LIB_SOURCES
    console.c
    early_printk.c
    host.c
    initrd.c
    ${irqsoff}
    kallsyms.c
    kallsyms_empty.S
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
    host.c
    ${irqsoff}
    kallsyms.c
    mem.c)
