# SPDX-License-Identifier: MIT
# The lock validator: docs/internals/lockdep.md.
option(REDZONE_LOCKDEP "The lock validator checks every lock" OFF)
option(REDZONE_LOCKDEP_INSTRUMENTED "Measurements: KASAN also checks the lock validator itself" OFF)
set(REDZONE_LOCKDEP_CLASSES 1024 CACHE STRING "Lock validator: classes of locks, up to 4096; 128 bytes each")
set(REDZONE_LOCKDEP_DEPS 8192 CACHE STRING "Lock validator: dependencies of classes, up to 65535; 16 bytes each")
set(REDZONE_LOCKDEP_CHAINS 16384 CACHE STRING "Lock validator: sequences of locks; 32 to 64 bytes each")
set(REDZONE_LOCKDEP_TRACE_WORDS 65536 CACHE STRING "Lock validator: code places of stack traces; 8 bytes each")

if(REDZONE_LOCKDEP)
  redzone_extension(lockdep)
  # The slots of the sequences: the smallest power of two of which they fill less than three quarters.
  set(chain_bits 1)
  while(TRUE)
    math(EXPR room "3 * (1 << ${chain_bits}) / 4")
    if(room GREATER_EQUAL REDZONE_LOCKDEP_CHAINS)
      break()
    endif()
    math(EXPR chain_bits "${chain_bits} + 1")
  endwhile()
  list(APPEND kernel_defs CONFIG_LOCKDEP=1 CONFIG_LOCK_EVENTS=1
    CONFIG_LOCKDEP_CLASSES=${REDZONE_LOCKDEP_CLASSES}
    CONFIG_LOCKDEP_DEPS=${REDZONE_LOCKDEP_DEPS}
    CONFIG_LOCKDEP_CHAINS=${REDZONE_LOCKDEP_CHAINS}
    CONFIG_LOCKDEP_CHAIN_BITS=${chain_bits}
    CONFIG_LOCKDEP_TRACE_WORDS=${REDZONE_LOCKDEP_TRACE_WORDS})
elseif(REDZONE_LOCKDEP_INSTRUMENTED)
  message(FATAL_ERROR "REDZONE_LOCKDEP_INSTRUMENTED needs REDZONE_LOCKDEP")
endif()
