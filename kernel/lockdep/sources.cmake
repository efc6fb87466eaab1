# SPDX-License-Identifier: MIT
set(REDZONE_LOCKDEP_SOURCES events.c)
if(REDZONE_LOCKDEP)
	list(APPEND REDZONE_LOCKDEP_SOURCES
		chain.c class.c describe.c fast.c graph.c held.c memory.c report.c trace.c usage.c)
endif()
# A validator that is checked itself would make each lock many times slower, and it touches its own tables only. The
# measurements have a kernel in which it is.
if(NOT REDZONE_LOCKDEP_INSTRUMENTED)
	set(REDZONE_LOCKDEP_UNINSTRUMENTED ${REDZONE_LOCKDEP_SOURCES})
endif()
