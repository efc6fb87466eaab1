# SPDX-License-Identifier: MIT
#
# Owns the compiler flags: which options make Clang or GCC instrument for a mode, and which macros tell
# <kasan/config.h> about it. The facts behind them were tried with Clang 19, Clang 22 and GCC 12.

# Where the arm64 kernel keeps its shadow; kernel/arch/arm64/include/asm/memory.h has the same map.
set(KASAN_ARM64_SHADOW_OFFSET 0xdfff800000000000)
set(KASAN_ARM64_SHADOW_LOW 0xffff000000000000)
set(KASAN_ARM64_SHADOW_HIGH 0xffffffffffffffff)

# Macros of the whole kernel, runtime included. Mode "off" defines none, so every hook is empty.
function(kasan_definitions out)
  set(defs)
  if(REDZONE_MODE STREQUAL "generic")
    string(TOUPPER ${REDZONE_INSTRUMENTATION} where)
    set(defs
      CONFIG_KASAN_GENERIC=1
      CONFIG_KASAN_${where}=1
      CONFIG_KASAN_SHADOW_FULL=1
      CONFIG_KASAN_SHADOW_OFFSET=${KASAN_ARM64_SHADOW_OFFSET}UL
      CONFIG_KASAN_SHADOW_LOW=${KASAN_ARM64_SHADOW_LOW}UL
      CONFIG_KASAN_SHADOW_HIGH=${KASAN_ARM64_SHADOW_HIGH}UL
      CONFIG_KASAN_NR_CPUS=8
      "KASAN_PORT_INLINE_H=<kernel/kasan_port_inline.h>")
  endif()
  set(${out} "${defs}" PARENT_SCOPE)
endfunction()

# Options for instrumented code. @where: inline or outline; @offset: the shadow offset.
function(kasan_instrumentation_options out where offset)
  # Below this number of accesses per function the compilers inline the checks.
  if(where STREQUAL "inline")
    set(threshold 10000)
  else()
    set(threshold 0)
  endif()
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    # The driver never turns on use-after-scope for kernels in Clang 19; the -mllvm form works in all.
    set(llvm
      asan-mapping-offset=${offset}
      asan-instrumentation-with-call-threshold=${threshold}
      asan-stack=1
      asan-globals=1
      asan-use-after-scope=1
      asan-kernel-mem-intrinsic-prefix=1
      # The kernel never unregisters: no image is ever unloaded.
      asan-destructor-kind=none)
    set(options -fsanitize=kernel-address)
    foreach(option IN LISTS llvm)
      list(APPEND options -mllvm -${option})
    endforeach()
  else()
    # GCC's defaults for kernels are outline, no stack, no globals.
    set(options
      -fsanitize=kernel-address
      -fasan-shadow-offset=${offset}
      -fsanitize-address-use-after-scope
      --param=asan-instrumentation-with-call-threshold=${threshold}
      --param=asan-stack=1
      --param=asan-globals=1
      --param=asan-instrument-allocas=1)
  endif()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

# kasan_sanitize(<target> <file> OFF): leave one file of a target alone. Call before kasan_instrument().
function(kasan_sanitize target file state)
  if(state STREQUAL "OFF")
    set_property(TARGET ${target} APPEND PROPERTY KASAN_UNINSTRUMENTED ${file})
  endif()
endfunction()

# Give the C files of @target the kernel's instrumentation, if the mode has any. The options go to each
# file instead of the target, because GCC refuses them together with -fno-sanitize=kernel-address.
function(kasan_instrument target)
  if(REDZONE_MODE STREQUAL "off")
    return()
  endif()
  kasan_instrumentation_options(options ${REDZONE_INSTRUMENTATION} ${KASAN_ARM64_SHADOW_OFFSET})
  get_target_property(files ${target} SOURCES)
  get_target_property(excluded ${target} KASAN_UNINSTRUMENTED)
  foreach(file IN LISTS files)
    if(file MATCHES "\\.c$" AND NOT file IN_LIST excluded)
      set_property(SOURCE ${file} PROPERTY COMPILE_OPTIONS "${options}")
    endif()
  endforeach()
endfunction()

# Warnings for everything of this repository; the code is clean under both compilers.
set(REDZONE_WARNINGS
  -Wall -Wextra -Werror -Wno-unused-parameter -Wshadow
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>)

# What every freestanding object needs so that traces can be walked by frame pointers.
set(REDZONE_FREESTANDING
  -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-strict-aliasing -fno-common
  -fno-pic -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  list(APPEND REDZONE_FREESTANDING -mno-omit-leaf-frame-pointer)
endif()
