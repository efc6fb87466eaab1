/* SPDX-License-Identifier: MIT */
/*
 * vmalloc.h - memory that is contiguous in address space only, built page by page, with an unmapped
 * guard page behind each area; and the stacks of tasks, which have one on either side.
 */
#ifndef KERNEL_VMALLOC_H
#define KERNEL_VMALLOC_H

#include <kasan/tag.h>
#include <kernel/gfp.h>
#include <kernel/types.h>

struct task;
struct vmap_range;

/**
 * struct vm_struct - one area
 * @addr: its first byte, as its user got it.
 * @size: bytes asked for.
 * @nr_pages: pages behind it.
 * @borrowed: the pages are of somebody who called vmap(), and stay his.
 * @pages: their descriptors.
 * @caller: code address that asked for it.
 * @range: the address space it takes, guard pages included.
 * @few: where @pages is, if they are few.
 * @task: whose stack it is; NULL: it is none in use.
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
	const struct task *task;
};

/**
 * vmalloc(), vzalloc() - allocate @size bytes, page-aligned; vzalloc() clears them
 *
 * May take long: not for interrupts.
 *
 * Return: NULL if @size is 0 (warned about) or there is no memory or address space.
 */
void *vmalloc(size_t size);
void *vzalloc(size_t size);

/** __vmalloc() - the same with flags: __GFP_ZERO, __GFP_NOWARN. */
void *__vmalloc(size_t size, gfp_t gfp);

/** __vmalloc_align() - the same, at a multiple of @align, a power of two of at least PAGE_SIZE. */
void *__vmalloc_align(size_t size, size_t align, gfp_t gfp);

/** vfree() - give an area back; NULL is ignored, any address but the start of an area is warned
 *  about. Any context. The addresses stay unused for a while, so that late accesses are noticed. */
void vfree(const void *addr);

/** vmap() - make @nr pages of the caller's contiguous by address. vfree() undoes it, and leaves the pages
 *  alone. Return: NULL if there is no memory or address space. */
void *vmap(struct page *const *pages, unsigned int nr);

/** is_vmalloc_addr() - Return: true if @addr lies in vmalloc space, whether an area is there or not. */
static inline bool is_vmalloc_addr(const void *addr)
{
	unsigned long at = kasan_untag_addr((unsigned long)addr);

	return at >= VMALLOC_START && at < VMALLOC_END;
}

/** find_vm_area() - Return: the live area that @addr lies in, guard pages excluded; NULL if none. It is
 *  only good for as long as somebody keeps it from being freed. */
struct vm_struct *find_vm_area(const void *addr);

/** vmalloc_to_page() - Return: descriptor of the page mapped at @addr; NULL if there is none. */
struct page *vmalloc_to_page(const void *addr);

/**
 * stack_alloc() - a stack for a task
 * @size: bytes, rounded up to pages.
 * @task: the task, whose @stack will be what is returned; reports name it. NULL: nobody.
 *
 * Its shadow is clean whatever ran on it before. Contents are undefined.
 *
 * Return: its lowest address; NULL if there is no memory. Not for interrupts.
 */
void *stack_alloc(size_t size, const struct task *task);

/** stack_free() - give a stack back, once nothing runs on it any more. NULL is ignored. Any context. */
void stack_free(void *stack);

/** vmalloc_init() - called once by mm_init(). */
void vmalloc_init(void);

/** vmalloc_spare_objects() - Return: descriptors that wait for their next use, or describe free addresses;
 *  they are allocated objects, and how many there are says nothing. */
unsigned long vmalloc_spare_objects(void);

/** vmalloc_nr_areas(), vmalloc_purge() - Return: live areas; give all freed addresses, their shadow, and all
 *  cached stacks back at once, for tests and when memory is short. */
unsigned long vmalloc_nr_areas(void);
void vmalloc_purge(void);

/** vmalloc_kept_shadow() - Return: shadow pages that describe only addresses nobody uses, and that are kept for
 *  the next areas. @max: filled, if not NULL, with how many there may be. Both 0 without shadow. */
unsigned long vmalloc_kept_shadow(unsigned long *max);

/** vmalloc_release_shadow() - give back the real shadow of [@start, @end), whole shadow pages of addresses
 *  that nobody uses or can get meanwhile, and that are poisoned. Any context. */
void vmalloc_release_shadow(unsigned long start, unsigned long end);

#endif /* KERNEL_VMALLOC_H */
