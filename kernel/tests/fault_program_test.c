// SPDX-License-Identifier: MIT
/*
 * fault_program_test.c - lets the allocators fail at every place where malloc() and its relatives allocate.
 */
#include <kernel/errno.h>
#include <kernel/program.h>
#include <kernel/string.h>

#include "../program/heap.h"
#include "../program/internal.h"
#include "../program/reach.h"
#include "fault_walk.h"
#include "kasan_test.h"

/* More than the page allocator has in one piece: an area, and an entry of the table of those. */
#define LARGE (20UL << 20)

static char *allocate(unsigned int kind)
{
	void *p = NULL;

	switch (kind) {
	case 0:
		return malloc(100);
	case 1:
		return malloc(0);
	case 2:
		return calloc(10, 100);
	case 3:
		return aligned_alloc(64, 200);
	case 4:
		/* The result reports the failure; errno stays. */
		if (posix_memalign(&p, 256, 1000) == ENOMEM)
			*program_errno() = p ? EINVAL : ENOMEM;
		return p;
	case 5:
		return aligned_alloc(4096, 3 * 4096);
	case 6:
		return reallocarray(NULL, 10, 1000);
	case 7:
		return memalign(512, 700);
	case 8:
		return aligned_alloc(1UL << 16, 100);
	default:
		return malloc(LARGE);
	}
}

#define KINDS 10U

/* Return: 0; ENOMEM: refused, and @p is unchanged; EIO: wrong. */
static int enlarge(char **p, size_t old, size_t size)
{
	char *more;

	memset(*p, 0x5a, old);
	*program_errno() = 0;
	more = realloc(*p, size);
	if (more)
		*p = more;
	else if (*program_errno() != ENOMEM)
		return EIO;
	for (size_t i = 0; i < old; i++) {
		if ((*p)[i] != 0x5a)
			return EIO;
	}
	return more ? 0 : ENOMEM;
}

static int allocations(bool large)
{
	char *p[KINDS] = {NULL};
	int err = 0;

	for (unsigned int i = 0; i < KINDS - !large && !err; i++) {
		*program_errno() = 0;
		p[i] = allocate(i);
		if (!p[i])
			err = *program_errno() == ENOMEM ? ENOMEM : EIO;
	}
	/* From object to object, and to an area. */
	if (!err)
		err = enlarge(&p[0], 100, 5000);
	if (!err && large)
		err = enlarge(&p[0], 5000, LARGE);
	for (unsigned int i = 0; i < KINDS; i++)
		free(p[i]);
	return -err;
}

static int small_work(void)
{
	return allocations(false);
}

static void objects(struct kunit *test)
{
	fault_walk_own(test, small_work, 7);
}

static int pages_work(void)
{
	void *p = malloc(3 * 4096);
	int err = p ? 0 : -*program_errno();

	free(p);
	return err;
}

/* Neither in one piece nor page by page. */
static void pages(struct kunit *test)
{
	fault_walk_onwards(test, pages_work, 1);
}

static int large_work(void)
{
	return allocations(true);
}

/* Objects and tables only: the thousands of pages of an area are all alike. */
static void areas(struct kunit *test)
{
	fault_walk(test, large_work, FAULT_SLAB | FAULT_RUNTIME, current, 4);
}

/* Without memory for its list the fuzzer misses leaks. It neither makes them up nor fails the program. */
static int listed_work(void)
{
	unsigned long bytes = 1;
	void *p;
	int err;

	redzone_leaks_begin();
	p = malloc(100);
	err = p ? 0 : -*program_errno();
	free(p);
	if (redzone_leaks_end(&bytes) || bytes)
		err = -EIO;
	return err;
}

static void leak_list(struct kunit *test)
{
	fault_walk_own(test, listed_work, 2);
}

static int search_work(void)
{
	struct reach_object *objects = reach_alloc(1000);

	if (!objects)
		return -ENOMEM;
	reach_free(objects);
	return 0;
}

static void leak_search(struct kunit *test)
{
	fault_walk_own(test, search_work, 2);
}

KASAN_SUITE(fault_program, KUNIT_CASE(objects), KUNIT_CASE(pages), KUNIT_CASE(areas),
	    KUNIT_CASE(leak_list), KUNIT_CASE(leak_search));
