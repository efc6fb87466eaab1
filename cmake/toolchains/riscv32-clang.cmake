# SPDX-License-Identifier: MIT
# Clang for freestanding riscv32; REDZONE_CLANG_VERSION chooses between the versioned commands.
set(CMAKE_SYSTEM_NAME Generic)
set(REDZONE_CLANG_VERSION 19 CACHE STRING "Clang version: 19 or 22")
set(redzone_compiler clang-${REDZONE_CLANG_VERSION})
set(redzone_target riscv32-unknown-elf)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
