// SPDX-License-Identifier: MIT
/*
 * fault_sites_test.c - lets the allocators fail at every place that allocates: user mode and its memory, and
 * small users of the allocators (formatted text, the RAM disk's table, work on every CPU). fault_inject_test.c
 * has the allocators themselves and their direct users.
 */
#include <kernel/arch.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/process.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/user_mm.h>
#include <kernel/workqueue.h>

#include "fault_walk.h"
#include "kasan_test.h"
#include "user_test.h"

/* --- Programs in user mode ------------------------------------------------------------------------- */

static struct process *create_process(const char *name, const char *argument)
{
	const char *const argv[] = {"user_tests", name, argument};

	return process_create(user_tests_image, (size_t)(user_tests_image_end - user_tests_image),
			      name, argument ? 3 : 2, argv);
}

static int create_work(void)
{
	struct process *process = create_process("exit", "0");

	if (IS_ERR(process))
		return (int)PTR_ERR(process);
	process_put(process);
	return 0;
}

static void creating_processes(struct kunit *test)
{
	fault_walk_own(test, create_work, 12);
}

/* The programs' own messages about their failures do not matter. */
static void swallow(void *arg, const char *text, size_t n)
{
}

static int run_process(const char *name, const char *argument)
{
	struct process *process = create_process(name, argument);

	if (IS_ERR(process))
		return (int)PTR_ERR(process);
	process->output = swallow;
	process_start(process);
	/* The program may have been refused memory, and says so. */
	return process_wait(process) ? -ENOMEM : 0;
}

static int run_work(void)
{
	return run_process("exit", "0");
}

/* Includes the allocations of the process itself and of the code that cleans up behind it. */
static void running_processes(struct kunit *test)
{
	fault_walk(test, run_work, FAULT_ALL, NULL, 12);
}

static int spawn_work(void)
{
	return run_process("family", NULL);
}

/* Processes that start others, and give up when they cannot. */
static void spawning_processes(struct kunit *test)
{
	fault_walk(test, spawn_work, FAULT_ALL, NULL, 24);
}

static int address_space_work(void)
{
	struct mm_struct *mm = mm_alloc();
	long first, second;
	int err = -ENOMEM;

	if (IS_ERR(mm))
		return (int)PTR_ERR(mm);
	/* Far apart, so that each needs tables of every level. */
	first = mm_map(mm, MMAP_MIN_ADDR, 5 * PAGE_SIZE, PROT_READ);
	second = mm_map(mm, 0, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE);
	mm->start_brk = mm->brk = 1UL << 32;
	if (first > 0 && second > 0 && mm_brk(mm, mm->brk + 3 * PAGE_SIZE) != mm->start_brk)
		err = 0;
	/* A hole splits one area into two. */
	if (!err)
		err = mm_unmap(mm, MMAP_MIN_ADDR + 2 * PAGE_SIZE, PAGE_SIZE);
	mmput(mm);
	return err;
}

static void address_spaces(struct kunit *test)
{
	fault_walk_own(test, address_space_work, 8);
}

/* --- Small users --------------------------------------------------------------------------------------- */

static atomic_t ran;

static void count_cpu(struct work_struct *work)
{
	atomic_inc(&ran);
}

static int each_cpu_work(void)
{
	int err;

	atomic_set(&ran, 0);
	err = schedule_on_each_cpu(count_cpu);
	/* All CPUs or none. */
	if (atomic_read(&ran) != (err ? 0 : (int)num_online_cpus()))
		return -EIO;
	return err;
}

static void work_on_each_cpu(struct kunit *test)
{
	fault_walk_own(test, each_cpu_work, 1);
}

static int text_work(void)
{
	char *text = kasprintf(GFP_KERNEL, "%s of %d", "every site", 7);
	char *start = kstrndup("every site", 5, GFP_KERNEL);
	int err = text && start ? 0 : -ENOMEM;

	if (text && strcmp(text, "every site of 7") != 0)
		err = -EIO;
	if (start && strcmp(start, "every") != 0)
		err = -EIO;
	kfree(start);
	kfree(text);
	return err;
}

static void formatted_text(struct kunit *test)
{
	fault_walk_own(test, text_work, 2);
}

/* One file "f" of 2 bytes. */
static const char archive[] __aligned(4) = "070701"
					   "00000001"
					   "000081a4"
					   "00000000"
					   "00000000"
					   "00000001"
					   "00000000"
					   "00000002"
					   "00000000"
					   "00000000"
					   "00000000"
					   "00000000"
					   "00000002"
					   "00000000"
					   "f\0"
					   "ok\0\0";

/* Without memory for the table there are no files, and an open() fails with that error. */
static int initrd_work(void)
{
	const unsigned long start = initrd_start, end = initrd_end;
	const struct initrd_file *files, *file;
	int err = 0;
	size_t n;

	initrd_start = (unsigned long)archive;
	initrd_end = (unsigned long)archive + sizeof(archive) - 1;
	initrd_init();
	files = initrd_files(&n);
	file = initrd_find("f");
	if (!files)
		err = n || file ? -EIO : -ENOMEM;
	else if (n != 1 || !file || file->size != 2 || memcmp(file->data, "ok", 2) != 0)
		err = -EIO;
	kfree(files);
	initrd_start = start;
	initrd_end = end;
	return err;
}

static void initrd_table(struct kunit *test)
{
	/* This boot has no RAM disk, so no real table is lost. */
	kunit_needs(test, initrd_start >= initrd_end, "a boot without a RAM disk");
	fault_walk_own(test, initrd_work, 1);
	/* As it was. */
	initrd_init();
	KUNIT_EXPECT_NULL(test, initrd_find("f"));
}

KUNIT_CASES(fault_sites_test_cases, KUNIT_CASE(creating_processes), KUNIT_CASE(running_processes),
	    KUNIT_CASE_SLOW(spawning_processes), KUNIT_CASE(address_spaces),
	    KUNIT_CASE(work_on_each_cpu), KUNIT_CASE(formatted_text), KUNIT_CASE(initrd_table));

KUNIT_SUITE(fault_sites, fault_sites_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = user_test_init, .exit = kasan_test_exit);
