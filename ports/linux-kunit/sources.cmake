# SPDX-License-Identifier: MIT
# What a test file of Linux is linked with beside the kernel.
set(REDZONE_LINUX_KUNIT_SOURCES module_case.c set_memory.c trace_console.c)
