# SPDX-License-Identifier: MIT
# Suites for every mode; kasan_clean_test.c is legal code, so it holds without KASAN too.
set(REDZONE_TESTS_SOURCES
    kasan_clean_test.c
    kunit_test.c
    lib_test.c
    mempool_test.c
    pages_test.c
    rcu_test.c
    sched_test.c
    slab_cost_test.c
    slab_test.c
    ulib_test.c
    vmalloc_test.c
    workqueue_test.c)
# It includes the C library's headers.
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/ulib_test.c APPEND PROPERTY
             INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR}/../ulib/include)

# Suites that need the runtime.
if(NOT REDZONE_MODE STREQUAL "off")
  list(APPEND REDZONE_TESTS_SOURCES
    kasan_expect.c
    kasan_params_test.c
    kasan_runtime_test.c
    kasan_test.c
    kasan_test_cache.c
    kasan_test_fault.c
    kasan_test_mempool.c
    kasan_test_page.c
    kasan_test_rcu.c
    kasan_test_slab.c
    kasan_test_stack.c
    kasan_test_string.c
    page_owner_test.c)
endif()
set(REDZONE_TESTS_UNINSTRUMENTED)
