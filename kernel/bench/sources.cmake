# SPDX-License-Identifier: MIT
# The benchmark, a program for an image of its own. The loop that measures is not instrumented.
set(REDZONE_BENCH_SOURCES main.c ops.c vmalloc_ops.c live_ops.c traffic_ops.c)
set(REDZONE_BENCH_UNINSTRUMENTED main.c)
