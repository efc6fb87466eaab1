# SPDX-License-Identifier: MIT
# Suites for every mode; kasan_clean_test.c is legal code, so it holds without KASAN too.
set(REDZONE_TESTS_SOURCES
    asan_facts_test.c
    asan_interface_test.c
    fault_inject_test.c
    fault_libc_test.c
    fault_program_test.c
    fault_sites_test.c
    fault_walk.c
    fpu_test.c
    ../arch/${REDZONE_ARCH}/tests/fpu_regs.S
    kasan_clean_test.c
    kasan_sampled_test.c
    irq_test.c
    kunit_test.c
    lib_test.c
    local_lock_test.c
    mempool_test.c
    module_blob.S
    module_test.c
    nofault_test.c
    pages_test.c
    params_test.c
    pipe_test.c
    program_test.c
    rcu_boost_test.c
    rcu_test.c
    rtmutex_test.c
    rwlock_test.c
    sched_rt_test.c
    sched_test.c
    slab_cost_test.c
    slab_test.c
    softirq_test.c
    stack_demand_test.c
    uaccess_test.c
    user_blob.S
    user_test.c
    vmalloc_test.c
    vmap_test.c
    vrealloc_test.c
    workqueue_race_test.c
    workqueue_stress_test.c
    workqueue_test.c)
# Compiled as programs are, for floating point.
set(REDZONE_TESTS_FP_SOURCES fpu_work.c)

# The architecture's own: arch.cmake names them.
foreach(file IN LISTS REDZONE_ARCH_TESTS)
  list(APPEND REDZONE_TESTS_SOURCES ../arch/${REDZONE_ARCH}/tests/${file})
endforeach()

if(REDZONE_SHADOW_CALL_STACK)
  list(APPEND REDZONE_TESTS_SOURCES scs_test.c scs_trace_test.c)
endif()

# Suites that need the runtime.
if(NOT REDZONE_MODE STREQUAL "off")
  list(APPEND REDZONE_TESTS_SOURCES
    kasan_context_test.c
    kasan_double_free_test.c
    kasan_expect.c
    kasan_garbage_test.c
    kasan_init_test.c
    kasan_mempool_test.c
    kasan_params_test.c
    kasan_runtime_test.c
    kasan_stack_rate_test.c
    kasan_tags_test.c
    kasan_test.c
    kasan_test_cache.c
    kasan_test_dma.c
    kasan_test_fault.c
    kasan_test_mempool.c
    kasan_test_page.c
    kasan_test_percpu.c
    kasan_test_rcu.c
    kasan_test_slab.c
    kasan_test_stack.c
    kasan_test_string.c
    kasan_test_user.c
    kasan_whole.c
    page_owner_test.c
    page_quarantine_test.c
    page_redzone_test.c
    tag_entropy_test.c)
endif()
if(REDZONE_MODE STREQUAL "hw_tags")
  list(APPEND REDZONE_TESTS_SOURCES
    kasan_slack_test.c
    ../arch/${REDZONE_ARCH}/tests/kasan_hw_test.c
    ../arch/${REDZONE_ARCH}/tests/mte_cpu_test.c
    ../arch/${REDZONE_ARCH}/tests/kasan_sample_test.c)
endif()
if(REDZONE_MTE_STACK)
  list(APPEND REDZONE_TESTS_SOURCES ../arch/${REDZONE_ARCH}/tests/kasan_mte_stack_test.c)
endif()
# Only there does the compiler describe variables.
if(REDZONE_MODE STREQUAL "generic")
  list(APPEND REDZONE_TESTS_SOURCES kasan_text_test.c ../arch/${REDZONE_ARCH}/tests/spin.S)
endif()
if(REDZONE_TAGGED_GLOBALS)
  list(APPEND REDZONE_TESTS_SOURCES kasan_globals_test.c)
endif()
set(REDZONE_TESTS_UNINSTRUMENTED)
