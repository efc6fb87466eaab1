/* SPDX-License-Identifier: MIT */
/* asan_describe.c - <kasan/asan_interface.h>: whose memory an address is. */
#include "../alloc/retrack.h"
#include "../report/captured.h"
#include "../report/locate.h"

#include <kasan/asan_interface.h>

#if defined(CONFIG_KASAN) && !defined(KASAN_ALONE)

void __asan_describe_address(void *addr)
{
	kasan_print_located((uintptr_t)addr);
}

const char *__asan_locate_address(void *addr, char *name, size_t name_size, void **region_address,
				  size_t *region_size)
{
	struct kasan_located located;
	bool is_variable;

	kasan_locate((uintptr_t)addr, &located);
	/* The name of a cache is not one that a program has given. */
	is_variable = located.kind[0] == 's' || located.kind[0] == 'g';
	if (name && name_size)
		kasan_copy_string(name, is_variable ? located.name : NULL, name_size);
	if (region_address)
		*region_address = located.start
					  ? (void *)kasan_tag_addr(located.start,
								   kasan_addr_tag((uintptr_t)addr))
					  : NULL;
	if (region_size)
		*region_size = located.size;
	return located.kind;
}

static size_t copy_stack(const struct kasan_track *track, void **trace, size_t size, int *thread_id)
{
	const uintptr_t *pcs = NULL;
	size_t i, count = kasan_depot_fetch(track->stack, &pcs);

	if (thread_id && count)
		*thread_id = (int)track->pid;
	if (count > size)
		count = size;
	for (i = 0; i < count; i++)
		trace[i] = (void *)pcs[i];
	return count;
}

size_t __asan_get_alloc_stack(void *addr, void **trace, size_t size, int *thread_id)
{
	struct kasan_located located;

	if (!trace || !size || !kasan_locate((uintptr_t)addr, &located))
		return 0;
	if (located.alloc_pc) {
		trace[0] = (void *)located.alloc_pc;
		return 1;
	}
	return copy_stack(&located.alloc, trace, size, thread_id);
}

size_t __asan_get_free_stack(void *addr, void **trace, size_t size, int *thread_id)
{
	struct kasan_located located;

	if (!trace || !size || !kasan_locate((uintptr_t)addr, &located))
		return 0;
	return copy_stack(&located.free, trace, size, thread_id);
}

kasan_noinline int __asan_update_allocation_context(void *addr)
{
	return kasan_retrack(addr, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

/* --- <sanitizer/allocator_interface.h> --- */

/* Find the live object that has the byte at @addr. */
static bool find_live(const volatile void *addr, struct kasan_located *located)
{
	const uintptr_t at = kasan_untag_addr((uintptr_t)addr);

	return kasan_locate((uintptr_t)addr, located) && located->is_live &&
	       (at == located->start || at - located->start < located->size);
}

static bool starts_object(const volatile void *p, struct kasan_located *located)
{
	return find_live(p, located) && kasan_untag_addr((uintptr_t)p) == located->start;
}

int __sanitizer_get_ownership(const volatile void *p)
{
	struct kasan_located located;

	return starts_object(p, &located);
}

const void *__sanitizer_get_allocated_begin(const void *p)
{
	struct kasan_located located;

	if (!find_live(p, &located))
		return NULL;
	return (const void *)kasan_tag_addr(located.start, kasan_addr_tag((uintptr_t)p));
}

size_t __sanitizer_get_allocated_size(const volatile void *p)
{
	struct kasan_located located;

	return starts_object(p, &located) ? located.size : 0;
}

size_t __sanitizer_get_allocated_size_fast(const volatile void *p)
{
	return __sanitizer_get_allocated_size(p);
}

size_t __sanitizer_get_estimated_allocated_size(size_t size)
{
	return size;
}

#endif /* CONFIG_KASAN */
