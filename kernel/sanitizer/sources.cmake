# SPDX-License-Identifier: MIT
# What programs may tell KASAN: the header is in include/, which programs get with any C library.
set(REDZONE_SANITIZER_SOURCES callbacks.c unaligned.c)
if(REDZONE_MODE STREQUAL "off")
  list(APPEND REDZONE_SANITIZER_SOURCES off.c)
endif()
