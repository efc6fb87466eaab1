// SPDX-License-Identifier: MIT
/*
 * stack_demand.c - stacks whose pages come when they are touched: those of programs, which may be large and mostly unused.
 *
 * Such a stack has addresses, page tables and shadow from the start, and memory at its upper end. A touch below faults. The
 * handler of the fault cannot run there, so the entry changes to a stack of the CPU, see overflow_entry in entry.S. It maps
 * the page and some below it, so that not every frame faults, and the interrupted code goes on.
 *
 * That code may be the kernel's, with any lock held and interrupts off: a system call runs on the program's stack, and so
 * does an interrupt. Memory then comes from pages that each such task keeps for this. They are enough for what the kernel may
 * use of a stack at all, twice. If the interrupted code had interrupts on, it holds no lock that the page allocator
 * takes, which works in interrupts too; pages come from there, and what was kept is replaced.
 *
 * No lock is taken here for the task's own stack. Places are changed by atomic operations: another thread may touch the
 * same page at the same time, and a handler may itself touch a page that is not there.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/sched.h>

#include "vmap.h"

/* Mapped at a time: as much as all stack of an ordinary thread of the kernel. */
#define BATCH	 (THREAD_SIZE / PAGE_SIZE)
#define RESERVED (2 * BATCH)

#define STACK_GFP (__GFP_SKIP_KASAN | __GFP_NOWARN)

/** struct stack_reserve - pages that a task keeps for touches of stacks; NULL: none in that place */
struct stack_reserve {
	struct page *page[RESERVED];
};

static struct page *take(struct stack_reserve *reserve)
{
	struct page *page = NULL;

	for (unsigned int i = 0; reserve && i < RESERVED && !page; i++)
		page = __atomic_exchange_n(&reserve->page[i], NULL, __ATOMIC_RELAXED);
	return page;
}

/* Return: false if there is no place for @page. */
static bool keep(struct stack_reserve *reserve, struct page *page)
{
	for (unsigned int i = 0; i < RESERVED; i++) {
		struct page *none = NULL;

		if (__atomic_compare_exchange_n(&reserve->page[i], &none, page, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static unsigned int kept(const struct stack_reserve *reserve)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < RESERVED; i++)
		n += READ_ONCE(reserve->page[i]) != NULL;
	return n;
}

static bool refill(struct stack_reserve *reserve, gfp_t gfp)
{
	while (kept(reserve) < RESERVED) {
		struct page *page = alloc_page(gfp | STACK_GFP);

		if (!page)
			return false;
		if (!keep(reserve, page)) {
			__free_page(page);
			break;
		}
	}
	return true;
}

void stack_reserve_free(struct stack_reserve *reserve)
{
	struct page *page;

	while ((page = take(reserve)))
		__free_page(page);
	kfree(reserve);
}

static unsigned long start_of(const struct vm_struct *vm)
{
	return (unsigned long)kasan_reset_tag(vm->addr);
}

static struct page *new_page(bool allocate)
{
	struct page *page = allocate ? alloc_page(GFP_ATOMIC | STACK_GFP) : NULL;

	return page ?: take(current->demand ? current->demand->reserve : NULL);
}

static void give_back(struct page *page)
{
	if (!current->demand || !keep(current->demand->reserve, page))
		__free_page(page);
}

/* Return: false if there is no memory. */
static bool map_page(struct vm_struct *vm, size_t number, bool allocate)
{
	const unsigned long va = start_of(vm) + (number << PAGE_SHIFT);
	struct page *page = READ_ONCE(vm->pages[number]), *none = NULL;

	if (!page) {
		page = new_page(allocate);
		if (!page)
			return false;
		if (!__atomic_compare_exchange_n(&vm->pages[number], &none, page, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			give_back(page);
			page = none;
		}
	}
	/* The CPU that has put it there may not have come to this yet, or it is this one, interrupted. */
	if (!kernel_va_to_pa(va, NULL))
		map_prepared_page(va, page_to_phys(page), PAGE_KERNEL_TAGGED);
	return true;
}

static bool map_pages(struct vm_struct *vm, unsigned long addr, bool allocate)
{
	size_t number = (addr - start_of(vm)) >> PAGE_SHIFT;

	if (!map_page(vm, number, allocate))
		return false;
	for (unsigned int i = 1; i < BATCH && number; i++)
		if (!map_page(vm, --number, allocate))
			break;
	return true;
}

static bool has(const struct vm_struct *vm, unsigned long addr)
{
	return vm && addr - start_of(vm) < vm->size;
}

/* A thread may touch a variable of another one. The lock keeps that stack meanwhile. */
static bool map_others(unsigned long addr, bool allocate)
{
	struct vmap_range *range;
	bool mapped = false;

	if (!is_vmalloc_addr((const void *)addr))
		return false;
	/* If another CPU has it the access is tried again. This CPU touches no such variable while it has it. */
	if (raw_spin_lock_held(&vmap_lock))
		return false;
	if (!arch_spin_trylock(&vmap_lock))
		return true;
	range = vmap_lookup(&vmap_busy, addr);
	if (range && range->vm->reserve && has(range->vm, addr))
		mapped = map_pages(range->vm, addr, allocate);
	arch_spin_unlock(&vmap_lock);
	return mapped;
}

bool stack_demand(unsigned long addr, bool allocate, bool *low)
{
	struct vm_struct *own = current->demand;
	bool mapped;

	*low = false;
	if (has(own, addr))
		mapped = map_pages(own, addr, allocate);
	else
		mapped = map_others(addr, allocate);
	if (own && allocate)
		(void)refill(own->reserve, GFP_ATOMIC);
	*low = own && kept(own->reserve) < BATCH;
	return mapped;
}

bool stack_refill(gfp_t gfp)
{
	struct vm_struct *own = current->demand;

	if (!own)
		return true;
	/* The pages that are left may be enough. */
	return refill(own->reserve, gfp) || kept(own->reserve) >= BATCH;
}

bool stack_has_room(unsigned long sp, size_t size)
{
	const struct vm_struct *own = current->demand;

	return own && sp - size >= start_of(own) && sp <= start_of(own) + own->size && sp > size;
}

bool stack_demand_begin(struct vm_struct *vm)
{
	size_t number = vm->nr_pages;

	vm->reserve = kmalloc(sizeof(*vm->reserve), GFP_KERNEL | __GFP_ZERO);
	if (!vm->reserve || !refill(vm->reserve, GFP_KERNEL))
		return false;
	for (unsigned int i = 0; i < BATCH; i++) {
		struct page *page = alloc_page(GFP_KERNEL | STACK_GFP);

		if (!page)
			return false;
		vm->pages[--number] = page;
		map_prepared_page(start_of(vm) + (number << PAGE_SHIFT), page_to_phys(page),
				  PAGE_KERNEL_TAGGED);
	}
	return true;
}
