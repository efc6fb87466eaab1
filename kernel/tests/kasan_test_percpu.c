// SPDX-License-Identifier: MIT
/*
 * kasan_test_percpu.c - memory with one copy per CPU: accesses past a copy, through any CPU's pointer, and after the free.
 * Static variables need redzones that pointers can be refused at: Generic mode, or software tags with tagged globals.
 */
#include <kernel/kernel.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <kernel/string.h>

#include "kasan_test.h"

/* One variable fills its cache line, and the last granule of the other is not full. */
struct counters {
	u64 hits[8];
};
static DEFINE_PER_CPU(struct counters, whole_lines);
static DEFINE_PER_CPU(char[21], odd_size);

static u64 *hidden(u64 *p)
{
	HIDE_VAR(p);
	return p;
}

void kasan_percpu_static(struct kunit *test)
{
	char *odd = *per_cpu_ptr(&odd_size, 0);
	u64 *copy;

	kasan_needs_globals(test);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		copy = hidden(per_cpu(whole_lines, cpu).hits);
		for (unsigned int i = 0; i < 8; i++)
			WRITE_ACCESS(copy[i], i);
	}
	/* This CPU's copy, another one's, and the last. */
	copy = hidden(per_cpu(whole_lines, smp_processor_id()).hits);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_WRITE, 8, WRITE_ACCESS(copy[8], 1));
	copy = hidden(per_cpu(whole_lines, 1).hits);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 8, READ_ACCESS(copy[8]));
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 8, READ_ACCESS(copy[-1]));
	copy = hidden(per_cpu(whole_lines, NR_CPUS - 1).hits);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 8, READ_ACCESS(copy[8]));
	HIDE_VAR(odd);
	WRITE_ACCESS(odd[20], 1);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_WRITE, 1, WRITE_ACCESS(odd[21], 1));
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1, READ_ACCESS(odd[63]));
}

void kasan_percpu_alloc(struct kunit *test)
{
	PER_CPU_POINTER(struct counters, area);
	PER_CPU_POINTER(char[21], odd_area);
	char *odd;
	u64 *copy;

	area = alloc_percpu(area);
	KUNIT_ASSERT_NOT_NULL(test, area);
	odd_area = alloc_percpu(odd_area);
	KUNIT_ASSERT_NOT_NULL(test, odd_area);
	for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++) {
		copy = hidden(per_cpu_ptr(area, cpu)->hits);
		KUNIT_EXPECT_EQ(test, (uintptr_t)copy % SMP_CACHE_BYTES, 0UL);
		for (unsigned int i = 0; i < 8; i++)
			KUNIT_EXPECT_EQ(test, copy[i]++, 0ULL);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 8,
				 WRITE_ACCESS(copy[8], 1));
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 8, READ_ACCESS(copy[-1]));
		odd = *per_cpu_ptr(odd_area, cpu);
		HIDE_VAR(odd);
		memset(odd, 1, 21);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
				 READ_ACCESS(odd[KASAN_END(21)]));
	}
	/* A CPU that the machine does not have. */
	copy = hidden((u64 *)((char *)area + nr_cpu_ids * sizeof((*area)[0])));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 8, READ_ACCESS(*copy));
	free_percpu(area);
	free_percpu(odd_area);
	free_percpu(NULL);
}

void kasan_percpu_uaf(struct kunit *test)
{
	PER_CPU_POINTER(struct counters, area);
	PER_CPU_POINTER(char[9000], large);
	u64 *copy;

	area = alloc_percpu(area);
	KUNIT_ASSERT_NOT_NULL(test, area);
	copy = hidden(per_cpu_ptr(area, nr_cpu_ids - 1)->hits);
	KUNIT_EXPECT_EQ(test, copy[3], 0ULL);
	free_percpu(area);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_WRITE, 8, WRITE_ACCESS(copy[3], 1));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, free_percpu(area));
	/* Pages of their own. */
	large = alloc_percpu(large);
	KUNIT_ASSERT_NOT_NULL(test, large);
	copy = hidden((u64 *)*per_cpu_ptr(large, 0));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 8,
			 READ_ACCESS(copy[KASAN_END(9000) / 8]));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, free_percpu(copy + 8));
	free_percpu(large);
	KASAN_EXPECT_BUG(test, KASAN_TYPE("use-after-free", NULL), KASAN_READ, 8,
			 READ_ACCESS(copy[0]));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, free_percpu(large));
}

/* The description before the first copy is overwritten: the report comes without what it said, and the free is refused. */
void kasan_percpu_garbage(struct kunit *test)
{
	PER_CPU_POINTER(struct counters, area);
	u64 *copy, saved[4];
	char *described;

	area = alloc_percpu(area);
	KUNIT_ASSERT_NOT_NULL(test, area);
	copy = hidden(per_cpu_ptr(area, 0)->hits);
	described = (char *)kasan_reset_tag(copy) - sizeof(saved);
	__memcpy(saved, described, sizeof(saved));
	__memset(described, 0x5a, sizeof(saved));
	KASAN_EXPECT_BUG(test, KASAN_TYPE("slab-out-of-bounds", "invalid-access"), KASAN_READ, 8,
			 READ_ACCESS(copy[8]));
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, free_percpu(area));
	__memcpy(described, saved, sizeof(saved));
	free_percpu(area);
}
