/* SPDX-License-Identifier: MIT */
/*
 * kasan_init.c - shadow memory on arm64.
 *
 * The states of a shadow page:
 *  - open: one page of SHADOW_OPEN, read-only, for all of the upper half through three shared tables.
 *    The memory it describes is accessible, and that cannot be changed. With software tags it holds "the tag of
 *    pointers without a tag", so those pass the first comparison.
 *  - image: reserved by the linker script and real from the first C function on, so that boot stacks and globals
 *    can be poisoned before memory management exists.
 *  - free: one page of KASAN_PAGE_FREE, read-only, for RAM that was never allocated. Writing the shadow of all
 *    RAM, an eighth of it, would take most of the boot time.
 *  - real: shadow of RAM from the first allocation of a page of the block on, and for ever; shadow of vmalloc and
 *    module space from kasan_map_shadow() on.
 *  - closed: one page of KASAN_VMALLOC_INVALID, read-only, where kasan_unmap_shadow() has taken real pages away.
 *
 * The shadow of RAM is made of blocks of 2 MiB, each for 16 MiB of RAM (with software tags 32 MiB). That
 * takes fewer tables, and checked accesses miss the TLB less often. Their memory is set aside at boot, so
 * making a block real cannot fail.
 *
 * Not instrumented: it runs before there is shadow, and changes shadow while other code is using it.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/memblock.h>
#include <kernel/printk.h>
#include <asm/irqflags.h>
#include <asm/percpu.h>
#include "internal.h"

#ifdef CONFIG_KASAN_SHADOW_OFFSET

#define SHADOW_OPEN   (KASAN_SHADOW_OPEN * 0x0101010101010101UL)
#define SHADOW_FREE   (KASAN_PAGE_FREE * 0x0101010101010101UL)
#define SHADOW_CLOSED (KASAN_VMALLOC_INVALID * 0x0101010101010101UL)

extern char __kasan_image_shadow_start[], __kasan_image_shadow_end[];

static u64 open_pud[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u64 open_pmd[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u64 open_pte[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u8 open_page[PAGE_SIZE] __aligned(PAGE_SIZE);

#define SHADOW_BLOCK (1UL << PMD_SHIFT)

static u64 free_pte[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u8 free_page[PAGE_SIZE] __aligned(PAGE_SIZE);
static u8 closed_page[PAGE_SIZE] __aligned(PAGE_SIZE);

/* One word for each block: the physical address of its memory, and KASAN_BLOCK_*. */
u64 *kasan_blocks;

static unsigned long shadow_of(unsigned long va)
{
	return (kasan_untag_addr(va) >> KASAN_SHADOW_SCALE_SHIFT) + CONFIG_KASAN_SHADOW_OFFSET;
}

/* A loop in assembly, for the same reason as in clear_table(). */
static void fill_memory(void *start, size_t size, u64 value)
{
	void *end = (char *)start + size;

	__asm__ __volatile__("1:	stp	%2, %2, [%0]\n"
			     "	stp	%2, %2, [%0, #16]\n"
			     "	stp	%2, %2, [%0, #32]\n"
			     "	stp	%2, %2, [%0, #48]\n"
			     "	add	%0, %0, #64\n"
			     "	cmp	%0, %1\n"
			     "	b.lo	1b"
			     : "+r"(start)
			     : "r"(end), "r"(value)
			     : "cc", "memory");
}

void kasan_early_init(void)
{
	extern u64 swapper_pg_dir[];
	unsigned long image = shadow_of((unsigned long)_text);
	unsigned long first = (KASAN_SHADOW_START >> PGD_SHIFT) & (PTRS_PER_TABLE - 1);
	unsigned long count = (KASAN_SHADOW_END - KASAN_SHADOW_START) >> PGD_SHIFT;

	/* Both lie in .bss, which is zero. */
	if (SHADOW_OPEN) {
		fill_memory(open_page, PAGE_SIZE, SHADOW_OPEN);
		fill_memory(__kasan_image_shadow_start,
			    (size_t)(__kasan_image_shadow_end - __kasan_image_shadow_start),
			    SHADOW_OPEN);
	}
	for (unsigned int i = 0; i < PTRS_PER_TABLE; i++) {
		open_pte[i] = __pa_symbol(open_page) | PAGE_KERNEL_RO | PTE_TYPE_PAGE;
		open_pmd[i] = __pa_symbol(open_pte) | PTE_TYPE_TABLE;
		open_pud[i] = __pa_symbol(open_pmd) | PTE_TYPE_TABLE;
	}
	for (unsigned long i = first; i < first + count; i++)
		swapper_pg_dir[i] = __pa_symbol(open_pud) | PTE_TYPE_TABLE;
	pgtable_share(__pa_symbol(open_pud));
	pgtable_share(__pa_symbol(open_pmd));
	pgtable_share(__pa_symbol(open_pte));

	if (map_kernel_range(image, __pa_symbol(__kasan_image_shadow_start),
			     __kasan_image_shadow_end - __kasan_image_shadow_start, PAGE_KERNEL))
		early_panic("no page tables for the shadow of the kernel image\n");
}

#ifdef CONFIG_KASAN_TAGGED_GLOBALS
extern const struct kasan_global_descriptor __start_hwasan_globals[], __stop_hwasan_globals[];

void kasan_prepare_image_globals(void)
{
	kasan_prepare_globals(__start_hwasan_globals, __stop_hwasan_globals);
}

void kasan_load_image_globals(void)
{
	static struct kasan_globals_table image;

	kasan_load_globals(&image, __start_hwasan_globals, __stop_hwasan_globals);
}
#endif

static bool is_real(unsigned long shadow)
{
	int level;
	u64 entry = READ_ONCE(*pgtable_walk(shadow, &level));

	/* The shared pages are never writable. */
	return (entry & (PTE_VALID | PTE_RDONLY)) == PTE_VALID;
}

/* Numbers of real shadow pages: all, and those of vmalloc space. Written under the page tables' lock. */
static unsigned long nr_real;
unsigned long kasan_nr_vmalloc_shadow;

/* Nothing above vmalloc space has shadow. */
static bool is_of_vmalloc(unsigned long shadow)
{
	return shadow >= shadow_of(VMALLOC_START);
}

/* Make one shadow page real, unless it is. The lock is held. */
static bool make_real(unsigned long shadow, u8 value)
{
	/* A page that could not be mapped, for want of memory for a table. It is used next. */
	static phys_addr_t spare;
	phys_addr_t page = spare;

	if (is_real(shadow))
		return true;
	if (!page)
		page = pgtable_page_alloc();
	if (!page)
		return false;
	fill_memory(__va(page), PAGE_SIZE, value * 0x0101010101010101UL);
	spare = __map_kernel_range(shadow, page, PAGE_SIZE, PAGE_KERNEL) ? page : 0;
	if (spare)
		return false;
	WRITE_ONCE(nr_real, nr_real + 1);
	if (is_of_vmalloc(shadow))
		WRITE_ONCE(kasan_nr_vmalloc_shadow, kasan_nr_vmalloc_shadow + 1);
	return true;
}

bool kasan_map_shadow(unsigned long va, size_t size, u8 value)
{
	unsigned long start, end, shadow;
	bool ok = true;

	if (!size)
		return true;
	start = shadow_of(va) & PAGE_MASK;
	end = shadow_of(va + size - 1) + 1;
	for (shadow = start; shadow < end && ok; shadow += PAGE_SIZE) {
		unsigned long flags;

		/* Real shadow stays, and nearly always an earlier call has made it. */
		if (likely(is_real(shadow)))
			continue;
		/* Lock for one page at a time: a large area must not keep interrupts off. */
		flags = pgtable_lock_irqsave();
		ok = make_real(shadow, value);
		pgtable_unlock_irqrestore(flags);
	}
	return ok;
}

unsigned int kasan_unmap_shadow(unsigned long va, size_t size, phys_addr_t *pages)
{
	const unsigned long start = shadow_of(va), end = start + (size >> KASAN_SHADOW_SCALE_SHIFT);
	/* With kasan=off no access is to be reported. */
	const u64 shared = kasan_on() ? __pa_symbol(closed_page) : __pa_symbol(open_page);
	unsigned long flags = pgtable_lock_irqsave();
	unsigned long shadow;
	unsigned int n = 0;
	int level;

	/* Break before make, for all pages at once: the expensive part is flushing the TLBs of all CPUs. */
	for (shadow = start; shadow < end; shadow += PAGE_SIZE) {
		u64 *entry = pgtable_walk(shadow, &level);

		if (!is_real(shadow))
			continue;
		pages[n++] = *entry & PTE_ADDR_MASK;
		WRITE_ONCE(*entry, 0);
		WRITE_ONCE(nr_real, nr_real - 1);
		if (is_of_vmalloc(shadow))
			WRITE_ONCE(kasan_nr_vmalloc_shadow, kasan_nr_vmalloc_shadow - 1);
	}
	if (n)
		flush_tlb_kernel_range(start, end);
	for (shadow = start; n && shadow < end; shadow += PAGE_SIZE) {
		u64 *entry = pgtable_walk(shadow, &level);

		if (!(READ_ONCE(*entry) & PTE_VALID))
			WRITE_ONCE(*entry, shared | PAGE_KERNEL_RO | PTE_TYPE_PAGE);
	}
	/* Table walks must see this before a CPU that waits for the lock tries again. */
	dsb(ishst);
	isb();
	pgtable_unlock_irqrestore(flags);
	return n;
}

unsigned long kasan_shadow_below(unsigned long low, unsigned long high)
{
	unsigned long start = shadow_of(low);

	return low +
	       ((pgtable_own_below(start, shadow_of(high)) - start) << KASAN_SHADOW_SCALE_SHIFT);
}

bool kasan_shadow_is_real(unsigned long va)
{
	bool writable = false;

	return kernel_va_to_pa(shadow_of(va), &writable) && writable;
}

unsigned long kasan_shadow_pages(void)
{
	return READ_ONCE(nr_real);
}

bool kasan_shadow_spurious_fault(unsigned long far)
{
	unsigned long flags;
	bool mapped;
	int level;

	if (far < KASAN_SHADOW_START || far >= KASAN_SHADOW_END)
		return false;
	if (pgtable_lock_is_mine())
		return false;
	flags = pgtable_lock_irqsave();
	mapped = READ_ONCE(*pgtable_walk(far, &level)) & PTE_VALID;
	pgtable_unlock_irqrestore(flags);
	return mapped;
}

/* --- RAM -------------------------------------------------------------------------------------- */

static u64 *block_of(unsigned long va)
{
	return &kasan_blocks[(va - PAGE_OFFSET) >> KASAN_BLOCK_SHIFT];
}

/*
 * Filling a block's memory takes as long as writing 2 MiB, too long for one piece with interrupts off. So it is filled
 * in pieces, and its word in kasan_blocks[] counts those that are done. All that want the block at the same time
 * fill it together, an interrupt handler as well; nobody waits for a context that may be interrupted or preempted.
 */
#define PIECE	    (16UL << 10)
#define PIECE_SHIFT 2
#define PIECE_ONE   (1UL << PIECE_SHIFT)
#define PIECE_MASK  (PAGE_SIZE - PIECE_ONE)
_Static_assert(SHADOW_BLOCK / PIECE * PIECE_ONE < PAGE_SIZE, "the number of pieces fits");

/* Come closer to giving the block of @va its own memory, with the value that the shared page had. The lock is held.
 * Return: true if it has it. */
static bool make_block_real(unsigned long va)
{
	u64 *block = block_of(va);
	phys_addr_t pa = READ_ONCE(*block) & PAGE_MASK;
	unsigned long shadow = shadow_of(va) & ~(SHADOW_BLOCK - 1);

	size_t done = (*block & PIECE_MASK) / PIECE_ONE * PIECE;

	if (*block & KASAN_BLOCK_REAL)
		return true;
	if (done < SHADOW_BLOCK) {
		fill_memory(__va(pa) + done, PIECE,
			    *block & KASAN_BLOCK_FREE ? SHADOW_FREE : SHADOW_OPEN);
		*block += PIECE_ONE;
		return false;
	}
	/* kasan_shadow_init() has made its table. */
	if (__map_kernel_range(shadow, pa, SHADOW_BLOCK, PAGE_KERNEL | PROT_BLOCKS_OK))
		early_panic("the shadow of %lx cannot be mapped\n", va);
	__atomic_store_n(block, pa | KASAN_BLOCK_REAL, __ATOMIC_RELEASE);
	return true;
}

void __kasan_want_linear_shadow(unsigned long va)
{
	bool real = false;

	while (!real) {
		unsigned long flags = arch_local_irq_save();
		/* The caller may hold the lock already: page tables are allocated under it. */
		bool mine = pgtable_lock_is_mine();

		if (!mine)
			pgtable_lock();
		real = make_block_real(va);
		if (!mine)
			pgtable_unlock();
		arch_local_irq_restore(flags);
	}
}

void kasan_free_boot_memory(unsigned long start, unsigned long end)
{
	const unsigned long span = 1UL << KASAN_BLOCK_SHIFT;

	if (!kasan_on())
		return;
	while (start < end) {
		unsigned long next = min((start & ~(span - 1)) + span, end);
		u64 *block = block_of(start);

		if (next - start == span && !(*block & KASAN_BLOCK_REAL)) {
			pgtable_set_block_table(shadow_of(start), __pa_symbol(free_pte));
			*block |= KASAN_BLOCK_FREE;
		} else {
			kasan_want_linear_shadow((void *)start);
			kasan_free_pages((void *)start, next - start);
		}
		start = next;
	}
}

/* Prepare the shadow of one bank of RAM: whole blocks become real later, the parts at its ends now. */
static void init_bank(unsigned long start, unsigned long end)
{
	const unsigned long span = 1UL << KASAN_BLOCK_SHIFT;
	unsigned long shadow, next;

	for (; start < end; start = next) {
		next = min((start & ~(span - 1)) + span, end);
		if (next - start == span) {
			phys_addr_t pa = memblock_phys_alloc(SHADOW_BLOCK, SHADOW_BLOCK);

			if (pa &&
			    pgtable_set_block_table(shadow_of(start), __pa_symbol(open_pte))) {
				*block_of(start) = pa;
				continue;
			}
		}
		*block_of(start) = KASAN_BLOCK_REAL;
		for (shadow = shadow_of(start) & PAGE_MASK; shadow < shadow_of(next - 1) + 1;
		     shadow += PAGE_SIZE) {
			if (!make_real(shadow, KASAN_SHADOW_OPEN))
				early_panic("not enough memory for the shadow of RAM\n");
		}
	}
}

void kasan_shadow_init(void)
{
	const struct memblock_region *bank;
	unsigned long end = PAGE_OFFSET, blocks;

	fill_memory(free_page, PAGE_SIZE, SHADOW_FREE);
	fill_memory(closed_page, PAGE_SIZE, SHADOW_CLOSED);
	for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
		free_pte[i] = __pa_symbol(free_page) | PAGE_KERNEL_RO | PTE_TYPE_PAGE;
	pgtable_share(__pa_symbol(free_pte));

	for (unsigned int i = 0; (bank = memblock_memory_region(i)); i++)
		end = max(end, (unsigned long)__va(bank->base) + bank->size);
	blocks = ((end - 1 - PAGE_OFFSET) >> KASAN_BLOCK_SHIFT) + 1;
	kasan_blocks = memblock_alloc(blocks * sizeof(*kasan_blocks), sizeof(*kasan_blocks));
	if (!kasan_blocks)
		early_panic("not enough memory for the shadow of RAM\n");
	/* With kasan=off RAM keeps the shared open page for ever, and no block is made real. */
	if (!kasan_on()) {
		while (blocks)
			kasan_blocks[--blocks] = KASAN_BLOCK_REAL;
		return;
	}
	for (unsigned int i = 0; (bank = memblock_memory_region(i)); i++) {
		unsigned long start = (unsigned long)__va(bank->base);

		init_bank(start, start + bank->size);
	}
}

#endif /* CONFIG_KASAN_SHADOW_OFFSET */
