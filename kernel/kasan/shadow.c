/* SPDX-License-Identifier: MIT */
/*
 * shadow.c - shadow memory: the states of its pages, and how they change.
 *
 * The states of a shadow page:
 *  - open: one page of SHADOW_OPEN, read-only, for all of the kernel's half through shared tables.
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
 * The shadow of RAM is made of blocks that one entry of a page table maps: with tables of 4 KiB these are 2 MiB, each for
 * 16 MiB of RAM (with software tags 32 MiB). That takes fewer tables, and checked accesses miss the TLB less often. Their
 * memory is set aside at boot, so making a block real cannot fail.
 *
 * Not instrumented: it runs before there is shadow, and changes shadow while other code is using it.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kasan_shadow.h>
#include <kernel/memblock.h>
#include <kernel/printk.h>
#include <kernel/pgtable.h>
#include <kernel/string.h>
#include <asm/irqflags.h>

#include "internal.h"

#ifdef CONFIG_KASAN_SHADOW_OFFSET

extern char __kasan_image_shadow_start[], __kasan_image_shadow_end[];

static u8 open_page[PAGE_SIZE] __aligned(PAGE_SIZE);
static u8 free_page[PAGE_SIZE] __aligned(PAGE_SIZE);
static u8 closed_page[PAGE_SIZE] __aligned(PAGE_SIZE);

#define SHADOW_BLOCK (1UL << PMD_SHIFT)

/* One word for each block: the physical address of its memory, and KASAN_BLOCK_*. */
u64 *kasan_blocks;

static unsigned long shadow_of(unsigned long va)
{
	return (kasan_untag_addr(va) >> KASAN_SHADOW_SCALE_SHIFT) + CONFIG_KASAN_SHADOW_OFFSET;
}

/* 128 bytes at a time: the boot fills megabytes, and memset() takes a fifth more instructions. @size: a multiple. */
static void fill(void *start, u8 value, size_t size)
{
	u64 *at = start, *const end = (u64 *)((char *)start + size);
	u64 word = value * 0x0101010101010101UL;

	/* Else a compiler may make a memset() of it again, and that checks shadow. */
	OPTIMIZER_HIDE_VAR(word);
	while (at < end) {
#pragma GCC unroll 16
		for (unsigned int i = 0; i < 16; i++)
			at[i] = word;
		at += 16;
		OPTIMIZER_HIDE_VAR(at);
	}
}

void kasan_early_init(void)
{
	unsigned long image = shadow_of((unsigned long)_text);
	const size_t size = (size_t)(__kasan_image_shadow_end - __kasan_image_shadow_start);

	/* Both lie in .bss, which is zero. */
	if (KASAN_SHADOW_OPEN) {
		__memset(open_page, KASAN_SHADOW_OPEN, PAGE_SIZE);
		__memset(__kasan_image_shadow_start, KASAN_SHADOW_OPEN, size);
	}
	pgtable_map_all(KASAN_SHADOW_START, KASAN_SHADOW_END, __pa_symbol(open_page));
	if (map_kernel_range(image, __pa_symbol(__kasan_image_shadow_start), size, PAGE_KERNEL))
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

/* Numbers of real shadow pages: all, and those of vmalloc space. Written under the page tables' lock. */
static unsigned long nr_real;
unsigned long kasan_nr_vmalloc_shadow;

static bool is_of_vmalloc(unsigned long shadow)
{
	return shadow >= shadow_of(VMALLOC_START) && shadow < shadow_of(VMALLOC_END);
}

/* Make one shadow page real, unless it is. The lock is held. */
static bool make_real(unsigned long shadow, u8 value)
{
	/* A page that could not be mapped, for want of memory for a table. It is used next. */
	static phys_addr_t spare;
	phys_addr_t page = spare;

	if (pgtable_is_writable(shadow))
		return true;
	if (!page)
		page = pgtable_page_alloc();
	if (!page)
		return false;
	fill(__va(page), value, PAGE_SIZE);
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
		if (likely(pgtable_is_writable(shadow)))
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
	const phys_addr_t shared = __pa_symbol(kasan_on() ? closed_page : open_page);
	unsigned long flags = pgtable_lock_irqsave();
	unsigned long shadow;
	unsigned int n = 0;

	/* For all pages at once, because the expensive part is flushing the TLBs of all CPUs. A CPU that touches the shadow
	 * meanwhile waits for the lock: kasan_shadow_spurious_fault(). */
	for (shadow = start; shadow < end; shadow += PAGE_SIZE) {
		if (!pgtable_is_writable(shadow))
			continue;
		pages[n++] = pgtable_take_page(shadow);
		WRITE_ONCE(nr_real, nr_real - 1);
		if (is_of_vmalloc(shadow))
			WRITE_ONCE(kasan_nr_vmalloc_shadow, kasan_nr_vmalloc_shadow - 1);
	}
	if (n)
		flush_tlb_kernel_range(start, end);
	for (shadow = start; n && shadow < end; shadow += PAGE_SIZE) {
		if (!kernel_va_to_pa(shadow, NULL))
			map_prepared_page(shadow, shared, PAGE_KERNEL_RO);
	}
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
	return pgtable_is_writable(shadow_of(va));
}

unsigned long kasan_shadow_pages(void)
{
	return READ_ONCE(nr_real);
}

bool kasan_shadow_spurious_fault(unsigned long far)
{
	unsigned long flags;
	bool mapped;

	if (far < KASAN_SHADOW_START || far >= KASAN_SHADOW_END)
		return false;
	if (pgtable_lock_is_mine())
		return false;
	flags = pgtable_lock_irqsave();
	mapped = kernel_va_to_pa(far, NULL) != 0;
	pgtable_unlock_irqrestore(flags);
	return mapped;
}

/* --- RAM -------------------------------------------------------------------------------------- */

static u64 *block_of(unsigned long va)
{
	return &kasan_blocks[(va - PAGE_OFFSET) >> KASAN_BLOCK_SHIFT];
}

/*
 * Filling a block's memory takes as long as writing all of it, too long for one piece with interrupts off. So it is filled
 * in pieces, and its word in kasan_blocks[] counts those that are done. All that want the block at the same time
 * fill it together, an interrupt handler too; none waits for a context that may be interrupted or preempted.
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
		fill(__va(pa) + done,
		     *block & KASAN_BLOCK_FREE ? KASAN_PAGE_FREE : KASAN_SHADOW_OPEN, PIECE);
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
			pgtable_map_block_to(shadow_of(start), __pa_symbol(free_page));
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

			if (pa && pgtable_map_block_to(shadow_of(start), __pa_symbol(open_page))) {
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

	__memset(free_page, KASAN_PAGE_FREE, PAGE_SIZE);
	__memset(closed_page, KASAN_VMALLOC_INVALID, PAGE_SIZE);

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
