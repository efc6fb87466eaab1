# SPDX-License-Identifier: MIT
# The benchmark, a program for an image of its own. The loops that measure are not instrumented.
set(REDZONE_TESTS_BENCH_SOURCES main.c deep.c ops.c vmalloc_ops.c live_ops.c traffic_ops.c
    trace_ops.c lock_ops.c fill_ops.c slack_ops.c work.c calls.c files.c mix.c rt_work.c
    sampling.c layout.c window.c user_blob.S)
set(REDZONE_TESTS_BENCH_UNINSTRUMENTED main.c deep.c layout.c window.c)
