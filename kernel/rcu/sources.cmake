# SPDX-License-Identifier: MIT
set(REDZONE_RCU_SOURCES
    callback.c
    gp.c)
set(REDZONE_RCU_UNINSTRUMENTED)
