# SPDX-License-Identifier: MIT
# What the whole kernel takes for granted, whatever the architecture.

# CPUs at most, up to 32. ./redzone reads this line for --smp.
set(REDZONE_NR_CPUS 8)

# How a boot ends: the machine's exit status, EXIT_STATUS_* in C, and that of ./redzone run, which reads these lines.
set(REDZONE_EXIT_OK 0)
# A report of KASAN was printed.
set(REDZONE_EXIT_KASAN 1)
# A panic, or an oops without a report.
set(REDZONE_EXIT_CRASH 3)
# The program, or a test, failed.
set(REDZONE_EXIT_PROGRAM 4)
# The lock validator reported, KASAN did not, and there was no crash.
set(REDZONE_EXIT_LOCKDEP 5)
