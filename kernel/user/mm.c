// SPDX-License-Identifier: MIT
/*
 * mm.c - address spaces of user programs: areas, their pages, and references to them.
 *
 * An area exists only with all of its pages, so nothing here or in user copies ever waits for a page. Page
 * tables are the architecture's, see <kernel/arch.h>.
 */
#include <kernel/arch.h>
#include <kernel/atomic.h>
#include <kernel/gfp.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/user_mm.h>

_Static_assert(USER_STACK_TOP <= TASK_SIZE && MMAP_BASE < USER_STACK_TOP, "the map of user memory");

static atomic64_t pages_in_use, tables_in_use, pages_being_mapped;

unsigned long user_pages_in_use(void)
{
	return (unsigned long)atomic64_read(&pages_in_use);
}

unsigned long user_tables_in_use(void)
{
	return (unsigned long)atomic64_read(&tables_in_use);
}

/* --- Areas -------------------------------------------------------------------------------------- */

static bool range_is_valid(unsigned long start, size_t size)
{
	return size && !(start & ~PAGE_MASK) && start >= MMAP_MIN_ADDR && start < TASK_SIZE &&
	       size <= TASK_SIZE - start;
}

/* The first area that ends above @addr, NULL if there is none. */
static struct vm_area *find_area(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area *area;

	list_for_each_entry (area, &mm->areas, list) {
		if (area->end > addr)
			return area;
	}
	return NULL;
}

/* The lowest hole of @size bytes at or above MMAP_BASE; 0 if there is none below the stack. */
static unsigned long find_hole(struct mm_struct *mm, size_t size)
{
	unsigned long start = MMAP_BASE;
	struct vm_area *area;

	list_for_each_entry (area, &mm->areas, list) {
		if (area->end <= start)
			continue;
		if (area->start >= start && area->start - start >= size)
			break;
		start = area->end;
	}
	if (start >= USER_STACK_TOP || size > USER_STACK_TOP - start)
		return 0;
	return start;
}

static struct vm_area *area_alloc(unsigned long start, unsigned long end, unsigned int prot)
{
	struct vm_area *area = kmalloc(sizeof(*area), GFP_KERNEL);

	if (area)
		*area = (struct vm_area){.start = start, .end = end, .prot = prot};
	return area;
}

static void remove_area(struct mm_struct *mm, struct vm_area *area)
{
	list_del(&area->list);
	kfree(area);
	mm->nr_areas--;
}

/* Neighbours with the same rights are merged: a heap that grows page by page stays one area. */
static void insert_area(struct mm_struct *mm, struct vm_area *area)
{
	struct vm_area *next = find_area(mm, area->start), *prev;

	/* Before the next one, or at the end of the list. */
	list_add_tail(&area->list, next ? &next->list : &mm->areas);
	mm->nr_areas++;
	if (area->list.prev != &mm->areas) {
		prev = list_prev_entry(area, list);
		if (prev->end == area->start && prev->prot == area->prot) {
			prev->end = area->end;
			remove_area(mm, area);
			area = prev;
		}
	}
	if (next && next->start == area->end && next->prot == area->prot) {
		area->end = next->end;
		remove_area(mm, next);
	}
}

/* --- Pages -------------------------------------------------------------------------------------- */

static void unmap_pages(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	LIST_HEAD(freed);
	struct page *page, *next;

	for (unsigned long va = start; va < end; va += PAGE_SIZE) {
		page = user_unmap_page(mm, va);
		if (page)
			list_add_tail(&page->lru, &freed);
	}
	/* No CPU may reach a page that has a new owner. */
	user_flush_tlb(mm, start, end);
	list_for_each_entry_safe (page, next, &freed, lru) {
		list_del(&page->lru);
		__free_page(page);
		mm->nr_pages--;
		atomic64_dec(&pages_in_use);
	}
}

static int map_pages(struct mm_struct *mm, unsigned long start, unsigned long end,
		     unsigned int prot)
{
	for (unsigned long va = start; va < end; va += PAGE_SIZE) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);

		if (!page || user_map_page(mm, va, page, prot)) {
			if (page)
				__free_page(page);
			unmap_pages(mm, start, va);
			return -ENOMEM;
		}
		mm->nr_pages++;
		atomic64_inc(&pages_in_use);
	}
	return 0;
}

/*
 * Programs leave an eighth of memory to the kernel. A request that would fail in the end fails at once, before it
 * takes long. Pages that other programs are mapping now count as gone.
 */
static bool reserve_pages(unsigned long nr)
{
	unsigned long all = (unsigned long)atomic64_add_return((s64)nr, &pages_being_mapped);

	return all + totalram_pages() / 8 <= nr_free_pages();
}

/* Only mapping makes tables, so their number is updated here. */
static int map_area(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned int prot)
{
	unsigned long tables = mm->nr_tables, nr = (end - start) >> PAGE_SHIFT;
	int err = -ENOMEM;

	if (prot == PROT_NONE)
		return 0;
	if (reserve_pages(nr))
		err = map_pages(mm, start, end, prot);
	atomic64_sub((s64)nr, &pages_being_mapped);
	atomic64_add((s64)(mm->nr_tables - tables), &tables_in_use);
	return err;
}

static long map_locked(struct mm_struct *mm, unsigned long start, size_t size, unsigned int prot)
{
	struct vm_area *area, *next;
	int err;

	if (size > TASK_SIZE)
		return -ENOMEM;
	size = PAGE_ALIGN(size);
	if (!start) {
		start = find_hole(mm, size);
		if (!start)
			return -ENOMEM;
	}
	if (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC) || !range_is_valid(start, size))
		return -EINVAL;
	next = find_area(mm, start);
	if (next && next->start < start + size)
		return -EEXIST;
	area = mm->nr_areas < MM_AREAS_MAX ? area_alloc(start, start + size, prot) : NULL;
	if (!area)
		return -ENOMEM;
	err = map_area(mm, start, start + size, prot);
	if (err) {
		kfree(area);
		return err;
	}
	insert_area(mm, area);
	return (long)start;
}

long mm_map(struct mm_struct *mm, unsigned long start, size_t size, unsigned int prot)
{
	long result;

	mutex_lock(&mm->lock);
	result = map_locked(mm, start, size, prot);
	mutex_unlock(&mm->lock);
	return result;
}

/* Areas without access rights have no pages, and may be as large as all of user space. */
static void unmap_range(struct mm_struct *mm, const struct vm_area *area, unsigned long start,
			unsigned long end)
{
	if (area->prot != PROT_NONE)
		unmap_pages(mm, start, end);
}

static int unmap_locked(struct mm_struct *mm, unsigned long start, size_t size)
{
	struct vm_area *area, *next, *second;
	unsigned long end;

	if (size > TASK_SIZE || !range_is_valid(start, PAGE_ALIGN(size)))
		return -EINVAL;
	end = start + PAGE_ALIGN(size);
	area = find_area(mm, start);
	if (!area || area->start >= end)
		return 0;
	/* Cutting a hole into one area makes two of it. */
	if (area->start < start && area->end > end) {
		second =
			mm->nr_areas < MM_AREAS_MAX ? area_alloc(end, area->end, area->prot) : NULL;
		if (!second)
			return -ENOMEM;
		area->end = start;
		list_add(&second->list, &area->list);
		mm->nr_areas++;
		unmap_range(mm, area, start, end);
		return 0;
	}
	for (; &area->list != &mm->areas && area->start < end; area = next) {
		next = list_next_entry(area, list);
		unmap_range(mm, area, max(area->start, start), min(area->end, end));
		if (area->start < start) {
			area->end = start;
		} else if (area->end > end) {
			area->start = end;
		} else {
			remove_area(mm, area);
		}
	}
	return 0;
}

int mm_unmap(struct mm_struct *mm, unsigned long start, size_t size)
{
	int result;

	mutex_lock(&mm->lock);
	result = unmap_locked(mm, start, size);
	mutex_unlock(&mm->lock);
	return result;
}

unsigned long mm_brk(struct mm_struct *mm, unsigned long brk)
{
	unsigned long from, to;

	mutex_lock(&mm->lock);
	from = PAGE_ALIGN(mm->brk);
	/* The heap ends below what vm_mmap() hands out. */
	if (mm->start_brk && brk >= mm->start_brk && brk <= MMAP_BASE) {
		to = PAGE_ALIGN(brk);
		if (to == from ||
		    (to > from && map_locked(mm, from, to - from, PROT_READ | PROT_WRITE) > 0) ||
		    (to < from && !unmap_locked(mm, to, from - to)))
			mm->brk = brk;
	}
	brk = mm->brk;
	mutex_unlock(&mm->lock);
	return brk;
}

/* --- Access from outside ------------------------------------------------------------------------- */

static int write_pages(struct mm_struct *mm, unsigned long va, const char *from, size_t n)
{
	while (n) {
		struct page *page = va < TASK_SIZE ? user_lookup_page(mm, va) : NULL;
		size_t piece = min(PAGE_SIZE - (va & ~PAGE_MASK), n);

		if (!page)
			return -EFAULT;
		memcpy((char *)page_to_virt(page) + (va & ~PAGE_MASK), from, piece);
		/* The program may be about to execute it. */
		user_sync_icache(page);
		from += piece;
		va += piece;
		n -= piece;
	}
	return 0;
}

int mm_write(struct mm_struct *mm, unsigned long to, const void *from, size_t n)
{
	int err;

	mutex_lock(&mm->lock);
	err = write_pages(mm, to, from, n);
	mutex_unlock(&mm->lock);
	return err;
}

unsigned long vm_mmap(void *file, unsigned long addr, size_t size, unsigned long prot,
		      unsigned long flags, unsigned long offset)
{
	if (!current->mm)
		return (unsigned long)-ESRCH;
	/* Nothing but memory of one's own, at an address that the kernel chooses. */
	if (file || addr || offset || flags != (MAP_PRIVATE | MAP_ANONYMOUS) || prot > UINT_MAX)
		return (unsigned long)-EINVAL;
	if (!size)
		return (unsigned long)-EINVAL;
	return (unsigned long)mm_map(current->mm, 0, size, (unsigned int)prot);
}

int vm_munmap(unsigned long addr, size_t size)
{
	return current->mm ? mm_unmap(current->mm, addr, size) : -ESRCH;
}

/* --- Life ----------------------------------------------------------------------------------------- */

struct mm_struct *mm_alloc(void)
{
	struct mm_struct *mm = kzalloc(sizeof(*mm), GFP_KERNEL);
	int err;

	if (!mm)
		return ERR_PTR(-ENOMEM);
	atomic_set(&mm->users, 1);
	mutex_init(&mm->lock);
	INIT_LIST_HEAD(&mm->areas);
	err = user_pgtable_init(mm);
	if (err) {
		kfree(mm);
		return ERR_PTR(err);
	}
	atomic64_add((long)mm->nr_tables, &tables_in_use);
	return mm;
}

void mmput(struct mm_struct *mm)
{
	struct vm_area *area, *next;

	if (!atomic_dec_and_test(&mm->users))
		return;
	/* A task that was killed under the lock may hold it for ever; no other user is left. */
	user_pgtable_destroy(mm);
	atomic64_sub((long)mm->nr_pages, &pages_in_use);
	atomic64_sub((long)mm->nr_tables, &tables_in_use);
	list_for_each_entry_safe (area, next, &mm->areas, list)
		kfree(area);
	kfree(mm);
}

static void set_mm(struct mm_struct *mm)
{
	unsigned long flags;

	/* Not between the two: a switch back would load what current->mm says. */
	local_irq_save(flags);
	WRITE_ONCE(current->mm, mm);
	current->user_state = mm || current->fpu;
	user_activate_mm(mm);
	local_irq_restore(flags);
}

void kthread_use_mm(struct mm_struct *mm)
{
	BUG_ON(current->mm);
	mmget(mm);
	set_mm(mm);
}

void kthread_unuse_mm(struct mm_struct *mm)
{
	BUG_ON(current->mm != mm);
	exit_mm();
}

void exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	set_mm(NULL);
	mmput(mm);
}
