# SPDX-License-Identifier: MIT
# Settings shared by the toolchain files. The including file sets redzone_compiler or, for Clang,
# redzone_target. A freestanding target cannot link CMake's test programs, so the compilers are taken as
# working; that also makes the first configuration fast.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES REDZONE_CLANG_VERSION)
include(${CMAKE_CURRENT_LIST_DIR}/../Llvm.cmake)
if(redzone_target)
  redzone_llvm(REDZONE_CLANG clang ${REDZONE_CLANG_VERSION} "Clang")
  set(redzone_compiler ${REDZONE_CLANG})
endif()
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER ${redzone_compiler})
set(CMAKE_ASM_COMPILER ${redzone_compiler})
if(redzone_target)
  set(CMAKE_C_COMPILER_TARGET ${redzone_target})
  set(CMAKE_ASM_COMPILER_TARGET ${redzone_target})
endif()
set(CMAKE_C_COMPILER_WORKS TRUE)
set(CMAKE_ASM_COMPILER_WORKS TRUE)
set(CMAKE_C_ABI_COMPILED TRUE)
set(CMAKE_C_FLAGS_INIT "")
set(CMAKE_EXECUTABLE_SUFFIX "")

# The only headers that freestanding code may see are the compiler's own (<stdint.h>, <stdarg.h>, ...):
# with -nostdinc none of the host's or the cross compiler's C library can slip in.
if(redzone_target)
  execute_process(COMMAND ${redzone_compiler} -print-resource-dir
                  OUTPUT_VARIABLE redzone_headers OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(APPEND redzone_headers /include)
else()
  execute_process(COMMAND ${redzone_compiler} -print-file-name=include
                  OUTPUT_VARIABLE redzone_headers OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(REDZONE_COMPILER_INCLUDE "SHELL:-isystem ${redzone_headers}")
if(NOT redzone_target)
  # Or GCC's <limits.h> goes on to look for a C library's.
  list(APPEND REDZONE_COMPILER_INCLUDE -D_LIBC_LIMITS_H_)
endif()
