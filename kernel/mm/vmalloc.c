// SPDX-License-Identifier: MIT
/*
 * vmalloc.c - memory areas that are contiguous in the address space only.
 *
 * An area gets addresses from the tree of free ranges (the lowest that fit, so that page tables and
 * shadow are reused), single pages, and real shadow. Guard pages belong to its range and are never
 * mapped. Their shadow is KASAN_VMALLOC_INVALID: an access that is checked is reported as beside this
 * area, and one that is not checked faults.
 *
 * Real shadow is made where an area is placed. It starts as KASAN_VMALLOC_INVALID, and the shadow of
 * an area becomes that again when the area is freed. Only the shadow of the area's own bytes is ever
 * written. Addresses that never were near an area keep the shared zero page as shadow: an access
 * there passes the check and faults. Freed addresses wait in a queue for a while before they are
 * reused. Their shadow is kept for the next area, within the limit of vmap_shadow.c.
 */
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "vmap.h"

/* Limits of the queue of freed ranges. The shadow of ranges in the queue is idle memory. */
#define LAZY_MAX_RANGES 32U
#define LAZY_MAX_BYTES	(4UL << 20)

DEFINE_RAW_SPINLOCK(vmap_lock);
struct vmap_tree vmap_busy;
struct vmap_lazy vmap_lazy;

/* These are guarded by vmap_lock too. */
struct vmap_tree vmap_free;
static unsigned long nr_areas;

static struct kmem_cache *range_cache, *area_cache;

/*
 * Spare descriptors, a few for each CPU. An area takes one of each kind, and most areas are
 * short-lived. If KASAN handled each of these frees, the descriptors would go through the quarantine,
 * and each would record two stacks that are of no use.
 */
#define SPARE_MAX 8U

struct spare {
	unsigned int nr;
	void *object[SPARE_MAX];
};

enum spare_kind { SPARE_RANGES, SPARE_AREAS, SPARE_KINDS };

struct spares {
	struct spare kind[SPARE_KINDS];
};

static DEFINE_PER_CPU(struct spares, cpu_spares);

/* Only the CPU itself uses its spares, so it is enough to turn interrupts off. */
static void *spare_get(enum spare_kind kind)
{
	void *object = NULL;
	struct spare *spare;
	unsigned long flags;

	local_irq_save(flags);
	spare = &per_cpu(cpu_spares, smp_processor_id()).kind[kind];
	if (likely(spare->nr))
		object = spare->object[--spare->nr];
	local_irq_restore(flags);
	return object;
}

static bool spare_put(enum spare_kind kind, void *object)
{
	struct spare *spare;
	unsigned long flags;
	bool kept;

	local_irq_save(flags);
	spare = &per_cpu(cpu_spares, smp_processor_id()).kind[kind];
	kept = spare->nr < SPARE_MAX;
	if (likely(kept))
		spare->object[spare->nr++] = object;
	local_irq_restore(flags);
	return kept;
}

unsigned long vmalloc_spare_objects(void)
{
	unsigned long sum = READ_ONCE(vmap_free.nr);
	unsigned int cpu, kind;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		for (kind = 0; kind < SPARE_KINDS; kind++)
			sum += READ_ONCE(per_cpu(cpu_spares, cpu).kind[kind].nr);
	}
	return sum;
}

static struct vmap_range *new_range(gfp_t gfp)
{
	struct vmap_range *range = spare_get(SPARE_RANGES);

	if (!range)
		return kmem_cache_zalloc(range_cache, gfp & ~__GFP_ZERO);
	*range = (struct vmap_range){0};
	return range;
}

static void drop_range(struct vmap_range *range)
{
	if (range && !spare_put(SPARE_RANGES, range))
		kmem_cache_free(range_cache, range);
}

static struct vm_struct *new_area(gfp_t gfp)
{
	struct vm_struct *vm = spare_get(SPARE_AREAS);

	if (!vm)
		return kmem_cache_zalloc(area_cache, gfp & ~__GFP_ZERO);
	*vm = (struct vm_struct){0};
	return vm;
}

static void drop_area(struct vm_struct *vm)
{
	if (!spare_put(SPARE_AREAS, vm))
		kmem_cache_free(area_cache, vm);
}

/* --- Address space ---------------------------------------------------------------------------- */

/*
 * Cut [@start, @start + @size) out of the free range @room. vmap_lock is held. @spare: a descriptor
 * for the part that may be left below; set to NULL if it was used. Return: a descriptor that is no
 * longer needed, or NULL.
 */
static struct vmap_range *carve_locked(struct vmap_range *room, unsigned long start,
				       unsigned long size, struct vmap_range **spare)
{
	unsigned long end = start + size;

	if (start != room->start) {
		struct vmap_range *below = *spare;

		*spare = NULL;
		below->start = room->start;
		below->end = start;
		/* Ranges in the tree must never overlap: shorten first, then insert. */
		room->start = start;
		vmap_resized(room);
		vmap_insert(&vmap_free, below);
	}
	if (room->end == end) {
		vmap_erase(&vmap_free, room);
		return room;
	}
	room->start = end;
	vmap_resized(room);
	return NULL;
}

static struct vmap_range *range_alloc(unsigned long size, unsigned long align, struct vm_struct *vm,
				      gfp_t gfp)
{
	struct vmap_range *range = new_range(gfp);
	struct vmap_range *room, *used_up = NULL, *spare = NULL;
	unsigned long flags;

	if (!range)
		return NULL;
	if (align > PAGE_SIZE) {
		spare = new_range(gfp);
		if (!spare) {
			drop_range(range);
			return NULL;
		}
	}
	range->vm = vm;
	raw_spin_lock_irqsave(&vmap_lock, flags);
	/* A range of this size has room for an aligned one, wherever it starts. */
	room = vmap_first_fit(&vmap_free, size + align - PAGE_SIZE);
	if (room) {
		range->start = (room->start + align - 1) & ~(align - 1);
		range->end = range->start + size;
		vmap_shadow_taken(room->start, room->end, range->start, range->end);
		used_up = carve_locked(room, range->start, size, &spare);
	}
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	if (!room)
		used_up = range;
	drop_range(used_up);
	drop_range(spare);
	return room ? range : NULL;
}

/* Let the area be found, now that it is complete. */
static void range_publish(struct vmap_range *range)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&vmap_lock, flags);
	vmap_insert(&vmap_busy, range);
	nr_areas++;
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
}

/*
 * Make @range free address space, joined with its neighbours. vmap_lock is held. Descriptors that are
 * no longer needed are put in front of @garbage.
 */
static void range_free_locked(struct vmap_range *range, struct vmap_range **garbage)
{
	struct vmap_range *below = vmap_lookup(&vmap_free, range->start - 1);
	struct vmap_range *above = vmap_lookup(&vmap_free, range->end);
	const unsigned long start = range->start, end = range->end;

	range->vm = NULL;
	if (below) {
		vmap_erase(&vmap_free, below);
		range->start = below->start;
		below->next = *garbage;
		*garbage = below;
	}
	if (above) {
		vmap_erase(&vmap_free, above);
		range->end = above->end;
		above->next = *garbage;
		*garbage = above;
	}
	vmap_insert(&vmap_free, range);
	vmap_shadow_freed(range->start, range->end, start, end);
}

/* Take the oldest freed ranges out of the queue until it is within the limits. vmap_lock is held. */
static void lazy_trim_locked(unsigned int max_ranges, unsigned long max_bytes,
			     struct vmap_range **garbage)
{
	while (vmap_lazy.ranges > max_ranges || vmap_lazy.bytes > max_bytes) {
		struct vmap_range *range = vmap_lazy.first;

		vmap_lazy.first = range->next;
		if (!vmap_lazy.first)
			vmap_lazy.last = NULL;
		vmap_lazy.ranges--;
		vmap_lazy.bytes -= range->end - range->start;
		range_free_locked(range, garbage);
	}
}

static void free_garbage(struct vmap_range *garbage)
{
	while (garbage) {
		struct vmap_range *next = garbage->next;

		drop_range(garbage);
		garbage = next;
	}
}

static void range_retire(struct vmap_range *range)
{
	struct vmap_range *garbage = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&vmap_lock, flags);
	range->next = NULL;
	if (vmap_lazy.last)
		vmap_lazy.last->next = range;
	else
		vmap_lazy.first = range;
	vmap_lazy.last = range;
	vmap_lazy.ranges++;
	vmap_lazy.bytes += range->end - range->start;
	lazy_trim_locked(LAZY_MAX_RANGES, LAZY_MAX_BYTES, &garbage);
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	free_garbage(garbage);
	vmap_shadow_limit();
}

void vmalloc_purge(void)
{
	struct vmap_range *garbage = NULL;
	unsigned long flags;

	stack_cache_drop();
	raw_spin_lock_irqsave(&vmap_lock, flags);
	lazy_trim_locked(0, 0, &garbage);
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	free_garbage(garbage);
	vmap_shadow_drop();
}

/* --- Pages ------------------------------------------------------------------------------------ */

static void free_area_pages(struct vm_struct *vm)
{
	unsigned int i;

	/* A stack may not have all of its pages. */
	for (i = 0; i < vm->nr_pages && !vm->borrowed; i++)
		if (vm->pages[i])
			__free_page(vm->pages[i]);
	if (vm->pages != vm->few)
		kvfree(vm->pages);
	if (vm->reserve)
		stack_reserve_free(vm->reserve);
}

/* Get @nr pages for an area: @pages, which the caller of vmap() owns, or new ones if that is NULL.
 * vm->nr_pages counts the pages so far, on failure too. */
static bool get_area_pages(struct vm_struct *vm, unsigned int nr, struct page *const *pages,
			   gfp_t gfp)
{
	/* The array of a large area may be an area itself. It has 1/512 of the size, so the recursion
	 * ends. */
	vm->pages = vm->few;
	if (nr > VM_FEW_PAGES)
		vm->pages = kvmalloc((size_t)nr * sizeof(struct page *), gfp & ~__GFP_ZERO);
	if (!vm->pages)
		return false;
	vm->borrowed = pages;
	if (pages) {
		memcpy(vm->pages, pages, (size_t)nr * sizeof(struct page *));
		vm->nr_pages = nr;
		return true;
	}
	while (vm->nr_pages < nr) {
		struct page *page = alloc_page(gfp | __GFP_SKIP_KASAN);

		if (!page)
			return false;
		vm->pages[vm->nr_pages++] = page;
	}
	return true;
}

/* Map the pages of an area. Pages that happen to be contiguous are mapped in one go. */
static bool map_area(struct vm_struct *vm)
{
	unsigned int i, n;

	for (i = 0; i < vm->nr_pages; i += n) {
		for (n = 1; i + n < vm->nr_pages && vm->pages[i + n] == vm->pages[i] + n; n++)
			;
		if (map_kernel_range((unsigned long)vm->addr + ((unsigned long)i << PAGE_SHIFT),
				     page_to_phys(vm->pages[i]), (size_t)n << PAGE_SHIFT,
				     PAGE_KERNEL_TAGGED))
			return false;
	}
	return true;
}

/* --- Areas ------------------------------------------------------------------------------------ */

static size_t mapped_size(const struct vm_struct *vm)
{
	return (size_t)vm->nr_pages << PAGE_SHIFT;
}

static unsigned long start_of(const struct vm_struct *vm)
{
	return (unsigned long)kasan_reset_tag(vm->addr);
}

/* Free @vm, which is in no tree. Its pages are freed; its addresses wait in the queue. */
static void vm_destroy(struct vm_struct *vm, uintptr_t freed_by)
{
	if (vm->range) {
		vm->range->addr = start_of(vm);
		vm->range->size = vm->size;
		vm->range->caller = vm->caller;
		vm->range->freed_by = freed_by;
		/* The guards are poisoned already. */
		if (vm->nr_pages)
			kasan_poison_vmalloc(vm->addr, mapped_size(vm));
		/* All CPUs must lose the mapping before a page can get another owner. */
		if (vm->nr_pages)
			unmap_kernel_range(start_of(vm), mapped_size(vm));
		range_retire(vm->range);
	}
	free_area_pages(vm);
	drop_area(vm);
}

/* Instrumented code writes the shadow of stacks itself, with kasan=off too, so stacks always need
 * real shadow. */
static bool map_shadow(unsigned long start, size_t span, size_t guard_low)
{
	if (MM_KASAN)
		return kasan_map_shadow(start, span, KASAN_VMALLOC_INVALID);
	return !guard_low || kasan_map_shadow(start, span, KASAN_SHADOW_OPEN);
}

/* With hardware tags the tags belong to the pages: vmap() must not change those of another owner. */
#ifdef CONFIG_KASAN_HW_TAGS
#define TAGS_ARE_THE_PAGES true
#else
#define TAGS_ARE_THE_PAGES false
#endif

static struct vm_struct *create_area(size_t size, size_t guard_low, size_t align,
				     struct page *const *pages, gfp_t gfp, uintptr_t caller)
{
	struct vm_struct *vm = new_area(gfp);
	size_t pages_size = PAGE_ALIGN(size);
	size_t span = guard_low + pages_size + PAGE_SIZE;
	/* If possible, clear memory while the area is tagged, not page by page before. */
	const bool clear = gfp & __GFP_ZERO && !guard_low && kasan_has_integrated_init();
	struct vmap_range *range;

	if (!vm)
		return NULL;
	vm->size = size;
	vm->caller = caller;
	if (!get_area_pages(vm, (unsigned int)(pages_size >> PAGE_SHIFT), pages,
			    clear ? gfp & ~__GFP_ZERO : gfp))
		goto fail;
	range = range_alloc(span, align, vm, gfp);
	if (!range)
		goto fail;
	vm->addr = (void *)(range->start + guard_low);
	/* A range without its own shadow must not be poisoned: give it back as it is. */
	if (!map_shadow(range->start, span, guard_low)) {
		range_retire(range);
		goto fail;
	}
	vm->range = range;
	if (!map_area(vm))
		goto fail;
	/* An area with guards on both sides is a stack. */
	if (guard_low)
		vm_open_stack(vm->addr, size);
	else if (!TAGS_ARE_THE_PAGES || !vm->borrowed)
		vm->addr = kasan_unpoison_vmalloc_init(vm->addr, size, clear);
	range_publish(range);
	return vm;

fail:
	vm_destroy(vm, 0);
	return NULL;
}

struct vm_struct *vm_create(size_t size, size_t guard_low, size_t align, gfp_t gfp,
			    uintptr_t caller)
{
	return create_area(size, guard_low, align, NULL, gfp, caller);
}

struct vm_struct *vm_create_demand(size_t size, gfp_t gfp, uintptr_t caller)
{
	const unsigned int nr = (unsigned int)(size >> PAGE_SHIFT);
	const size_t span = DEMAND_GUARD + size + PAGE_SIZE;
	struct vm_struct *vm = new_area(gfp);
	struct vmap_range *range;

	if (!vm)
		return NULL;
	vm->size = size;
	vm->caller = caller;
	vm->pages = kvmalloc((size_t)nr * sizeof(struct page *), gfp | __GFP_ZERO);
	range = vm->pages ? range_alloc(span, PAGE_SIZE, vm, gfp) : NULL;
	if (!range)
		goto fail;
	vm->addr = (void *)(range->start + DEMAND_GUARD);
	if (!map_shadow(range->start, span, DEMAND_GUARD)) {
		range_retire(range);
		goto fail;
	}
	vm->range = range;
	if (prepare_kernel_range(range->start + DEMAND_GUARD, size))
		goto fail;
	vm->nr_pages = nr;
	/* Hardware tags are in the pages. */
	if (!TAGS_ARE_THE_PAGES)
		vm_open_stack(vm->addr, size);
	range_publish(range);
	return vm;

fail:
	vm_destroy(vm, 0);
	return NULL;
}

/* --- The interface ---------------------------------------------------------------------------- */

static void *do_vmalloc(size_t size, size_t align, gfp_t gfp, uintptr_t caller)
{
	struct vm_struct *vm = NULL;

	if (WARN(!size, "vmalloc: size is 0\n"))
		return NULL;
	if (size >> PAGE_SHIFT < totalram_pages())
		vm = vm_create(size, 0, align, gfp, caller);
	if (!vm && !(gfp & __GFP_NOWARN))
		pr_warn("vmalloc: no memory for %lu bytes\n", (unsigned long)size);
	return vm ? vm->addr : NULL;
}

void *__vmalloc(size_t size, gfp_t gfp)
{
	return do_vmalloc(size, PAGE_SIZE, gfp, MM_CALLER_IP());
}

void *__vmalloc_align(size_t size, size_t align, gfp_t gfp)
{
	if (WARN(align < PAGE_SIZE || (align & (align - 1)), "vmalloc: alignment %lu\n",
		 (unsigned long)align))
		return NULL;
	return do_vmalloc(size, align, gfp, MM_CALLER_IP());
}

void *vmalloc(size_t size)
{
	return do_vmalloc(size, PAGE_SIZE, GFP_KERNEL, MM_CALLER_IP());
}

void *vzalloc(size_t size)
{
	return do_vmalloc(size, PAGE_SIZE, GFP_KERNEL | __GFP_ZERO, MM_CALLER_IP());
}

/* Return: true if @addr is the start of @vm. A pointer with the tag of an earlier area at the same
 * place is not. */
static bool is_start(const struct vm_struct *vm, const void *addr)
{
	return addr == vm->addr || addr == kasan_reset_tag(vm->addr);
}

/* Return: true if @addr was the start of an area that was freed, whose addresses wait in the queue or
 * have a new area. */
static bool was_freed(const void *addr)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr);
	const struct vmap_range *range;
	unsigned long flags;
	bool freed = false;

	raw_spin_lock_irqsave(&vmap_lock, flags);
	range = vmap_lookup(&vmap_busy, start);
	/* A new area starts there, with another tag. */
	if (range)
		freed = start_of(range->vm) == start;
	/* An area that never was complete has no freeing caller, and its address was never returned. */
	for (range = vmap_lazy.first; range && !freed; range = range->next)
		freed = range->addr == start && range->freed_by;
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	return freed;
}

static noinline void bad_vfree(const void *addr, bool inside, uintptr_t ip)
{
	if (kasan_enabled() && was_freed(addr))
		kasan_report_double_free(addr, ip);
	else if (inside)
		WARN(1, "Trying to vfree() bad address (%016lx): not the start of its area\n",
		     (unsigned long)addr);
	else
		WARN(1, "Trying to vfree() nonexistent vm area (%016lx)\n", (unsigned long)addr);
}

void vfree(const void *addr)
{
	struct vmap_range *range;
	struct vm_struct *vm = NULL;
	unsigned long flags;

	if (!addr)
		return;
	raw_spin_lock_irqsave(&vmap_lock, flags);
	range = vmap_lookup(&vmap_busy, (unsigned long)kasan_reset_tag(addr));
	if (range && is_start(range->vm, addr)) {
		/* From here on a second vfree() does not find it. */
		vm = range->vm;
		vmap_erase(&vmap_busy, range);
		nr_areas--;
	}
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	if (vm)
		vm_destroy(vm, MM_CALLER_IP());
	else
		bad_vfree(addr, range, MM_CALLER_IP());
}

void *vmap(struct page *const *pages, unsigned int nr)
{
	struct vm_struct *vm = NULL;

	if (!WARN(!nr, "vmap: no pages\n"))
		vm = create_area((size_t)nr << PAGE_SHIFT, 0, PAGE_SIZE, pages, GFP_KERNEL,
				 MM_CALLER_IP());
	return vm ? vm->addr : NULL;
}

struct vm_struct *find_vm_area(const void *addr)
{
	struct vm_struct *vm = NULL;
	struct vmap_range *range;
	unsigned long flags;

	raw_spin_lock_irqsave(&vmap_lock, flags);
	range = vmap_lookup(&vmap_busy, (unsigned long)kasan_reset_tag(addr));
	if (range) {
		vm = range->vm;
		if ((unsigned long)kasan_reset_tag(addr) - start_of(vm) >= mapped_size(vm))
			vm = NULL;
	}
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	return vm;
}

struct page *vmalloc_to_page(const void *addr)
{
	phys_addr_t pa = is_vmalloc_addr(addr) ? kernel_va_to_pa((unsigned long)addr, NULL) : 0;

	return pa && pfn_valid(pa >> PAGE_SHIFT) ? phys_to_page(pa) : NULL;
}

unsigned long vmalloc_nr_areas(void)
{
	return READ_ONCE(nr_areas);
}

void vmalloc_init(void)
{
	struct vmap_range *all;

	range_cache = KMEM_CACHE(vmap_range, SLAB_PANIC);
	area_cache = KMEM_CACHE(vm_struct, SLAB_PANIC);
	all = kmem_cache_zalloc(range_cache, GFP_KERNEL);
	if (!all)
		panic("vmalloc: no memory");
	/* The first page is never used: it guards the first area. */
	all->start = VMALLOC_START + PAGE_SIZE;
	all->end = VMALLOC_END;
	vmap_insert(&vmap_free, all);
	vmap_shadow_init();
}
