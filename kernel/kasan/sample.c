// SPDX-License-Identifier: MIT
/*
 * sample.c - the kernel's part of sampling with guard pages (<kasan/sample.h>): the pool, its pages, and the time.
 *
 * The pool is an area of vmalloc space. Each object's page has memory of its own; all guards share one page, which is
 * mapped only after a report. Not instrumented, like all of the port.
 */
#include <kernel/sample.h>

#ifdef CONFIG_KASAN_SAMPLE

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/fault_inject.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/vmalloc.h>
#include <asm/ptrace.h>

static unsigned long pool;
static struct page *pages[KASAN_SAMPLE_PAGES];

bool kasan_port_sample_open(void *page)
{
	const unsigned long va = (unsigned long)page;
	struct page *memory = pages[(va - pool) >> PAGE_SHIFT];

	/* The tables are there since the pool was made, so this allocates nothing. */
	return !map_kernel_range(va, page_to_pfn(memory) << PAGE_SHIFT, PAGE_SIZE, PAGE_KERNEL);
}

void kasan_port_sample_close(void *page)
{
	unmap_kernel_range((unsigned long)page, PAGE_SIZE);
}

static bool get_pages(void)
{
	size_t i;

	/* What an attempt without success has left is used. */
	for (i = 0; i < KASAN_SAMPLE_PAGES; i++) {
		if (i && !(i & 1))
			pages[i] = pages[0];
		else if (!pages[i])
			pages[i] = alloc_page(GFP_KERNEL);
		if (!pages[i])
			return false;
	}
	return true;
}

bool sample_start(void)
{
	void *area;

	if (pool)
		return true;
	area = get_pages() ? vmap(pages, KASAN_SAMPLE_PAGES) : NULL;
	if (!area) {
		pr_warn("kasan: no memory for the pool of kasan.sample\n");
		return false;
	}
	/* A pointer without a tag matches all memory. */
	pool = (unsigned long)kasan_reset_tag(area);
	unmap_kernel_range(pool, KASAN_SAMPLE_PAGES * PAGE_SIZE);
	kasan_sample_start((void *)pool);
	return true;
}

void sample_init(void)
{
	unsigned int interval = 0;

	if (kasan_option_number("kasan.sample", &interval) && interval)
		sample_start();
}

void sample_tick(void)
{
	/* One word says that an allocation is to be treated in another way than usual, for any reason. */
	if (kasan_sample_tick((unsigned long)(clock_ns() / 1000000)))
		__atomic_fetch_or(&fault_kinds, FAULT_SAMPLE, __ATOMIC_RELAXED);
}

void sample_next(void)
{
	kasan_sample_next();
	__atomic_fetch_or(&fault_kinds, FAULT_SAMPLE, __ATOMIC_RELAXED);
}

bool sample_fault(const struct pt_regs *regs, const struct fault *fault)
{
	const struct kasan_regs at = {.pc = regs->pc,
				      .sp = regs->sp,
				      .lr = regs_return_address(regs),
				      .fp = regs_fp(regs)};

	return fault->kind == FAULT_UNMAPPED &&
	       kasan_sample_fault(fault->addr, arch_access_size(regs),
				  fault->write ? KASAN_FAULT_WRITE : KASAN_FAULT_READ, &at);
}

#endif /* CONFIG_KASAN_SAMPLE */
