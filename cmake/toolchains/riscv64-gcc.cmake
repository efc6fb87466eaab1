# SPDX-License-Identifier: MIT
# Debian's GCC for riscv64, used freestanding.
set(CMAKE_SYSTEM_NAME Generic)
set(redzone_compiler riscv64-linux-gnu-gcc)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
