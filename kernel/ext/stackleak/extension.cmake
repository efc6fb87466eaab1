# SPDX-License-Identifier: MIT
#
# Stack erasing, and how the kernel learns how deep a task's stack was used. docs/internals/stackleak.md has the reasons.
#
#   probe     Clang: a function that takes more than REDZONE_KSTACK_PROBE bytes writes a word in each of them, so the
#             used part of the stack has no longer gaps than that, and a search from the top ends soon
#   callback  Clang 22: the same, and functions with large frames or alloca() report their depth, which shortens it
#   search    GCC, and on riscv64: a search through the whole unused part, from the bottom
option(REDZONE_KSTACK_ERASE "The kernel stack is erased on return to user mode" OFF)
set(REDZONE_KSTACK_DEPTH "auto" CACHE STRING "How the depth of the stack is found: auto, probe, callback or search")
set(REDZONE_KSTACK_PROBE 256 CACHE STRING "Bytes of the stack in which the compiler writes at least one word")
set(REDZONE_KSTACK_CALLBACK_MIN 128 CACHE STRING "Smallest frame, in bytes, that reports its depth")

if(NOT REDZONE_KSTACK_ERASE)
  return()
endif()
redzone_extension(stackleak)

set(depth ${REDZONE_KSTACK_DEPTH})
if(depth STREQUAL "auto")
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang" OR NOT REDZONE_ARCH_STACK_PROBES)
    set(depth search)
  elseif(CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 22)
    set(depth callback)
  else()
    set(depth probe)
  endif()
endif()
if(NOT depth MATCHES "^(probe|callback|search)$")
  message(FATAL_ERROR "REDZONE_KSTACK_DEPTH is '${depth}'; accepted: auto, probe, callback, search")
endif()
if(NOT depth STREQUAL "search" AND NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "REDZONE_KSTACK_DEPTH: ${depth} needs Clang; GCC has 'search'")
endif()
if(NOT depth STREQUAL "search" AND NOT REDZONE_ARCH_STACK_PROBES)
  message(FATAL_ERROR "REDZONE_KSTACK_DEPTH: the kernel for '${REDZONE_ARCH}' has 'search' only")
endif()

set(kstack_erase_defs CONFIG_KSTACK_ERASE=1)
set(kstack_erase_options)
if(NOT depth STREQUAL "search")
  list(APPEND kstack_erase_defs CONFIG_KSTACK_ERASE_PROBED=1 CONFIG_KSTACK_PROBE_SIZE=${REDZONE_KSTACK_PROBE})
  # The driver takes these two for other targets only; the compiler proper has them for all of arm64.
  list(APPEND kstack_erase_options
    "$<$<COMPILE_LANGUAGE:C>:SHELL:-Xclang -fstack-clash-protection -Xclang -mstack-probe-size=${REDZONE_KSTACK_PROBE}>")
endif()
if(depth STREQUAL "callback")
  list(APPEND kstack_erase_defs CONFIG_KSTACK_ERASE_CALLBACK=1)
  list(APPEND kstack_erase_options
    "$<$<COMPILE_LANGUAGE:C>:SHELL:-fsanitize-coverage=stack-depth -mllvm -sanitizer-coverage-stack-depth-callback-min=${REDZONE_KSTACK_CALLBACK_MIN}>")
endif()
list(APPEND kernel_defs ${kstack_erase_defs})
list(APPEND program_options ${kstack_erase_options})
list(APPEND runtime_options ${kstack_erase_options})
