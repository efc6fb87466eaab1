/* SPDX-License-Identifier: MIT */
/*
 * vmalloc.h - memory that is contiguous in the address space only, built page by page, with an unmapped
 * guard page after each area; and the stacks of tasks, with a guard page on either side.
 */
#ifndef KERNEL_VMALLOC_H
#define KERNEL_VMALLOC_H

#include <kasan/tag.h>
#include <kernel/gfp.h>
#include <kernel/types.h>

struct task;
struct vmap_range;
struct stack_reserve;

/**
 * struct vm_struct - one area
 * @addr: its first byte, as returned to the caller.
 * @size: requested bytes.
 * @nr_pages: number of its pages.
 * @borrowed: the pages belong to the caller of vmap().
 * @pages: their descriptors.
 * @caller: code address of the request.
 * @range: its address space, including guard pages.
 * @few: room for @pages if they are few.
 * @reserve: of a stack whose pages come when they are touched: pages for that. @pages then has NULL where there is none yet.
 * @task: the owner, if it is a stack in use, else NULL.
 * @scs: of a stack: the shadow call stack that goes with it.
 */
#define VM_FEW_PAGES 8
struct vm_struct {
	void *addr;
	size_t size;
	unsigned int nr_pages;
	bool borrowed;
	struct page **pages;
	uintptr_t caller;
	struct vmap_range *range;
	struct page *few[VM_FEW_PAGES];
	struct stack_reserve *reserve;
	const struct task *task;
#ifdef CONFIG_SHADOW_CALL_STACK
	void *scs;
#endif
};

/**
 * vmalloc(), vzalloc() - allocate @size bytes, page-aligned; vzalloc() clears them
 *
 * May take long: not for interrupts.
 *
 * Return: the address; NULL if there is no memory or address space, or with a warning if @size is 0.
 */
void *vmalloc(size_t size);
void *vzalloc(size_t size);

/** __vmalloc() - the same with flags: __GFP_ZERO, __GFP_NOWARN. */
void *__vmalloc(size_t size, gfp_t gfp);

/** __vmalloc_align() - the same at a multiple of @align, a power of two of at least PAGE_SIZE. */
void *__vmalloc_align(size_t size, size_t align, gfp_t gfp);

/** vfree() - free an area. NULL is ignored; an address other than the start of an area causes a warning. Any
 *  context. The addresses stay unused for a while, so that late accesses are noticed. */
void vfree(const void *addr);

/**
 * vrealloc() - change the size of an area, in its pages or by moving it
 * @p: from vmalloc() and the others above; NULL: just __vmalloc().
 * @size: bytes; 0 frees the area.
 * @gfp: with __GFP_ZERO the bytes after the old size are cleared. Others are copied or undefined.
 *
 * May take long: not for interrupts. The caller keeps others from using or freeing the area meanwhile.
 *
 * Return: the area; NULL after freeing it, or if there is no memory, with @p still valid. A pointer that is
 * not the start of a live area is reported or causes a warning, and the result is NULL.
 */
void *vrealloc(const void *p, size_t size, gfp_t gfp);

/** vmap() - map @nr pages of the caller at contiguous addresses. vfree() unmaps them, and does not free
 *  them. Return: the address, NULL if there is no memory or address space. */
void *vmap(struct page *const *pages, unsigned int nr);

/** is_vmalloc_addr() - Return: true if @addr lies in vmalloc space, with or without an area there. */
static inline bool is_vmalloc_addr(const void *addr)
{
	unsigned long at = kasan_untag_addr((unsigned long)addr);

	return at >= VMALLOC_START && at < VMALLOC_END;
}

/** find_vm_area() - Return: the live area that @addr lies in, without its guard pages; NULL if there is
 *  none. Valid only while the caller keeps it from being freed. */
struct vm_struct *find_vm_area(const void *addr);

/** vmalloc_to_page() - Return: descriptor of the page mapped at @addr; NULL if there is none. */
struct page *vmalloc_to_page(const void *addr);

/**
 * stack_alloc() - allocate a stack for a task
 * @size: bytes, rounded up to pages.
 * @task: the task that gets the stack, named in reports, and its shadow call stack, if tasks have one;
 *	NULL: none.
 *
 * Its shadow is clean, even if the memory was a stack before. Contents are undefined.
 *
 * Return: its lowest address; NULL if there is no memory. Not for interrupts.
 */
void *stack_alloc(size_t size, struct task *task);

/** stack_alloc_demand() - the same for a large stack. Only its upper end is there at first, and other pages come when they are
 *  touched: see stack_demand.c. @task: not NULL. */
void *stack_alloc_demand(size_t size, struct task *task);

/** stack_has_room() - Return: true if the running task is on a stack of stack_alloc_demand(), and [@sp - @size, @sp) is in it. */
bool stack_has_room(unsigned long sp, size_t size);

/**
 * stack_demand() - map the page of a stack at @addr, which was touched, and some below it
 * @allocate: the interrupted code had interrupts on, so that memory can be allocated.
 * @low: set to true if there may not be enough memory the next time: stack_refill() is due.
 *
 * Called with interrupts off, by the handler of a fault. Takes no lock that the interrupted code may hold.
 *
 * Return: false if that is no such page, or there is no memory for it.
 */
bool stack_demand(unsigned long addr, bool allocate, bool *low);

/** stack_refill() - get memory for later calls of stack_demand() by the running task. Return: false if there is too little. */
bool stack_refill(gfp_t gfp);

/** stack_free() - free a stack that no code runs on. NULL is ignored. Any context. */
void stack_free(void *stack);

/** stack_is_kept() - Return: true if @p lies in a freed stack that is kept for the next task. In kernels with the lock
 *  validator. Any context. */
bool stack_is_kept(const void *p);

/** vmalloc_init() - called once by mm_init(). */
void vmalloc_init(void);

/** vmalloc_spare_objects() - Return: number of descriptors that wait for reuse, or describe free addresses.
 *  They are allocated objects, but not leaks. */
unsigned long vmalloc_spare_objects(void);

/** vmalloc_nr_areas(), vmalloc_purge() - Return: number of live areas; free all freed addresses, their
 *  shadow and all cached stacks now, for tests and when memory is short. */
unsigned long vmalloc_nr_areas(void);
void vmalloc_purge(void);

/** vmalloc_kept_shadow() - Return: number of shadow pages that describe only unused addresses, and are kept
 *  for the next areas. @max: filled with the limit if not NULL. Both are 0 without shadow. */
unsigned long vmalloc_kept_shadow(unsigned long *max);

/** vmalloc_release_shadow() - free the real shadow of [@start, @end), in whole shadow pages. The addresses
 *  are poisoned and unused, and cannot be allocated meanwhile. Any context. */
void vmalloc_release_shadow(unsigned long start, unsigned long end);

#endif /* KERNEL_VMALLOC_H */
