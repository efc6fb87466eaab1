// SPDX-License-Identifier: MIT
/* kasan_test_cache.c - bugs with objects of kmem_caches, and with the caches themselves. */
#include <kernel/kallsyms.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

static void destroy_cache(void *cache)
{
	kmem_cache_destroy(cache);
}

static struct kmem_cache *create(struct kunit *test, unsigned int size, void (*ctor)(void *))
{
	struct kmem_cache *cache = kmem_cache_create("test_cache", size, 0, 0, ctor);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cache);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_cache, cache), 0);
	return cache;
}

static char *alloc(struct kunit *test, struct kmem_cache *cache)
{
	char *p = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	HIDE_VAR(p);
	return p;
}

void kmem_cache_oob(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p = alloc(test, cache);

	WRITE_ACCESS(p[199], 0);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[KASAN_END(200)]));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[-1]));
	kmem_cache_free(cache, p);
}

void kmem_cache_uaf(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p = alloc(test, cache);

	kmem_cache_free(cache, p);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_WRITE, 1, WRITE_ACCESS(p[199], 0));
}

/* A constructed object keeps its bytes while it is free; its free track lies in the redzone. */
static void construct(void *object)
{
	*(u64 *)object = 0x5a5a5a5a5a5a5a5aULL;
}

void kmem_cache_ctor_uaf(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 40, construct);
	char *p = alloc(test, cache);

	KUNIT_EXPECT_EQ(test, *(u64 *)p, 0x5a5a5a5a5a5a5a5aULL);
	kmem_cache_free(cache, p);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(p[0]));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kmem_cache_free(cache, p));
}

void kmem_cache_accounted(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);

	/* Legal: objects that come and go, with time for other CPUs in between. */
	for (int i = 0; i < 5; i++) {
		char *p = kmem_cache_zalloc(cache, GFP_KERNEL);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
		KUNIT_EXPECT_EQ(test, p[0] | p[199], 0);
		kmem_cache_free(cache, p);
		msleep(10);
	}
}

void kmem_cache_bulk(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p[10], *stale;

	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, 10, (void **)p), 10);
	for (int i = 0; i < 10; i++) {
		WRITE_ACCESS(p[i][0], 42);
		WRITE_ACCESS(p[i][199], 42);
	}
	stale = p[7];
	HIDE_VAR(stale);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(stale[KASAN_END(200)], 42));
	kmem_cache_free_bulk(cache, 10, (void **)p);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(stale[199]));
}

void kmem_cache_double_free(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p = alloc(test, cache);

	kmem_cache_free(cache, p);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kmem_cache_free(cache, p));
}

void kmem_cache_invalid_free(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p = alloc(test, cache);

	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kmem_cache_free(cache, p + 1));
	/* The object is unharmed. */
	WRITE_ACCESS(p[0], 1);
	kmem_cache_free(cache, p);
}

void kmem_cache_double_destroy(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("test_cache", 200, 0, 0, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cache);
	kmem_cache_destroy(cache);
	HIDE_VAR(cache);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, kmem_cache_destroy(cache));
}

/* A shrunk cache keeps nothing: its slabs' pages are free, and so are the objects of the quarantine. */
void kmem_cache_shrink_uaf(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p = alloc(test, cache);
	struct slabinfo info;

	kmem_cache_free(cache, p);
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_info(cache, &info);
	KUNIT_EXPECT_EQ(test, info.slabs, 0);
	/* The page is free or in use again by now; in the second case the report has another type. */
	KUNIT_EXPECT_KASAN_FAIL(test, KASAN_TEST_BUG(kasan_check_read(p, 200)));
}

void kmem_cache_bulk_double_free(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p[4], text[KSYM_SYMBOL_LEN];

	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, 4, (void **)p), 4);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0,
			 void *twice[] = {p[0], p[1], p[0], p[2]};
			 kmem_cache_free_bulk(cache, 4, twice));
	/* The title names this function, not one of the allocator's. */
	sprint_backtrace(text, kasan_expect_last()->ip);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(text, __func__), "%s", text);
#ifdef REDZONE_REMOVE_BUGS
	kmem_cache_free_bulk(cache, 3, (void **)p);
#endif
	/* The other objects were still freed. */
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p[2]));
	WRITE_ACCESS(p[3][199], 1);
	kmem_cache_free(cache, p[3]);
}

/* Pointers that no function of the slab allocator gave. */
void wrong_pointer_frees(struct kunit *test)
{
	struct kmem_cache *cache = create(test, 200, NULL);
	char *p = kmalloc(100, GFP_KERNEL);
	struct page *page = alloc_page(GFP_KERNEL);
	char *bytes;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, page);
	bytes = page_to_virt(page);
	HIDE_VAR(cache);
	HIDE_VAR(p);
	HIDE_VAR(bytes);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(bytes));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kmem_cache_free(cache, bytes + 64));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree_sensitive(p + 8));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0,
			 KUNIT_EXPECT_NULL(test, krealloc(p + 16, 200, GFP_KERNEL)));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, (void)ksize(p + 24));
	/* Neither object is harmed. */
	WRITE_ACCESS(p[99], 1);
	WRITE_ACCESS(bytes[4095], 1);
	kfree(p);
	__free_page(page);
}

/* Legal: the same object found again by way of its page, and by way of its physical address. */
void kfree_via_page(struct kunit *test)
{
	char *ptr = kmalloc(8, GFP_KERNEL);
	struct page *page;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	page = virt_to_page(ptr);
	kfree((char *)page_address(page) + ((uintptr_t)ptr & ~PAGE_MASK));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(ptr));
}

void kfree_via_phys(struct kunit *test)
{
	char *ptr = kmalloc(8, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	kfree((void *)__va(__pa(ptr)));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(ptr));
}
