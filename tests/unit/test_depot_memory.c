/* SPDX-License-Identifier: MIT */
/* test_depot_memory.c - a port without memory for the depot: only the stacks are missing. */
#include <string.h>

#include "../../runtime/track/track.h"
#include "unit.h"

static unsigned int asked;

static void *no_memory(size_t size)
{
	asked++;
	return NULL;
}

static void no_memory_at_all(void)
{
	uintptr_t pcs[] = {0x1000, 0x2000};
	const uintptr_t *got;
	char *p;

	kasan_posix_hooks.alloc = no_memory;
	CHECK_EQ(kasan_depot_save(pcs, 2), 0);
	CHECK(asked > 0);
	CHECK(unit_find(0, "kasan: no memory for the stack depot at 0 traces") >= 0);
	CHECK_EQ(kasan_depot_fetch(1, &got), 0);
	p = kasan_posix_malloc(10);
	REQUIRE(p);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p, 11));
	CHECK(unit_saw(" (stack is not available)"));
	kasan_posix_free(p);
	/* The quarantine could not hold the chunk, so libc has it again and it is not an object. */
	EXPECT_REPORT("invalid-free", kasan_posix_free(p));
}

/* The depot uses memory that becomes available later: one refusal does not stop it. */
static void memory_comes_back(void)
{
	uintptr_t pcs[] = {0x1000, 0x2000}, others[] = {0x3000, 0x4000};
	const uintptr_t *got;
	uint32_t handle;

	kasan_posix_hooks.alloc = no_memory;
	unit_clear();
	CHECK_EQ(kasan_depot_save(pcs, 2), 0);
	CHECK_EQ(kasan_depot_save(pcs, 2), 0);
	/* The case before has printed this already. */
	CHECK(unit_find(0, "kasan: stack depot full") < 0);
	kasan_posix_hooks.alloc = NULL;
	handle = kasan_depot_save(pcs, 2);
	CHECK(handle);
	CHECK_EQ(kasan_depot_fetch(handle, &got), 2);
	CHECK(got[0] == 0x1000 && got[1] == 0x2000);
	CHECK(kasan_depot_save(others, 2) != handle);
	CHECK_EQ(kasan_depot_save(pcs, 2), handle);
}

UNIT_MAIN(no_memory_at_all, memory_comes_back)
