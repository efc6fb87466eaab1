# SPDX-License-Identifier: MIT
#
# Owns the compiler flags of this tree: which macros tell <kasan/config.h> about the mode, and which files get
# the options that make Clang or GCC instrument. The options themselves are in kasan-flags.json.
include(RedzoneRuntime)

# Where a kernel of REDZONE_ARCH keeps its shadow: the offset, then the lowest and the highest address that has one.
# The shadow of an address is (addr >> 3) + offset in Generic mode, (addr >> 4) + offset with software tags. Nothing
# else states these numbers: <asm/memory.h> derives the shadow's bounds from them and asserts that they fit the map.
set(shadow_arm64 0xdfff800000000000 0xffff000000000000 0xffffffffffffffff)
if(REDZONE_MODE STREQUAL "sw_tags")
  # Half as much shadow, which ends at the same address.
  set(shadow_arm64 0xefff800000000000 0xffff000000000000 0xffffffffffffffff)
endif()
set(shadow_riscv64 0xdfffff8000000000 0xffff800000000000 0xffffffffffffffff)
if(REDZONE_MODE STREQUAL "sw_tags")
  set(shadow_riscv64 0xefffff8000000000 0xffff800000000000 0xffffffffffffffff)
endif()
# No kernel yet, only the runtime by itself: plausible places.
set(shadow_x86_64 0xdffffc0000000000 0xffff800000000000 0xffffffffffffffff)
set(shadow_arm 0x20000000 0 0xffffffff)
set(shadow_s390x 0x1c000000000000 0 0x1fffffffffffff)
set(shadow_powerpc64le 0xa80e000000000000 0xc000000000000000 0xc00dffffffffffff)
set(shadow_loongarch64 0 0 0)
list(GET shadow_${REDZONE_ARCH} 0 KASAN_SHADOW_OFFSET)
list(GET shadow_${REDZONE_ARCH} 1 KASAN_SHADOW_LOW)
list(GET shadow_${REDZONE_ARCH} 2 KASAN_SHADOW_HIGH)
set(KASAN_FULL_SHADOW
  CONFIG_KASAN_SHADOW_FULL=1
  CONFIG_KASAN_SHADOW_OFFSET=${KASAN_SHADOW_OFFSET}UL
  CONFIG_KASAN_SHADOW_LOW=${KASAN_SHADOW_LOW}UL
  CONFIG_KASAN_SHADOW_HIGH=${KASAN_SHADOW_HIGH}UL)

if(REDZONE_MTE_STACK)
  if(NOT REDZONE_MODE STREQUAL "hw_tags")
    message(FATAL_ERROR "REDZONE_MTE_STACK is for REDZONE_MODE hw_tags: the other modes check stacks anyway")
  endif()
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "REDZONE_MTE_STACK needs Clang: GCC has no MTE stack tagging")
  endif()
endif()

# Macros of the whole kernel, runtime included. Mode "off" defines none, so every hook is empty; with REDZONE_UBSAN or
# REDZONE_SAMPLE the hooks of reports are not.
function(kasan_definitions out)
  set(defs)
  if(REDZONE_UBSAN)
    list(APPEND defs CONFIG_KASAN_UBSAN=1)
  endif()
  if(REDZONE_SAMPLE)
    list(APPEND defs CONFIG_KASAN_SAMPLE=1)
  endif()
  if(defs AND REDZONE_MODE STREQUAL "off")
    list(APPEND defs CONFIG_KASAN_NR_CPUS=${REDZONE_NR_CPUS}
      "KASAN_PORT_INLINE_H=\"${CMAKE_SOURCE_DIR}/kernel/kasan/port_inline.h\"")
  endif()
  if(NOT REDZONE_MODE STREQUAL "off")
    string(TOUPPER ${REDZONE_MODE} mode)
    string(TOUPPER ${REDZONE_INSTRUMENTATION} where)
    list(APPEND defs
      CONFIG_KASAN_${mode}=1
      CONFIG_KASAN_OVERLAP=1
      CONFIG_KASAN_DMA=1
      CONFIG_KASAN_PERCPU=1
      CONFIG_KASAN_NR_CPUS=${REDZONE_NR_CPUS}
      "KASAN_PORT_INLINE_H=\"${CMAKE_SOURCE_DIR}/kernel/kasan/port_inline.h\"")
    if(NOT REDZONE_MODE STREQUAL "hw_tags")
      list(APPEND defs
        CONFIG_KASAN_${where}=1
        CONFIG_KASAN_SHADOW_FAULTS=1
        ${KASAN_FULL_SHADOW})
    endif()
    if(REDZONE_MTE_STACK)
      list(APPEND defs CONFIG_KASAN_STACK=1)
    endif()
    if(REDZONE_TAGGED_GLOBALS)
      list(APPEND defs CONFIG_KASAN_TAGGED_GLOBALS=1)
    endif()
    if(REDZONE_TRACE_COMPARE)
      list(APPEND defs CONFIG_KASAN_TRACE_COMPARE=1)
    endif()
    if(REDZONE_EXTRA_INFO)
      list(APPEND defs CONFIG_KASAN_EXTRA_INFO=1)
    endif()
  endif()
  set(${out} "${defs}" PARENT_SCOPE)
endfunction()

# Options for instrumented code. @where: inline or outline; @offset: the shadow offset. NO_STACK: nothing for variables on
# the stack.
function(kasan_instrumentation_options out where offset)
  set(words ${where} offset globals ${REDZONE_MODE} ${REDZONE_ARCH})
  if(NOT "NO_STACK" IN_LIST ARGN AND (REDZONE_MTE_STACK OR NOT REDZONE_MODE STREQUAL "hw_tags"))
    list(APPEND words stack)
  endif()
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    list(APPEND words clang)
  else()
    list(APPEND words gcc)
  endif()
  if(REDZONE_TAGGED_GLOBALS)
    list(APPEND words tagged_globals)
  endif()
  redzone_flags(options instrument "${words}" ${offset})
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

# Give the C files of @target the kernel's instrumentation, if the mode has any, except for the files
# that kasan_sanitize() has turned off before. The options go to each file instead of the target, because GCC
# refuses them together with -fno-sanitize=kernel-address.
function(kasan_instrument target)
  if(REDZONE_MODE STREQUAL "off" OR (REDZONE_MODE STREQUAL "hw_tags" AND NOT REDZONE_MTE_STACK))
    return()
  endif()
  kasan_instrumentation_options(options ${REDZONE_INSTRUMENTATION} ${KASAN_SHADOW_OFFSET})
  get_target_property(files ${target} SOURCES)
  get_target_property(excluded ${target} KASAN_SANITIZE_OFF)
  foreach(file IN LISTS files)
    if(file MATCHES "\\.c$" AND NOT file IN_LIST excluded)
      set_property(SOURCE ${file} PROPERTY COMPILE_OPTIONS "${options}")
    endif()
  endforeach()
endfunction()

# Warnings for everything of this repository. They are errors with the compilers that the tests run: another one
# may warn of more, and that must not keep its users from a build. GCC 14 is Debian 13's.
set(REDZONE_TESTED_COMPILERS "Clang 19" "Clang 22" "GNU 12" "GNU 14")
string(REGEX MATCH "^[0-9]+" major "${CMAKE_C_COMPILER_VERSION}")
set(werror)
if("${CMAKE_C_COMPILER_ID} ${major}" IN_LIST REDZONE_TESTED_COMPILERS)
  set(werror -Werror)
endif()
set(REDZONE_WARNINGS
  -Wall -Wextra ${werror} -Wno-unused-parameter -Wshadow
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>)

# Options of every freestanding object; the last ones, which keep traces walkable, are the same for every tree.
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  set(words clang)
else()
  set(words gcc)
endif()
if(REDZONE_TAGGED_GLOBALS)
  if(NOT REDZONE_MODE STREQUAL "sw_tags" OR NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "REDZONE_TAGGED_GLOBALS needs software tags and Clang: GCC gives globals no tags")
  endif()
  list(APPEND words tagged_globals)
endif()
redzone_flags(REDZONE_CODE code "${words};${REDZONE_ARCH};${REDZONE_MODE}")
set(REDZONE_FREESTANDING
  -g -O2 -fno-strict-aliasing -fno-common -fno-pic -fno-pie -fno-stack-protector
  -fno-asynchronous-unwind-tables ${REDZONE_CODE})
