# SPDX-License-Identifier: MIT
set(REDZONE_SYNC_SOURCES
    rtmutex.c
    rtmutex_pi.c
    spinlock.c
    wait.c)
set(REDZONE_SYNC_UNINSTRUMENTED)
set(spinning spinlock.c)
# In a real-time kernel these locks sleep: kernel/ext/rt.
if(REDZONE_PREEMPT_RT)
  list(APPEND spinning rtmutex.c rtmutex_pi.c)
else()
  list(APPEND REDZONE_SYNC_SOURCES mutex.c rwlock.c)
  list(APPEND spinning rwlock.c)
endif()
if(REDZONE_PREEMPT_RT OR REDZONE_LOCKDEP)
  list(APPEND REDZONE_SYNC_SOURCES events.c)
endif()
# The lock validator asks KASAN before it lets these functions touch a lock. A second check would report the same bug
# again.
if(REDZONE_LOCKDEP AND NOT REDZONE_LOCKDEP_INSTRUMENTED)
  list(APPEND REDZONE_SYNC_UNINSTRUMENTED ${spinning} events.c)
endif()
