# SPDX-License-Identifier: MIT
# What programs may tell KASAN: the header is in include/, which programs get with any C library.
set(REDZONE_SANITIZER_SOURCES asan_interface.c unaligned.c)
# Most compilers have a header of this name as well, and ours is the one that says what these functions do here.
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/asan_interface.c ${CMAKE_CURRENT_LIST_DIR}/unaligned.c APPEND
             PROPERTY INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR}/include)

# It looks at memory that is poisoned, and writes shadow memory.
set(REDZONE_SANITIZER_UNINSTRUMENTED asan_interface.c)
