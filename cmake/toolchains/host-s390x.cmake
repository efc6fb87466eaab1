# SPDX-License-Identifier: MIT
# Debian's GCC for Linux programs of s390x, which QEMU runs: the unit tests.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
