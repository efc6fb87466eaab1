# SPDX-License-Identifier: MIT
# What CMake has to know about arm64. cmake/Kernel.cmake includes this; docs/architecture-port.md explains each.
set(REDZONE_PAGE_SHIFT 12)
set(REDZONE_ARCH_OPTIONS -mgeneral-regs-only -mcmodel=small)
# Where programs in user mode are linked.
set(REDZONE_USER_BASE 0x400000)
