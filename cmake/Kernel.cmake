# SPDX-License-Identifier: MIT
#
# The reference kernel. Its objects are compiled once; every image is a link of them with something on
# top:
#
#   redzone               the kernel and its KUnit suites
#   redzone-bugs-removed  the same suites compiled with REDZONE_REMOVE_BUGS: cases must then fail
#   redzone-modules       the kernel alone, for modules that run without a program
#   redzone-bench         the kernel and the benchmark that ./redzone bench runs
#   redzone-soak          the kernel and the soak test that ./redzone test soak runs
#   <program>             the kernel and one program, for each redzone_add_program() call in the file
#                         REDZONE_PROGRAMS_FILE; or Linux's test files, for redzone_add_linux_kunit()
#
# An image is linked twice: the first pass has an empty symbol table, from its ELF file
# tools/build-scripts/kallsyms.py makes the table that the second pass contains. The table lies behind all code, so
# no function moves, which is checked.

include(KernelOptions)
include(KernelModules)
include(KernelImage)

redzone_kernel_library(kernel FOLDERS arch/${REDZONE_ARCH} drivers init irq kasan kunit lib mm module
                       program rcu sanitizer sched sync user ${extensions})
# Functions that call nothing, and have no frame.
set(no_leaf_frame -momit-leaf-frame-pointer)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(no_leaf_frame ${REDZONE_ARCH_GNU_NO_LEAF_FRAME})
endif()
# They are the point of this file.
set_property(SOURCE ${kernel_dir}/mm/slab_entry.c APPEND PROPERTY COMPILE_OPTIONS
  -foptimize-sibling-calls ${no_leaf_frame})
# The KUnit suites hold threads back inside of the workqueues: kernel/workqueue/internal.h.
redzone_kernel_library(kernel-workqueue FOLDERS workqueue)
redzone_kernel_library(kernel-workqueue-hook FOLDERS workqueue)
target_compile_definitions(kernel-workqueue-hook PRIVATE REDZONE_WORKQUEUE_HOOK=1)
redzone_kernel_library(kernel-libc OPTIONAL FOLDERS fs libc)
# Each operation is rounded as the program wants it, and none is made in vain: it would leave its exceptions behind.
redzone_kernel_library(kernel-builtins FP OPTIONAL FOLDERS builtins
                       OPTIONS -ffp-contract=off -frounding-math -ftrapping-math)

# The program that the test kernel runs in user mode is a constant of user_blob.S.
redzone_user_program(user_tests FOLDER ${kernel_dir}/tests/user)
set(user_blob ${kernel_dir}/tests/user_blob.S)
set_property(SOURCE ${user_blob} APPEND PROPERTY COMPILE_DEFINITIONS
             "USER_TESTS_FILE=\"${CMAKE_BINARY_DIR}/user_tests.elf\"")
set_property(SOURCE ${user_blob} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/user_tests.elf)

# So is the benchmark's.
redzone_user_program(user_bench FOLDER ${kernel_dir}/tests/bench/user)
set(bench_blob ${kernel_dir}/tests/bench/user_blob.S)
set_property(SOURCE ${bench_blob} APPEND PROPERTY COMPILE_DEFINITIONS
             "USER_BENCH_FILE=\"${CMAKE_BINARY_DIR}/user_bench.elf\"")
set_property(SOURCE ${bench_blob} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/user_bench.elf)

foreach(name IN ITEMS sample user)
  redzone_embed_module(${name} ${kernel_dir}/tests/module_${name}.c ${kernel_dir}/tests/module_blob.S)
endforeach()
redzone_embed_module(soak ${kernel_dir}/tests/soak/module_soak.c ${kernel_dir}/tests/soak/soak_blob.S)

set(test_folders tests)
set(test_modules module_sample.stripped module_user.stripped)
foreach(extension IN LISTS extensions)
  include(${kernel_dir}/${extension}/tests/modules.cmake OPTIONAL)
  list(APPEND test_folders ${extension}/tests)
endforeach()
redzone_kernel_library(kernel-tests FOLDERS ${test_folders})
redzone_kernel_library(kernel-tests-fp FP FOLDERS tests)
redzone_kernel_library(kernel-bench FOLDERS tests/bench)
add_dependencies(kernel-bench user_bench)
redzone_kernel_library(kernel-soak FOLDERS tests/soak)
add_dependencies(kernel-soak module_soak.stripped)
redzone_kernel_library(kernel-tests-bugs-removed FOLDERS ${test_folders})
target_compile_definitions(kernel-tests-bugs-removed PRIVATE REDZONE_REMOVE_BUGS=1)
kasan_instrumentation_options(checks inline 0)
foreach(target IN ITEMS kernel-tests kernel-tests-bugs-removed)
  # The extensions' suites share what these have.
  target_include_directories(${target} PRIVATE ${kernel_dir}/tests)
  add_dependencies(${target} ${test_modules} user_tests)
  if(checks MATCHES "hwasan-generate-tags-with-calls=1")
    target_compile_definitions(${target} PRIVATE CONFIG_STACK_TAG_CALLS=1)
  endif()
endforeach()

# The fuzzing loop, which only redzone_add_fuzz_program() links: it has its own part of the runtime.
include(${CMAKE_SOURCE_DIR}/fuzz/sources.cmake)
list(TRANSFORM REDZONE_RUNTIME_FUZZ_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/fuzz/ OUTPUT_VARIABLE fuzz_files)
redzone_runtime_library(runtime-fuzz OPTIONAL ${fuzz_files})
redzone_kernel_library(kernel-fuzz OPTIONAL FOLDERS tests/fuzz)

set(shared_objects $<TARGET_OBJECTS:kernel>)
if(REDZONE_UBSAN OR REDZONE_SAMPLE OR NOT REDZONE_MODE STREQUAL "off")
  set(runtime_files ${REDZONE_RUNTIME_FILES})
  if(REDZONE_TRACE_COMPARE)
    list(APPEND runtime_files ${CMAKE_SOURCE_DIR}/tests/traces/compare.c)
  endif()
  # Checked copies end in a jump to the unchecked one, and need no frame to get there.
  set(copies ${CMAKE_SOURCE_DIR}/runtime/abi/asan_mem.c ${CMAKE_SOURCE_DIR}/runtime/abi/tags_mem.c)
  set_source_files_properties(${copies} PROPERTIES COMPILE_OPTIONS
    "-foptimize-sibling-calls;-fomit-frame-pointer;${no_leaf_frame}")
  list(REMOVE_ITEM runtime_files ${copies})
  redzone_runtime_library(runtime ${runtime_files})
  redzone_runtime_library(runtime-copies ${copies})
  list(APPEND shared_objects $<TARGET_OBJECTS:runtime> $<TARGET_OBJECTS:runtime-copies>)
  # The benchmark measures what a port gets by default, and there memcpy() does not look for ranges that overlap.
  redzone_runtime_library(runtime-bench OPTIONAL ${copies})
  target_compile_options(runtime-bench PRIVATE -UCONFIG_KASAN_OVERLAP)
  set(bench_runtime $<TARGET_OBJECTS:runtime> $<TARGET_OBJECTS:runtime-bench>)
endif()
set(kernel_objects ${shared_objects} $<TARGET_OBJECTS:kernel-workqueue>)
# Only programs and the suites make system calls.
set(libc_objects $<TARGET_OBJECTS:kernel-libc>)
set(tested_objects ${shared_objects} ${libc_objects} $<TARGET_OBJECTS:kernel-workqueue-hook>)

redzone_image(redzone OBJECTS ${tested_objects} $<TARGET_OBJECTS:kernel-tests> $<TARGET_OBJECTS:kernel-tests-fp>)
redzone_image(redzone-modules OBJECTS ${kernel_objects} ${libc_objects})
redzone_image(redzone-bench OBJECTS $<TARGET_OBJECTS:kernel> ${bench_runtime} $<TARGET_OBJECTS:kernel-workqueue>
                            $<TARGET_OBJECTS:kernel-bench>)
redzone_image(redzone-soak OBJECTS ${kernel_objects} $<TARGET_OBJECTS:kernel-soak>)
redzone_image(redzone-bugs-removed
              OBJECTS ${tested_objects} $<TARGET_OBJECTS:kernel-tests-bugs-removed>
                      $<TARGET_OBJECTS:kernel-tests-fp>)
set_target_properties(redzone PROPERTIES EXCLUDE_FROM_ALL FALSE)
add_custom_target(default ALL DEPENDS redzone)
include(Programs)
# Ninja only looks again at files that were there: ./redzone may write this one later.
if(NOT EXISTS ${REDZONE_PROGRAMS_FILE})
  file(TOUCH ${REDZONE_PROGRAMS_FILE})
endif()
include(${REDZONE_PROGRAMS_FILE})
