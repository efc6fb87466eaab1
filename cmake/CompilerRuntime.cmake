# SPDX-License-Identifier: MIT
#
# Owns the search for the compiler's runtime library: functions that a compiler calls instead of making code, such
# as __udivti3 for a division of 128 bits. Programs get those that they use; the kernel itself is never linked with
# it, because it has floating point.

# redzone_compiler_runtime(<variable>): the library of REDZONE_ARCH, or empty if this machine has none. Clang's own,
# if it has one for this target. Debian's has not, so GCC's then serves both: the names and the ABI are the same.
function(redzone_compiler_runtime out)
  set(${out} "" PARENT_SCOPE)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    set(query --target=${CMAKE_C_COMPILER_TARGET} --rtlib=compiler-rt)
  endif()
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${query} -print-libgcc-file-name
                  OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(cpu ${CMAKE_LIBRARY_ARCHITECTURE})
  if(REDZONE_ARCH STREQUAL "arm64")
    set(cpu aarch64-linux-gnu)
  endif()
  # tools/redzone/tools.py looks for the same files.
  file(GLOB others LIST_DIRECTORIES FALSE
       /usr/lib/gcc-cross/${cpu}/*/libgcc.a /usr/lib/gcc/${cpu}/*/libgcc.a)
  list(SORT others COMPARE NATURAL ORDER DESCENDING)
  foreach(file IN LISTS own others)
    if(IS_ABSOLUTE "${file}" AND EXISTS "${file}")
      set(${out} ${file} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
