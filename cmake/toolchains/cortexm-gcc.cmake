# SPDX-License-Identifier: MIT
# Debian's GCC for arm, used freestanding.
set(CMAKE_SYSTEM_NAME Generic)
set(redzone_compiler arm-none-eabi-gcc)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
