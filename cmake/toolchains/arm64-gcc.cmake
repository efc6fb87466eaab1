# SPDX-License-Identifier: MIT
# Debian's GCC for arm64, used freestanding.
set(CMAKE_SYSTEM_NAME Generic)
set(redzone_compiler aarch64-linux-gnu-gcc)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
