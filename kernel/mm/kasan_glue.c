// SPDX-License-Identifier: MIT
/*
 * kasan_glue.c - memory management's part of the KASAN port: memory for the runtime, and what a report
 * wants to know of an address.
 *
 * Uninstrumented. It runs inside reports, on a CPU that may hold any lock of this kernel, so it takes
 * none that it would have to wait for, and it believes page descriptors only after looking at them.
 */
#include <kasan/kasan.h>

#ifdef CONFIG_KASAN

#include <kasan/port.h>
#include <kernel/arch.h>
#include <kernel/module.h>
#include <kernel/page_owner.h>
#include <kernel/string.h>
#include <kernel/task.h>

#include "slab_internal.h"
#include "vmap.h"

/* How often a busy lock is tried: longer than anybody holds it, shorter than a reader waits. */
#define LOCK_TRIES 100000

/*
 * The pages keep the shadow of free ones. The runtime does not mind, it is not instrumented, and
 * whoever else writes into its tables is reported.
 */
void *kasan_port_alloc(size_t size)
{
	struct page *page;
	void *p;

	if (!mm_is_up())
		return memblock_alloc(size, PAGE_SIZE);
	page = page_alloc_raw(get_order(size));
	if (!page)
		return NULL;
	p = page_to_virt(page);
	__memset(p, 0, size);
	return p;
}

/* Return: descriptor of the page at @addr of the linear map, NULL if there is none. */
static struct page *linear_page(const void *addr)
{
	if (!mm_is_up() || !is_linear_address(addr) || !pfn_valid(__pa(addr) >> PAGE_SHIFT))
		return NULL;
	return virt_to_page(addr);
}

/* A descriptor may be garbage as well as anything else: @head must be one, and not far away. */
static struct page *checked_head(struct page *page)
{
	struct page *head = page;

	if (PageTail(page))
		head = READ_ONCE(page->head);
	if (head > page || page - head >= 1L << MAX_ORDER || head < mem_map ||
	    ((uintptr_t)head - (uintptr_t)mem_map) % sizeof(*head))
		return NULL;
	return head;
}

static bool find_slab_object(const struct page *slab, const void *addr, struct kasan_object *obj)
{
	struct kmem_cache *cache = READ_ONCE(slab->slab_cache);
	uintptr_t start, at = kasan_untag_addr((uintptr_t)addr);
	size_t index;

	if (!kasan_port_readable(cache, sizeof(*cache)) || cache->magic != SLAB_MAGIC ||
	    !cache->size)
		return false;
	/* Slabs of one cache may start at different offsets, so the slab is asked, if it can be believed. */
	start = (uintptr_t)READ_ONCE(slab->first_slot);
	if (start - (uintptr_t)page_to_virt(slab) >= page_size(slab))
		return false;
	/* What lies before the first or behind the last slot belongs to that. */
	index = at < start ? 0 : (at - start) / cache->size;
	if (index >= slab->objects)
		index = slab->objects ? slab->objects - 1U : 0;
	obj->kind = KASAN_OBJECT_SLAB;
	obj->cache = &cache->kasan;
	obj->start = (void *)(start + index * cache->size);
	return true;
}

bool kasan_port_find_object(const void *addr, struct kasan_object *obj)
{
	struct page *page = linear_page(addr), *head;

	head = page ? checked_head(page) : NULL;
	if (!head)
		return false;
	/* A page that is free may still say that it is a tail of what has been somebody else's since. */
	if ((PageSlab(head) || PageLarge(head)) && (size_t)(page - head) >= READ_ONCE(head->nr))
		return false;
	if (PageSlab(head))
		return find_slab_object(head, addr, obj);
	if (!PageLarge(head) && !page_flag(head, PG_large_freed))
		return false;
	/* Of a freed one the pages may have gone to others since. */
	if (!PageLarge(head) && (size_t)(page - head) >= DIV_ROUND_UP(head->large.size, PAGE_SIZE))
		return false;
	obj->kind = KASAN_OBJECT_LARGE;
	obj->start = page_to_virt(head);
	obj->size = head->large.size;
	obj->large = &head->large;
	obj->name = "kmalloc-large";
	return true;
}

/* Interrupts are off. Return: true if vmap_lock was taken, without touching the preemption count: a
 * report must not end in the scheduler. */
static bool try_vmap_lock(void)
{
	int tries;

	for (tries = 0; tries < LOCK_TRIES && !spin_lock_held(&vmap_lock); tries++) {
		if (__raw_spin_trylock(&vmap_lock))
			return true;
	}
	return false;
}

bool kasan_port_find_area(const void *addr, struct kasan_area *area)
{
	struct vmap_range *range;
	unsigned long flags;
	bool found = false;

	if (!mm_is_up() || !is_vmalloc_addr(addr))
		return false;
	local_irq_save(flags);
	if (try_vmap_lock()) {
		range = vmap_lookup(&vmap_busy, (unsigned long)addr);
		/* Guard pages are nobody's: the runtime itself looks at what lies beside them. */
		if (range && (uintptr_t)addr - (uintptr_t)kasan_reset_tag(range->vm->addr) <
				     ((size_t)range->vm->nr_pages << PAGE_SHIFT)) {
			area->start = (uintptr_t)kasan_reset_tag(range->vm->addr);
			area->size = range->vm->size;
			area->caller = range->vm->caller;
			found = true;
		}
		__raw_spin_unlock(&vmap_lock);
	}
	local_irq_restore(flags);
	return found;
}

bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *owner)
{
	/* One report at a time. */
	static char comm[TASK_COMM_LEN];
	const struct task *task = NULL;
	struct vmap_range *range;
	unsigned long flags;

	if (!mm_is_up() || !is_vmalloc_addr(addr))
		return false;
	local_irq_save(flags);
	if (try_vmap_lock()) {
		range = vmap_lookup(&vmap_busy, (unsigned long)addr);
		/* It may be on its way out at this moment, and its memory have another tag already. */
		task = range ? kasan_reset_tag(READ_ONCE(range->vm->task)) : NULL;
		if (task && kasan_port_readable(task, sizeof(*task)) &&
		    READ_ONCE(task->stack) == range->vm->addr) {
			owner->id = (uint32_t)task->pid;
			__memcpy(comm, task->comm, sizeof(comm) - 1);
			owner->name = comm;
		}
		__raw_spin_unlock(&vmap_lock);
	}
	local_irq_restore(flags);
	return owner->name != NULL;
}

/* Say whose @addr was, if that was freed a short time ago. */
static void print_freed_area(const void *addr)
{
	uintptr_t start = 0, caller = 0, freed_by = 0;
	struct vmap_range *range;
	unsigned long flags;
	size_t size = 0;

	if (!mm_is_up() || !is_vmalloc_addr(addr))
		return;
	local_irq_save(flags);
	if (try_vmap_lock()) {
		range = vmap_lazy.first;
		while (range && ((uintptr_t)addr < range->start || (uintptr_t)addr >= range->end))
			range = range->next;
		if (range) {
			start = range->addr;
			size = range->size;
			caller = range->caller;
			freed_by = range->freed_by;
		}
		__raw_spin_unlock(&vmap_lock);
	}
	local_irq_restore(flags);
	/* Without who freed it, it was never complete. */
	if (!freed_by)
		return;
	kasan_report_line(
		"The buggy address belonged to a %zu-byte vmalloc region starting at 0x%lx", size,
		(unsigned long)start);
	kasan_report_line(" allocated at %pS", (void *)caller);
	kasan_report_line(" freed at %pS", (void *)freed_by);
}

/* Of a module, not even an unloaded one says so by itself: its addresses rest for a while. */
static void print_module(const void *addr)
{
	static const char *const parts[] = {
		[MODULE_TEXT] = "code",
		[MODULE_RODATA] = "constants",
		[MODULE_DATA] = "variables",
	};
	/* One report at a time. */
	static struct module_place place;

	if (!module_lookup((unsigned long)addr, &place))
		return;
	if (place.unloaded)
		kasan_report_line(
			"The buggy address belonged to the %s of module %s, which was unloaded",
			parts[place.part], place.module);
	else
		kasan_report_line("The buggy address belongs to the %s of module %s",
				  parts[place.part], place.module);
}

bool kasan_port_readable(const void *addr, size_t size)
{
	uintptr_t at = kasan_untag_addr((uintptr_t)addr), last = at + size - 1;

	if (!size)
		return true;
	if (last < at)
		return false;
	for (at &= PAGE_MASK; at <= last; at += PAGE_SIZE) {
		/* Reading a device register may do anything. */
		if (at < PAGE_OFFSET || (at >= IOREMAP_START && at < VMALLOC_START))
			return false;
		if (!kernel_va_to_pa(at, NULL))
			return false;
		if (at > UINTPTR_MAX - PAGE_SIZE)
			break;
	}
	return true;
}

#ifdef CONFIG_KASAN_TAGS
bool kasan_port_page_tag(const void *addr, uint8_t *tag)
{
	struct page *page = linear_page(addr);

	if (!page || page_kasan_tag(page) == KASAN_TAG_KERNEL)
		return false;
	*tag = page_kasan_tag(page);
	return true;
}
#endif

void kasan_port_print_page(const void *addr)
{
	struct page *page = linear_page(addr), *head;
	char names[64];
	phys_addr_t pa;

	print_freed_area(addr);
	print_module(addr);
	if (!page && mm_is_up() && is_vmalloc_addr(addr)) {
		pa = kernel_va_to_pa((unsigned long)addr, NULL);
		if (pa && pfn_valid(pa >> PAGE_SHIFT))
			page = phys_to_page(pa);
	}
	if (!page)
		return;
	/* References and flags are the block's, the frame number is the page's own. */
	head = checked_head(page);
	if (!head)
		head = page;
	page_flag_names(head->flags, names, sizeof(names));
	kasan_report_line("The buggy address belongs to the physical page:");
	kasan_report_line("page: refcount:%d mapcount:0 mapping:%016lx index:0x0 pfn:0x%lx",
			  page_count(head), 0UL, page_to_pfn(page));
	kasan_report_line("flags: 0x%lx(%s)", head->flags, names);
	kasan_report_line("page dumped because: kasan: bad access detected");
	page_owner_print(page);
}

#endif /* CONFIG_KASAN */
