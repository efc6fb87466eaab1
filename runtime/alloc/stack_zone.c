/* SPDX-License-Identifier: MIT */
/* stack_zone.c - zones at the low ends of stacks: <kasan/stack.h>. Only systems that mark one link this file. */
#include "../shadow/shadow.h"

#include <kasan/stack.h>

/* Unlikely as data and as an address, at any place in the stack, on 32 and 64 bits. */
#define PATTERN ((uintptr_t)0x6b7361736b736173ULL)

/* Stacks may lie outside of all windows. In the tag modes a stack pointer matches all memory, whatever its tag. */
static void set_shadow(void *low, size_t size, bool poison)
{
#ifdef CONFIG_KASAN_GENERIC
	uint8_t state;

	if (!size || !kasan_memory_state(low, &state) ||
	    !kasan_memory_state((char *)low + (size - 1), &state))
		return;
	if (poison)
		kasan_poison(low, size, KASAN_STACK_LEFT);
	else
		kasan_unpoison(low, size);
#else
	(void)low;
	(void)size;
	(void)poison;
#endif
}

void kasan_stack_mark(void *low, size_t size)
{
	/* Volatile: it must not become a call of the checked memset(). */
	volatile uintptr_t *word = low;
	const uintptr_t *const end = (const uintptr_t *)((uintptr_t)low + size);

	while (word < end)
		*word++ = PATTERN;
	set_shadow(low, size, true);
}

void kasan_stack_unmark(void *low, size_t size)
{
	set_shadow(low, size, false);
}

uintptr_t kasan_stack_overflowed(const void *low, size_t size)
{
	const volatile uintptr_t *word = low;
	const uintptr_t *const end = (const uintptr_t *)((uintptr_t)low + size);

	for (; word < end; word++) {
		if (kasan_unlikely(*word != PATTERN))
			return (uintptr_t)word;
	}
	return 0;
}
