# SPDX-License-Identifier: MIT
# Clang for freestanding powerpc64le; REDZONE_CLANG_VERSION is the oldest that will do.
set(CMAKE_SYSTEM_NAME Generic)
set(REDZONE_CLANG_VERSION 19 CACHE STRING "Clang version: 19 or 22")
set(redzone_target powerpc64le-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
