# SPDX-License-Identifier: MIT
# The runtime's files, relative to this folder. None of them is ever instrumented.
set(REDZONE_RUNTIME_SOURCES
  abi/asan_access.c
  abi/asan_globals.c
  abi/asan_mem.c
  abi/asan_report.c
  abi/asan_stack.c
  alloc/globals.c
  alloc/heap.c
  alloc/mempool.c
  alloc/pages.c
  alloc/slab.c
  alloc/stack.c
  alloc/vmalloc.c
  core/check.c
  core/mem.c
  core/message.c
  core/poison.c
  core/port_defaults.c
  core/probe.c
  core/window.c
  report/classify.c
  report/describe.c
  report/describe_stack.c
  report/format.c
  report/options.c
  report/print.c
  report/report.c
  report/suppress.c
  track/depot.c
  track/fifo.c
  track/quarantine.c
  track/stack_walk.c
  track/track.c
)
set(REDZONE_RUNTIME_UNINSTRUMENTED ${REDZONE_RUNTIME_SOURCES})
