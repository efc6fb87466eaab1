# SPDX-License-Identifier: MIT
#
# The reference kernel. Its objects are compiled once; every image is a link of them with something on
# top:
#
#   redzone               the kernel and its KUnit suites
#   redzone-bugs-removed  the same suites compiled with REDZONE_REMOVE_BUGS: cases must then fail
#   redzone-bench         the kernel and the benchmark that ./redzone bench runs
#   redzone-soak          the kernel and the soak test that ./redzone test soak runs
#   <program>             the kernel and one program, for each redzone_add_program() call in the file
#                         REDZONE_PROGRAMS_FILE; or Linux's test files, for redzone_add_linux_kunit()
#
# An image is linked twice: the first pass has an empty symbol table, from its ELF file
# tools/kallsyms.py makes the table that the second pass contains. The table lies behind all code, so
# no function moves, which is checked.

set(kernel_dir ${CMAKE_SOURCE_DIR}/kernel)
set(arch_dir ${kernel_dir}/arch/${REDZONE_ARCH})
if(NOT EXISTS ${arch_dir}/arch.cmake)
  message(FATAL_ERROR "There is no kernel for '${REDZONE_ARCH}': docs/dev/new-architecture.md says how to write one")
endif()
include(${kernel_dir}/config.cmake)
include(Libc)
include(${arch_dir}/arch.cmake)
math(EXPR page_size "1 << ${REDZONE_PAGE_SHIFT}")
set(ulib_include ${kernel_dir}/ulib/include)
# The tools that make a program's linked object ready for the kernel.
set(join_tools ${CMAKE_SOURCE_DIR}/tools/constructors.py ${CMAKE_SOURCE_DIR}/tools/pages.py
    ${CMAKE_SOURCE_DIR}/tools/shadow_calls.py)
# For programs with any C library.
set(sanitizer_include ${kernel_dir}/sanitizer/include)
redzone_llvm(REDZONE_LINKER ld.lld 19 "Linker of kernel images")
redzone_llvm(REDZONE_OBJCOPY llvm-objcopy 19 "objcopy that makes the boot Image")
find_program(REDZONE_PYTHON NAMES python3 REQUIRED)

kasan_definitions(kernel_defs)
list(APPEND kernel_defs
  CONFIG_ARCH_NAME="${REDZONE_ARCH}"
  CONFIG_NR_CPUS=${REDZONE_NR_CPUS}
  CONFIG_PAGE_SHIFT=${REDZONE_PAGE_SHIFT})
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
    message(FATAL_ERROR "The kernel for '${REDZONE_ARCH}' has no shadow call stack")
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
if(REDZONE_KSTACK_ERASE)
  include(KstackErase)
  list(APPEND kernel_defs ${kstack_erase_defs})
  list(APPEND program_options ${kstack_erase_options})
  list(APPEND runtime_options ${kstack_erase_options})
endif()

if(REDZONE_LOCKDEP)
  # The slots of the sequences: the smallest power of two of which they fill less than three quarters.
  set(chain_bits 1)
  while(TRUE)
    math(EXPR room "3 * (1 << ${chain_bits}) / 4")
    if(room GREATER_EQUAL REDZONE_LOCKDEP_CHAINS)
      break()
    endif()
    math(EXPR chain_bits "${chain_bits} + 1")
  endwhile()
  list(APPEND kernel_defs CONFIG_LOCKDEP=1
    CONFIG_LOCKDEP_CLASSES=${REDZONE_LOCKDEP_CLASSES}
    CONFIG_LOCKDEP_DEPS=${REDZONE_LOCKDEP_DEPS}
    CONFIG_LOCKDEP_CHAINS=${REDZONE_LOCKDEP_CHAINS}
    CONFIG_LOCKDEP_CHAIN_BITS=${chain_bits}
    CONFIG_LOCKDEP_TRACE_WORDS=${REDZONE_LOCKDEP_TRACE_WORDS})
elseif(REDZONE_LOCKDEP_INSTRUMENTED)
  message(FATAL_ERROR "REDZONE_LOCKDEP_INSTRUMENTED needs REDZONE_LOCKDEP")
endif()
if(REDZONE_PREEMPT_RT)
  list(APPEND kernel_defs CONFIG_PREEMPT_RT=1)
endif()
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
# to be told of misaligned accesses (runtime/abi/ubsan_alignment.c). The kernel's own code has none.
set(user_checks "")
if(REDZONE_MODE MATCHES "generic|sw_tags" AND REDZONE_INSTRUMENTATION STREQUAL "inline")
  set(user_checks $<$<COMPILE_LANGUAGE:C>:-fsanitize=alignment>)
endif()

# redzone_kernel_library(<target> [FP] <folder>...): objects of some of the kernel's folders. FP: of the files that
# may use floating point, which sources.cmake lists apart.
function(redzone_kernel_library target)
  set(kind "")
  set(options ${kernel_options})
  if("${ARGV1}" STREQUAL "FP")
    list(POP_FRONT ARGN)
    set(kind _FP)
    set(options ${program_options})
  endif()
  add_library(${target} OBJECT)
  foreach(folder IN LISTS ARGN)
    set(dir ${kernel_dir}/${folder})
    include(${dir}/sources.cmake)
    string(TOUPPER ${folder} key)
    string(REPLACE "/" "_" key ${key})
    list(TRANSFORM REDZONE_${key}${kind}_SOURCES PREPEND ${dir}/ OUTPUT_VARIABLE files)
    target_sources(${target} PRIVATE ${files})
    foreach(file IN LISTS REDZONE_${key}${kind}_UNINSTRUMENTED)
      kasan_sanitize(${target} ${dir}/${file} OFF)
    endforeach()
  endforeach()
  target_include_directories(${target} PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
  target_compile_definitions(${target} PRIVATE ${kernel_defs})
  # A section for each function: the linker script puts those together that call each other often.
  target_compile_options(${target} PRIVATE -std=gnu17 -ffreestanding -ffunction-sections ${options}
    ${REDZONE_WARNINGS} "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
  kasan_instrument(${target})
endfunction()

redzone_kernel_library(kernel arch/${REDZONE_ARCH} drivers init irq kunit lib lockdep mm module
                       rcu sanitizer sched sync user)
if(REDZONE_LOCKDEP)
  # It ends in jumps instead of calls, and so needs no frame.
  set_property(SOURCE ${kernel_dir}/lockdep/fast.c APPEND PROPERTY COMPILE_OPTIONS
    -foptimize-sibling-calls -fomit-frame-pointer -momit-leaf-frame-pointer)
endif()
# The same; its functions that call nothing are the point of it.
set_property(SOURCE ${kernel_dir}/mm/slab_entry.c APPEND PROPERTY COMPILE_OPTIONS
  -foptimize-sibling-calls -momit-leaf-frame-pointer)
# The KUnit suites hold threads back inside of the workqueues: kernel/workqueue/internal.h.
redzone_kernel_library(kernel-workqueue workqueue)
redzone_kernel_library(kernel-workqueue-hook workqueue)
target_compile_definitions(kernel-workqueue-hook PRIVATE REDZONE_WORKQUEUE_HOOK=1)
redzone_kernel_library(kernel-ulib ulib)
redzone_kernel_library(kernel-libc fs libc)
set_target_properties(kernel-libc PROPERTIES EXCLUDE_FROM_ALL TRUE)
redzone_kernel_library(kernel-ulib-fp FP ulib)
redzone_kernel_library(kernel-builtins FP builtins)
set_target_properties(kernel-builtins PROPERTIES EXCLUDE_FROM_ALL TRUE)
# Each operation is rounded as the program wants it, and none is made in vain: it would leave its exceptions behind.
target_compile_options(kernel-builtins PRIVATE -ffp-contract=off -frounding-math -ftrapping-math)
foreach(target IN ITEMS kernel-ulib kernel-ulib-fp)
  target_include_directories(${target} BEFORE PRIVATE ${ulib_include})
endforeach()

# redzone_add_module(<name> SOURCES <file>... [INCLUDES <folder>...] [DEFINES <macro[=value]>...]
#                    [OPTIONS <compiler option>...])
#
# A loadable module, compiled as the kernel is: the relocatable file <name>.ko in the build folder. Makes the
# target <name>. For module-NAME, which are the user's, the file is modules/NAME.ko: Linux's decode_stacktrace.sh
# looks for a module under the name that the kernel has for it.
function(redzone_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES;INCLUDES;DEFINES;OPTIONS")
  add_library(${name}.objects OBJECT EXCLUDE_FROM_ALL ${module_SOURCES})
  target_include_directories(${name}.objects PRIVATE ${module_INCLUDES})
  target_include_directories(${name}.objects SYSTEM PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
  target_compile_definitions(${name}.objects PRIVATE ${kernel_defs} MODULE=1 ${module_DEFINES})
  target_compile_options(${name}.objects PRIVATE -std=gnu17 -ffreestanding ${kernel_options}
    ${module_OPTIONS})
  kasan_instrument(${name}.objects)
  set(linked ${CMAKE_BINARY_DIR}/${name}.ko)
  if(name MATCHES "^module-(.+)$")
    target_compile_options(${name}.objects BEFORE PRIVATE ${user_checks})
    set(linked ${CMAKE_BINARY_DIR}/modules/${CMAKE_MATCH_1}.ko)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/modules)
  endif()
  add_custom_command(OUTPUT ${linked}
    COMMAND ${REDZONE_LINKER} -r "$<TARGET_OBJECTS:${name}.objects>" -o ${linked}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>"
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the module ${name}")
  add_custom_target(${name} DEPENDS ${linked})
endfunction()

# redzone_user_program(<name> FOLDER <folder>)
#
# A program for user mode, of the files that sources.cmake of the folder names: static, at a fixed address,
# without a C library, and not instrumented, because KASAN is the kernel's. Makes the target <name> and
# <name>.elf in the build folder.
function(redzone_user_program name)
  cmake_parse_arguments(PARSE_ARGV 1 user "" "FOLDER" "")
  include(${user_FOLDER}/sources.cmake)
  list(TRANSFORM REDZONE_USER_PROGRAM_SOURCES PREPEND ${user_FOLDER}/ OUTPUT_VARIABLE files)
  add_library(${name}.objects OBJECT EXCLUDE_FROM_ALL ${files})
  target_include_directories(${name}.objects PRIVATE ${arch_dir}/tests)
  target_compile_definitions(${name}.objects PRIVATE CONFIG_PAGE_SHIFT=${REDZONE_PAGE_SHIFT})
  target_compile_options(${name}.objects PRIVATE -std=gnu17 -ffreestanding ${common_options}
                         ${REDZONE_WARNINGS})
  set(linked ${CMAKE_BINARY_DIR}/${name}.elf)
  add_custom_command(OUTPUT ${linked}
    COMMAND ${REDZONE_LINKER} -nostdlib -static --fatal-warnings --build-id=none --strip-debug
      -z max-page-size=${page_size} -z noexecstack --image-base=${REDZONE_USER_BASE} -e _start
      "$<TARGET_OBJECTS:${name}.objects>" -o ${linked}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>"
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "User program ${name}")
  add_custom_target(${name} DEPENDS ${linked})
endfunction()

# The program that the test kernel runs in user mode is a constant of user_blob.S.
redzone_user_program(user_tests FOLDER ${kernel_dir}/tests/user)
set(user_blob ${kernel_dir}/tests/user_blob.S)
set_property(SOURCE ${user_blob} APPEND PROPERTY COMPILE_DEFINITIONS
             "USER_TESTS_FILE=\"${CMAKE_BINARY_DIR}/user_tests.elf\"")
set_property(SOURCE ${user_blob} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/user_tests.elf)

# So is the benchmark's.
redzone_user_program(user_bench FOLDER ${kernel_dir}/bench/user)
set(bench_blob ${kernel_dir}/bench/user_blob.S)
set_property(SOURCE ${bench_blob} APPEND PROPERTY COMPILE_DEFINITIONS
             "USER_BENCH_FILE=\"${CMAKE_BINARY_DIR}/user_bench.elf\"")
set_property(SOURCE ${bench_blob} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/user_bench.elf)

# redzone_embed_module(<name> <source> <blob>): the assembly file <blob> includes the module's file, without
# debug information, as MODULE_<NAME>_FILE. Makes the target module_<name>.stripped.
function(redzone_embed_module name source blob)
  set(stripped ${CMAKE_BINARY_DIR}/tests/module_${name}.ko)
  redzone_add_module(module_${name} SOURCES ${source} OPTIONS ${REDZONE_WARNINGS})
  add_custom_command(OUTPUT ${stripped}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/tests
    COMMAND ${REDZONE_OBJCOPY} --strip-debug ${CMAKE_BINARY_DIR}/module_${name}.ko ${stripped}
    DEPENDS module_${name} ${CMAKE_BINARY_DIR}/module_${name}.ko VERBATIM
    COMMENT "Stripping module_${name}")
  add_custom_target(module_${name}.stripped DEPENDS ${stripped})
  string(TOUPPER ${name} key)
  set_property(SOURCE ${blob} APPEND PROPERTY COMPILE_DEFINITIONS
               "MODULE_${key}_FILE=\"${stripped}\"")
  set_property(SOURCE ${blob} APPEND PROPERTY OBJECT_DEPENDS ${stripped})
endfunction()

foreach(name IN ITEMS sample user)
  redzone_embed_module(${name} ${kernel_dir}/tests/module_${name}.c ${kernel_dir}/tests/module_blob.S)
endforeach()
if(REDZONE_LOCKDEP)
  redzone_embed_module(lock ${kernel_dir}/tests/module_lock.c ${kernel_dir}/tests/lockdep_blob.S)
endif()
redzone_embed_module(soak ${kernel_dir}/soak/module_soak.c ${kernel_dir}/soak/soak_blob.S)

redzone_kernel_library(kernel-tests tests)
redzone_kernel_library(kernel-tests-fp FP tests)
redzone_kernel_library(kernel-bench bench)
add_dependencies(kernel-bench user_bench)
redzone_kernel_library(kernel-soak soak)
add_dependencies(kernel-soak module_soak.stripped)
redzone_kernel_library(kernel-tests-bugs-removed tests)
target_compile_definitions(kernel-tests-bugs-removed PRIVATE REDZONE_REMOVE_BUGS=1)
foreach(target IN ITEMS kernel-tests kernel-tests-bugs-removed)
  add_dependencies(${target} module_sample.stripped module_user.stripped user_tests)
  if(REDZONE_LOCKDEP)
    add_dependencies(${target} module_lock.stripped)
  endif()
endforeach()

# The fuzzing loop, which only redzone_add_fuzz_program() links: it has its own part of the runtime.
include(${CMAKE_SOURCE_DIR}/runtime/fuzz/sources.cmake)
list(TRANSFORM REDZONE_RUNTIME_FUZZ_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/runtime/fuzz/ OUTPUT_VARIABLE fuzz_files)
add_library(runtime-fuzz OBJECT EXCLUDE_FROM_ALL ${fuzz_files})
target_include_directories(runtime-fuzz PRIVATE
  ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
target_compile_definitions(runtime-fuzz PRIVATE ${kernel_defs})
target_compile_options(runtime-fuzz PRIVATE -std=gnu17 -ffreestanding ${runtime_options} ${REDZONE_WARNINGS} -Wvla)
redzone_kernel_library(kernel-fuzz fuzz)
set_target_properties(kernel-fuzz PROPERTIES EXCLUDE_FROM_ALL TRUE)

set(shared_objects
  $<TARGET_OBJECTS:kernel> $<TARGET_OBJECTS:kernel-ulib> $<TARGET_OBJECTS:kernel-ulib-fp>)
if(NOT REDZONE_MODE STREQUAL "off")
  # The runtime makes the checks, so it is not checked itself.
  add_library(runtime OBJECT ${REDZONE_RUNTIME_FILES})
  target_include_directories(runtime PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
  target_compile_definitions(runtime PRIVATE ${kernel_defs})
  target_compile_options(runtime PRIVATE -std=gnu17 -ffreestanding -ffunction-sections ${runtime_options}
                         ${REDZONE_WARNINGS} -Wvla)
  # Checked copies end in a jump to the unchecked one, and need no frame to get there.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/runtime/abi/asan_mem.c
    ${CMAKE_SOURCE_DIR}/runtime/abi/tags_mem.c PROPERTIES COMPILE_OPTIONS
    "-foptimize-sibling-calls;-fomit-frame-pointer;-momit-leaf-frame-pointer")
  list(APPEND shared_objects $<TARGET_OBJECTS:runtime>)
endif()
set(kernel_objects ${shared_objects} $<TARGET_OBJECTS:kernel-workqueue>)
# Only the suites and programs with the large C library make its system calls.
set(libc_objects $<TARGET_OBJECTS:kernel-libc>)
set(tested_objects ${shared_objects} ${libc_objects} $<TARGET_OBJECTS:kernel-workqueue-hook>)

set(assembler_target "")
if(CMAKE_C_COMPILER_TARGET)
  set(assembler_target --target=${CMAKE_C_COMPILER_TARGET})
endif()
# The linker script has its numbers from <asm/memory.h>.
set(linker_script ${CMAKE_BINARY_DIR}/kernel.lds)
list(TRANSFORM kernel_defs PREPEND -D OUTPUT_VARIABLE script_options)
list(APPEND script_options ${assembler_target})
add_custom_command(OUTPUT ${linker_script}
  COMMAND ${CMAKE_C_COMPILER} -E -P -x assembler-with-cpp ${script_options}
          -I${CMAKE_SOURCE_DIR}/include -I${arch_dir}/include -MD -MF ${linker_script}.d -MT kernel.lds
          ${arch_dir}/kernel.lds.S -o ${linker_script}
  DEPENDS ${arch_dir}/kernel.lds.S DEPFILE ${linker_script}.d
  COMMENT "Linker script" VERBATIM)
add_custom_target(linker_script DEPENDS ${linker_script})

# lld is called as such: the same line links the objects of both compilers.
set(CMAKE_C_LINK_EXECUTABLE
  "${REDZONE_LINKER} -nostdlib -static --no-gc-sections --fatal-warnings --build-id=none \
-z max-page-size=${page_size} -z noexecstack -T \"${linker_script}\" <LINK_FLAGS> <OBJECTS> -o <TARGET>")

# redzone_image(<name> LINK <linker options>... OBJECTS <objects>... SOURCES <files>...): two link passes
# and the boot Image. Makes the target <name>; files <name>.elf and <name>.Image in the build folder.
function(redzone_image name)
  cmake_parse_arguments(PARSE_ARGV 1 image "" "" "OBJECTS;LINK")
  set(table ${CMAKE_BINARY_DIR}/kallsyms/${name}.s)
  set(elf ${CMAKE_BINARY_DIR}/${name}.elf)
  set(image ${CMAKE_BINARY_DIR}/${name}.Image)
  set(kallsyms ${CMAKE_SOURCE_DIR}/tools/kallsyms.py)

  foreach(pass IN ITEMS pass1 pass2)
    add_executable(${name}.${pass} EXCLUDE_FROM_ALL ${image_OBJECTS})
    target_link_options(${name}.${pass} PRIVATE ${image_LINK})
    set_target_properties(${name}.${pass} PROPERTIES LINK_DEPENDS ${linker_script} LINKER_LANGUAGE C)
    add_dependencies(${name}.${pass} linker_script)
  endforeach()
  # Not one of the target's sources: CMake's line for assembly asks for a list of headers, and so for a preprocessor,
  # which takes longer than the assembler.
  add_custom_command(OUTPUT ${table}.o
    COMMAND ${REDZONE_PYTHON} ${kallsyms} generate $<TARGET_FILE:${name}.pass1> ${table}
    COMMAND ${CMAKE_C_COMPILER} ${assembler_target} -c ${table} -o ${table}.o
    DEPENDS ${name}.pass1 ${kallsyms}
    COMMENT "Symbol table of ${name}" VERBATIM)
  set_source_files_properties(${table}.o PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  target_sources(${name}.pass2 PRIVATE ${table}.o)
  set_target_properties(${name}.pass2 PROPERTIES OUTPUT_NAME ${name}.elf)
  add_custom_command(OUTPUT ${image}
    COMMAND ${REDZONE_PYTHON} ${kallsyms} check ${elf} ${table}
    COMMAND ${REDZONE_OBJCOPY} -O binary ${elf} ${image}
    DEPENDS ${name}.pass2 ${kallsyms}
    COMMENT "Image of ${name}" VERBATIM)
  add_custom_target(${name} DEPENDS ${image})
endfunction()

# redzone_check_objects(<variable> <linked> <object>...): the command that refuses the program <linked> if it has <object>s
# that were compiled elsewhere, and their code loses the shadow call stack. Empty if that cannot be.
function(redzone_check_objects out linked)
  set(${out} "" PARENT_SCOPE)
  if(REDZONE_SHADOW_CALL_STACK AND ARGN)
    string(REPLACE objcopy objdump objdump ${REDZONE_OBJCOPY})
    set(${out} COMMAND ${REDZONE_PYTHON} ${CMAKE_SOURCE_DIR}/tools/shadow_calls.py ${objdump} ${linked} PARENT_SCOPE)
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
  set(headers ${ulib_include})
  if(program_LIBC)
    redzone_libc_includes(headers ${program_LIBC})
  endif()
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${headers})
  if(program_KERNEL)
    target_include_directories(${target} SYSTEM PRIVATE
      ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
    target_compile_definitions(${target} PRIVATE ${kernel_defs})
  endif()
  target_compile_definitions(${target} PRIVATE ${program_DEFINES})
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
    target_include_directories(${name}.${part} PRIVATE
      ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
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
#                     [LIBC <folder>] [KERNEL])
#
# OBJECTS: .o and .a files that belong to the program as well. LIBC: the source of the large C library, which the program
# then uses instead of kernel/ulib. KERNEL: the files may include the headers of the kernel and of the runtime.
#
# A kernel image with an ordinary C program inside. The program is compiled as hosted C, so that main()
# is C's main() (falling off its end returns 0), but without the compiler's ideas of what the library
# functions do: the calls that are written are the calls that are checked.
function(redzone_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "KERNEL" "LIBC"
    "SOURCES;INCLUDES;DEFINES;OPTIONS;FILE_OPTIONS;OBJECTS;FUZZ_OBJECTS;FUZZ_LINK;COVER")
  redzone_program_objects(${name}.objects)
  redzone_program_file_options()
  # The program's names are its own: it may well have a sort() or a panic(), and so has the kernel.
  set(linked ${CMAKE_BINARY_DIR}/${name}.o)
  set(main main)
  # main() may be in an archive.
  set(join ${REDZONE_LINKER} -r -u main "$<TARGET_OBJECTS:${name}.objects>" ${program_OBJECTS} ${compiler_runtime} -o ${linked})
  set(finish COMMAND ${REDZONE_PYTHON} ${CMAKE_SOURCE_DIR}/tools/constructors.py
             ${linked} ${REDZONE_OBJCOPY} ${main} program)
  set(needs "")
  set(system_calls "")
  if(program_LIBC)
    set(system_calls ${libc_objects})
    redzone_libc_options(libc_options ${program_LIBC})
    set(main redzone_libc_main)
    # It does what the other two do. The fuzzer looks at the comparisons that the program makes itself.
    set(join ${REDZONE_PYTHON} ${CMAKE_SOURCE_DIR}/tools/libc.py ${libc_options} ${linked} ${REDZONE_OBJCOPY} program
      ${program_FUZZ_LINK} "$<TARGET_OBJECTS:${name}.objects>" ${program_OBJECTS})
    set(finish "")
    set(needs ${libc_options} ${redzone_libc_files})
  endif()
  redzone_check_objects(check ${linked} ${program_OBJECTS})
  add_custom_command(OUTPUT ${linked}
    COMMAND ${join}
    ${finish}
    ${check}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>" ${program_OBJECTS}
            kernel-builtins $<TARGET_OBJECTS:kernel-builtins> ${join_tools} ${needs}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the program ${name}")
  set_source_files_properties(${linked} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  set(objects ${kernel_objects} ${system_calls})
  if(program_COVER)
    redzone_cover(objects ${name}.covered FILES ${program_COVER} OPTIONS ${program_OPTIONS})
  endif()
  redzone_image(${name}
    OBJECTS ${objects} ${program_FUZZ_OBJECTS} ${linked}
    LINK --defsym=redzone_program_main=${main} --error-limit=0 ${program_FUZZ_LINK})
endfunction()

# redzone_add_fuzz_program(<name> SOURCES <file>... [INCLUDES <folder>...] [DEFINES <macro[=value]>...]
#                          [OPTIONS <compiler option>...] [KERNEL] [COVER <file>...])
#
# The same, for a program whose inputs come from a fuzzer: kernel/fuzz/harness.c is one of its files, and the OPTIONS ask
# the compiler for coverage. The fuzzing loop and the kernel's port of it are linked in. COVER: files of the kernel or of
# the runtime that get coverage as well.
function(redzone_add_fuzz_program name)
  set(comparisons memcmp strcmp strncmp strcasecmp)
  list(TRANSFORM comparisons PREPEND --wrap=)
  redzone_add_program(${name} ${ARGN}
    FUZZ_OBJECTS $<TARGET_OBJECTS:kernel-fuzz> $<TARGET_OBJECTS:runtime-fuzz> FUZZ_LINK ${comparisons})
endfunction()

# redzone_add_programs(<name> SOURCES <file>... [INCLUDES <folder>...] [OPTIONS <compiler option>...]
#                      [FILE_OPTIONS <file> <option> ...] [LIBRARY <file>...] [OBJECTS <file>...] [LIBC <folder>])
#
# LIBRARY: sources that are compiled once. OBJECTS: .o and .a files. Each program has its own copy of those of
# their functions and variables that it uses, and of the large C library's: no program sees what another did to them.
#
# One kernel image with many programs: each file is one, compiled as redzone_add_program() does, with a
# main() of its own. Nothing else of a file is seen by another. The kernel runs them in that order.
function(redzone_add_programs name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "LIBC" "SOURCES;INCLUDES;OPTIONS;FILE_OPTIONS;LIBRARY;OBJECTS")
  set(own_start false)
  set(libc_options "")
  set(needs "")
  set(system_calls "")
  if(program_LIBC)
    set(own_start true)
    set(system_calls ${libc_objects})
    redzone_libc_options(libc_options ${program_LIBC})
    set(needs ${libc_options} ${redzone_libc_files})
  endif()
  set(libraries ${program_OBJECTS})
  if(NOT program_LIBC)
    # Else it comes behind the library.
    list(APPEND libraries ${compiler_runtime})
  endif()
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
    string(APPEND entries "\t{\"${stem}\", redzone_each_${number}, "
           "redzone_ctors_${number}, redzone_dtors_${number}, ${own_start}},\n")
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
  target_include_directories(${name}.table PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
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
    COMMAND ${REDZONE_PYTHON} ${CMAKE_SOURCE_DIR}/tools/each.py
            ${REDZONE_OBJCOPY} ${REDZONE_LINKER} ${linked}.rsp ${linked} ${linked}.libs ${libc_options}
    ${check}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>" ${linked}.rsp
            ${linked}.libs ${library_objects} ${program_OBJECTS}
            kernel-builtins $<TARGET_OBJECTS:kernel-builtins>
            ${CMAKE_SOURCE_DIR}/tools/each.py ${join_tools} ${needs}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the programs of ${name}")
  set_source_files_properties(${linked} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  # ./redzone needs the list of all programs that lack something.
  redzone_image(${name} OBJECTS ${kernel_objects} ${system_calls} $<TARGET_OBJECTS:${name}.table> ${linked}
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
      ${dir}/include ${CMAKE_SOURCE_DIR}/include ${kernel_dir}/include ${arch_dir}/include)
    target_compile_definitions(${name}.${part} PRIVATE ${kernel_defs})
    target_compile_options(${name}.${part} PRIVATE -std=gnu17 -ffreestanding ${kernel_options}
                           "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
    kasan_instrument(${name}.${part})
  endforeach()
  target_compile_options(${name}.objects PRIVATE ${kunit_OPTIONS})
  redzone_image(${name}
    OBJECTS ${kernel_objects} $<TARGET_OBJECTS:${name}.objects> $<TARGET_OBJECTS:${name}.support>)
endfunction()

redzone_image(redzone OBJECTS ${tested_objects} $<TARGET_OBJECTS:kernel-tests> $<TARGET_OBJECTS:kernel-tests-fp>)
redzone_image(redzone-bench OBJECTS ${kernel_objects} $<TARGET_OBJECTS:kernel-bench>)
redzone_image(redzone-soak OBJECTS ${kernel_objects} $<TARGET_OBJECTS:kernel-soak>)
redzone_image(redzone-bugs-removed
              OBJECTS ${tested_objects} $<TARGET_OBJECTS:kernel-tests-bugs-removed>
                      $<TARGET_OBJECTS:kernel-tests-fp>)
set_target_properties(redzone PROPERTIES EXCLUDE_FROM_ALL FALSE)
add_custom_target(default ALL DEPENDS redzone)
# Ninja only looks again at files that were there: ./redzone may write this one later.
if(NOT EXISTS ${REDZONE_PROGRAMS_FILE})
  file(TOUCH ${REDZONE_PROGRAMS_FILE})
endif()
include(${REDZONE_PROGRAMS_FILE})
