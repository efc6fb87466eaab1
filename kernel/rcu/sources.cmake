# SPDX-License-Identifier: MIT
set(REDZONE_RCU_SOURCES
    boost.c
    callback.c
    gp.c)
set(REDZONE_RCU_UNINSTRUMENTED)
