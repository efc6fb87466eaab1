/* SPDX-License-Identifier: MIT */
/*
 * message.h - sentences with two numbers, for refusals while booting: a port that got a number wrong must
 * be told which one, and which would be right.
 */
#ifndef KASAN_MESSAGE_H
#define KASAN_MESSAGE_H

#include "base.h"

/** kasan_complain() - Return: "<before><a><middle><b><after>", the numbers in hex. One static buffer:
 *  the next call overwrites it. Needs no printf, so it works before anything else does. */
const char *kasan_complain(const char *before, uintptr_t a, const char *middle, uintptr_t b,
			   const char *after);

#endif /* KASAN_MESSAGE_H */
