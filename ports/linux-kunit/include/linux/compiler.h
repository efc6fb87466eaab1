/* SPDX-License-Identifier: MIT */
/* linux/compiler.h - what to hide from the optimizer, and annotations of static checkers. */
#ifndef LINUX_KUNIT_LINUX_COMPILER_H
#define LINUX_KUNIT_LINUX_COMPILER_H

#include <kernel/types.h>

/* Pointers that only RCU's functions may load: a note to static checkers. */
#define __rcu

/* Code that runs once is kept like any other. */
#define __init
#define __maybe_unused __unused

/* @ptr + @off, hiding from the compiler which object @ptr points to. */
#define RELOC_HIDE(ptr, off)                                    \
	({                                                      \
		uintptr_t __hidden = (uintptr_t)(ptr);          \
		OPTIMIZER_HIDE_VAR(__hidden);                   \
		(__typeof__(ptr))(__hidden + (uintptr_t)(off)); \
	})

#endif
