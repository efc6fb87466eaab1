# SPDX-License-Identifier: MIT
#
# How the kernel's files are compiled: definitions and options, in lists for each kind of code, and
# redzone_kernel_library(), which compiles some of its folders.

set(kernel_dir ${CMAKE_SOURCE_DIR}/kernel)
set(arch_dir ${kernel_dir}/arch/${REDZONE_ARCH})
if(NOT EXISTS ${arch_dir}/arch.cmake)
  message(FATAL_ERROR "There is no kernel for '${REDZONE_ARCH}': docs/dev/new-architecture.md says how to write one")
endif()
include(${kernel_dir}/config.cmake)
include(Libc)
include(${arch_dir}/arch.cmake)
math(EXPR page_size "1 << ${REDZONE_PAGE_SHIFT}")
# The tools that make a program's linked object ready for the kernel.
set(build_scripts ${CMAKE_SOURCE_DIR}/tools/build-scripts)
# In a wheel the Python package is around the tree, not inside.
set(REDZONE_PACKAGE "${CMAKE_SOURCE_DIR}/tools/redzone" CACHE PATH "The Python package, which the build's scripts use")
set(elf_tools ${REDZONE_PACKAGE}/elf/file.py ${REDZONE_PACKAGE}/elf/symbols.py)
set(join_tools ${elf_tools} ${build_scripts}/constructors.py ${build_scripts}/pages.py ${build_scripts}/shadow_calls.py)
# Headers of programs, beside those of the C library. KASAN_INTERFACE_LINKED: what <kasan/asan_interface.h> is for them.
set(sanitizer_include ${kernel_dir}/sanitizer/include ${CMAKE_SOURCE_DIR}/include)
redzone_llvm(REDZONE_LINKER ld.lld 19 "Linker of kernel images")
redzone_llvm(REDZONE_OBJCOPY llvm-objcopy 19 "objcopy that makes the boot Image")
find_program(REDZONE_PYTHON NAMES python3 REQUIRED)

set(kernel_includes ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)

kasan_definitions(kernel_defs)
list(APPEND kernel_defs
  CONFIG_ARCH_NAME="${REDZONE_ARCH}"
  CONFIG_NR_CPUS=${REDZONE_NR_CPUS}
  CONFIG_PAGE_SHIFT=${REDZONE_PAGE_SHIFT})
foreach(name IN ITEMS OK KASAN CRASH PROGRAM LOCKDEP)
  list(APPEND kernel_defs EXIT_STATUS_${name}=${REDZONE_EXIT_${name}})
endforeach()
if(REDZONE_ALLOCATOR STREQUAL "slab")
  list(APPEND kernel_defs CONFIG_SLAB=1)
endif()
# common_options are for programs of user mode, kernel_options for everything that runs in the kernel but the runtime.
# program_options are for code that may use floating point: ordinary programs, and the ordinary C of their library.
set(common_options
  -nostdinc ${REDZONE_COMPILER_INCLUDE}
  ${REDZONE_FREESTANDING}
  ${REDZONE_ARCH_OPTIONS})
set(program_options ${common_options})
set(runtime_options ${common_options} ${REDZONE_ARCH_NO_FP})
list(APPEND common_options ${REDZONE_ARCH_NO_FP})
if(REDZONE_TAGGED_GLOBALS)
  # A tag takes a symbol's value out of the small code model's reach, wherever it is used.
  list(REMOVE_ITEM program_options -mcmodel=small)
  list(REMOVE_ITEM runtime_options -mcmodel=small)
endif()
if(REDZONE_SHADOW_CALL_STACK)
  if(NOT REDZONE_ARCH_SCS_RESERVE)
    message(FATAL_ERROR "The kernel for '${REDZONE_ARCH}' has no shadow call stack with ${CMAKE_C_COMPILER_ID}")
  endif()
  list(APPEND kernel_defs CONFIG_SHADOW_CALL_STACK=1)
  # Every function leaves the register alone, also the runtime's, which by default store nothing there.
  list(APPEND program_options ${REDZONE_ARCH_SCS_RESERVE} ${REDZONE_ARCH_SCS})
  list(APPEND runtime_options ${REDZONE_ARCH_SCS_RESERVE})
  if(REDZONE_SCS_RUNTIME)
    list(APPEND kernel_defs CONFIG_SCS_RUNTIME=1)
    list(APPEND runtime_options ${REDZONE_ARCH_SCS})
  endif()
elseif(REDZONE_SCS_RUNTIME)
  message(FATAL_ERROR "REDZONE_SCS_RUNTIME needs REDZONE_SHADOW_CALL_STACK")
endif()
# The extensions of kernel/ext/: extension.cmake of each has its options, and adds it if they ask for it.
set(extensions "")
macro(redzone_extension name)
  list(APPEND extensions ${name})
  list(APPEND kernel_includes ${kernel_dir}/ext/${name}/include ${kernel_dir}/ext/${name}/arch/${REDZONE_ARCH}/include)
endmacro()
file(GLOB extension_files CONFIGURE_DEPENDS ${kernel_dir}/ext/*/extension.cmake)
foreach(file IN LISTS extension_files)
  include(${file})
endforeach()
foreach(pair IN ITEMS LOCKDEP:lockdep PREEMPT_RT:rt KSTACK_ERASE:stackleak)
  string(REGEX MATCH "(.*):(.*)" ignored ${pair})
  if(REDZONE_${CMAKE_MATCH_1} AND NOT CMAKE_MATCH_2 IN_LIST extensions)
    message(FATAL_ERROR "REDZONE_${CMAKE_MATCH_1} needs kernel/ext/${CMAKE_MATCH_2}, which is not there")
  endif()
endforeach()
list(TRANSFORM extensions PREPEND ext/)

if(REDZONE_IRQSOFF)
  if(REDZONE_KSTACK_ERASE)
    message(FATAL_ERROR "REDZONE_IRQSOFF does not measure REDZONE_KSTACK_ERASE's work")
  endif()
  list(APPEND kernel_defs CONFIG_IRQSOFF=1 KASAN_LOCK_CHECK=1)
endif()

set(kernel_options ${program_options} ${REDZONE_ARCH_NO_FP})
# With vector registers a compiler would join accesses. One that is written is one that is checked and reported.
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  list(APPEND program_options -fno-vectorize -fno-slp-vectorize)
else()
  list(APPEND program_options -fno-tree-vectorize)
endif()

# What programs and modules of users have as well: an inline check looks at the granule of the first byte only, so it needs
# to be told of misaligned accesses (runtime/ubsan/alignment.c). The kernel's own code has none.
set(user_checks "")
if(REDZONE_MODE MATCHES "generic|sw_tags" AND REDZONE_INSTRUMENTATION STREQUAL "inline")
  set(user_checks $<$<COMPILE_LANGUAGE:C>:-fsanitize=alignment>)
endif()
if(REDZONE_UBSAN)
  set(user_checks $<$<COMPILE_LANGUAGE:C>:-fsanitize=undefined>)
endif()

# Objects that came with a wheel are linked by another machine: debug information names the tree as every machine knows it
# (tools/redzone/build/prebuilt.py).
set(release_options "")
if(REDZONE_RELEASE)
  cmake_path(GET CMAKE_BINARY_DIR PARENT_PATH builds)
  set(release_options -fdebug-prefix-map=${CMAKE_SOURCE_DIR}=/redzone.tree -fdebug-prefix-map=${builds}=/redzone.tree/build)
  add_compile_options(${release_options})
endif()
# They are linked only with objects of the compiler that made them, in the same major version.
string(REGEX MATCH "^[0-9]+" major "${CMAKE_C_COMPILER_VERSION}")
set(compiler "${CMAKE_C_COMPILER_ID} ${major}")
file(WRITE ${CMAKE_BINARY_DIR}/compiler "${compiler}")
if(REDZONE_PREBUILT)
  set(prebuilt_compiler "")
  if(EXISTS ${REDZONE_PREBUILT}/compiler)
    file(READ ${REDZONE_PREBUILT}/compiler prebuilt_compiler)
  endif()
  if(NOT prebuilt_compiler STREQUAL compiler)
    set(REDZONE_PREBUILT "")
  endif()
endif()

# redzone_objects(<target> [OPTIONAL] <file>...): a library of objects, to which the caller gives options. If the objects came
# with a wheel, which has made them with these options, the caller's variable `prebuilt` is true. OPTIONAL: it is built only
# for what needs it.
function(redzone_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 objects "OPTIONAL" "" "")
  # The linker script knows the objects by the names of these folders.
  set(made ${REDZONE_PREBUILT}/CMakeFiles/${target}.dir)
  if(REDZONE_PREBUILT AND EXISTS ${made})
    set(prebuilt TRUE PARENT_SCOPE)
    set(files "")
    foreach(file IN LISTS objects_UNPARSED_ARGUMENTS)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      list(APPEND files ${made}/${file}.obj)
    endforeach()
    add_library(${target} OBJECT IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_OBJECTS "${files}")
    return()
  endif()
  set(prebuilt FALSE PARENT_SCOPE)
  add_library(${target} OBJECT ${objects_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ${objects_OPTIONAL})
endfunction()

# redzone_kernel_library(<target> [FP] [OPTIONAL] [OPTIONS <option>...] FOLDERS <folder>...): redzone_objects() of some of the
# kernel's folders. FP: of the files that may use floating point, which sources.cmake lists apart. OPTIONS: further ones for
# the compiler.
function(redzone_kernel_library target)
  cmake_parse_arguments(PARSE_ARGV 1 library "FP;OPTIONAL" "" "OPTIONS;FOLDERS")
  set(kind "")
  set(options ${kernel_options})
  if(library_FP)
    set(kind _FP)
    set(options ${program_options})
  endif()
  set(optional "")
  if(library_OPTIONAL)
    set(optional OPTIONAL)
  endif()
  set(files "")
  set(unchecked "")
  foreach(folder IN LISTS library_FOLDERS)
    set(dir ${kernel_dir}/${folder})
    include(${dir}/sources.cmake)
    string(TOUPPER ${folder} key)
    string(REPLACE "/" "_" key ${key})
    list(TRANSFORM REDZONE_${key}${kind}_SOURCES PREPEND ${dir}/ OUTPUT_VARIABLE found)
    list(APPEND files ${found})
    list(TRANSFORM REDZONE_${key}${kind}_UNINSTRUMENTED PREPEND ${dir}/ OUTPUT_VARIABLE found)
    list(APPEND unchecked ${found})
  endforeach()
  redzone_objects(${target} ${optional} ${files})
  if(prebuilt)
    return()
  endif()
  foreach(file IN LISTS unchecked)
    kasan_sanitize(${target} ${file} OFF)
  endforeach()
  target_include_directories(${target} PRIVATE ${kernel_includes})
  target_compile_definitions(${target} PRIVATE ${kernel_defs})
  # A section for each function: the linker script puts those together that call each other often.
  target_compile_options(${target} PRIVATE -std=gnu17 -ffreestanding -ffunction-sections ${options}
    ${REDZONE_WARNINGS} "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" ${library_OPTIONS})
  kasan_instrument(${target})
endfunction()

# redzone_runtime_library(<target> [OPTIONAL] <file>...): redzone_objects() of the runtime. It makes the checks, so it is not
# checked itself.
function(redzone_runtime_library target)
  redzone_objects(${target} ${ARGN})
  if(prebuilt)
    return()
  endif()
  target_include_directories(${target} PRIVATE ${kernel_includes})
  target_compile_definitions(${target} PRIVATE ${kernel_defs})
  target_compile_options(${target} PRIVATE -std=gnu17 -ffreestanding -ffunction-sections ${runtime_options}
                         ${REDZONE_WARNINGS} -Wvla)
endfunction()
