// SPDX-License-Identifier: MIT
/*
 * asan_interface_test.c - poison by programs: which bytes it covers in each mode, and that free() and realloc() take
 * objects with poison. Accesses at any address: that they are right, and that they are checked to the last byte.
 * asan_facts_test.c has the other functions of the interface.
 */
#include <kernel/string.h>

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include "../program/heap.h"
#include "kasan_test.h"

#define SIZE 256

/* Return: a block of malloc(), full of 'a'. */
static char *block(struct kunit *test, size_t size)
{
	char *p = malloc(size);

	KUNIT_ASSERT_NOT_NULL(test, p);
	memset(p, 'a', size);
	return p;
}

/* In the tag modes poison covers whole granules of 16 bytes, and in a kernel without KASAN nothing. */
static void region(struct kunit *test)
{
	char *p = block(test, SIZE);

	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, SIZE));
	ASAN_POISON_MEMORY_REGION(p + 32, 64);
#ifdef CONFIG_KASAN
	KUNIT_EXPECT_PTR_EQ(test, __asan_region_is_poisoned(p, SIZE), (void *)(p + 32));
	KUNIT_EXPECT_PTR_EQ(test, __asan_region_is_poisoned(p + 95, 1), (void *)(p + 95));
	for (int i = 0; i < SIZE; i++)
		KUNIT_EXPECT_EQ(test, __asan_address_is_poisoned(p + i), i >= 32 && i < 96);
#else
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, SIZE));
	KUNIT_EXPECT_EQ(test, __asan_address_is_poisoned(p + 32), 0);
#endif
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, 32));
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p + 96, SIZE - 96));
	ASAN_UNPOISON_MEMORY_REGION(p + 32, 64);
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, SIZE));
	/* Its contents are still there. */
	for (int i = 0; i < SIZE; i++)
		KUNIT_EXPECT_EQ(test, p[i], 'a');
	free(p);
}

/* No bytes, and a range that cannot be. */
static void no_region(struct kunit *test)
{
	char *p = block(test, SIZE);

	ASAN_POISON_MEMORY_REGION(p + 64, 0);
	ASAN_POISON_MEMORY_REGION(p + 64, (size_t)-1);
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, SIZE));
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, 0));
	ASAN_POISON_MEMORY_REGION(p + 64, 64);
	ASAN_UNPOISON_MEMORY_REGION(p + 64, 0);
#ifdef CONFIG_KASAN
	KUNIT_EXPECT_EQ(test, __asan_address_is_poisoned(p + 64), 1);
#endif
	free(p);
}

/* All of a block: it can be freed, and its next owner has all of it. */
static void whole_block_is_freed(struct kunit *test)
{
	for (size_t size = 1; size <= 3 * PAGE_SIZE; size += size / 3 + 1) {
		char *p = block(test, size);

		ASAN_POISON_MEMORY_REGION(p, size);
		free(p);
		p = block(test, size);
		KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, size));
		free(p);
	}
}

static void whole_block_is_moved(struct kunit *test)
{
	for (size_t size = 1; size <= 3 * PAGE_SIZE; size += size / 3 + 1) {
		char *p = block(test, size), *moved;
		size_t wrong = 0;

		ASAN_POISON_MEMORY_REGION(p, size);
		/* The same size as well. */
		moved = realloc(p, size % 2 ? size : size + 100);
		KUNIT_ASSERT_NOT_NULL(test, moved);
		for (size_t i = 0; i < size; i++)
			wrong += moved[i] != 'a';
		KUNIT_EXPECT_EQ(test, wrong, 0UL);
		free(moved);
	}
}

/* Every offset in a granule, so some accesses lie in two. */
static void unaligned(struct kunit *test)
{
	for (int i = 0; i < 16; i++) {
		char *p = block(test, 32);

		__sanitizer_unaligned_store16(p + i, 0x0102);
		KUNIT_EXPECT_EQ(test, __sanitizer_unaligned_load16(p + i), 0x0102);
		__sanitizer_unaligned_store32(p + i, 0x01020304);
		KUNIT_EXPECT_EQ(test, __sanitizer_unaligned_load32(p + i), 0x01020304U);
		__sanitizer_unaligned_store64(p + i, 0x0102030405060708);
		KUNIT_EXPECT_EQ(test, __sanitizer_unaligned_load64(p + i), 0x0102030405060708UL);
		KUNIT_EXPECT_EQ(test, p[i], 8);
		KUNIT_EXPECT_EQ(test, p[i + 7], 1);
		KUNIT_EXPECT_EQ(test, p[i + 8], 'a');
		free(p);
	}
}

#ifdef CONFIG_KASAN

/* Only the last byte of each is behind the object. */
static void unaligned_is_checked(struct kunit *test)
{
	char *p = kasan_kmalloc_beside(test, SIZE);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 2,
			 __sanitizer_unaligned_load16(p + SIZE - 1));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 4,
			 __sanitizer_unaligned_load32(p + SIZE - 3));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 8,
			 __sanitizer_unaligned_load64(p + SIZE - 7));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_WRITE, 2,
			 __sanitizer_unaligned_store16(p + SIZE - 1, 0));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_WRITE, 4,
			 __sanitizer_unaligned_store32(p + SIZE - 3, 0));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_WRITE, 8,
			 __sanitizer_unaligned_store64(p + SIZE - 7, 0));
}

static void accesses_are_reported(struct kunit *test)
{
	static const size_t sizes[] = {64, SIZE, 1000, 3 * PAGE_SIZE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *p = block(test, sizes[i]);

		HIDE_VAR(p);
		ASAN_POISON_MEMORY_REGION(p + 16, 32);
		WRITE_ACCESS(p[15], 0);
		READ_ACCESS(p[48]);
		KASAN_EXPECT_BUG(test, "use-after-poison", KASAN_READ, 1, READ_ACCESS(p[16]));
		KASAN_EXPECT_BUG(test, "use-after-poison", KASAN_WRITE, 1,
				 WRITE_ACCESS(p[47], 'b'));
		ASAN_UNPOISON_MEMORY_REGION(p + 16, 32);
		READ_ACCESS(p[16]);
		WRITE_ACCESS(p[47], 'c');
		free(p);
	}
}

/* Poison is no excuse: the second free is reported, and so is an access behind the end. */
static void other_bugs_are_reported(struct kunit *test)
{
	char *p = block(test, SIZE), *beside = kasan_kmalloc_beside(test, SIZE);

	HIDE_VAR(p);
	HIDE_VAR(beside);
	ASAN_POISON_MEMORY_REGION(beside, SIZE);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_WRITE, 1, WRITE_ACCESS(beside[SIZE], 0));
	ASAN_UNPOISON_MEMORY_REGION(beside, SIZE);
	ASAN_POISON_MEMORY_REGION(p, SIZE);
	free(p);
	KASAN_EXPECT_BUG(test, KASAN_TYPE("slab-use-after-free", NULL), KASAN_READ, 1,
			 READ_ACCESS(p[SIZE / 2]));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, free(p));
}

#ifdef CONFIG_KASAN_GENERIC
/* Each region of 24 bytes: at least what it has is poisoned if it can be, and nothing before it ever is. */
static void parts_of_granules(struct kunit *test)
{
	for (int from = 0; from < 24; from++) {
		for (int to = from + 1; to <= 24; to++) {
			char *p = block(test, 24);

			ASAN_POISON_MEMORY_REGION(p + from, to - from);
			for (int i = 0; i < 24; i++) {
				bool poisoned = __asan_address_is_poisoned(p + i);
				/* The end of the granule, if the region reaches it. */
				bool can = i >= from && (i | 7) < to;

				KUNIT_EXPECT_EQ(test, poisoned, can);
			}
			ASAN_UNPOISON_MEMORY_REGION(p + from, to - from);
			KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, 24));
			free(p);
		}
	}
}

/* The last granule of an object of 20 bytes has 4: the region that takes these takes all. */
static void end_of_an_object(struct kunit *test)
{
	char *p = block(test, 20);

	HIDE_VAR(p);
	ASAN_POISON_MEMORY_REGION(p, 20);
	KUNIT_EXPECT_PTR_EQ(test, __asan_region_is_poisoned(p, 20), (void *)p);
	KUNIT_EXPECT_EQ(test, __asan_address_is_poisoned(p + 19), 1);
	KASAN_EXPECT_BUG(test, "use-after-poison", KASAN_READ, 1, READ_ACCESS(p[19]));
	ASAN_UNPOISON_MEMORY_REGION(p, 20);
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, 20));
	KUNIT_EXPECT_EQ(test, __asan_address_is_poisoned(p + 20), 1);
	/* The second half of a granule, with accessible memory behind it. */
	ASAN_POISON_MEMORY_REGION(p + 4, 4);
	KASAN_EXPECT_BUG(test, "use-after-poison", KASAN_READ, 1, READ_ACCESS(p[5]));
	free(p);
}

static char variable[64];

static void variables(struct kunit *test)
{
	char local[64], *p = local, *global = variable;

	HIDE_VAR(p);
	HIDE_VAR(global);
	memset(local, 0, sizeof(local));
	ASAN_POISON_MEMORY_REGION(variable + 8, 8);
	ASAN_POISON_MEMORY_REGION(p + 8, 8);
	KASAN_EXPECT_BUG(test, "use-after-poison", KASAN_READ, 1, READ_ACCESS(global[9]));
	KASAN_EXPECT_BUG(test, "use-after-poison", KASAN_READ, 1, READ_ACCESS(p[9]));
	ASAN_UNPOISON_MEMORY_REGION(variable, sizeof(variable));
	ASAN_UNPOISON_MEMORY_REGION(p, sizeof(local));
	READ_ACCESS(global[9]);
	READ_ACCESS(p[9]);
}
#endif

#ifdef CONFIG_KASAN_TAGS
/* Part of a granule is not poisoned, nor a short one. An object whose first granule is can be freed. */
static void whole_granules(struct kunit *test)
{
	char *p = block(test, 100);

	ASAN_POISON_MEMORY_REGION(p, 100);
	for (int i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, __asan_address_is_poisoned(p + i), i < 96);
	ASAN_UNPOISON_MEMORY_REGION(p, 100);
	ASAN_POISON_MEMORY_REGION(p + 33, 30);
	KUNIT_EXPECT_NULL(test, __asan_region_is_poisoned(p, 100));
	ASAN_POISON_MEMORY_REGION(p + 17, 31);
	KUNIT_EXPECT_PTR_EQ(test, __asan_region_is_poisoned(p, 100), (void *)(p + 32));
	ASAN_POISON_MEMORY_REGION(p, 16);
	free(p);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, free(p));
}
#endif

#endif /* CONFIG_KASAN */

static struct kunit_case asan_interface_cases[] = {
	KUNIT_CASE(region),
	KUNIT_CASE(no_region),
	KUNIT_CASE(whole_block_is_freed),
	KUNIT_CASE(whole_block_is_moved),
	KUNIT_CASE(unaligned),
#ifdef CONFIG_KASAN
	KUNIT_CASE(unaligned_is_checked),
	KUNIT_CASE(accesses_are_reported),
	KUNIT_CASE(other_bugs_are_reported),
#ifdef CONFIG_KASAN_GENERIC
	KUNIT_CASE(parts_of_granules),
	KUNIT_CASE(end_of_an_object),
	KUNIT_CASE(variables),
#endif
#ifdef CONFIG_KASAN_TAGS
	KUNIT_CASE(whole_granules),
#endif
#endif
	{},
};

#ifdef CONFIG_KASAN
#define INIT kasan_bug_test_init
#else
#define INIT NULL
#endif

KUNIT_SUITE(asan_interface, asan_interface_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = INIT, .exit = kasan_test_exit);
