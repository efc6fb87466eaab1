// SPDX-License-Identifier: MIT
/*
 * measure.c - a module that counts the instructions of allocations, frees, copies: init.c loads it.
 *
 * Under QEMU's -icount the counter of the CPU advances by one for each instruction. Interrupts are off while it counts.
 * It prints `redzone-bench: NAME COUNT`, the mean of ROUNDS.
 */
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define ROUNDS 1000

static unsigned int warm = 100000;
module_param(warm, uint, 0444);
MODULE_PARM_DESC(warm, "rounds before the count, until the quarantine is full");

static u64 empty_loop;
static struct kmem_cache *cache;
static char *from, *to;

static u64 now(void)
{
#ifdef CONFIG_X86_64
	return rdtsc_ordered();
#else
	return __arch_counter_get_cntvct();
#endif
}

static noinline void kmalloc_64(void)
{
	kfree(kmalloc(64, GFP_KERNEL));
}

static noinline void kmalloc_1024(void)
{
	kfree(kmalloc(1024, GFP_KERNEL));
}

static noinline void kmalloc_8192(void)
{
	kfree(kmalloc(8192, GFP_KERNEL));
}

static noinline void cache_256(void)
{
	kmem_cache_free(cache, kmem_cache_alloc(cache, GFP_KERNEL));
}

static noinline void memcpy_1024(void)
{
	OPTIMIZER_HIDE_VAR(from);
	OPTIMIZER_HIDE_VAR(to);
	memcpy(to, from, 1024);
}

static noinline void memset_1024(void)
{
	OPTIMIZER_HIDE_VAR(to);
	memset(to, 1, 1024);
}

static noinline void pages_0(void)
{
	__free_pages(alloc_pages(GFP_KERNEL, 0), 0);
}

static noinline void pages_3(void)
{
	__free_pages(alloc_pages(GFP_KERNEL, 3), 3);
}

static noinline void vmalloc_16k(void)
{
	vfree(vmalloc(16 << 10));
}

static noinline void vmalloc_1m(void)
{
	vfree(vmalloc(1 << 20));
}

static noinline void nothing(void)
{
	barrier();
}

/* @irqs_off: false for what may sleep. */
static void row(const char *name, void (*work)(void), unsigned int warm_up, unsigned int rounds,
		bool irqs_off)
{
	unsigned long flags = 0;
	unsigned int i;
	u64 start, end;

	for (i = 0; i < warm_up; i++)
		work();
	if (irqs_off)
		local_irq_save(flags);
	start = now();
	for (i = 0; i < rounds; i++)
		work();
	end = now();
	if (irqs_off)
		local_irq_restore(flags);
	end = div_u64(end - start, rounds);
	if (work == nothing)
		empty_loop = end;
	else
		pr_info("redzone-bench: %s %llu\n", name, end - empty_loop);
}

/* Memory that is free, in KiB. */
static void memory(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	pr_info("redzone-bench: memory_free %lu\n", info.freeram << (PAGE_SHIFT - 10));
}

static int __init measure(void)
{
	memory();
	cache = kmem_cache_create("redzone-bench", 256, 0, SLAB_NO_MERGE, NULL);
	from = kmalloc(1024, GFP_KERNEL | __GFP_ZERO);
	to = kmalloc(1024, GFP_KERNEL | __GFP_ZERO);
	if (!cache || !from || !to)
		return -ENOMEM;
	row("nothing", nothing, 10, ROUNDS, true);
	row("kmalloc_64", kmalloc_64, warm, ROUNDS, true);
	row("kmalloc_1024", kmalloc_1024, warm / 8, ROUNDS, true);
	row("kmalloc_8192", kmalloc_8192, warm / 64, ROUNDS, true);
	row("cache_256", cache_256, warm / 2, ROUNDS, true);
	row("memcpy_1024", memcpy_1024, 10, ROUNDS, true);
	row("memset_1024", memset_1024, 10, ROUNDS, true);
	row("pages_0", pages_0, 100, ROUNDS, true);
	row("pages_3", pages_3, 100, ROUNDS, true);
	row("vmalloc_16k", vmalloc_16k, 100, ROUNDS, false);
	row("vmalloc_1m", vmalloc_1m, 10, ROUNDS / 10, false);
	return 0;
}
module_init(measure);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("counts instructions");
