// SPDX-License-Identifier: MIT
/*
 * stackleak.c - stack erasing: the switch, and looking at a stack. The erasing itself is the architecture's.
 *
 * Not instrumented: it reads stacks below their frames, where variables of dead frames may have left poison.
 */
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/stackleak.h>
#include <kernel/string.h>

/* user.S reads it. */
unsigned int stackleak_mode = STACK_ERASING_ON;

static int set_stack_erasing(const char *value, void *var)
{
	static const char *const names[] = {"off", "on", "generic"};

	for (unsigned int mode = 0; value && mode < ARRAY_SIZE(names); mode++) {
		if (!strcmp(value, names[mode])) {
			stackleak_mode = mode;
			return 0;
		}
	}
	return -EINVAL;
}
setup_param("stack_erasing", set_stack_erasing, "on|off|generic",
	    "erase the kernel stack on return to user mode");

unsigned int stackleak_set_mode(unsigned int mode)
{
	return __atomic_exchange_n(&stackleak_mode, mode, __ATOMIC_RELAXED);
}

unsigned long stackleak_search(const struct task *task)
{
	unsigned long at = stackleak_low(task), high = stackleak_high(task);

	while (at < high && *(const volatile unsigned long *)at == STACK_POISON)
		at += sizeof(unsigned long);
	return at;
}

size_t stackleak_find(const void *marker, size_t size)
{
	const volatile char *high = (const volatile char *)stackleak_high(current), *at;
	const char *wanted = marker;
	size_t found = 0;

	for (at = (const volatile char *)stackleak_low(current); at + size <= high; at++) {
		size_t n = 0;

		/* Most of the stack is poison, and none of it starts a marker. */
		if (!((unsigned long)at % sizeof(long)) &&
		    *(const volatile unsigned long *)at == STACK_POISON) {
			at += sizeof(long) - 1;
			continue;
		}
		while (n < size && at[n] == wanted[n])
			n++;
		found += n == size;
	}
	return found;
}
