// SPDX-License-Identifier: MIT
/*
 * memory.c - the part of the KASAN port that needs memory management: it gives memory to the
 * runtime, and tells reports what an address belongs to.
 *
 * Uninstrumented. It runs inside reports, on a CPU that may hold any lock of this kernel. So it never
 * waits for a lock, and it checks a page descriptor before it uses it.
 */
#include <kasan/kasan.h>

#if defined(CONFIG_KASAN) || defined(CONFIG_KASAN_SAMPLE)

#include <kasan/port.h>
#include <kernel/arch.h>
#include <kernel/string.h>

#include "../mm/slab_internal.h"

/*
 * The shadow of these pages still says that they are free. The runtime can use them, because it is
 * not instrumented; any other code that writes into its tables is reported.
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

#endif

#ifdef CONFIG_KASAN

#include <kernel/module.h>
#include <kernel/page_owner.h>
#include <kernel/task.h>

#include "../mm/vmap.h"

/* How long a busy lock is tried. The CPU that holds it may be a virtual one that the host has put aside: that lasts
 * longer than any code under the lock. A reader of the report does not notice it. */
#define LOCK_WAIT_NS (200U * 1000 * 1000)

/* Return: the descriptor of the page at @addr in the linear map; NULL if there is none. */
static struct page *linear_page(const void *addr)
{
	if (!mm_is_up() || !is_linear_address(addr) || !pfn_valid(__pa(addr) >> PAGE_SHIFT))
		return NULL;
	return virt_to_page(addr);
}

/* A descriptor may be overwritten like any other memory: check that page->head points to a
 * descriptor, and to one nearby. Return: the head; NULL if it cannot be one. */
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
	/* Slabs of one cache may start at different offsets, so read it from the slab, and check it. */
	start = (uintptr_t)READ_ONCE(slab->first_slot);
	if (start - (uintptr_t)page_to_virt(slab) >= page_size(slab))
		return false;
	/* Memory before the first slot counts as part of it, and memory after the last one as part
	 * of that. */
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

	/* A redzone belongs to the block before it. */
	if (page && page > mem_map && page_flag(page, PG_redzone))
		page--;
	head = page ? checked_head(page) : NULL;
	if (!head)
		return false;
	/* A free page may still say that it is a tail of a block that has been reused since. */
	if ((PageSlab(head) || PageLarge(head)) && (size_t)(page - head) >= READ_ONCE(head->nr))
		return false;
	if (PageSlab(head))
		return find_slab_object(head, addr, obj);
	if (!PageLarge(head) && !page_flag(head, PG_large_freed))
		return false;
	/* Some pages of a freed large object may have been reused since. */
	if (!PageLarge(head) &&
	    (size_t)(page - head) >= DIV_ROUND_UP(large_lead(head) + head->large.size, PAGE_SIZE))
		return false;
	obj->kind = KASAN_OBJECT_LARGE;
	obj->start = large_start(head);
	obj->size = head->large.size;
	obj->large = &head->large;
	obj->name = "kmalloc-large";
	return true;
}

/* Interrupts are off. Take vmap_lock without a change of the preemption count, because a report must
 * not enter the scheduler. Return: true if it was taken. */
static bool try_vmap_lock(void)
{
	u64 since = 0;

	while (!raw_spin_lock_held(&vmap_lock)) {
		if (arch_spin_trylock(&vmap_lock))
			return true;
		if (!since)
			since = clock_ns();
		else if (clock_ns() - since > LOCK_WAIT_NS)
			break;
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
		/* Guard pages belong to no area: the runtime itself looks at what is beside them. */
		if (range && (uintptr_t)addr - (uintptr_t)kasan_reset_tag(range->vm->addr) <
				     ((size_t)range->vm->nr_pages << PAGE_SHIFT)) {
			area->start = (uintptr_t)kasan_reset_tag(range->vm->addr);
			area->size = range->vm->size;
			area->caller = range->vm->caller;
			found = true;
		}
		arch_spin_unlock(&vmap_lock);
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
		/* The task may be exiting, and its memory may have another tag already. */
		task = range ? kasan_reset_tag(READ_ONCE(range->vm->task)) : NULL;
		if (task && kasan_port_readable(task, sizeof(*task)) &&
		    READ_ONCE(task->stack) == range->vm->addr) {
			owner->id = (uint32_t)task->pid;
			__memcpy(comm, task->comm, sizeof(comm) - 1);
			owner->name = comm;
		}
		arch_spin_unlock(&vmap_lock);
	}
	local_irq_restore(flags);
	return owner->name != NULL;
}

/* Print which area @addr was in, if that was freed a short time ago. */
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
		arch_spin_unlock(&vmap_lock);
	}
	local_irq_restore(flags);
	/* If there is no freeing caller, the area was never complete. */
	if (!freed_by)
		return;
	kasan_report_line(
		"The buggy address belonged to a %zu-byte vmalloc region starting at 0x%lx", size,
		(unsigned long)start);
	kasan_report_line(" allocated at %pS", (void *)caller);
	kasan_report_line(" freed at %pS", (void *)freed_by);
}

/* Print which module @addr is in. That works for an unloaded one too, because its addresses are
 * not reused for a while. */
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
		/* A read from a device register may have any effect. */
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
	/* References and flags are those of the block; the frame number is that of the page. */
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
