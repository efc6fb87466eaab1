// SPDX-License-Identifier: MIT
/* kasan_test_slab.c - bugs with small heap objects: bounds, use after free, sizes, reallocation. */
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

static char *alloc(struct kunit *test, size_t size)
{
	char *ptr = kmalloc(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	return ptr;
}

/* The same for accesses that may go behind the slot: what was freed there may have had the pointer's tag. */
static char *alloc_beside(struct kunit *test, size_t size)
{
	char *ptr = kasan_kmalloc_beside(test, size);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	return ptr;
}

/* --- Out of bounds ---------------------------------------------------------------------------- */

void kmalloc_oob_right(struct kunit *test)
{
	size_t size = 128 - KASAN_GRANULE_SIZE - 5;
	char *ptr = alloc_beside(test, size);

	HIDE_VAR(size);
	/* The first bad byte, in the granule that the object's end shares with it if that is seen. */
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr[KASAN_END(size)], 'x'));
	KASAN_EXPECT_ADDR(test, ptr + KASAN_END(size));
	/* The first byte of the next granule. */
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr[size + 5], 'y'));
	/* Behind the size class: redzone between the slots. */
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(ptr[128]));
	kfree(ptr);
}

void kmalloc_node_oob_right(struct kunit *test)
{
	size_t size = 4096;
	/* Few objects share a slab: at its end the next page's owner, a vmalloc area, may have the same tag. */
	char *ptr = kasan_kmalloc_node_beside(test, size);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	HIDE_VAR(size);
	WRITE_ACCESS(ptr[size - 1], 0);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1, READ_ACCESS(ptr[size]));
	kfree(ptr);
	ptr = kzalloc_node(100, GFP_KERNEL, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr[KASAN_END(104)], 1));
	kfree(ptr);
}

void kmalloc_oob_left(struct kunit *test)
{
	char *ptr = alloc(test, 15);

	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(ptr[-1]));
	kfree(ptr);
}

void kmalloc_big_oob_right(struct kunit *test)
{
	size_t size = KMALLOC_MAX_CACHE_SIZE - 256;
	char *ptr = alloc(test, size);

	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1, WRITE_ACCESS(ptr[size], 0));
	kfree(ptr);
}

void kmalloc_oob_every_size(struct kunit *test)
{
	/* Each offset of the end in its granule, and the classes that sizes up to 200 fall into. */
	for (size_t size = 1; size <= 200; size += size < 20 ? 1 : 7) {
		char *ptr = alloc_beside(test, size);

		WRITE_ACCESS(ptr[size - 1], 1);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
				 WRITE_ACCESS(ptr[KASAN_END(size)], 1));
		kfree(ptr);
	}
}

struct packed_word {
	char lead;
	u64 word;
} __packed;

void kmalloc_oob_misaligned(struct kunit *test)
{
	char *bytes = alloc(test, KASAN_END(8));
	volatile struct packed_word *object = (struct packed_word *)(bytes + KASAN_END(8) - 8);

	HIDE_VAR(object);
	/* Starts inside the object and ends one byte behind it: only the last byte's granule is
	 * bad. */
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 8, (void)object->word);
	kfree(bytes);
}

void kmalloc_oob_16(struct kunit *test)
{
	char *bytes = alloc_beside(test, sizeof(unsigned __int128) - 3);
	/* Where whole granules are compared it begins in the middle of one, and ends in the next. */
	unsigned __int128 *ptr = (unsigned __int128 *)(bytes + (KASAN_TEST_BYTES ? 0 : 8));

	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 16, WRITE_ACCESS(*ptr, 5));
	kfree(bytes);
}

void kmalloc_uaf_16(struct kunit *test)
{
	unsigned __int128 *ptr = (unsigned __int128 *)alloc(test, sizeof(*ptr));

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 16, READ_ACCESS(*ptr));
}

struct row {
	u32 cells[6];
};

void kmalloc_struct_copy(struct kunit *test)
{
	const size_t size = sizeof(struct row) - sizeof(u32);
	char *bytes = alloc_beside(test, size);
	struct row *row = (struct row *)(bytes + KASAN_END(size) - size), zero = {0};

	HIDE_VAR(zero.cells[0]);
	/* The compiler chooses: one check of 24 bytes, a memcpy(), or a few stores. */
	KUNIT_EXPECT_KASAN_FAIL(test, KASAN_TEST_BUG(*row = zero));
	HIDE_VAR(row);
	kfree(bytes);
}

/* --- Memory functions ------------------------------------------------------------------------- */

void kmalloc_oob_in_memset(struct kunit *test)
{
	size_t size = 128 - KASAN_GRANULE_SIZE;
	char *ptr = alloc(test, size);

	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, size + KASAN_GRANULE_SIZE,
			 memset(ptr, 0, size + KASAN_GRANULE_SIZE));
	kfree(ptr);
}

/* The last @n bytes of a memset() begin inside the object, and end one byte behind it. */
static void oob_memset(struct kunit *test, size_t n)
{
	size_t size = 128 - KASAN_GRANULE_SIZE;
	char *ptr = alloc(test, size);

	HIDE_VAR(n);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, n,
			 memset(ptr + size - n + 1, 0, n));
	kfree(ptr);
}

void kmalloc_oob_memset_2(struct kunit *test)
{
	oob_memset(test, 2);
}

void kmalloc_oob_memset_4(struct kunit *test)
{
	oob_memset(test, 4);
}

void kmalloc_oob_memset_8(struct kunit *test)
{
	oob_memset(test, 8);
}

void kmalloc_oob_memset_16(struct kunit *test)
{
	oob_memset(test, 16);
}

void kmalloc_oob_memcpy(struct kunit *test)
{
	char *from = alloc(test, 100), *to = alloc_beside(test, 60);
	size_t n = KASAN_END(60) + 1;

	HIDE_VAR(n);
	memset(from, 0, 100);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, n, memcpy(to, from, n));
	n = 101;
	HIDE_VAR(n);
	KUNIT_EXPECT_KASAN_FAIL(test, KASAN_TEST_BUG(memcpy(to, from, n)));
	kfree(to);
	kfree(from);
}

void kmalloc_memmove_negative_size(struct kunit *test)
{
	char *ptr = alloc(test, 64);
	size_t invalid_size = (size_t)-2;

	memset(ptr, 0, 64);
	HIDE_VAR(invalid_size);
	KASAN_EXPECT_BUG(test, "out-of-bounds", KASAN_ANY, (size_t)-2,
			 memmove(ptr, ptr + 4, invalid_size));
	kfree(ptr);
}

void kmalloc_memmove_invalid_size(struct kunit *test)
{
	char *ptr = alloc(test, 64);
	size_t invalid_size = 64;

	memset(ptr, 0, 64);
	HIDE_VAR(invalid_size);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 64,
			 memmove(ptr, ptr + 4, invalid_size));
	kfree(ptr);
}

/* --- Use after free --------------------------------------------------------------------------- */

void kmalloc_uaf(struct kunit *test)
{
	char *ptr = alloc(test, 10);

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_WRITE, 1, WRITE_ACCESS(ptr[8], 'x'));
}

void kmalloc_uaf_memset(struct kunit *test)
{
	char *ptr = alloc(test, 33);
	size_t size = 33;

	kfree(ptr);
	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_WRITE, 33, memset(ptr, 0, size));
}

void kmalloc_uaf2(struct kunit *test)
{
	char *first = alloc(test, 43), *second;

	kfree(first);
	/* The quarantine keeps the memory from having a new owner at once. */
	second = alloc(test, 43);
	KUNIT_EXPECT_PTR_NE(test, first, second);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_WRITE, 1, WRITE_ACCESS(first[40], 'x'));
	kfree(second);
}

void kmalloc_uaf3(struct kunit *test)
{
	char *first = alloc(test, 100), *second = alloc(test, 100);

	kfree(first);
	kfree(second);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(first[8]));
}

void kmalloc_uaf_every_byte(struct kunit *test)
{
	char *ptr = alloc(test, 24);

	kfree(ptr);
	/* Also the bytes that hold the runtime's own data now. */
	for (size_t i = 0; i < 24; i++)
		KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(ptr[i]));
}

void quarantine_delays_reuse(struct kunit *test)
{
	char *ptr = alloc(test, 64);

	kasan_needs_generic(test);
	kfree(ptr);
	for (int i = 0; i < 200; i++) {
		char *other = alloc(test, 64);

		KUNIT_ASSERT_PTR_NE(test, ptr, other);
		kfree(other);
	}
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(ptr[63]));
}

/* --- Frees ------------------------------------------------------------------------------------ */

void kmalloc_double_free(struct kunit *test)
{
	char *ptr = alloc(test, 48);

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(ptr));
	KASAN_EXPECT_ADDR(test, ptr);
}

void kmalloc_double_kzfree(struct kunit *test)
{
	char *ptr = alloc(test, 16);

	kfree_sensitive(ptr);
	/* The second one asks for the object's size before it frees, and is stopped there. */
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, kfree_sensitive(ptr));
}

void kmalloc_invalid_free(struct kunit *test)
{
	char *ptr = alloc(test, 48);

	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(ptr + 1));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(ptr + 16));
	kfree(ptr);
}

/* Where slots would start, if there was one before the first and one after the last of a page. */
void kfree_beside_slots(struct kunit *test)
{
	char *ptr, *page;

	kasan_needs_generic(test);
#ifdef CONFIG_SLAB
	kunit_skip(test, "slabs start at different offsets");
#endif
	ptr = alloc(test, 64);
	page = (char *)((uintptr_t)ptr & PAGE_MASK);
	HIDE_VAR(page);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(page));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(page + PAGE_SIZE - 64));
	kfree(ptr);
}

void free_of_stack(struct kunit *test)
{
	char array[32] __aligned(32);
	char *ptr = array;

	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(ptr));
}

static char free_me[32] __aligned(32);

void free_of_global(struct kunit *test)
{
	char *ptr = free_me;

	HIDE_VAR(ptr);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(ptr));
}

/* --- krealloc() and ksize() ------------------------------------------------------------------- */

static void realloc_more(struct kunit *test, size_t size1, size_t size2)
{
	char *ptr1 = alloc(test, size1), *ptr2;

	ptr2 = krealloc(ptr1, size2, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr2);
	HIDE_VAR(ptr2);
	HIDE_VAR(size2);
	/* All bytes of the new size may be used. */
	WRITE_ACCESS(ptr2[size1 - 1], 'x');
	WRITE_ACCESS(ptr2[size1], 'x');
	WRITE_ACCESS(ptr2[size2 - 1], 'x');
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr2[KASAN_END(size2)], 'x'));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr2[ALIGN(size2 + 1, KASAN_GRANULE_SIZE)], 'x'));
	kfree(ptr2);
}

static void realloc_less(struct kunit *test, size_t size1, size_t size2)
{
	char *ptr1 = alloc(test, size1), *ptr2;

	ptr2 = krealloc(ptr1, size2, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr2);
	HIDE_VAR(ptr2);
	HIDE_VAR(size1);
	HIDE_VAR(size2);
	WRITE_ACCESS(ptr2[size2 - 1], 'x');
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr2[KASAN_END(size2)], 'x'));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(ptr2[ALIGN(size2 + 1, KASAN_GRANULE_SIZE)], 'x'));
	/* The bytes that the smaller size cut off. */
	KUNIT_EXPECT_KASAN_FAIL(test, KASAN_TEST_BUG(WRITE_ACCESS(ptr2[size1 - 1], 'x')));
	kfree(ptr2);
}

void krealloc_more_oob(struct kunit *test)
{
	realloc_more(test, 201, 235); /* inside one size class */
	realloc_more(test, 201, 300); /* into another */
}

void krealloc_less_oob(struct kunit *test)
{
	realloc_less(test, 235, 201);
}

void krealloc_large_more_oob(struct kunit *test)
{
	realloc_more(test, KMALLOC_MAX_CACHE_SIZE + 201, KMALLOC_MAX_CACHE_SIZE + 235);
}

void krealloc_large_less_oob(struct kunit *test)
{
	realloc_less(test, KMALLOC_MAX_CACHE_SIZE + 235, KMALLOC_MAX_CACHE_SIZE + 201);
}

void krealloc_uaf(struct kunit *test)
{
	char *ptr = alloc(test, 201);

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1,
			 KUNIT_EXPECT_NULL(test, krealloc(ptr, 235, GFP_KERNEL)));
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(*ptr));
}

/* The name of the case is Linux's. Today ksize() gives the size that may be used without unpoisoning. */
void ksize_unpoisons_memory(struct kunit *test)
{
	size_t size = 128 - KASAN_GRANULE_SIZE - 5;
	char *ptr = alloc(test, size);
	size_t real_size = ksize(ptr);

	KUNIT_EXPECT_GT(test, real_size, size);
	KUNIT_EXPECT_EQ(test, kmalloc_usable_size(ptr), KASAN_END(size));
	HIDE_VAR(size);
	WRITE_ACCESS(ptr[0], 'x');
	WRITE_ACCESS(ptr[size - 1], 'x');
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(ptr[KASAN_END(size)]));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(ptr[size + 5]));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(ptr[real_size - 1]));
	kfree(ptr);
}

void ksize_uaf(struct kunit *test)
{
	size_t size = 128 - KASAN_GRANULE_SIZE;
	char *ptr = alloc(test, size);

	kfree(ptr);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, (void)ksize(ptr));
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(ptr[0]));
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(ptr[size - 1]));
}
