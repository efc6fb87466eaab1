# SPDX-License-Identifier: MIT
# Settings of arm64 for CMake. cmake/Kernel.cmake includes this; docs/architecture-port.md explains each.
set(REDZONE_PAGE_SHIFT 12)
set(REDZONE_ARCH_OPTIONS -mgeneral-regs-only -mcmodel=small)
# Link address of programs in user mode.
set(REDZONE_USER_BASE 0x400000)
