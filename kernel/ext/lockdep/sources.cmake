# SPDX-License-Identifier: MIT
set(REDZONE_EXT_LOCKDEP_SOURCES
	chain.c class.c describe.c fast.c graph.c held.c memory.c report.c tables.c trace.c usage.c)
# A validator that is checked itself would make each lock many times slower, and it touches its own tables only. The
# measurements have a kernel in which it is.
if(NOT REDZONE_LOCKDEP_INSTRUMENTED)
	set(REDZONE_EXT_LOCKDEP_UNINSTRUMENTED ${REDZONE_EXT_LOCKDEP_SOURCES})
endif()
# It ends in jumps instead of calls, and so needs no frame.
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/fast.c APPEND PROPERTY COMPILE_OPTIONS
	-foptimize-sibling-calls -fomit-frame-pointer -momit-leaf-frame-pointer)
