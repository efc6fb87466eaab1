# SPDX-License-Identifier: MIT
if(REDZONE_IRQSOFF)
  set(irqsoff irqsoff.c)
else()
  set(irqsoff)
endif()
if(REDZONE_SHADOW_CALL_STACK)
  set(scs scs.c scs_fault.c)
else()
  set(scs)
endif()
set(REDZONE_LIB_SOURCES
    console.c
    die.c
    early_printk.c
    fault.c
    host.c
    initrd.c
    ${irqsoff}
    kallsyms.c
    kallsyms_empty.S
    kstrto.c
    mem.c
    overflow.c
    panic.c
    params.c
    printk.c
    program_fault.c
    random.c
    ${scs}
    sort.c
    stacktrace.c
    string.c
    vsprintf.c)

# Reports and faults use these; the checked memcpy() ends in mem.c.
set(REDZONE_LIB_UNINSTRUMENTED
    console.c
    die.c
    early_printk.c
    fault.c
    host.c
    ${irqsoff}
    kallsyms.c
    mem.c
    overflow.c
    program_fault.c
    ${scs}
    stacktrace.c)
