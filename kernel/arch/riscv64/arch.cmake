# SPDX-License-Identifier: MIT
# Settings of riscv64 for CMake. cmake/Kernel.cmake includes this; docs/dev/new-architecture.md explains each.
set(REDZONE_PAGE_SHIFT 12)
# The linker joins objects only if all make the same calls: of assembly too.
set(REDZONE_ARCH_ABI -march=rv64imafdc_zicsr_zifencei -mabi=lp64d)
# gp is `current`, or the shadow call stack's pointer, so nothing is near it: no small data. The linker changes no code, so
# modules need no relaxation. CPUs that run kernels take unaligned accesses (RVA20's Zicclsm). Else compilers would copy words
# that may be unaligned byte by byte.
set(REDZONE_ARCH_OPTIONS ${REDZONE_ARCH_ABI} -mcmodel=medany -mno-relax -msmall-data-limit=0 -mno-strict-align)
# The shadow call stack: gp is its pointer, which Clang alone has. s11 is `current` then.
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  set(REDZONE_ARCH_SCS_RESERVE -ffixed-x27)
  set(REDZONE_ARCH_SCS $<$<COMPILE_LANGUAGE:C>:-fsanitize=shadow-call-stack>)
endif()
# Neither compiler keeps an integer in a floating-point register, and these trap in the kernel.
set(REDZONE_ARCH_NO_FP "")
# GCC's option for no frames in functions that call nothing: it has none for these alone.
set(REDZONE_ARCH_GNU_NO_LEAF_FRAME -fomit-frame-pointer)
# Clang 19 does not write into each piece of a large frame here: stack erasing searches all of a stack.
set(REDZONE_ARCH_STACK_PROBES OFF)
# Its name in the C library of programs, musl.
set(REDZONE_ARCH_LIBC riscv64)
# Link address of programs in user mode.
set(REDZONE_USER_BASE 0x400000)
# The driver of the console.
set(REDZONE_ARCH_UART "")
# Test suites that only this kernel has.
set(REDZONE_ARCH_TESTS fence_test.c)
