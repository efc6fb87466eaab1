// SPDX-License-Identifier: MIT
/*
 * asan_interface.c - poison by programs: <sanitizer/asan_interface.h> over KASAN's shadow or tags.
 *
 * In Generic mode poison is a shadow value of its own. A granule can only say that its first bytes are accessible,
 * so poison in the middle of one reaches to its end, if all that follows there is poisoned or is no object's.
 *
 * In the tag modes it is the tag of memory that belongs to no allocator, which no pointer of malloc() has. Only whole
 * granules get it. An object whose first granule is poisoned can still be freed: see kasan_tag_owns().
 */
#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <sanitizer/asan_interface.h>

#ifdef CONFIG_KASAN

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
	*shadow = start ? min(*shadow, (uint8_t)start) : KASAN_USER_POISON;
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
	if (OFFSET(addr) && (!*first || *first < 0x80))
		*first = *first ? min(*first, (uint8_t)OFFSET(addr)) : (uint8_t)OFFSET(addr);
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
		next = min(at - OFFSET(at) + GRANULE, end);
		/* The accessible bytes of a granule are its first ones. */
		if (kasan_byte_accessible((void *)(next - 1)))
			continue;
		while (kasan_byte_accessible((void *)at))
			at++;
		return (void *)at;
	}
	return NULL;
}

/* Return: false if @addr is in no heap object. */
static bool describe_object(const void *addr)
{
	uintptr_t at = (uintptr_t)kasan_reset_tag(addr), start, end;
	struct kasan_object object = {0};
	size_t size;

	if (!kasan_port_find_object(addr, &object))
		return false;
	start = (uintptr_t)kasan_reset_tag(object.start);
	size = object.size;
	if (object.kind == KASAN_OBJECT_SLAB)
		size = kasan_object_size(object.cache, object.start);
	end = start + size;
	if (at < start)
		printk("%p is %zu bytes before a %zu-byte region [%p, %p)\n", addr, start - at,
		       size, (void *)start, (void *)end);
	else if (at < end)
		printk("%p is %zu bytes inside of a %zu-byte region [%p, %p)\n", addr, at - start,
		       size, (void *)start, (void *)end);
	else
		printk("%p is %zu bytes behind a %zu-byte region [%p, %p)\n", addr, at - end, size,
		       (void *)start, (void *)end);
	return true;
}

void __asan_describe_address(void *addr)
{
	uint8_t state;

	if (!describe_object(addr))
		printk("%p is in no object of malloc()\n", addr);
	if (kasan_memory_state(addr, &state))
		printk("%p: memory state %02x, %s\n", addr, state,
		       kasan_byte_accessible(addr) ? "accessible" : "not accessible");
}

#else

void __asan_poison_memory_region(void const volatile *addr, size_t size)
{
}

void __asan_unpoison_memory_region(void const volatile *addr, size_t size)
{
}

int __asan_address_is_poisoned(void const volatile *addr)
{
	return 0;
}

void *__asan_region_is_poisoned(void *beg, size_t size)
{
	return NULL;
}

void __asan_describe_address(void *addr)
{
	printk("%p: nothing is known, because this kernel is without KASAN\n", addr);
}

#endif
