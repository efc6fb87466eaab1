# SPDX-License-Identifier: MIT
# The files of a system that is fuzzed, relative to this folder. The runtime does not need them, and they do not need the
# runtime. None of them is ever instrumented.
set(REDZONE_RUNTIME_FUZZ_SOURCES compare.c counters.c loop.c)
