# SPDX-License-Identifier: MIT
# Debian's GCC for Linux programs of riscv64, which QEMU runs: the unit tests.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
