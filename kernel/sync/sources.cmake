# SPDX-License-Identifier: MIT
set(REDZONE_SYNC_SOURCES
    rtmutex.c
    rtmutex_pi.c
    spinlock.c
    wait.c)
set(REDZONE_SYNC_UNINSTRUMENTED)
# In a real-time kernel these locks sleep.
if(REDZONE_PREEMPT_RT)
  list(APPEND REDZONE_SYNC_SOURCES mutex_rt.c rtlock.c rwlock_rt.c)
  set(spinning rtlock.c rtmutex.c rtmutex_pi.c rwlock_rt.c spinlock.c)
else()
  list(APPEND REDZONE_SYNC_SOURCES mutex.c rwlock.c)
  set(spinning rwlock.c spinlock.c)
endif()
# The lock validator asks KASAN before it lets these functions touch a lock. A second check would report the same bug
# again.
if(REDZONE_LOCKDEP AND NOT REDZONE_LOCKDEP_INSTRUMENTED)
  list(APPEND REDZONE_SYNC_UNINSTRUMENTED ${spinning})
endif()
