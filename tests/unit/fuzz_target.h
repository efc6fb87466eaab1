/* SPDX-License-Identifier: MIT */
/* fuzz_target.h - the function with coverage, and a trace of its work. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

extern volatile unsigned int target_steps;
int fuzz_target(const uint8_t *data, size_t size);

#endif
