# SPDX-License-Identifier: MIT
# Debian's GCC for s390x, used freestanding.
set(CMAKE_SYSTEM_NAME Generic)
set(redzone_compiler s390x-linux-gnu-gcc)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
