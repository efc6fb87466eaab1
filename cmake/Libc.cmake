# SPDX-License-Identifier: MIT
#
# Owns how a program gets its C library, musl, whose source ./redzone fetches: the folders of its headers, and the
# options that tools/build-scripts/link_libc.py compiles the library's files with. They are the program's own options, so
# its code has the same checks. docs/use/libc.md has the reasons.

# What joining a program with the library depends on, beside the options.
file(GLOB redzone_libc_files ${kernel_dir}/libc/musl/*.* ${kernel_dir}/libc/musl/arch/*.h ${arch_dir}/musl/*.S)
list(APPEND redzone_libc_files ${CMAKE_SOURCE_DIR}/tools/build-scripts/link_libc.py)

# redzone_libc_includes(<variable>): the folders of the library's headers. They come before the compiler's own, which know
# nothing of it. The variable redzone_libc is the folder of the library's source; ./redzone sets it in the file of programs.
function(redzone_libc_includes out)
  if(NOT redzone_libc)
    message(FATAL_ERROR "Programs need a C library: set redzone_libc to the folder of musl's source, as ./redzone does")
  endif()
  set(${out} ${redzone_libc}/obj/${REDZONE_ARCH_LIBC}/include ${redzone_libc}/include ${redzone_libc}/arch/${REDZONE_ARCH_LIBC}
      ${redzone_libc}/arch/generic PARENT_SCOPE)
endfunction()

# redzone_libc_options(<variable>): write the file that link_libc.py reads for the library, and return its name.
function(redzone_libc_options out)
  set(options ${REDZONE_FREESTANDING} ${REDZONE_ARCH_OPTIONS} -DCONFIG_PAGE_SHIFT=${REDZONE_PAGE_SHIFT})
  if(REDZONE_TAGGED_GLOBALS)
    list(REMOVE_ITEM options -mcmodel=small)
  endif()
  if(REDZONE_SHADOW_CALL_STACK)
    list(APPEND options ${REDZONE_ARCH_SCS_RESERVE} ${REDZONE_ARCH_SCS})
    list(TRANSFORM options REPLACE "^\\$<\\$<COMPILE_LANGUAGE:C>:(.*)>$" "\\1")
  endif()
  # Line numbers are enough to read a trace; types would make the compiler twice as slow.
  list(REMOVE_ITEM options -g)
  list(APPEND options -g1 -ffunction-sections -std=c99 -ffreestanding -nostdinc -D_XOPEN_SOURCE=700 -w
    # As the library's own configure script asks for: its mathematics needs each rounding where it is written.
    -frounding-math -ffp-contract=off)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    list(PREPEND options --target=${CMAKE_C_COMPILER_TARGET})
    list(APPEND options -fno-vectorize -fno-slp-vectorize
      # The end of a string is often in a granule that is accessible in part. The longer check that this takes stays where it is
      # used, and not at the end of the function: for an emulator another page is far away (pages.py).
      -mllvm -disable-block-placement)
  else()
    list(APPEND options -fexcess-precision=standard -fno-tree-vectorize
      # Or a loop that looks for the end of a string becomes a call of strlen(), inside of strlen().
      -fno-tree-loop-distribute-patterns)
  endif()
  if(REDZONE_MODE MATCHES "generic|sw_tags")
    # Its variables on the stack have no redzones and no tags. They are not the program's, and none of its own bugs is about
    # them; and each number that printf() or strtod() meets would poison and unpoison arrays of 7 KB.
    kasan_instrumentation_options(checks ${REDZONE_INSTRUMENTATION} ${KASAN_SHADOW_OFFSET} NO_STACK)
    list(APPEND options ${checks})
  endif()
  list(APPEND options ${release_options})
  string(REPLACE "\"" "\\\"" options "${options}")
  # Kernels that differ in other things than these options share the compiled files.
  cmake_path(GET redzone_libc PARENT_PATH parent)
  list(JOIN options "\", \"" options)
  set(file ${CMAKE_BINARY_DIR}/libc.json)
  set(text "{
 \"compiler\": [\"${CMAKE_C_COMPILER}\", \"${options}\"],
 \"arch\": \"${REDZONE_ARCH_LIBC}\",
 \"source\": \"${redzone_libc}\",
 \"ours\": \"${kernel_dir}/libc/musl\",
 \"ours_of_arch\": \"${arch_dir}/musl\",
 \"kept\": \"${parent}/objects\",
 \"prebuilt\": \"${REDZONE_PREBUILT}\",
 \"runtime\": [\"$<JOIN:${compiler_runtime},\", \">\"],
 \"linker\": \"${REDZONE_LINKER}\"
}
")
  # All programs of a build have the same.
  get_property(written GLOBAL PROPERTY redzone_libc_options)
  if(NOT written)
    file(GENERATE OUTPUT ${file} CONTENT "${text}")
    set_property(GLOBAL PROPERTY redzone_libc_options TRUE)
  endif()
  set(${out} ${file} PARENT_SCOPE)
endfunction()
