# SPDX-License-Identifier: MIT
# What a test file of Linux is linked with beside the kernel.
set(REDZONE_LINUX_KUNIT_SOURCES set_memory.c trace_console.c)
# In old versions the test of user copies is a module of its own.
set(REDZONE_LINUX_KUNIT_MODULE_SOURCES module_case.c)
