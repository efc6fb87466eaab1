/* SPDX-License-Identifier: MIT */
/*
 * vmap.h - vmalloc's address space: used and free ranges, in two trees sorted by address. Each node
 * knows the largest range below it, so that a search for room takes logarithmic time.
 */
#ifndef MM_VMAP_H
#define MM_VMAP_H

#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include "internal.h"

/**
 * struct vmap_range - addresses [@start, @end), used or free
 * @left, @right, @parent: links of its tree.
 * @prio: smaller than that of every node below it, which keeps the tree balanced (a treap).
 * @max: size of the largest range in the subtree.
 * @vm: of a used range: its area.
 * @next: of a freed range: the one that was freed after it.
 * @addr, @size, @caller, @freed_by: of a freed range: the area that it had, for reports of late
 *	accesses.
 */
struct vmap_range {
	struct vmap_range *left, *right, *parent;
	u32 prio;
	unsigned long start, end, max;
	struct vm_struct *vm;
	struct vmap_range *next;
	uintptr_t addr;
	size_t size;
	uintptr_t caller, freed_by;
};

/* Freed ranges that wait before they are reused, oldest first. At most LAZY_MAX_RANGES. */
struct vmap_lazy {
	struct vmap_range *first, *last;
	unsigned int ranges;
	unsigned long bytes;
};

/** struct vmap_tree - @nr: number of ranges. @seed: state of the generator of priorities. */
struct vmap_tree {
	struct vmap_range *root;
	unsigned long nr;
	u32 seed;
};

/** vmap_insert() - add @range, which overlaps no range in the tree. vmap_erase() - remove @range. */
void vmap_insert(struct vmap_tree *tree, struct vmap_range *range);
void vmap_erase(struct vmap_tree *tree, struct vmap_range *range);

/** vmap_resized() - update the tree after the bounds of @range have changed. It must not have passed
 *  its neighbours. */
void vmap_resized(struct vmap_range *range);

/** vmap_first_fit() - Return: the lowest range of at least @size bytes; NULL if there is none. */
struct vmap_range *vmap_first_fit(const struct vmap_tree *tree, unsigned long size);

/** vmap_last_below() - Return: the highest range that starts below @addr; NULL if there is none. */
struct vmap_range *vmap_last_below(const struct vmap_tree *tree, unsigned long addr);

/** vmap_lookup() - Return: the range that holds @addr; NULL if there is none. Inlined for reports,
 *  which must not run instrumented code. */
static inline struct vmap_range *vmap_lookup(const struct vmap_tree *tree, unsigned long addr)
{
	struct vmap_range *range = tree->root;

	while (range) {
		if (addr < range->start)
			range = range->left;
		else if (addr >= range->end)
			range = range->right;
		else
			return range;
	}
	return NULL;
}

/* The used ranges, the freed ranges that wait, the free ranges, and the lock of all three. */
extern struct vmap_tree vmap_busy;
extern struct vmap_lazy vmap_lazy;
extern struct vmap_tree vmap_free;
extern raw_spinlock_t vmap_lock;

/* --- vmap_shadow.c ---------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/**
 * struct vmap_shadow - how much shadow is needed, and how much may be kept
 * @needed: shadow pages that describe addresses that are not free. A page that is about to be made
 *	counts already. Written under vmap_lock.
 * @top: no address at or above this one has real shadow. Guarded by vmap_lock.
 * @kept_max: how many more shadow pages may be kept.
 */
struct vmap_shadow {
	unsigned long needed, top, kept_max;
};

extern struct vmap_shadow vmap_shadow;

/** vmap_shadow_init() - set the limit. Called when totalram_pages() is known. */
void vmap_shadow_init(void);

/* Return: the number of shadow pages that [@start, @end) touches and that describe only addresses in
 * [@room, @room_end) around it. */
static inline unsigned long vmap_shadow_pages(unsigned long room, unsigned long room_end,
					      unsigned long start, unsigned long end)
{
	const unsigned long span = KASAN_SHADOW_PAGE_SPAN;
	unsigned long first = max((room + span - 1) / span, start / span);
	unsigned long last = min(room_end / span, (end + span - 1) / span);

	return last > first ? last - first : 0;
}

/**
 * vmap_shadow_taken(), vmap_shadow_freed() - count the shadow that is needed
 * @room, @room_end: the free range that [@start, @end) is about to be cut out of, or has just become
 *	part of.
 *
 * vmap_lock is held.
 */
static inline void vmap_shadow_taken(unsigned long room, unsigned long room_end,
				     unsigned long start, unsigned long end)
{
	WRITE_ONCE(vmap_shadow.needed,
		   vmap_shadow.needed + vmap_shadow_pages(room, room_end, start, end));
	if (unlikely(end > vmap_shadow.top))
		vmap_shadow.top = ALIGN(end, KASAN_SHADOW_PAGE_SPAN);
}

static inline void vmap_shadow_freed(unsigned long room, unsigned long room_end,
				     unsigned long start, unsigned long end)
{
	WRITE_ONCE(vmap_shadow.needed,
		   vmap_shadow.needed - vmap_shadow_pages(room, room_end, start, end));
}

/** vmap_shadow_kept() - Return: number of shadow pages that are real but not needed. The number is
 *  never too large. It is too small while an area waits for its shadow, or, with kasan=off, has
 *  none. */
static inline unsigned long vmap_shadow_kept(void)
{
	unsigned long real = kasan_vmalloc_shadow_pages(), needed = READ_ONCE(vmap_shadow.needed);

	return real > needed ? real - needed : 0;
}

/** vmap_shadow_trim() - free the shadow above the limit, and a quarter of the limit too.
 *  vmap_lock is not held; any context. */
void vmap_shadow_trim(void);

/** vmap_shadow_limit() - vmap_shadow_trim() if more is kept than the limit. */
static inline void vmap_shadow_limit(void)
{
	if (unlikely(vmap_shadow_kept() > vmap_shadow.kept_max))
		vmap_shadow_trim();
}

/** vmap_shadow_drop() - free all shadow of free addresses. vmap_lock is not held; any context.
 *  Return: how many times the lock was taken for that. */
unsigned long vmap_shadow_drop(void);

#else
static inline void vmap_shadow_init(void)
{
}
static inline void vmap_shadow_taken(unsigned long room, unsigned long room_end,
				     unsigned long start, unsigned long end)
{
}
static inline void vmap_shadow_freed(unsigned long room, unsigned long room_end,
				     unsigned long start, unsigned long end)
{
}
static inline void vmap_shadow_limit(void)
{
}
static inline unsigned long vmap_shadow_drop(void)
{
	return 0;
}
#endif

/* --- vmalloc.c, stack.c ----------------------------------------------------------------------- */

/** vm_create() - make an area of @size bytes, with @guard_low unmapped bytes before it and one
 *  unmapped page after it. @align: alignment of the start of the range, guard included; PAGE_SIZE or
 *  more. Return: NULL if there is no memory or no address space. */
struct vm_struct *vm_create(size_t size, size_t guard_low, size_t align, gfp_t gfp,
			    uintptr_t caller);

/* Unmapped below such a stack. A frame of a program may be larger than a page, and must not reach beyond. */
#define DEMAND_GUARD (64UL << 10)

/** vm_create_demand() - make the area of a stack with page tables, shadow and guards, and without pages. */
struct vm_struct *vm_create_demand(size_t size, gfp_t gfp, uintptr_t caller);

/** vm_open_stack() - unpoison a stack for its task. A stack has no tag, because the stack pointer
 *  must match all of it. */
static inline void vm_open_stack(void *stack, size_t size)
{
	if (MM_REDZONES)
		(void)kasan_unpoison_vmalloc(stack, size);
	else
		kasan_unpoison_stack(stack, (char *)stack + size);
}

/* --- stack_demand.c --------------------------------------------------------------------------- */

/** stack_demand_begin() - give the stack @vm its first pages and its reserve. Return: false if there is no memory. */
bool stack_demand_begin(struct vm_struct *vm);

/** stack_reserve_free() - free the pages that a stack keeps. @reserve: may be NULL. */
void stack_reserve_free(struct stack_reserve *reserve);

/** stack_cache_drop() - free the stacks that CPUs keep. */
void stack_cache_drop(void);

#endif /* MM_VMAP_H */
