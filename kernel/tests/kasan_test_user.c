// SPDX-License-Identifier: MIT
/*
 * kasan_test_user.c - user memory: copies whose kernel side is too small, and kernel code that accesses it
 * without a copy function. After the second kind's report a CPU with PAN faults, and one without goes on.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/uaccess.h>
#include <kernel/user_mm.h>

#include "kasan_test.h"
#include "user_test.h"

/* A page of user memory in an address space of the case's own. */
static unsigned long user_page(struct kunit *test)
{
	long at;

	KUNIT_ASSERT_EQ(test, kunit_attach_mm(), 0);
	at = mm_map(current->mm, 0, PAGE_SIZE, PROT_READ | PROT_WRITE);
	KUNIT_ASSERT_GT(test, at, 0L);
	return (unsigned long)at;
}

void copy_user_oob(struct kunit *test)
{
	char __user *user __unused = (char __user *)user_page(test);
	size_t size = 128 - KASAN_GRANULE_SIZE;
	char *kernel = kunit_kmalloc(test, size, GFP_KERNEL);
	unsigned long left = 0;
	long length = 0;

	KUNIT_ASSERT_NOT_NULL(test, kernel);
	HIDE_VAR(kernel);
	HIDE_VAR(size);
	memset(kernel, 0x33, size);
	KUNIT_EXPECT_EQ(test, copy_to_user(user, kernel, size), 0UL);
	KUNIT_EXPECT_EQ(test, copy_from_user(kernel, user, size), 0UL);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, size + 1,
			 left = copy_from_user(kernel, user, size + 1));
	/* Nothing moved. */
	KUNIT_EXPECT_EQ(test, left, size + 1);
	left = 0;
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, size + 1,
			 left = copy_to_user(user, kernel, size + 1));
	KUNIT_EXPECT_EQ(test, left, size + 1);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, size + 1,
			 length = strncpy_from_user(kernel, user, (long)size + 1));
	KUNIT_EXPECT_EQ(test, length, (long)-EFAULT);
	left = 0;
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, size + 1,
			 left = __copy_from_user(kernel, user, size + 1));
	KUNIT_EXPECT_EQ(test, left, size + 1);
	left = 0;
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, size + 1,
			 left = __copy_to_user(user, kernel, size + 1));
	KUNIT_EXPECT_EQ(test, left, size + 1);
	/* A range that starts inside and ends far outside, and one that starts outside. */
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 200,
			 left = copy_from_user(kernel + size - 4, user, 200));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 3,
			 left = copy_to_user(user, kernel - 3, 3));
	/* The kernel's bug is reported whether or not the user's pointer is good. */
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, size + 1,
			 left = copy_from_user(kernel, NULL, size + 1));
}

/* The report names the function that copies, not the copy. */
static noinline unsigned long driver_reads_too_much(char *kernel, const char __user *user, size_t n)
{
	return copy_from_user(kernel, user, n);
}

void copy_user_caller(struct kunit *test)
{
	char __user *user __unused = (char __user *)user_page(test);
	char *kernel = kunit_kmalloc(test, 30, GFP_KERNEL);
	size_t size = KASAN_END(30) + 1;
	unsigned long start;

	KUNIT_ASSERT_NOT_NULL(test, kernel);
	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, size,
			 driver_reads_too_much(kernel, user, size));
	start = (unsigned long)driver_reads_too_much;
	KUNIT_EXPECT_LT(test, kasan_expect_last()->ip - start, 0x200UL);
}

void copy_user_negative_size(struct kunit *test)
{
	char __user *user __unused = (char __user *)user_page(test);
	char *kernel = kunit_kzalloc(test, 64, GFP_KERNEL);
	long size = -2;
	unsigned long left = 0;

	KUNIT_ASSERT_NOT_NULL(test, kernel);
	HIDE_VAR(kernel);
	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "out-of-bounds", KASAN_WRITE, (size_t)size,
			 left = copy_from_user(kernel, user, size));
	KASAN_EXPECT_BUG(test, "out-of-bounds", KASAN_READ, (size_t)size,
			 left = copy_to_user(user, kernel, size));
	KUNIT_EXPECT_EQ(test, strncpy_from_user(kernel, user, size), 0L);
	(void)left;
}

static char global_bytes[13];

void copy_user_other_memory(struct kunit *test)
{
	char __user *user __unused = (char __user *)user_page(test);
	char *kernel = kmalloc(64, GFP_KERNEL), *global = global_bytes, local[21], *stack = local;
	unsigned long left = 0;

	KUNIT_ASSERT_NOT_NULL(test, kernel);
	HIDE_VAR(global);
	HIDE_VAR(stack);
	if (KASAN_TEST_GLOBALS)
		KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_WRITE, 14,
				 left = copy_from_user(global, user, sizeof(global_bytes) + 1));
	if (KASAN_TEST_STACK) {
		/* The copy is made after the report, and tags leave no room behind a variable. */
		u8 *behind = (u8 *)kasan_reset_tag(stack) + KASAN_STACK_END(sizeof(local));
		const u8 kept = KASAN_TEST_HW ? *behind : 0;

		KASAN_EXPECT_BUG(
			test, "stack-out-of-bounds", KASAN_WRITE,
			KASAN_STACK_END(sizeof(local)) + 1,
			left = copy_from_user(stack, user, KASAN_STACK_END(sizeof(local)) + 1));
		if (KASAN_TEST_HW)
			*behind = kept;
	}
	kfree(kernel);
	HIDE_VAR(kernel);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 10,
			 left = copy_to_user(user, kernel, 10));
	(void)left;
}

/* get_user() stores like any other code: where it stores is checked there. Five words leave a granule of the slot
 * free in each mode. */
void get_user_oob(struct kunit *test)
{
	u64 __user *user __unused = (u64 __user *)user_page(test);
	u64 *kernel = kunit_kmalloc(test, 5 * sizeof(u64), GFP_KERNEL);
	size_t past = KASAN_END(5 * sizeof(u64)) / sizeof(u64);

	KUNIT_ASSERT_NOT_NULL(test, kernel);
	HIDE_VAR(kernel);
	HIDE_VAR(past);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 8,
			 (void)get_user(kernel[past], user));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 8,
			 (void)put_user(kernel[past], user));
}

/* --- Without a copy --------------------------------------------------------------------------------- */

struct toucher {
	struct mm_struct *mm;
	unsigned long address;
	void (*touch)(unsigned long address);
};

static void read_long(unsigned long address)
{
	KASAN_TEST_BUG((void)*(volatile long *)address);
}

static void write_short(unsigned long address)
{
	KASAN_TEST_BUG(*(volatile short *)address = 1);
}

/* Code without instrumentation: without PAN nothing can see its access. */
static __no_sanitize_address void read_unchecked(unsigned long address)
{
	KASAN_TEST_BUG(READ_ACCESS(*(u32 *)address));
}

static void copy_memory(unsigned long address)
{
	char kernel[24];
	void *p = kernel;

	HIDE_VAR(p);
	KASAN_TEST_BUG(memcpy(p, (void *)address, sizeof(kernel)));
}

static int touch(void *arg)
{
	struct toucher *t = arg;

	kthread_use_mm(t->mm);
	t->touch(t->address);
	return 0;
}

/* @faults: the access itself is made, and PAN refuses it. */
static void expect_user_access(struct kunit *test, struct toucher *t, enum kasan_access access,
			       size_t size, bool faults)
{
	unsigned int oopses = READ_ONCE(oops_count), expected = faults && cpu_has_pan();
	struct task *task;
	int value = 0;

	KUNIT_EXPECT_KASAN_REPORT(test, "user-memory-access", access, size, {
		task = kthread_run(touch, t, "driver");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		value = kthread_join(task);
	});
	KASAN_EXPECT_ADDR(test, t->address);
	KUNIT_EXPECT_EQ(test, value, expected ? -EFAULT : 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + expected);
}

void user_memory_access(struct kunit *test)
{
	struct toucher t;

	t.address = user_page(test);
	t.mm = current->mm;
	t.touch = read_long;
	expect_user_access(test, &t, KASAN_READ, 8, true);
	t.address += 0x123;
	t.touch = write_short;
	expect_user_access(test, &t, KASAN_WRITE, 2, true);
	/* A check that fails in memcpy() skips it. */
	t.touch = copy_memory;
	expect_user_access(test, &t, KASAN_READ, 24, false);
	if (cpu_has_pan()) {
		t.touch = read_unchecked;
		expect_user_access(test, &t, KASAN_READ, 4, true);
	}
	/* The half of the address space decides, not whether anything is mapped there. */
	t.address = 0xdeadbeef000;
	t.touch = copy_memory;
	expect_user_access(test, &t, KASAN_READ, 24, false);
}

/*
 * The fault handler remembers what was reported, so that the fault that follows is not reported again. Its
 * thread's end must clear that memory: the next threads, some at the same address, make the same access,
 * and none may be missed.
 */
void user_memory_access_again(struct kunit *test)
{
	struct toucher t = {.touch = read_unchecked};
	unsigned int i;

	kunit_needs(test, cpu_has_pan(), "a CPU with PAN");
	t.address = user_page(test);
	t.mm = current->mm;
	for (i = 0; i < 24; i++)
		expect_user_access(test, &t, KASAN_READ, 4, true);
}

static long sys_without_copy(const u64 *args)
{
	KASAN_TEST_BUG(return *(volatile int *)args[0] != 0);
	return 0;
}

/* A system call that uses its argument unchecked. If PAN ends it, only that program ends. */
void user_memory_access_in_syscall(struct kunit *test)
{
	unsigned int oopses = READ_ONCE(oops_count);
	int status = 0;

	KUNIT_ASSERT_EQ(test, user_test_init(test), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN, sys_without_copy), 0);
	KUNIT_EXPECT_KASAN_REPORT(test, "user-memory-access", KASAN_READ, 4,
				  status = USER_TEST_RUN(test, "own", "0"));
	KUNIT_EXPECT_EQ(test, status, cpu_has_pan() ? SIGKILL : 1 << 8);
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + cpu_has_pan());
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
	USER_TEST_PASSES(test, "getpid");
}

/* Leaves no poison: the redzones around its arrays last only as long as it runs. */
static noinline long use_the_stack(unsigned int depth)
{
	volatile char bytes[100];

	bytes[depth] = (char)depth;
	return depth ? use_the_stack(depth - 1) + bytes[depth] : 0;
}

static long sys_looks_at_its_stack(const u64 *args)
{
	const char *end = __builtin_frame_address(0);
	long bad = 0;

	if (current->process->task != current ||
	    regs_syscall_nr(task_pt_regs(current)) != SYSCALL_FIRST_OWN)
		return 15;
	use_the_stack(20);
	/* The stack below this frame, and above it only the saved registers of user mode. */
	for (const char *p = current->stack; p < end - 1024; p += KASAN_GRANULE_SIZE)
		bad += !kasan_byte_accessible(p);
	for (const char *p = (char *)task_pt_regs(current);
	     p < (char *)current->stack + current->stack_size; p += KASAN_GRANULE_SIZE)
		bad += !kasan_byte_accessible(p);
	return bad ? 16 : 0;
}

/* A program's task has dropped its first frames, and each system call starts with an empty stack. */
void syscall_stack_is_clean(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, user_test_init(test), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN, sys_looks_at_its_stack), 0);
	for (int i = 0; i < 4; i++)
		USER_TEST_PASSES(test, "own", "0");
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
	KUNIT_EXPECT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN - 1, sys_without_copy),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, user_syscall_register(SYSCALL_LAST_OWN + 1, sys_without_copy),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "own", "0"), (-ENOSYS & 0xff) << 8);
}

static long sys_copies_too_much(const u64 *args)
{
	volatile size_t n __unused = args[1];
	char local[40];
	/* Where the stack has no tags it is a heap object. */
	char *kernel = KASAN_TEST_STACK ? local : kmalloc(sizeof(local), GFP_KERNEL);
	long result = 0;

	HIDE_VAR(kernel);
	KASAN_TEST_BUG({
		if (copy_from_user(kernel, (void __user *)args[0], n))
			result = 14;
	});
	if (!KASAN_TEST_STACK)
		kfree(kernel);
	return result;
}

/* An unchecked size from the user: the report comes from the system call, and the call fails. */
void copy_user_oob_in_syscall(struct kunit *test)
{
	int status = 0;

	KUNIT_ASSERT_EQ(test, user_test_init(test), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN, sys_copies_too_much), 0);
	KUNIT_EXPECT_KASAN_REPORT(
		test, KASAN_TEST_STACK ? "stack-out-of-bounds" : "slab-out-of-bounds", KASAN_WRITE,
		4000, status = USER_TEST_RUN(test, "own", "0", "4000"));
	KUNIT_EXPECT_EQ(test, status, 14 << 8);
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
}
