# SPDX-License-Identifier: MIT
set(REDZONE_KUNIT_SOURCES
    assert.c
    filter.c
    resource.c
    suite.c
    try_catch.c
    user_memory.c)
set(REDZONE_KUNIT_UNINSTRUMENTED)
