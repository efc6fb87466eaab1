# SPDX-License-Identifier: MIT
# What programs may tell KASAN: the header is in include/, which programs get with any C library.
set(REDZONE_SANITIZER_SOURCES asan_interface.c)

# It looks at memory that is poisoned, and writes shadow memory.
set(REDZONE_SANITIZER_UNINSTRUMENTED asan_interface.c)
