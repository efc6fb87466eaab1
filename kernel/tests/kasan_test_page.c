// SPDX-License-Identifier: MIT
/* kasan_test_page.c - bugs with whole pages: large kmalloc() objects, the page allocator, vmalloc.
 */
#include <kasan/port.h>
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

/* --- Large kmalloc() -------------------------------------------------------------------------- */

static char *alloc_large(struct kunit *test, size_t size)
{
	char *ptr = kmalloc(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	return ptr;
}

void kmalloc_large_oob_right(struct kunit *test)
{
	size_t size = KMALLOC_MAX_CACHE_SIZE + 10;
	char *ptr = alloc_large(test, size);

	HIDE_VAR(size);
	WRITE_ACCESS(ptr[size - 1], 0);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr[KASAN_END(size)], 0));
	kfree(ptr);
	/* An object that ends with its page has a redzone as well; with tags a neighbour, which must be one that lives. */
	ptr = kasan_kmalloc_beside(test, 4 * PAGE_SIZE);
	kunit_needs(test, ptr, "two objects of 16 KiB beside one another");
	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1, READ_ACCESS(ptr[4 * PAGE_SIZE]));
	kfree(ptr);
}

/* Would a report of @addr name the large object of @size bytes at @start? */
static void expect_owner(struct kunit *test, const void *addr, const void *start, size_t size)
{
	struct kasan_object object = {0};

	KUNIT_EXPECT_TRUE(test, kasan_port_find_object(addr, &object));
	KUNIT_EXPECT_EQ(test, object.kind, KASAN_OBJECT_LARGE);
	KUNIT_EXPECT_PTR_EQ(test, object.start, kasan_reset_tag(start));
	KUNIT_EXPECT_EQ(test, object.size, size);
}

/* The end comes close to that of a page: there is still a redzone, and never a free page in place of it. */
void kmalloc_large_oob_page_end(struct kunit *test)
{
	for (size_t size = 3 * PAGE_SIZE - 8; size <= 3 * PAGE_SIZE; size++) {
		char *ptr = alloc_large(test, size);
		struct kasan_object behind;

		WRITE_ACCESS(ptr[size - 1], 0);
		KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1,
				 READ_ACCESS(ptr[KASAN_END(size)]));
		if (KASAN_TEST_GENERIC) {
			/* The next page, and the least that a redzone has: both are the object's own. */
			KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
					 WRITE_ACCESS(ptr[PAGE_ALIGN(size)], 0));
			KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
					 READ_ACCESS(ptr[size + 255]));
			expect_owner(test, ptr + PAGE_ALIGN(size), ptr, size);
			expect_owner(test, ptr + size + 255, ptr, size);
			/* The pages behind may have belonged to a larger object that started here. */
			behind = (struct kasan_object){0};
			kasan_port_find_object(ptr + PAGE_ALIGN(size + 256), &behind);
			KUNIT_EXPECT_PTR_NE(test, behind.start, kasan_reset_tag(ptr));
		}
		kfree(ptr);
	}
}

#define BLOCKS 16

/* Return: a large object with free pages right behind its own; NULL if there is no such place. */
static char *alloc_largest(size_t size)
{
	struct page *blocks[BLOCKS], *behind;
	char *objects[BLOCKS], *object = NULL;
	unsigned int n = 0;

	for (; n < BLOCKS && !object; n++) {
		objects[n] = kmalloc(size, GFP_KERNEL | __GFP_NOWARN);
		blocks[n] = alloc_pages(GFP_KERNEL | __GFP_NOWARN, MAX_ORDER);
		if (!objects[n] || !blocks[n]) {
			n++;
			break;
		}
		for (unsigned int i = 0; i <= n && !object; i++) {
			behind = virt_to_page(objects[i]) + (1L << MAX_ORDER);
			for (unsigned int k = 0; k <= n; k++)
				object = blocks[k] == behind ? objects[i] : object;
		}
	}
	while (n--) {
		if (objects[n] != object)
			kfree(objects[n]);
		if (blocks[n])
			__free_pages(blocks[n], MAX_ORDER);
	}
	return object;
}

/* No page is left for a redzone, but the overrun is described correctly while the next page is free. */
void kmalloc_largest_oob_right(struct kunit *test)
{
	for (size_t size = KMALLOC_MAX_SIZE - 1; size <= KMALLOC_MAX_SIZE; size++) {
		char *ptr = alloc_largest(size);

		kunit_needs(test, ptr, "two free blocks of 4 MiB beside one another");
		HIDE_VAR(ptr);
		WRITE_ACCESS(ptr[size - 1], 0);
		KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1,
				 READ_ACCESS(ptr[KASAN_END(size)]));
		KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1,
				 READ_ACCESS(ptr[KMALLOC_MAX_SIZE + 8]));
		kfree(ptr);
	}
}

/* ksize() gives the size of the pages; the rest of them keeps its state. */
void ksize_large(struct kunit *test)
{
	for (size_t size = 3 * PAGE_SIZE - 300; size <= 3 * PAGE_SIZE; size += 100) {
		char *ptr = alloc_large(test, size);

		KUNIT_EXPECT_GE(test, ksize(ptr), PAGE_ALIGN(size));
		KUNIT_EXPECT_EQ(test, kmalloc_usable_size(ptr), size);
		WRITE_ACCESS(ptr[size - 1], 0);
		if (KASAN_TEST_GENERIC || KASAN_END(size) < PAGE_ALIGN(size))
			KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
					 READ_ACCESS(ptr[KASAN_END(size)]));
		kfree(ptr);
	}
}

void kmalloc_large_uaf(struct kunit *test)
{
	char *ptr = alloc_large(test, KMALLOC_MAX_CACHE_SIZE + 10);

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(ptr[0]));
}

void kmalloc_large_invalid_free(struct kunit *test)
{
	char *ptr = alloc_large(test, KMALLOC_MAX_CACHE_SIZE + 10);

	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(ptr + 1));
	kfree(ptr);
}

void kmalloc_large_double_free(struct kunit *test)
{
	char *ptr = alloc_large(test, KMALLOC_MAX_CACHE_SIZE + 10);

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(ptr));
}

/* --- The page allocator ----------------------------------------------------------------------- */

/* Pages have no redzones: an overrun is caught only if the next page is free. It is free here: the three
 * pages come from a block of four. */
void page_alloc_oob_right(struct kunit *test)
{
	struct page *page = alloc_pages_exact(GFP_KERNEL, 3);
	size_t size = 3 * PAGE_SIZE;
	char *ptr;

	KUNIT_ASSERT_NOT_NULL(test, page);
	ptr = page_address(page);
	HIDE_VAR(ptr);
	HIDE_VAR(size);
	WRITE_ACCESS(ptr[size - 1], 0);
	KASAN_EXPECT_BUG(test, KASAN_TYPE("use-after-free", NULL), KASAN_READ, 1,
			 READ_ACCESS(ptr[size]));
	free_pages_exact(page, 3);
}

void page_alloc_uaf(struct kunit *test)
{
	char *ptr = (char *)__get_free_pages(GFP_KERNEL, 2);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	memset(ptr, 0, 4 * PAGE_SIZE);
	free_pages((unsigned long)ptr, 2);
	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(ptr[0]));
	KASAN_EXPECT_BUG(test, "use-after-free", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr[4 * PAGE_SIZE - 1], 0));
}

static noinline void free_page_twice(struct kunit *test, unsigned int order)
{
	struct page *page = alloc_pages(GFP_KERNEL, order);

	KUNIT_ASSERT_NOT_NULL(test, page);
	__free_pages(page, order);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, __free_pages(page, order));
	KASAN_EXPECT_IN(test, "free_page_twice");
}

void page_alloc_double_free(struct kunit *test)
{
	unsigned long addr = __get_free_pages(GFP_KERNEL, 1);

	/* Each order has its own free list. */
	free_page_twice(test, 0);
	free_page_twice(test, 2);
	KUNIT_ASSERT_NE(test, addr, 0);
	free_pages(addr, 1);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, free_pages(addr, 1));
	KASAN_EXPECT_IN(test, "page_alloc_double_free");
	/* By reference, and nobody has one. */
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, put_page(virt_to_page((void *)addr)));
	KASAN_EXPECT_IN(test, "page_alloc_double_free");
}

/* --- vmalloc ---------------------------------------------------------------------------------- */

void vmalloc_oob(struct kunit *test)
{
	size_t size = PAGE_SIZE / 2 - KASAN_GRANULE_SIZE - 5;
	char *ptr = vmalloc(size);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	HIDE_VAR(size);
	WRITE_ACCESS(ptr[0], 0);
	WRITE_ACCESS(ptr[size - 1], 0);
	/* Inside the page, so that the access itself does not fault. */
	KASAN_EXPECT_BUG(test, "vmalloc-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(ptr[KASAN_END(size)]));
	KASAN_EXPECT_BUG(test, "vmalloc-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr[size + 5], 0));
	vfree(ptr);
}

void vmalloc_guard_page(struct kunit *test)
{
	char *ptr = vmalloc(2 * PAGE_SIZE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	/* Checked without the access, which would fault. */
	KASAN_EXPECT_BUG(test, "vmalloc-out-of-bounds", KASAN_READ, 8,
			 kasan_check_read(ptr + 2 * PAGE_SIZE, 8));
	KASAN_EXPECT_BUG(test, "vmalloc-out-of-bounds", KASAN_WRITE, 16,
			 kasan_check_write(ptr + 2 * PAGE_SIZE - 8, 16));
	vfree(ptr);
}

void vmalloc_uaf(struct kunit *test)
{
	char *ptr = vmalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	vfree(ptr);
	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_UNMAPPED, KASAN_READ, 1, kasan_check_read(ptr, 1));
}

void vrealloc_uaf(struct kunit *test)
{
	char *ptr = vmalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	vfree(ptr);
	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_UNMAPPED, KASAN_READ, 1,
			 KUNIT_EXPECT_NULL(test, vrealloc(ptr, 100, GFP_KERNEL)));
}

void vmalloc_double_free(struct kunit *test)
{
	char *first = vmalloc(PAGE_SIZE), *second = vmalloc(3 * PAGE_SIZE - 100);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);
	vfree(first);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, vfree(first));
	KASAN_EXPECT_IN(test, "vmalloc_double_free");
	vfree(second);
	/* The area that was freed last. */
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, vfree(first));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, vfree(second));
	KASAN_EXPECT_IN(test, "vmalloc_double_free");
}

/* Much later: no addresses rest, and the shadow page is used elsewhere. */
void vmalloc_uaf_without_shadow(struct kunit *test)
{
	char *ptr = vmalloc(1UL << 20);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	vfree(ptr);
	vmalloc_purge();
	HIDE_VAR(ptr);
	KUNIT_EXPECT_FALSE(test, kasan_shadow_is_real((unsigned long)ptr + (512UL << 10)));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_UNMAPPED, KASAN_WRITE, 8,
			 kasan_check_write(ptr + (512UL << 10), 8));
}

void vmalloc_helpers(struct kunit *test)
{
	char *ptr = vmalloc(PAGE_SIZE), *linear;
	struct page *page;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	KUNIT_EXPECT_TRUE(test, is_vmalloc_addr(ptr));
	page = vmalloc_to_page(ptr);
	KUNIT_ASSERT_NOT_NULL(test, page);
	/* The same memory by its other address: legal, and what is written there is seen here. */
	linear = page_address(page);
	WRITE_ACCESS(linear[100], 42);
	KUNIT_EXPECT_EQ(test, *(volatile char *)&ptr[100], 42);
	vfree(ptr);
	HIDE_VAR(linear);
	/* The page went back to the page allocator with the area. With tags the other address has none. */
	if (!KASAN_TEST_GENERIC) {
		KUNIT_EXPECT_EQ(test, kasan_get_tag(linear), 0xff);
		return;
	}
	KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(linear[100]));
}
