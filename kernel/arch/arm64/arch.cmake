# SPDX-License-Identifier: MIT
# Settings of arm64 for CMake. cmake/Kernel.cmake includes this; docs/dev/new-architecture.md explains each.
set(REDZONE_PAGE_SHIFT 12)
set(REDZONE_ARCH_OPTIONS -mcmodel=small)
# Code that must not touch floating-point registers: all but programs and the ordinary C of their library.
set(REDZONE_ARCH_NO_FP -mgeneral-regs-only)
# The shadow call stack: x18 is its pointer. GCC has it for C without exceptions only.
set(REDZONE_ARCH_SCS_RESERVE -ffixed-x18)
set(REDZONE_ARCH_SCS $<$<COMPILE_LANGUAGE:C>:-fsanitize=shadow-call-stack>)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND REDZONE_ARCH_SCS $<$<COMPILE_LANGUAGE:C>:-fno-exceptions>)
endif()
# GCC's option for no frames in functions that call nothing.
set(REDZONE_ARCH_GNU_NO_LEAF_FRAME -momit-leaf-frame-pointer)
# Clang writes into each piece of a large frame, so stack erasing need not search all of a stack.
set(REDZONE_ARCH_STACK_PROBES ON)
# Its name in the C library of programs, musl.
set(REDZONE_ARCH_LIBC aarch64)
# Link address of programs in user mode.
set(REDZONE_USER_BASE 0x400000)
# The driver of the console.
set(REDZONE_ARCH_UART pl011.c)
