# SPDX-License-Identifier: MIT
#
# The functions that ./redzone calls in REDZONE_PROGRAMS_FILE: images with programs, with fuzzed programs, with
# Linux's KUnit tests.

# redzone_check_objects(<variable> <linked> <object>...): the command that refuses the program <linked> if it has <object>s
# that were compiled elsewhere, and their code loses the shadow call stack. Empty if that cannot be.
function(redzone_check_objects out linked)
  set(${out} "" PARENT_SCOPE)
  if(REDZONE_SHADOW_CALL_STACK AND ARGN)
    string(REPLACE objcopy objdump objdump ${REDZONE_OBJCOPY})
    set(${out} COMMAND ${REDZONE_PYTHON} ${build_scripts}/shadow_calls.py ${objdump} ${linked} PARENT_SCOPE)
  endif()
endfunction()

# For the linker, objects between these are what the members of an archive are.
set(compiler_runtime --start-lib $<TARGET_OBJECTS:kernel-builtins> --end-lib)
# Debian's GCC is made for Linux, which is not where a program runs. Clang's target has no system.
set(program_identity "")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND program_identity -U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix)
elseif(REDZONE_MODE STREQUAL "generic")
  # GCC and newer Clangs define it, and some libraries ask for nothing else.
  list(APPEND program_identity -U__SANITIZE_ADDRESS__ -D__SANITIZE_ADDRESS__=1)
endif()

# The objects of programs, from the program_* variables of the function that calls it.
macro(redzone_program_objects target)
  # The files of an earlier ./redzone run may be gone: a build by hand goes on without that program.
  foreach(file IN LISTS program_SOURCES)
    if(NOT EXISTS "${file}")
      message(STATUS "${file} is gone: no ${name}")
      return()
    endif()
  endforeach()
  if(NOT program_SOURCES)
    # A program of objects and archives only; for CMake a library has a source.
    set(program_SOURCES ${CMAKE_BINARY_DIR}/none.c)
    file(WRITE ${program_SOURCES} "")
  endif()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${program_SOURCES})
  target_include_directories(${target} PRIVATE ${program_INCLUDES})
  redzone_libc_includes(headers)
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${headers})
  if(program_KERNEL)
    target_include_directories(${target} SYSTEM PRIVATE ${kernel_includes})
    target_compile_definitions(${target} PRIVATE ${kernel_defs})
  endif()
  target_compile_definitions(${target} PRIVATE KASAN_INTERFACE_LINKED=1 ${program_DEFINES})
  target_compile_options(${target} PRIVATE -fno-builtin -ffunction-sections ${program_options}
    ${user_checks} ${program_OPTIONS})
  kasan_instrument(${target})
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${sanitizer_include})
  target_compile_options(${target} BEFORE PRIVATE ${program_identity})
endmacro()

# The options of single files, which come last. After all calls of redzone_program_objects().
macro(redzone_program_file_options)
  while(program_FILE_OPTIONS)
    list(POP_FRONT program_FILE_OPTIONS file options)
    set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS ${options})
  endwhile()
endmacro()

# redzone_cover(<list of objects> <name> FILES <file>... OPTIONS <compiler option>...)
#
# Replace the objects of FILES, which are sources of the kernel or of the runtime, by others that are compiled with OPTIONS
# as well: those that ask for coverage. Makes the libraries <name>.kernel and <name>.runtime.
function(redzone_cover variable name)
  cmake_parse_arguments(PARSE_ARGV 2 cover "" "" "FILES;OPTIONS")
  list(FILTER cover_OPTIONS INCLUDE REGEX "^-fsanitize-coverage")
  set(all ${${variable}})
  foreach(part IN ITEMS kernel runtime)
    set(files ${cover_FILES})
    list(FILTER files INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${part}/")
    if(NOT files)
      continue()
    endif()
    set(options ${kernel_options} "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
    if(part STREQUAL "runtime")
      set(options ${runtime_options} -Wvla)
    endif()
    add_library(${name}.${part} OBJECT EXCLUDE_FROM_ALL ${files})
    target_include_directories(${name}.${part} PRIVATE ${kernel_includes})
    target_compile_definitions(${name}.${part} PRIVATE ${kernel_defs})
    target_compile_options(${name}.${part} PRIVATE -std=gnu17 -ffreestanding ${options} ${REDZONE_WARNINGS} ${cover_OPTIONS})
    if(part STREQUAL "kernel")
      kasan_instrument(${name}.${part})
    endif()
    list(TRANSFORM files REPLACE "^${CMAKE_SOURCE_DIR}/(.+)[.]c" "/\\1[.]c[.]obj" OUTPUT_VARIABLE replaced)
    list(JOIN replaced "|" replaced)
    list(TRANSFORM all REPLACE "(.+)" "$<FILTER:\\1,EXCLUDE,(${replaced})$>")
    list(APPEND all $<TARGET_OBJECTS:${name}.${part}>)
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

# redzone_add_program(<name> SOURCES <file>... [INCLUDES <folder>...] [DEFINES <macro[=value]>...]
#                     [OPTIONS <compiler option>...] [FILE_OPTIONS <file> <option> ...] [OBJECTS <file>...]
#                     [KERNEL])
#
# OBJECTS: .o and .a files that belong to the program as well. KERNEL: the files may include the headers of the kernel and
# of the runtime.
#
# A kernel image with an ordinary C program inside. The program is compiled as hosted C, so that main()
# is C's main() (falling off its end returns 0), but without the compiler's ideas of what the library
# functions do: the calls that are written are the calls that are checked.
function(redzone_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "KERNEL" ""
    "SOURCES;INCLUDES;DEFINES;OPTIONS;FILE_OPTIONS;OBJECTS;FUZZ_OBJECTS;FUZZ_LINK;COVER")
  redzone_program_objects(${name}.objects)
  redzone_program_file_options()
  # The program's names are its own: it may well have a sort() or a panic(), and so has the kernel.
  set(linked ${CMAKE_BINARY_DIR}/${name}.o)
  redzone_libc_options(libc_options)
  redzone_check_objects(check ${linked} ${program_OBJECTS})
  # The fuzzer looks at the comparisons that the program makes itself.
  add_custom_command(OUTPUT ${linked}
    COMMAND ${REDZONE_PYTHON} ${build_scripts}/link_libc.py ${libc_options} ${linked} ${REDZONE_OBJCOPY} program
            ${program_FUZZ_LINK} "$<TARGET_OBJECTS:${name}.objects>" ${program_OBJECTS}
    ${check}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>" ${program_OBJECTS}
            kernel-builtins $<TARGET_OBJECTS:kernel-builtins> ${join_tools} ${libc_options} ${redzone_libc_files}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the program ${name}")
  set_source_files_properties(${linked} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  set(objects ${kernel_objects} ${libc_objects})
  if(program_COVER)
    redzone_cover(objects ${name}.covered FILES ${program_COVER} OPTIONS ${program_OPTIONS})
  endif()
  redzone_image(${name}
    OBJECTS ${objects} ${program_FUZZ_OBJECTS} ${linked}
    LINK --defsym=redzone_program_main=redzone_libc_main --error-limit=0 ${program_FUZZ_LINK})
endfunction()

# redzone_add_fuzz_program(<name> SOURCES <file>... [INCLUDES <folder>...] [DEFINES <macro[=value]>...]
#                          [OPTIONS <compiler option>...] [KERNEL] [COVER <file>...])
#
# The same, for a program whose inputs come from a fuzzer: kernel/tests/fuzz/harness.c is one of its files, and the OPTIONS ask
# the compiler for coverage. The fuzzing loop and the kernel's port of it are linked in. COVER: files of the kernel or of
# the runtime that get coverage as well.
function(redzone_add_fuzz_program name)
  set(comparisons memcmp strcmp strncmp strcasecmp)
  list(TRANSFORM comparisons PREPEND --wrap=)
  redzone_add_program(${name} ${ARGN}
    FUZZ_OBJECTS $<TARGET_OBJECTS:kernel-fuzz> $<TARGET_OBJECTS:runtime-fuzz> FUZZ_LINK ${comparisons})
endfunction()

# redzone_add_programs(<name> SOURCES <file>... [INCLUDES <folder>...] [OPTIONS <compiler option>...]
#                      [FILE_OPTIONS <file> <option> ...] [LIBRARY <file>...] [OBJECTS <file>...])
#
# LIBRARY: sources that are compiled once. OBJECTS: .o and .a files. Each program has its own copy of those of
# their functions and variables that it uses, and of the C library's: no program sees what another did to them.
#
# One kernel image with many programs: each file is one, compiled as redzone_add_program() does, with a
# main() of its own. Nothing else of a file is seen by another. The kernel runs them in that order.
function(redzone_add_programs name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;INCLUDES;OPTIONS;FILE_OPTIONS;LIBRARY;OBJECTS")
  redzone_libc_options(libc_options)
  set(libraries ${program_OBJECTS})
  set(library_objects "")
  if(program_LIBRARY)
    set(programs ${program_SOURCES})
    set(program_SOURCES ${program_LIBRARY})
    redzone_program_objects(${name}.library)
    set(program_SOURCES ${programs})
    set(library_objects "$<TARGET_OBJECTS:${name}.library>")
    list(PREPEND libraries --start-lib ${library_objects} --end-lib)
  endif()
  redzone_program_objects(${name}.objects)
  redzone_program_file_options()
  set(table ${CMAKE_BINARY_DIR}/${name}.table.c)
  set(mains "")
  set(entries "")
  set(number 0)
  foreach(file IN LISTS program_SOURCES)
    get_filename_component(stem "${file}" NAME_WLE)
    string(APPEND mains "int redzone_each_${number}(int argc, char **argv);\n")
    string(APPEND mains "extern program_hook_t redzone_ctors_${number}[] __weak;\n")
    string(APPEND mains "extern program_hook_t redzone_dtors_${number}[] __weak;\n")
    string(APPEND mains "void redzone_on_error_${number}(void) __weak;\n")
    string(APPEND entries "\t{\"${stem}\", redzone_each_${number}, "
           "redzone_ctors_${number}, redzone_dtors_${number}, redzone_on_error_${number}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT
"/* Written by redzone_add_programs(). */
#include <kernel/program.h>

@mains@
const struct program_entry redzone_programs[] = {
@entries@};
const unsigned int redzone_nr_programs = @number@;
")
  add_library(${name}.table OBJECT EXCLUDE_FROM_ALL ${table})
  target_include_directories(${name}.table PRIVATE ${kernel_includes})
  target_compile_definitions(${name}.table PRIVATE ${kernel_defs})
  target_compile_options(${name}.table PRIVATE -std=gnu17 -ffreestanding ${kernel_options})
  set(linked ${CMAKE_BINARY_DIR}/${name}.o)
  file(GENERATE OUTPUT ${linked}.rsp CONTENT "$<JOIN:$<TARGET_OBJECTS:${name}.objects>,\n>\n")
  if(libraries)
    # Each on a line, in quotes.
    set(libraries "\"$<JOIN:${libraries},\"\n\">\"\n")
  endif()
  file(GENERATE OUTPUT ${linked}.libs CONTENT "${libraries}")
  redzone_check_objects(check ${linked} ${program_OBJECTS})
  add_custom_command(OUTPUT ${linked}
    COMMAND ${REDZONE_PYTHON} ${build_scripts}/join_programs.py
            ${REDZONE_OBJCOPY} ${REDZONE_LINKER} ${linked}.rsp ${linked} ${linked}.libs ${libc_options}
    ${check}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>" ${linked}.rsp
            ${linked}.libs ${library_objects} ${program_OBJECTS}
            kernel-builtins $<TARGET_OBJECTS:kernel-builtins>
            ${build_scripts}/join_programs.py ${join_tools} ${libc_options} ${redzone_libc_files}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the programs of ${name}")
  set_source_files_properties(${linked} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  # ./redzone needs the list of all programs that lack something.
  redzone_image(${name} OBJECTS ${kernel_objects} ${libc_objects} $<TARGET_OBJECTS:${name}.table> ${linked}
                LINK --error-limit=0)
endfunction()

# redzone_add_linux_kunit(<name> SOURCES <file>... [OPTIONS <option>...])
#
# A kernel image whose KUnit suites are those of Linux's own test files, compiled as they are against the
# headers of ports/linux-kunit. Their style is not ours to judge: no warnings.
function(redzone_add_linux_kunit name)
  cmake_parse_arguments(PARSE_ARGV 1 kunit "" "" "SOURCES;OPTIONS")
  set(dir ${CMAKE_SOURCE_DIR}/ports/linux-kunit)
  include(${dir}/sources.cmake)
  if(kunit_SOURCES MATCHES "kasan_test_module")
    list(APPEND REDZONE_LINUX_KUNIT_SOURCES ${REDZONE_LINUX_KUNIT_MODULE_SOURCES})
  endif()
  list(TRANSFORM REDZONE_LINUX_KUNIT_SOURCES PREPEND ${dir}/)
  add_library(${name}.objects OBJECT EXCLUDE_FROM_ALL ${kunit_SOURCES})
  add_library(${name}.support OBJECT EXCLUDE_FROM_ALL ${REDZONE_LINUX_KUNIT_SOURCES})
  target_compile_options(${name}.objects PRIVATE -w)
  target_compile_options(${name}.support PRIVATE ${REDZONE_WARNINGS})
  foreach(part IN ITEMS objects support)
    target_include_directories(${name}.${part} PRIVATE
      ${dir}/include ${kernel_includes})
    target_compile_definitions(${name}.${part} PRIVATE ${kernel_defs})
    target_compile_options(${name}.${part} PRIVATE -std=gnu17 -ffreestanding ${kernel_options}
                           "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
    kasan_instrument(${name}.${part})
  endforeach()
  target_compile_options(${name}.objects PRIVATE ${kunit_OPTIONS})
  redzone_image(${name}
    OBJECTS ${kernel_objects} $<TARGET_OBJECTS:${name}.objects> $<TARGET_OBJECTS:${name}.support>)
endfunction()
