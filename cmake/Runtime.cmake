# SPDX-License-Identifier: MIT
#
# The runtime's file list, and its build alone: freestanding, for one target, with nothing of a kernel
# around it. That build tests the layering: a file with a forbidden include fails here.

include(${CMAKE_SOURCE_DIR}/runtime/sources.cmake)
set(REDZONE_RUNTIME_FILES ${REDZONE_RUNTIME_SOURCES})
list(TRANSFORM REDZONE_RUNTIME_FILES PREPEND ${CMAKE_SOURCE_DIR}/runtime/)

function(redzone_runtime_alone)
  # One plausible shadow place per target; what matters is that every layout compiles everywhere.
  if(REDZONE_ARCH STREQUAL "arm64")
    set(options -mgeneral-regs-only -mcmodel=small)
    set(place 0xdfff800000000000 0xffff000000000000 0xffffffffffffffff)
    if(REDZONE_MODE STREQUAL "sw_tags")
      set(place 0xefff800000000000 0xffff000000000000 0xffffffffffffffff)
    endif()
  elseif(REDZONE_ARCH STREQUAL "riscv64")
    set(options -march=rv64imac -mabi=lp64 -mcmodel=medany)
    set(place 0xdfffffff00000000 0xffffffc000000000 0xffffffffffffffff)
  elseif(REDZONE_ARCH STREQUAL "x86_64")
    set(options -mgeneral-regs-only -mno-red-zone -mcmodel=kernel)
    set(place 0xdffffc0000000000 0xffff800000000000 0xffffffffffffffff)
  else()
    set(options -march=armv7-a -mfloat-abi=soft)
    set(place 0x20000000 0 0xffffffff)
  endif()
  list(GET place 0 offset)
  list(GET place 1 low)
  list(GET place 2 high)
  string(TOUPPER ${REDZONE_MODE} mode)
  set(defs CONFIG_KASAN_${mode}=1 CONFIG_KASAN_NR_CPUS=4)
  if(REDZONE_MODE STREQUAL "hw_tags")
    # No shadow, so no layout.
  elseif(REDZONE_LAYOUT STREQUAL "full")
    list(APPEND defs CONFIG_KASAN_SHADOW_FULL=1 CONFIG_KASAN_SHADOW_OFFSET=${offset}UL
         CONFIG_KASAN_SHADOW_LOW=${low}UL CONFIG_KASAN_SHADOW_HIGH=${high}UL)
  else()
    list(APPEND defs CONFIG_KASAN_SHADOW_WINDOWED=1)
  endif()

  if(REDZONE_EXTRA_INFO)
    list(APPEND defs CONFIG_KASAN_EXTRA_INFO=1)
  endif()

  add_library(kasan STATIC ${REDZONE_RUNTIME_FILES})
  target_include_directories(kasan PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_definitions(kasan PRIVATE ${defs})
  target_compile_options(kasan PRIVATE -std=gnu17 -ffreestanding -nostdinc ${REDZONE_COMPILER_INCLUDE}
                         ${REDZONE_FREESTANDING} ${REDZONE_WARNINGS} -Wvla ${options})
endfunction()
