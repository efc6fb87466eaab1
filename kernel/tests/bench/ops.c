// SPDX-License-Identifier: MIT
/* ops.c - operations on memory that exists or comes from the slab and page allocators. Instrumented. */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "bench.h"

/* Under the quarantine an object is used again only after 1/32 of memory has been freed: 16 MiB of the
 * 512 MiB that the tables are measured with. */
#define QUARANTINE (16UL << 20)

/* HIDE_VAR() hides a pointer's origin from the compiler, which would drop an unused allocation. */
static __always_inline void kmalloc_pair(size_t size)
{
	void *p = kmalloc(size, GFP_KERNEL);

	HIDE_VAR(p);
	if (unlikely(!p))
		bench_fail("kmalloc");
	kfree(p);
}

static void kmalloc_64(void)
{
	kmalloc_pair(64);
}

static void kmalloc_1024(void)
{
	kmalloc_pair(1024);
}

static void kmalloc_8192(void)
{
	kmalloc_pair(8192);
}

/* Zeroed memory, whichever layer clears it. */
static __always_inline void kzalloc_pair(size_t size)
{
	void *p = kzalloc(size, GFP_KERNEL);

	HIDE_VAR(p);
	if (unlikely(!p))
		bench_fail("kzalloc");
	kfree(p);
}

static void kzalloc_64(void)
{
	kzalloc_pair(64);
}

static void kzalloc_1024(void)
{
	kzalloc_pair(1024);
}

static void kzalloc_16384(void)
{
	kzalloc_pair(16384);
}

/* It grows and shrinks by a granule, in place. */
static void *resized;

static bool make_resized(unsigned long size)
{
	resized = kmalloc(size, GFP_KERNEL);
	return resized;
}

static void drop_resized(void)
{
	kfree(resized);
}

static void krealloc_64(void)
{
	static size_t size = 64;
	void *p;

	size = 64 + 48 - size;
	p = krealloc(resized, size, GFP_KERNEL);
	if (unlikely(p != resized))
		bench_fail("krealloc");
}

static struct kmem_cache *cache;

static bool make_cache(unsigned long size)
{
	cache = kmem_cache_create("bench", (unsigned int)size, 0, 0, NULL);
	return cache;
}

static void drop_cache(void)
{
	kmem_cache_destroy(cache);
}

static void cache_pair(void)
{
	void *p = kmem_cache_alloc(cache, GFP_KERNEL);

	HIDE_VAR(p);
	if (unlikely(!p))
		bench_fail("a cache's object");
	kmem_cache_free(cache, p);
}

static void cache_zero_pair(void)
{
	void *p = kmem_cache_zalloc(cache, GFP_KERNEL);

	HIDE_VAR(p);
	if (unlikely(!p))
		bench_fail("a cache's object");
	kmem_cache_free(cache, p);
}

/* --- Copies, loads, stores: objects of exactly the size, so that all of it is checked ---------------- */

static char *from, *to;

static bool make_buffers(unsigned long size)
{
	from = kzalloc(size, GFP_KERNEL);
	to = kzalloc(size, GFP_KERNEL);
	return from && to;
}

static void drop_buffers(void)
{
	kfree(from);
	kfree(to);
}

static void copy_1024(void)
{
	memcpy(to, from, 1024);
}

static void set_1024(void)
{
	memset(to, 0x5a, 1024);
}

/* As before a copy to user space, or a transfer by a device. */
static void check_4096(void)
{
	if (!kasan_check_read(from, 4096))
		bench_fail("a range");
}

static void loads_8(void)
{
	volatile const u64 *p = (volatile const u64 *)from;
	unsigned int i;

#pragma GCC unroll 1
	for (i = 0; i < 128; i++)
		(void)p[i];
}

static void stores_1(void)
{
	volatile char *p = to;
	unsigned int i;

#pragma GCC unroll 1
	for (i = 0; i < 128; i++)
		p[i] = 1;
}

/* --- Pages ------------------------------------------------------------------------------------------ */

static __always_inline void pages_pair(unsigned int order)
{
	struct page *page = alloc_pages(GFP_KERNEL, order);

	HIDE_VAR(page);
	if (unlikely(!page))
		bench_fail("pages");
	__free_pages(page, order);
}

static void pages_0(void)
{
	pages_pair(0);
}

static void pages_3(void)
{
	pages_pair(3);
}

static void zeroed_page(void)
{
	unsigned long p = get_zeroed_page(GFP_KERNEL);

	HIDE_VAR(p);
	if (unlikely(!p))
		bench_fail("a page");
	free_page(p);
}

const struct bench_op bench_memory_ops[] = {
	{"kmalloc_64", kmalloc_64, .warm = QUARANTINE / 64, .rounds = 16384, .smp = true},
	{"kmalloc_1024", kmalloc_1024, .warm = QUARANTINE / 1024, .rounds = 16384, .smp = true},
	{"kmalloc_8192", kmalloc_8192, .warm = QUARANTINE / 8192, .rounds = 4096},
	{"kmem_cache_256", cache_pair, .warm = QUARANTINE / 256, .rounds = 16384,
	 .setup = make_cache, .teardown = drop_cache, .argument = 256},
	{"kzalloc_64", kzalloc_64, .warm = QUARANTINE / 64, .rounds = 16384},
	{"kzalloc_1024", kzalloc_1024, .warm = QUARANTINE / 1024, .rounds = 16384},
	{"kzalloc_16384", kzalloc_16384, .warm = QUARANTINE / 8192, .rounds = 4096, .pages = true},
	{"kmem_cache_zalloc_256", cache_zero_pair, .warm = QUARANTINE / 256, .rounds = 16384,
	 .setup = make_cache, .teardown = drop_cache, .argument = 256},
	{"krealloc_64", krealloc_64, .warm = 16, .rounds = 16384, .setup = make_resized,
	 .teardown = drop_resized, .argument = 64},
	{"memcpy_1024", copy_1024, .warm = 16, .rounds = 4096, .setup = make_buffers,
	 .teardown = drop_buffers, .argument = 1024},
	{"memset_1024", set_1024, .warm = 16, .rounds = 4096, .setup = make_buffers,
	 .teardown = drop_buffers, .argument = 1024},
	{"check_4096", check_4096, .warm = 16, .rounds = 4096, .setup = make_buffers,
	 .teardown = drop_buffers, .argument = 4096},
	{"load_8x128", loads_8, .warm = 16, .rounds = 4096, .setup = make_buffers,
	 .teardown = drop_buffers, .argument = 1024},
	{"store_1x128", stores_1, .warm = 16, .rounds = 4096, .setup = make_buffers,
	 .teardown = drop_buffers, .argument = 128},
	{"pages_0", pages_0, .warm = 1024, .rounds = 4096, .smp = true, .pages = true},
	{"pages_3", pages_3, .warm = 65536, .rounds = 4096, .smp = true, .pages = true},
	{"zeroed_page", zeroed_page, .warm = 1024, .rounds = 4096, .pages = true},
	{},
};
