# SPDX-License-Identifier: MIT
set(REDZONE_EXT_LOCKDEP_TESTS_SOURCES
    lockdep_blob.S
    lockdep_context_test.c
    lockdep_expect.c
    lockdep_irq_test.c
    lockdep_limits_test.c
    lockdep_order_test.c
    lockdep_rw_test.c
    lockdep_softirq_test.c
    lockdep_wait_test.c)
if(NOT REDZONE_MODE STREQUAL "off")
  list(APPEND REDZONE_EXT_LOCKDEP_TESTS_SOURCES lockdep_memory_test.c)
endif()
