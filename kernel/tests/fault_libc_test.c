// SPDX-License-Identifier: MIT
/* fault_libc_test.c - lets the allocators fail at every place where a system call of the large C library allocates. */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/page.h>

#include "../libc/libc.h"
#include "fault_walk.h"
#include "kasan_test.h"

/* Linux's numbers. */
#define NR_MUNMAP     215
#define NR_MMAP	      222
#define MAP_PRIVATE   0x02
#define MAP_ANONYMOUS 0x20
#define PROT_RW	      3

static int mapping_work(void)
{
	long addr = redzone_syscall(NR_MMAP, 0, 2 * PAGE_SIZE - 1, PROT_RW,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long error;

	if (addr < 0 && addr >= -4095)
		return (int)addr;
	((char *)addr)[2 * PAGE_SIZE - 1] = 1;
	error = redzone_syscall(NR_MUNMAP, addr, 2 * PAGE_SIZE, 0, 0, 0, 0);
	return error ? -EIO : 0;
}

static void mappings(struct kunit *test)
{
	fault_walk_own(test, mapping_work, 2);
}

static struct kunit_case fault_libc_test_cases[] = {
	KUNIT_CASE(mappings),
	{},
};

static struct kunit_suite fault_libc_test_suite = {
	.name = "fault_libc",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
#ifdef CONFIG_KASAN
	.init = kasan_test_init,
#endif
	.exit = kasan_test_exit,
	.test_cases = fault_libc_test_cases,
};

kunit_test_suite(fault_libc_test_suite);
