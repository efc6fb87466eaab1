# SPDX-License-Identifier: MIT
# Debian's GCC for x86_64, used freestanding.
set(CMAKE_SYSTEM_NAME Generic)
set(redzone_compiler x86_64-linux-gnu-gcc)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
