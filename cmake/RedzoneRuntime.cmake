# SPDX-License-Identifier: MIT
#
# What other people's trees use, by find_package(Redzone) or add_subdirectory():
#
#   redzone_add_runtime(<target> ...)   the runtime as a library, built with the tree's own compiler
#   redzone_instrument(<target> ...)    compiler options for the files that KASAN shall check
#   redzone_flags(<out> <kind> <words>) the options themselves
#
# The including file has set REDZONE_SOURCE_DIR (has runtime/), REDZONE_INCLUDE_DIR (has kasan/) and
# REDZONE_FLAGS_FILE. They are kept as global properties: functions run in any folder of the tree.
include_guard(GLOBAL)
# Whatever the including tree says is old enough for it.
cmake_policy(PUSH)
cmake_policy(VERSION 3.19...3.25)
foreach(name IN ITEMS REDZONE_SOURCE_DIR REDZONE_INCLUDE_DIR REDZONE_FLAGS_FILE)
  set_property(GLOBAL PROPERTY ${name} "${${name}}")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${REDZONE_FLAGS_FILE}")

# redzone_flags(<out> instrument|code|runtime "<words that hold>" [<shadow offset>])
#
# Reads kasan-flags.json. The result is a list; options that belong together ("-mllvm -asan-stack=1")
# are two elements.
function(redzone_flags out kind words)
  get_property(path GLOBAL PROPERTY REDZONE_FLAGS_FILE)
  file(READ "${path}" text)
  string(JSON count LENGTH "${text}" ${kind})
  math(EXPR last "${count} - 1")
  set(flags)
  foreach(i RANGE ${last})
    string(JSON condition GET "${text}" ${kind} ${i} if)
    string(JSON rule GET "${text}" ${kind} ${i} flags)
    separate_arguments(condition)
    set(holds TRUE)
    foreach(word IN LISTS condition)
      if(word MATCHES "^!(.*)$")
        if(CMAKE_MATCH_1 IN_LIST words)
          set(holds FALSE)
        endif()
      elseif(NOT word IN_LIST words)
        set(holds FALSE)
      endif()
    endforeach()
    if(holds)
      string(REPLACE "@OFFSET@" "${ARGV3}" rule "${rule}")
      separate_arguments(rule)
      list(APPEND flags ${rule})
    endif()
  endforeach()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# The words for this compiler and its target. ARCH may be given; else it is what the compiler makes.
function(_redzone_words out arch)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    set(words clang)
  elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(words gcc)
  else()
    message(FATAL_ERROR "Redzone: the C compiler is '${CMAKE_C_COMPILER_ID}'; accepted: Clang, GNU")
  endif()
  if(NOT arch)
    set(triple "${CMAKE_C_COMPILER_TARGET}")
    if(NOT triple)
      execute_process(COMMAND ${CMAKE_C_COMPILER} -dumpmachine OUTPUT_VARIABLE triple
                      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    if(triple MATCHES "^aarch64")
      set(arch arm64)
    elseif(triple MATCHES "^riscv64")
      set(arch riscv64)
    elseif(triple MATCHES "^x86_64")
      set(arch x86_64)
    elseif(triple MATCHES "^arm")
      set(arch arm)
    else()
      message(FATAL_ERROR "Redzone: target '${triple}' has no runtime/arch; give ARCH arm64, riscv64, x86_64 or arm")
    endif()
  endif()
  list(APPEND words ${arch})
  if(CMAKE_C_COMPILER_TARGET MATCHES "^(aarch64-unknown-none|x86_64-(unknown-none-)?elf|i686-none-elf)$")
    list(APPEND words bypass)
  endif()
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

# redzone_add_runtime(<target> [WINDOWED | FULL] [INLINE | OUTLINE]
#                     [SHADOW_OFFSET <number> | DYNAMIC] [SHADOW_LOW <number>] [SHADOW_HIGH <number>]
#                     [NO_STACK] [NO_GLOBALS] [ARCH <arch>]
#                     [PORT <file>...] [DEFINES <macro[=value]>...] [OPTIONS <option>...])
#
# Makes a static library of the runtime and the PORT files, none of them instrumented. OPTIONS are what
# the tree compiles C with (-march=..., -mcmodel=...). What links <target> gets the include path and
# the configuration; redzone_instrument() takes its options from it.
#
# WINDOWED is the default layout, OUTLINE the default instrumentation.
function(redzone_add_runtime target)
  cmake_parse_arguments(PARSE_ARGV 1 rz "WINDOWED;FULL;INLINE;OUTLINE;DYNAMIC;NO_STACK;NO_GLOBALS"
    "SHADOW_OFFSET;SHADOW_LOW;SHADOW_HIGH;ARCH" "PORT;DEFINES;OPTIONS")
  set(where "redzone_add_runtime(${target})")
  if(rz_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${where}: unknown argument '${rz_UNPARSED_ARGUMENTS}'")
  endif()
  _redzone_words(words "${rz_ARCH}")

  if(rz_FULL AND rz_WINDOWED)
    message(FATAL_ERROR "${where}: WINDOWED and FULL exclude each other")
  endif()
  if(rz_INLINE AND rz_OUTLINE)
    message(FATAL_ERROR "${where}: INLINE and OUTLINE exclude each other")
  endif()
  if(rz_FULL AND NOT (rz_SHADOW_OFFSET AND rz_SHADOW_LOW AND rz_SHADOW_HIGH))
    message(FATAL_ERROR "${where}: FULL needs SHADOW_OFFSET, SHADOW_LOW and SHADOW_HIGH")
  endif()
  if(rz_DYNAMIC AND rz_SHADOW_OFFSET)
    message(FATAL_ERROR "${where}: with SHADOW_OFFSET the compiler ignores DYNAMIC; give one of them")
  endif()
  if(rz_DYNAMIC AND "gcc" IN_LIST words)
    message(FATAL_ERROR "${where}: GCC has no dynamic shadow; use Clang, a SHADOW_OFFSET, or OUTLINE with NO_STACK")
  endif()
  if(NOT rz_DYNAMIC AND NOT rz_SHADOW_OFFSET AND (rz_INLINE OR NOT rz_NO_STACK))
    message(FATAL_ERROR "${where}: inline checks and stack poison are compiled for one place of the shadow: give "
      "SHADOW_OFFSET, or DYNAMIC (Clang), or OUTLINE with NO_STACK")
  endif()

  if(rz_INLINE)
    list(APPEND words inline)
  else()
    list(APPEND words outline)
  endif()
  if(rz_SHADOW_OFFSET)
    list(APPEND words offset)
  endif()
  if(rz_DYNAMIC)
    list(APPEND words dynamic)
  endif()
  set(stack 0)
  if(NOT rz_NO_STACK)
    set(stack 1)
    list(APPEND words stack)
  endif()
  if(NOT rz_NO_GLOBALS)
    list(APPEND words globals)
  endif()
  redzone_flags(instrument instrument "${words}" "${rz_SHADOW_OFFSET}")
  redzone_flags(code code "${words}")
  redzone_flags(runtime runtime "${words}")

  set(defines CONFIG_KASAN_GENERIC=1 CONFIG_KASAN_STACK=${stack})
  if(rz_FULL)
    list(APPEND defines CONFIG_KASAN_SHADOW_FULL=1 CONFIG_KASAN_SHADOW_LOW=${rz_SHADOW_LOW}UL
         CONFIG_KASAN_SHADOW_HIGH=${rz_SHADOW_HIGH}UL)
  else()
    list(APPEND defines CONFIG_KASAN_SHADOW_WINDOWED=1)
  endif()
  if(rz_SHADOW_OFFSET)
    list(APPEND defines CONFIG_KASAN_SHADOW_OFFSET=${rz_SHADOW_OFFSET}UL)
  endif()
  list(APPEND defines ${rz_DEFINES})

  get_property(source_dir GLOBAL PROPERTY REDZONE_SOURCE_DIR)
  get_property(include_dir GLOBAL PROPERTY REDZONE_INCLUDE_DIR)
  include(${source_dir}/runtime/sources.cmake)
  list(TRANSFORM REDZONE_RUNTIME_SOURCES PREPEND ${source_dir}/runtime/)
  add_library(${target} STATIC ${REDZONE_RUNTIME_SOURCES} ${rz_PORT})
  target_include_directories(${target} PUBLIC ${include_dir})
  target_compile_definitions(${target} PUBLIC ${defines})
  target_compile_options(${target} PRIVATE ${runtime} ${code} ${rz_OPTIONS})
  set_target_properties(${target} PROPERTIES
    REDZONE_INSTRUMENT "${instrument}" REDZONE_CODE "${code}")
endfunction()

# redzone_instrument(<target> RUNTIME <runtime target> [EXCLUDE <file>...])
#
# Compiles the C files of <target> with checks, but for those in EXCLUDE (as they are written in the
# target's sources), and links the runtime.
function(redzone_instrument target)
  cmake_parse_arguments(PARSE_ARGV 1 rz "" "RUNTIME" "EXCLUDE")
  if(rz_UNPARSED_ARGUMENTS OR NOT rz_RUNTIME OR NOT TARGET "${rz_RUNTIME}")
    message(FATAL_ERROR "redzone_instrument(${target}): RUNTIME must name a target of redzone_add_runtime()")
  endif()
  get_target_property(instrument ${rz_RUNTIME} REDZONE_INSTRUMENT)
  get_target_property(code ${rz_RUNTIME} REDZONE_CODE)
  if(NOT instrument)
    message(FATAL_ERROR "redzone_instrument(${target}): ${rz_RUNTIME} was not made by redzone_add_runtime()")
  endif()
  get_target_property(files ${target} SOURCES)
  get_target_property(dir ${target} SOURCE_DIR)
  foreach(file IN LISTS rz_EXCLUDE)
    if(NOT file IN_LIST files)
      message(FATAL_ERROR "redzone_instrument(${target}): EXCLUDE names '${file}', which is no source of it")
    endif()
  endforeach()
  # Options of single files: GCC refuses its shadow offset beside -fno-sanitize=kernel-address, so a
  # file cannot be taken out of options of the whole target.
  foreach(file IN LISTS files)
    if(file MATCHES "\\.c$" AND NOT file IN_LIST rz_EXCLUDE)
      set_property(SOURCE ${file} DIRECTORY ${dir} APPEND PROPERTY COMPILE_OPTIONS
        "$<$<STREQUAL:$<TARGET_PROPERTY:REDZONE_RUNTIME>,${rz_RUNTIME}>:${instrument}>")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES REDZONE_RUNTIME ${rz_RUNTIME})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:${code}>)
  target_link_libraries(${target} PRIVATE ${rz_RUNTIME})
endfunction()

cmake_policy(POP)
