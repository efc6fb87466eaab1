# SPDX-License-Identifier: MIT
# The KASAN port of this kernel, all of it: what another kernel's port is written after. It runs inside reports,
# allocations and faults, so none of it is instrumented.
set(REDZONE_KASAN_SOURCES fault.c memory.c percpu.c port.c sample.c shadow.c)
set(REDZONE_KASAN_UNINSTRUMENTED ${REDZONE_KASAN_SOURCES})
