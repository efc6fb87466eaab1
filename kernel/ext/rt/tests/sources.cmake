# SPDX-License-Identifier: MIT
set(REDZONE_EXT_RT_TESTS_SOURCES rtlock_test.c)
