# SPDX-License-Identifier: MIT
# Debian's GCC for powerpc64le, used freestanding.
set(CMAKE_SYSTEM_NAME Generic)
set(redzone_compiler powerpc64le-linux-gnu-gcc)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
