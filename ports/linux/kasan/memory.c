// SPDX-License-Identifier: MIT
/*
 * memory.c - the functions of <kasan/port.h> that look at Linux's memory: they give the runtime its own, and tell reports
 * what an address belongs to.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/mmdebug.h>
#include <linux/page-flags.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "../slab.h"

#include "redzone.h"

#include "cache.h"
#include "internal.h"

DEFINE_PER_CPU(unsigned int, kasan_no_pages);

/* The largest block that has a spare is 64 KiB, the stack depot's. */
#define SPARE_ORDERS (16 - PAGE_SHIFT + 1)

/* A block of each size, for a request that comes while the page allocator must not be called. */
static void *spare[SPARE_ORDERS];

/*
 * A trace is stored in the middle of whatever frees or allocates, so this must neither sleep nor wake a thread. Without
 * reclaim flags the page allocator takes what it has. kasan_no_pages is set where its own locks may be held.
 */
static bool may_allocate(void)
{
	if (in_nmi() || raw_cpu_read(kasan_no_pages))
		return false;
	/* Its locks sleep in a real-time kernel, once there is somebody else to run. */
	return !IS_ENABLED(CONFIG_PREEMPT_RT) || preemptible() || system_state < SYSTEM_SCHEDULING;
}

static void *take(unsigned int order)
{
	const gfp_t flags =
		__GFP_HIGH | __GFP_NOMEMALLOC | __GFP_NOWARN | __GFP_ZERO | __GFP_SKIP_KASAN;
	struct page *page = alloc_pages(flags, order);

	return page ? kasan_reset_tag(page_address(page)) : NULL;
}

static void *late_pages(size_t size)
{
	const unsigned int order = get_order(size);
	void *pages = NULL, *second;

	if (may_allocate())
		pages = take(order);
	if (order >= SPARE_ORDERS)
		return pages;
	if (!pages)
		return xchg(&spare[order], NULL);
	if (!READ_ONCE(spare[order])) {
		second = take(order);
		if (second && cmpxchg(&spare[order], NULL, second))
			free_pages((unsigned long)second, order);
	}
	return pages;
}

static void *__init early_pages(size_t size)
{
	return memblock_alloc(size, PAGE_SIZE);
}

void *__ref kasan_port_alloc(size_t size)
{
	/* Until memblock has handed its memory over. */
	return totalram_pages() ? late_pages(size) : early_pages(size);
}

/* Return: the folio at @addr in the linear map, NULL if there is none. */
static struct folio *linear_folio(const void *addr)
{
	addr = kasan_reset_tag(addr);
	return virt_addr_valid(addr) ? virt_to_folio(addr) : NULL;
}

bool kasan_port_find_object(const void *addr, struct redzone_object *obj)
{
	const struct slab *slab = linear_folio(addr) ? virt_to_slab(addr) : NULL;
	struct kmem_cache *cache;

	if (!slab)
		return false;
	cache = READ_ONCE(slab->slab_cache);
	if (!kasan_port_readable(cache, sizeof(*cache)) || !cache->size || !slab->objects)
		return false;
	obj->kind = KASAN_OBJECT_SLAB;
	obj->cache = kasan_cache(cache);
	obj->start = nearest_obj(cache, slab, kasan_reset_tag(addr));
	if (!obj->cache || !kasan_port_readable(obj->cache, sizeof(*obj->cache)))
		return false;
	obj->cache->name = cache->name;
	return true;
}

bool kasan_port_find_area(const void *addr, struct redzone_area *area)
{
	struct vm_struct *vm;

	addr = kasan_reset_tag(addr);
	/* It takes a lock, which the code that an NMI has interrupted may hold. */
	if (!is_vmalloc_or_module_addr(addr) || in_nmi())
		return false;
	vm = find_vm_area(addr);
	if (!vm)
		return false;
	area->start = (uintptr_t)kasan_reset_tag(vm->addr);
	area->size = get_vm_area_size(vm);
	area->caller = (uintptr_t)vm->caller;
	return true;
}

static bool is_page_readable(const void *page)
{
	char byte;

	/* What ioremap() has mapped is a device, and may do anything when it is read. */
	if (is_vmalloc_or_module_addr(page)) {
		struct page *backing = vmalloc_to_page(page);

		if (!backing || !pfn_valid(page_to_pfn(backing)))
			return false;
	}
	return !copy_from_kernel_nofault(&byte, page, 1);
}

bool kasan_port_readable(const void *addr, size_t size)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr), last = start + size - 1;
	unsigned long at;

	if (!size)
		return true;
	if (last < start || start < PAGE_SIZE)
		return false;
	if (IS_ENABLED(CONFIG_ARCH_HAS_NON_OVERLAPPING_ADDRESS_SPACE) && start < TASK_SIZE_MAX)
		return false;
	for (at = start & PAGE_MASK; at <= last; at += PAGE_SIZE) {
		if (!is_page_readable((void *)at))
			return false;
		if (at > ULONG_MAX - PAGE_SIZE)
			break;
	}
	return true;
}

#ifdef CONFIG_KASAN_TAGS
bool kasan_port_page_tag(const void *addr, uint8_t *tag)
{
	const struct folio *folio = linear_folio(addr);

	if (!folio || page_kasan_tag(folio_page(folio, 0)) == KASAN_TAG_KERNEL)
		return false;
	*tag = page_kasan_tag(virt_to_page(kasan_reset_tag(addr)));
	return true;
}
#endif

#ifdef __memcpy
/* These are macros on powerpc if checked code has names of its own for them, and the runtime calls functions. */
#undef __memcpy
#undef __memmove
#undef __memset

void *__memcpy(void *dst, const void *src, size_t size);
void *__memmove(void *dst, const void *src, size_t size);
void *__memset(void *dst, int value, size_t size);

void *__memcpy(void *dst, const void *src, size_t size)
{
	return memcpy(dst, src, size);
}

void *__memmove(void *dst, const void *src, size_t size)
{
	return memmove(dst, src, size);
}

void *__memset(void *dst, int value, size_t size)
{
	return memset(dst, value, size);
}
#endif

void kasan_port_print_page(const void *addr)
{
	struct page *page = NULL;

	addr = kasan_reset_tag(addr);
	if (virt_addr_valid(addr))
		page = virt_to_page(addr);
	else if (is_vmalloc_or_module_addr(addr))
		page = vmalloc_to_page(addr);
	if (!page || !pfn_valid(page_to_pfn(page)))
		return;
	redzone_report_line("The buggy address belongs to the physical page:");
	dump_page(page, "kasan: bad access detected");
}
