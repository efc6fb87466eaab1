# SPDX-License-Identifier: MIT
# A real-time kernel: docs/internals/realtime.md.
option(REDZONE_PREEMPT_RT "A real-time kernel: spin locks sleep, interrupt handlers run in threads" OFF)

if(REDZONE_PREEMPT_RT)
  redzone_extension(rt)
  list(APPEND kernel_defs CONFIG_PREEMPT_RT=1 CONFIG_LOCK_EVENTS=1)
endif()
