// SPDX-License-Identifier: MIT
/*
 * pages.c - what Linux's page allocator, its tasks and its checks by hand call.
 */
#include <linux/export.h>
#include <linux/kasan.h>
#include <linux/kasan-checks.h>
#include <linux/mm.h>
#include <linux/sched/task_stack.h>

#include "redzone.h"

#include "internal.h"

/* Pages' address has their tag; with it, the runtime knows which one not to take next. */
bool __kasan_unpoison_pages(struct page *page, unsigned int order, bool init)
{
	unsigned long i;
	void *ptr;

	if (unlikely(PageHighMem(page)))
		return false;
	ptr = redzone_alloc_pages_init(page_address(page), PAGE_SIZE << order, init);
	/* The sampling of hardware tags has left them out. */
	if (IS_ENABLED(CONFIG_KASAN_HW_TAGS) && redzone_get_tag(ptr) == KASAN_TAG_KERNEL)
		return false;
	for (i = 0; !IS_ENABLED(CONFIG_KASAN_GENERIC) && i < 1UL << order; i++)
		page_kasan_tag_set(page + i, redzone_get_tag(ptr));
	return true;
}

void __kasan_poison_pages(struct page *page, unsigned int order, bool init)
{
	void *ptr;

	if (unlikely(PageHighMem(page)))
		return;
#ifdef CONFIG_KASAN_SHADOW_DYNAMIC
	/* The first pages come from memblock. */
	if (unlikely(!redzone_placed))
		redzone_place();
#endif
	ptr = page_address(page);
	if (unlikely(init) && kasan_has_integrated_init())
		memset(kasan_reset_tag(ptr), 0, PAGE_SIZE << order);
	/* With the tag: without one, these would be pages that sampling has left out. */
	redzone_free_pages(ptr, PAGE_SIZE << order);
}

bool __kasan_mempool_poison_pages(struct page *page, unsigned int order, unsigned long ip)
{
	return PageHighMem(page) ||
	       redzone_mempool_poison_pages(page_address(page), PAGE_SIZE << order, ip);
}

void __kasan_mempool_unpoison_pages(struct page *page, unsigned int order, unsigned long ip)
{
	unsigned long i;
	void *ptr;

	if (PageHighMem(page))
		return;
	ptr = redzone_mempool_unpoison_pages(page_address(page), PAGE_SIZE << order);
	for (i = 0; !IS_ENABLED(CONFIG_KASAN_GENERIC) && i < 1UL << order; i++)
		page_kasan_tag_set(page + i, redzone_get_tag(ptr));
}

void __kasan_unpoison_range(const void *addr, size_t size)
{
	redzone_unpoison(addr, size);
}

/* --- Checks by hand --- */

bool __kasan_check_byte(const void *addr, unsigned long ip)
{
	return redzone_check_byte_for(addr, ip);
}

#if defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_SW_TAGS)
/*
 * Is all of the range certainly accessible? It is if it lies in one granule whose shadow says so, as the operands of atomic
 * operations do. Linux checks each of them. Most are in descriptors of pages, whose addresses have no tag.
 */
static __always_inline bool is_open(unsigned long addr, unsigned int size)
{
	/* One comparison, where the shadow's range ends with the address space and is known here. */
#if defined(CONFIG_KASAN_SHADOW_HIGH) && CONFIG_KASAN_SHADOW_HIGH == ULONG_MAX
	const unsigned int end = (unsigned int)(addr & KASAN_GRANULE_MASK) + size;
	void *const low = (void *)CONFIG_KASAN_SHADOW_LOW;
	void *const start = kasan_reset_tag((void *)addr);
	const u8 tag = redzone_get_tag((void *)addr);
	s8 shadow;

	if (end > KASAN_GRANULE_SIZE)
		return false;
	if (IS_ENABLED(CONFIG_KASAN_SW_TAGS) && tag == KASAN_TAG_KERNEL)
		return true;
	if ((unsigned long)start < CONFIG_KASAN_SHADOW_LOW)
		return false;
	/* kasan_mem_to_shadow(start), with a constant that arm64 builds in one instruction, not in two. */
	shadow =
		*(const s8 *)(kasan_mem_to_shadow(low) + ((long)start >> KASAN_SHADOW_SCALE_SHIFT) -
			      ((long)low >> KASAN_SHADOW_SCALE_SHIFT));
	if (IS_ENABLED(CONFIG_KASAN_SW_TAGS))
		return (u8)shadow == tag;
	return !shadow || shadow >= (int)end;
#else
	return false;
#endif
}

static noinline bool check_slowly(const volatile void *addr, unsigned int size, bool is_write,
				  unsigned long ip)
{
	return redzone_check_access_for(addr, size, is_write, ip);
}

bool __kasan_check_read(const volatile void *addr, unsigned int size)
{
	if (likely(is_open((unsigned long)addr, size)))
		return true;
	return check_slowly(addr, size, false, _RET_IP_);
}
EXPORT_SYMBOL(__kasan_check_read);

bool __kasan_check_write(const volatile void *addr, unsigned int size)
{
	if (likely(is_open((unsigned long)addr, size)))
		return true;
	return check_slowly(addr, size, true, _RET_IP_);
}
EXPORT_SYMBOL(__kasan_check_write);
#endif

/* --- Stacks --- */

#if CONFIG_KASAN_STACK
void kasan_unpoison_task_stack(struct task_struct *task)
{
	void *stack = task_stack_page(task);

	redzone_unpoison_stack(stack, stack + THREAD_SIZE);
}

/* The CPU comes back from a sleep whose frames never return. */
asmlinkage void kasan_unpoison_task_stack_below(const void *watermark)
{
	redzone_unpoison_stack((void *)((unsigned long)watermark & ~(THREAD_SIZE - 1)), watermark);
}
#endif
