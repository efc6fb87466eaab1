# SPDX-License-Identifier: MIT
# What a test file of Linux is linked with beside the kernel.
set(REDZONE_LINUX_KUNIT_SOURCES trace_console.c)
