# SPDX-License-Identifier: MIT
# Clang for this machine's own programs: the unit tests.
include(${CMAKE_CURRENT_LIST_DIR}/../Llvm.cmake)
redzone_llvm(REDZONE_HOST_CLANG clang 19 "Clang for programs of this machine")
set(CMAKE_C_COMPILER ${REDZONE_HOST_CLANG})
