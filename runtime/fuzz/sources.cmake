# SPDX-License-Identifier: MIT
# The files of a system that is fuzzed, relative to this folder. Nothing else of the runtime needs them, and they need
# nothing else of it. None of them is ever instrumented.
set(REDZONE_RUNTIME_FUZZ_SOURCES compare.c counters.c loop.c)
