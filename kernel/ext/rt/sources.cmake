# SPDX-License-Identifier: MIT
# In a real-time kernel these locks sleep, and soft interrupts run in threads.
set(REDZONE_EXT_RT_SOURCES mutex.c rtlock.c rwlock.c softirq.c)
# As in kernel/sync/sources.cmake.
if(REDZONE_LOCKDEP AND NOT REDZONE_LOCKDEP_INSTRUMENTED)
  set(REDZONE_EXT_RT_UNINSTRUMENTED rtlock.c rwlock.c)
endif()
