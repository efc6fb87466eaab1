# SPDX-License-Identifier: MIT
# What the whole kernel takes for granted, whatever the architecture.

# CPUs at most, up to 32. ./redzone reads this line for --smp.
set(REDZONE_NR_CPUS 8)
