// SPDX-License-Identifier: MIT
/*
 * memory.c - may the validator read a lock? In the tag-based modes kasan_check_byte() accepts every pointer without a tag,
 * as KASAN accepts their accesses. Such pointers lead to locks in modules and on stacks, which may be gone.
 */
#include <kernel/arch.h>
#include <kernel/vmalloc.h>

#include "internal.h"

#if defined(CONFIG_KASAN_SW_TAGS) || defined(CONFIG_KASAN_HW_TAGS)

bool lock_untagged_usable(const struct lockdep_map *map)
{
	unsigned char state = KASAN_TAG_INVALID;
	bool gone;

	if (!kasan_on())
		return true;
	(void)kasan_memory_state(map, &state);
#ifdef CONFIG_KASAN_SW_TAGS
	gone = state == KASAN_TAG_INVALID;
#else
	/* Stacks have any tags, because the stack pointer has none. */
	gone = !kernel_va_to_pa((unsigned long)map, NULL) || stack_is_kept(map);
#endif
	/* With a tag that is not the memory's KASAN compares, and reports. */
	return !gone || kasan_check_byte(kasan_set_tag(map, state == 0xf0 ? 0xf1 : 0xf0));
}

#endif
