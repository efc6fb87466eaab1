# SPDX-License-Identifier: MIT
set(REDZONE_EXT_STACKLEAK_TESTS_SOURCES
    stackleak_random_test.c
    stackleak_test.c
    ../arch/${REDZONE_ARCH}/stackleak_leave.S)
