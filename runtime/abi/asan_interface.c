/* SPDX-License-Identifier: MIT */
/*
 * asan_interface.c - <kasan/asan_interface.h>: poison over KASAN's shadow or tags, and what is left when asan_describe.c
 * and asan_facts.c have their parts.
 *
 * In Generic mode poison is a shadow value of its own. A granule can only say that its first bytes are accessible,
 * so poison in the middle of one reaches to its end, if all that follows there is poisoned or is no object's.
 *
 * In the tag modes it is the tag of memory that belongs to no allocator, which no pointer of an object has. Only whole
 * granules get it. An object whose first granule is poisoned can still be freed: see kasan_tag_owns().
 */
#include "../report/check.h"
#include "../shadow/shadow.h"

#include <kasan/asan_interface.h>

#if defined(CONFIG_KASAN) && !defined(KASAN_ALONE)

#define GRANULE	     KASAN_GRANULE_SIZE
#define OFFSET(at)   ((at) & (GRANULE - 1))
#define ROUND_UP(at) (((at) + GRANULE - 1) & ~((uintptr_t)GRANULE - 1))

/* Return: false if [@addr, @addr + @size) is empty or runs over the end of all memory. */
static bool is_range(uintptr_t addr, size_t size)
{
	return size && addr + size > addr;
}

#ifdef CONFIG_KASAN_GENERIC

static uint8_t *shadow_of(uintptr_t addr)
{
	return kasan_shadow_of((const void *)addr);
}

/* The range ends @end bytes into the granule of @shadow. It is poisoned from offset @start on if what follows the
 * range is inaccessible. */
static void poison_last(uint8_t *shadow, unsigned int start, unsigned int end)
{
	if (!*shadow || *shadow > end)
		return;
	if (!start)
		*shadow = KASAN_USER_POISON;
	else if (*shadow > start)
		*shadow = (uint8_t)start;
}

static void poison(uintptr_t addr, size_t size)
{
	uintptr_t end = addr + size, last = end - OFFSET(end);
	uint8_t *first = shadow_of(addr);

	if (!first || !shadow_of(end - 1))
		return;
	if (addr - OFFSET(addr) == last) {
		poison_last(first, OFFSET(addr), OFFSET(end));
		return;
	}
	/* Already inaccessible, or the range takes all that is left of the granule. */
	if (OFFSET(addr) && (!*first || (*first < 0x80 && *first > OFFSET(addr))))
		*first = (uint8_t)OFFSET(addr);
	addr = ROUND_UP(addr);
	kasan_poison((void *)addr, last - addr, KASAN_USER_POISON);
	if (OFFSET(end))
		poison_last(shadow_of(last), 0, OFFSET(end));
}

static void unpoison(uintptr_t addr, size_t size)
{
	uintptr_t end = addr + size, last = end - OFFSET(end);
	uint8_t *shadow;

	if (!shadow_of(addr) || !shadow_of(end - 1))
		return;
	addr -= OFFSET(addr);
	if (addr < last)
		kasan_unpoison((void *)addr, last - addr);
	if (!OFFSET(end))
		return;
	shadow = shadow_of(last);
	/* More of it may be accessible already. */
	if (*shadow >= 0x80 || (*shadow && *shadow < OFFSET(end)))
		*shadow = (uint8_t)OFFSET(end);
}

#else

static void poison(uintptr_t addr, size_t size)
{
	uintptr_t end = addr + size - OFFSET(addr + size);

	addr = ROUND_UP(addr);
	if (addr < end)
		kasan_poison((void *)addr, end - addr, KASAN_USER_POISON);
}

static void unpoison(uintptr_t addr, size_t size)
{
	uintptr_t end = addr + size;

	/* A granule that was not poisoned stays as it is: it may be a short one. */
	for (addr -= OFFSET(addr); addr < end; addr += GRANULE) {
		uint8_t state;

		if (kasan_memory_state((void *)addr, &state) && state == KASAN_USER_POISON)
			kasan_unpoison((void *)addr, GRANULE);
	}
}

#endif

void __asan_poison_memory_region(void const volatile *addr, size_t size)
{
	if (kasan_on() && is_range((uintptr_t)addr, size))
		poison((uintptr_t)addr, size);
}

void __asan_unpoison_memory_region(void const volatile *addr, size_t size)
{
	if (kasan_on() && is_range((uintptr_t)addr, size))
		unpoison((uintptr_t)addr, size);
}

int __asan_address_is_poisoned(void const volatile *addr)
{
	return kasan_on() && !kasan_byte_accessible((void *)addr);
}

void *__asan_region_is_poisoned(void *beg, size_t size)
{
	uintptr_t at = (uintptr_t)beg, end = at + size, next;

	if (!kasan_on() || !is_range(at, size))
		return NULL;
	for (; at < end; at = next) {
		next = at - OFFSET(at) + GRANULE;
		if (next > end)
			next = end;
		/* The accessible bytes of a granule are its first ones. */
		if (kasan_byte_accessible((void *)(next - 1)))
			continue;
		while (kasan_byte_accessible((void *)at))
			at++;
		return (void *)at;
	}
	return NULL;
}

/* --- The rest of the interface --- */

/* Such calls are rare, and nothing is known of them but what they say. */
void __asan_report_error(void *pc, void *bp, void *sp, void *addr, int is_write, size_t access_size)
{
	(void)sp;
	kasan_report_access((uintptr_t)addr, access_size, is_write != 0, (uintptr_t)pc,
			    (uintptr_t)bp);
}

void __asan_get_shadow_mapping(size_t *shadow_scale, size_t *shadow_offset)
{
#if defined(CONFIG_KASAN_HW_TAGS)
	*shadow_scale = *shadow_offset = 0;
#elif defined(KASAN_FULL_LINEAR)
	*shadow_scale = KASAN_SHADOW_SCALE_SHIFT;
	*shadow_offset = KASAN_FULL_OFFSET;
#elif defined(CONFIG_KASAN_SHADOW_PIECES)
	/* There is no offset that holds for all addresses. */
	*shadow_scale = KASAN_SHADOW_SCALE_SHIFT;
	*shadow_offset = 0;
#else
	*shadow_scale = KASAN_WINDOW_SHIFT;
	*shadow_offset = kasan_windows[0].offset;
#endif
}

#ifdef CONFIG_KASAN_TAGS
/* After longjmp() the outer frames live on, and their variables need the tags that they have. */
void __asan_handle_no_return(void)
{
}
#endif

void __asan_print_accumulated_stats(void)
{
	struct kasan_quarantine_stats quarantine;
	struct kasan_depot_stats depot;

	kasan_clear(&depot);
	kasan_clear(&quarantine);
	kasan_depot_stats(&depot);
	kasan_report_line("kasan: %zu stacks in %zu of %zu bytes, %zu not recorded", depot.traces,
			  depot.bytes, depot.max_bytes, depot.refused);
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB
	kasan_quarantine_stats(&quarantine);
	kasan_report_line("kasan: %zu freed objects in quarantine, %zu of %zu bytes",
			  quarantine.objects, quarantine.bytes, quarantine.max_bytes);
#endif
	kasan_report_line("kasan: %lu reports", kasan_report_count());
}

void *__asan_get_current_fake_stack(void)
{
	return NULL;
}

void *__asan_addr_is_in_fake_stack(void *fake_stack, void *addr, void **beg, void **end)
{
	(void)fake_stack;
	(void)addr;
	(void)beg;
	(void)end;
	return NULL;
}

#endif /* CONFIG_KASAN */
