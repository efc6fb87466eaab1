# SPDX-License-Identifier: MIT
# How the kernel runs an ordinary C program: its thread, its memory, and what it gets from the host.
set(REDZONE_PROGRAM_SOURCES
    each.c
    heap.c
    host.c
    leaks.c
    program.c)

# It asks what programs have poisoned.
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/heap.c APPEND PROPERTY INCLUDE_DIRECTORIES
             ${CMAKE_CURRENT_LIST_DIR}/../sanitizer/include)
