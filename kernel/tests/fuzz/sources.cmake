# SPDX-License-Identifier: MIT
# The port of fuzz/ to this kernel: only kernels with a fuzzing target have it.
set(REDZONE_TESTS_FUZZ_SOURCES
	compare.c
	port.c
)
# It writes the mailbox and records operands that may be a bug's: both are the target's business.
set(REDZONE_TESTS_FUZZ_UNINSTRUMENTED ${REDZONE_TESTS_FUZZ_SOURCES})
