# SPDX-License-Identifier: MIT
#
# The runtime's file list, and its build alone: freestanding, for one target, with nothing of a kernel
# around it. That build tests the layering: a file with a forbidden include fails here.

include(${CMAKE_SOURCE_DIR}/runtime/sources.cmake)
set(REDZONE_RUNTIME_FILES ${REDZONE_RUNTIME_SOURCES})
list(TRANSFORM REDZONE_RUNTIME_FILES PREPEND ${CMAKE_SOURCE_DIR}/runtime/)

# What only systems that are fuzzed link.
include(${CMAKE_SOURCE_DIR}/fuzz/sources.cmake)
set(REDZONE_RUNTIME_FUZZ_FILES ${REDZONE_RUNTIME_FUZZ_SOURCES})
list(TRANSFORM REDZONE_RUNTIME_FUZZ_FILES PREPEND ${CMAKE_SOURCE_DIR}/fuzz/)

function(redzone_runtime_alone)
  if(REDZONE_ARCH STREQUAL "arm64")
    set(options -mgeneral-regs-only -mcmodel=small)
  elseif(REDZONE_ARCH STREQUAL "riscv64")
    set(options -march=rv64imac -mabi=lp64 -mcmodel=medany)
  elseif(REDZONE_ARCH STREQUAL "riscv32")
    set(options -march=rv32imac -mabi=ilp32 -mcmodel=medany)
  elseif(REDZONE_ARCH STREQUAL "x86_64")
    set(options -mgeneral-regs-only -mno-red-zone -mcmodel=kernel)
  elseif(REDZONE_ARCH STREQUAL "s390x")
    set(options -msoft-float -mbackchain)
  elseif(REDZONE_ARCH STREQUAL "powerpc64le")
    set(options -msoft-float -mno-altivec -mno-vsx)
  elseif(REDZONE_ARCH STREQUAL "loongarch64")
    set(options -msoft-float)
  else()
    set(options -march=armv7-a -mfloat-abi=soft)
  endif()
  set(cpus 4)
  if(REDZONE_RUNTIME_CPU)
    # A microcontroller, which has no instructions for several of them.
    set(options ${REDZONE_RUNTIME_CPU})
    set(cpus 1)
  endif()
  string(TOUPPER ${REDZONE_MODE} mode)
  set(defs CONFIG_KASAN_${mode}=1 CONFIG_KASAN_NR_CPUS=${cpus})
  if(REDZONE_UBSAN)
    list(APPEND defs CONFIG_KASAN_UBSAN=1)
  endif()
  if(REDZONE_MODE STREQUAL "off")
    list(POP_FRONT defs)
  elseif(REDZONE_MODE STREQUAL "hw_tags")
    # No shadow, so no layout.
  elseif(REDZONE_LAYOUT STREQUAL "full")
    list(APPEND defs ${KASAN_FULL_SHADOW})
  elseif(REDZONE_LAYOUT MATCHES "^(dynamic|pieces)$")
    string(TOUPPER ${REDZONE_LAYOUT} layout)
    list(APPEND defs CONFIG_KASAN_SHADOW_FULL=1 CONFIG_KASAN_SHADOW_${layout}=1)
  else()
    list(APPEND defs CONFIG_KASAN_SHADOW_WINDOWED=1)
    if(REDZONE_LAYOUT STREQUAL "compact")
      list(APPEND defs CONFIG_KASAN_SHADOW_COMPACT=1)
    endif()
  endif()

  if(REDZONE_EXTRA_INFO)
    # With everything else that is optional.
    list(APPEND defs CONFIG_KASAN_EXTRA_INFO=1 CONFIG_KASAN_RECORD=1 CONFIG_KASAN_SAMPLE=1
      CONFIG_KASAN_OVERLAP=1 CONFIG_KASAN_DMA=1 CONFIG_KASAN_PERCPU=1)
  endif()

  add_library(kasan STATIC ${REDZONE_RUNTIME_FILES})
  set(libraries kasan)
  # The mailbox has a word of 64 bits that is stored at once, which riscv32 and a microcontroller cannot.
  if(NOT REDZONE_ARCH STREQUAL "riscv32" AND NOT REDZONE_RUNTIME_CPU)
    add_library(kasan_fuzz STATIC ${REDZONE_RUNTIME_FUZZ_FILES})
    list(APPEND libraries kasan_fuzz)
  endif()
  foreach(library IN LISTS libraries)
    target_include_directories(${library} PRIVATE ${CMAKE_SOURCE_DIR}/include)
    target_compile_definitions(${library} PRIVATE ${defs})
    target_compile_options(${library} PRIVATE -std=gnu17 -ffreestanding -nostdinc ${REDZONE_COMPILER_INCLUDE}
                           ${REDZONE_FREESTANDING} ${REDZONE_WARNINGS} -Wvla ${options})
  endforeach()
endfunction()
