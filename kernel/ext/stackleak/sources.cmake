# SPDX-License-Identifier: MIT
set(REDZONE_EXT_STACKLEAK_SOURCES stackleak.c arch/${REDZONE_ARCH}/stackleak.S)
set(REDZONE_EXT_STACKLEAK_UNINSTRUMENTED stackleak.c)
