// SPDX-License-Identifier: MIT
/*
 * uaccess_test.c - copies between kernel and user memory: exact if part of the range is missing, refused if
 * the range is not the user's. The suite's user memory is one page of its own address space with nothing
 * mapped behind it.
 */
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/uaccess.h>
#include <kernel/user_mm.h>

#include "kasan_test.h"
#include "user_test.h"

static unsigned long page;     /* readable and writable */
static unsigned long page_end; /* nothing is mapped here */

static int uaccess_init(struct kunit *test)
{
	int err = user_test_init(test);
	long at;

	if (!err)
		err = kunit_attach_mm();
	if (err)
		return err;
	at = mm_map(current->mm, 0, PAGE_SIZE, PROT_READ | PROT_WRITE);
	if (at < 0)
		return (int)at;
	page = (unsigned long)at;
	page_end = page + PAGE_SIZE;
	return 0;
}

static u8 user_byte(unsigned long at)
{
	return (u8)((at - page) * 7 + 1);
}

/* Fill the last @size bytes of user memory with bytes that tell where they are. */
static void fill_user(struct kunit *test, size_t size)
{
	u8 *bytes = kunit_kmalloc(test, size, GFP_KERNEL);
	unsigned long at = page_end - size;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = user_byte(at + i);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, bytes, size), 0UL);
	kunit_kfree(test, bytes);
}

static void whole_page(struct kunit *test)
{
	u8 *bytes = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	/* It comes cleared. */
	memset(bytes, 0xee, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, copy_from_user(bytes, (void __user *)page, PAGE_SIZE), 0UL);
	KUNIT_EXPECT_NULL(test, memchr_inv(bytes, 0, PAGE_SIZE));
	fill_user(test, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, copy_from_user(bytes, (void __user *)page, PAGE_SIZE), 0UL);
	for (size_t i = 0; i < PAGE_SIZE; i++)
		KUNIT_ASSERT_EQ(test, bytes[i], user_byte(page + i));
	KUNIT_EXPECT_EQ(test, copy_from_user(NULL, NULL, 0), 0UL);
	KUNIT_EXPECT_EQ(test, copy_to_user(NULL, NULL, 0), 0UL);
}

/* Every size and alignment around the end of the mapped page, exact to the byte. */
static void partial_copies(struct kunit *test)
{
	u8 *bytes = kunit_kmalloc(test, 160, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (unsigned long mapped = 0; mapped <= 72; mapped++) {
		for (unsigned long n = 0; n <= 150; n += 1 + n / 40) {
			unsigned long at = page_end - mapped, left = n > mapped ? n - mapped : 0;

			fill_user(test, 128);
			memset(bytes, 0xee, 160);
			KUNIT_ASSERT_EQ(test, copy_from_user(bytes, (void __user *)at, n), left);
			for (unsigned long i = 0; i < 160; i++)
				KUNIT_ASSERT_EQ(test, bytes[i],
						i >= n		? 0xee
						: i >= n - left ? 0
								: user_byte(at + i));

			memset(bytes, 0x55, 160);
			KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, bytes, n), left);
			KUNIT_ASSERT_EQ(test, copy_from_user(bytes, (void __user *)at, mapped),
					0UL);
			for (unsigned long i = 0; i < mapped; i++)
				KUNIT_ASSERT_EQ(test, bytes[i], i < n ? 0x55 : user_byte(at + i));

			KUNIT_ASSERT_EQ(test, clear_user((void __user *)at, n), left);
			KUNIT_ASSERT_EQ(test, copy_from_user(bytes, (void __user *)at, mapped),
					0UL);
			for (unsigned long i = 0; i < mapped; i++)
				KUNIT_ASSERT_EQ(test, bytes[i], i < n ? 0 : user_byte(at + i));
		}
	}
}

static void kernel_misalignment(struct kunit *test)
{
	u8 *bytes = kunit_kzalloc(test, 256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	fill_user(test, PAGE_SIZE);
	for (unsigned long to = 0; to < 16; to++) {
		for (unsigned long n = 0; n <= 100; n++) {
			memset(bytes, 0xee, 256);
			KUNIT_ASSERT_EQ(test,
					copy_from_user(bytes + to, (void __user *)(page + 5), n),
					0UL);
			for (unsigned long i = 0; i < 256; i++)
				KUNIT_ASSERT_EQ(test, bytes[i],
						i < to || i >= to + n
							? 0xee
							: user_byte(page + 5 + i - to));
		}
	}
}

static void ranges(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, access_ok(NULL, 0));
	KUNIT_EXPECT_TRUE(test, access_ok((void __user *)0x1000, 0x1000));
	KUNIT_EXPECT_TRUE(test, access_ok((void __user *)(TASK_SIZE - 1), 1));
	KUNIT_EXPECT_TRUE(test, access_ok((void __user *)TASK_SIZE, 0));
	KUNIT_EXPECT_FALSE(test, access_ok((void __user *)(TASK_SIZE - 1), 2));
	KUNIT_EXPECT_FALSE(test, access_ok((void __user *)TASK_SIZE, 1));
	KUNIT_EXPECT_FALSE(test, access_ok((void __user *)0x1000, ~0UL));
	KUNIT_EXPECT_FALSE(test, access_ok((void __user *)~0UL, 2));
	KUNIT_EXPECT_FALSE(test, access_ok((void __user *)&page, 1));
	KUNIT_EXPECT_TRUE(test, access_ok(NULL, TASK_SIZE));
	KUNIT_EXPECT_FALSE(test, access_ok(NULL, TASK_SIZE + 1));
}

static const unsigned long not_user[] = {
	0x10,
	0x1000,
	TASK_SIZE - 8,
	TASK_SIZE,
	0x8000000000000000,
	PAGE_OFFSET,
#ifdef CONFIG_KASAN_SHADOW_OFFSET
	CONFIG_KASAN_SHADOW_OFFSET,
	KASAN_SHADOW_START,
#endif
	0xfffffffffffffff8,
};

/* Memory that is not the user's is refused, and neither read nor written. */
static void bad_addresses(struct kunit *test)
{
	u8 bytes[64];

	for (size_t i = 0; i < ARRAY_SIZE(not_user); i++) {
		void __user *p = (void __user *)not_user[i];
		u64 v64 = 1;
		u32 v32 = 1;
		u16 v16 = 1;
		u8 v8 = 1;

		memset(bytes, 0xee, sizeof(bytes));
		KUNIT_EXPECT_EQ(test, copy_from_user(bytes, p, sizeof(bytes)), sizeof(bytes));
		KUNIT_EXPECT_NULL(test, memchr_inv(bytes, 0, sizeof(bytes)));
		KUNIT_EXPECT_EQ(test, copy_to_user(p, bytes, sizeof(bytes)), sizeof(bytes));
		KUNIT_EXPECT_EQ(test, clear_user(p, 33), 33UL);
		KUNIT_EXPECT_EQ(test, strncpy_from_user((char *)bytes, p, 8), (long)-EFAULT);
		KUNIT_EXPECT_EQ(test, strnlen_user(p, 8), 0L);
		KUNIT_EXPECT_EQ(test, get_user(v64, (u64 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, get_user(v32, (u32 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, get_user(v16, (u16 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, get_user(v8, (u8 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, v64 + v32 + v16 + v8, 0UL);
		KUNIT_EXPECT_EQ(test, put_user(1, (u64 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, put_user(1, (u32 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, put_user(1, (u16 __user *)p), -EFAULT);
		KUNIT_EXPECT_EQ(test, put_user(1, (u8 __user *)p), -EFAULT);
	}
}

/* The raw copies have the rights of user mode: even without access_ok() they cannot reach the kernel. */
static void raw_copies_of_kernel_memory(struct kunit *test)
{
	static u64 secret = 0x5ec4e7;
	u64 copy = 0;

	KUNIT_EXPECT_EQ(test, __copy_from_user(&copy, (void __user *)&secret, 8), 8UL);
	KUNIT_EXPECT_EQ(test, copy, 0UL);
	KUNIT_EXPECT_EQ(test, __copy_to_user((void __user *)&secret, &copy, 8), 8UL);
	KUNIT_EXPECT_EQ(test, secret, 0x5ec4e7UL);
}

static void rights(struct kunit *test)
{
	long readable = mm_map(current->mm, 0, PAGE_SIZE, PROT_READ);
	long nothing = mm_map(current->mm, 0, PAGE_SIZE, PROT_NONE);
	u64 value = 7;

	KUNIT_ASSERT_GT(test, readable, 0L);
	KUNIT_ASSERT_GT(test, nothing, 0L);
	KUNIT_EXPECT_EQ(test, get_user(value, (u64 __user *)readable), 0);
	KUNIT_EXPECT_EQ(test, value, 0UL);
	KUNIT_EXPECT_EQ(test, put_user(1, (u64 __user *)readable), -EFAULT);
	KUNIT_EXPECT_EQ(test, clear_user((void __user *)readable, 10), 10UL);
	KUNIT_EXPECT_EQ(test, get_user(value, (u64 __user *)nothing), -EFAULT);
	/* The kernel's own way in does not ask for the user's rights. */
	KUNIT_EXPECT_EQ(test, mm_write(current->mm, (unsigned long)readable, "read me", 8), 0);
	KUNIT_EXPECT_EQ(test, get_user(value, (u64 __user *)readable), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&value, "read me", 8), 0);
	KUNIT_EXPECT_EQ(test, mm_write(current->mm, (unsigned long)nothing, "x", 1), -EFAULT);
}

static void single_values(struct kunit *test)
{
	s8 v8;
	s16 v16;
	s32 v32;
	s64 v64;
	void *pointer;

	for (unsigned long at = page; at < page + 9; at++) {
		KUNIT_EXPECT_EQ(test, put_user(-5, (s8 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, get_user(v8, (s8 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, v8, -5);
		KUNIT_EXPECT_EQ(test, put_user(-300, (s16 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, get_user(v16, (s16 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, v16, -300);
		KUNIT_EXPECT_EQ(test, put_user(-70000, (s32 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, get_user(v32, (s32 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, v32, -70000);
		KUNIT_EXPECT_EQ(test, put_user(-0x123456789abL, (s64 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, get_user(v64, (s64 __user *)at), 0);
		KUNIT_EXPECT_EQ(test, v64, -0x123456789abL);
	}
	KUNIT_EXPECT_EQ(test, put_user(test, (struct kunit * __user *)page), 0);
	KUNIT_EXPECT_EQ(test, get_user(pointer, (void *__user *)page), 0);
	KUNIT_EXPECT_PTR_EQ(test, pointer, test);
	/* Only the bytes that were asked for. */
	KUNIT_EXPECT_EQ(test, put_user(-1L, (s64 __user *)page), 0);
	KUNIT_EXPECT_EQ(test, put_user(0, (u8 __user *)(page + 3)), 0);
	KUNIT_EXPECT_EQ(test, get_user(v64, (s64 __user *)page), 0);
	KUNIT_EXPECT_EQ(test, v64, (s64)0xffffffff00ffffffUL);
	/* Across the end. */
	KUNIT_EXPECT_EQ(test, get_user(v32, (s32 __user *)(page_end - 4)), 0);
	KUNIT_EXPECT_EQ(test, get_user(v32, (s32 __user *)(page_end - 3)), -EFAULT);
}

static void strings(struct kunit *test)
{
	static const char text[] = "user string";
	const long length = sizeof(text) - 1;
	char bytes[32];

	for (unsigned long at = page_end - sizeof(text); at > page_end - sizeof(text) - 9; at--) {
		KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, text, sizeof(text)), 0UL);
		KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)at, 32), length);
		KUNIT_EXPECT_STREQ(test, bytes, text);
		KUNIT_EXPECT_EQ(test, strnlen_user((char __user *)at, 100), length + 1);
	}
	/* As much as there is room for. */
	memset(bytes, 'x', sizeof(bytes));
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)(page_end - 20), 4), 4L);
	KUNIT_EXPECT_EQ(test, bytes[4], 'x');
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)page, 0), 0L);
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)page, -1), 0L);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(page_end - 8), "aaaaaaaa", 8), 0UL);
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)(page_end - 8), 8), 8L);
	KUNIT_EXPECT_EQ(test, strnlen_user((char __user *)(page_end - 8), 8), 9L);
	/* No NUL before the end of the mapped page. */
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)(page_end - 8), 9),
			(long)-EFAULT);
	KUNIT_EXPECT_EQ(test, strnlen_user((char __user *)(page_end - 8), 9), 0L);
	KUNIT_EXPECT_EQ(test, strnlen_user((char __user *)page, 0), 0L);
}

/* A string, and a range, that end with the last byte of user space. */
static void end_of_user_space(struct kunit *test)
{
	unsigned long last = TASK_SIZE - PAGE_SIZE;
	char bytes[32];

	KUNIT_ASSERT_EQ(test, mm_map(current->mm, last, PAGE_SIZE, PROT_READ | PROT_WRITE),
			(long)last);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)(TASK_SIZE - 4), "end", 4), 0UL);
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)(TASK_SIZE - 4), 32), 3L);
	KUNIT_EXPECT_EQ(test, strnlen_user((char __user *)(TASK_SIZE - 4), 32), 4L);
	KUNIT_EXPECT_EQ(test, put_user('.', (char __user *)(TASK_SIZE - 1)), 0);
	KUNIT_EXPECT_EQ(test, strncpy_from_user(bytes, (char __user *)(TASK_SIZE - 4), 32),
			(long)-EFAULT);
	KUNIT_EXPECT_EQ(test, strnlen_user((char __user *)(TASK_SIZE - 4), 32), 0L);
	KUNIT_EXPECT_EQ(test, copy_from_user(bytes, (char __user *)(TASK_SIZE - 4), 5), 5UL);
}

static void without_an_address_space(struct kunit *test)
{
	struct mm_struct *mm = current->mm;
	u64 value = 1;

	mmget(mm);
	exit_mm();
	KUNIT_EXPECT_EQ(test, get_user(value, (u64 __user *)page), -EFAULT);
	KUNIT_EXPECT_EQ(test, value, 0UL);
	KUNIT_EXPECT_EQ(test, put_user(1, (u64 __user *)page), -EFAULT);
	kthread_use_mm(mm);
	mmput(mm);
	KUNIT_EXPECT_EQ(test, get_user(value, (u64 __user *)page), 0);
}

/* Interrupts off, and at any moment of a copy preempted by others with other address spaces. */
static void in_atomic_context(struct kunit *test)
{
	unsigned long flags;
	u64 value = 1;

	local_irq_save(flags);
	value = copy_to_user((void __user *)page, &value, 8);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, value, 0UL);
	preempt_disable();
	KUNIT_EXPECT_EQ(test, get_user(value, (u64 __user *)page_end), -EFAULT);
	preempt_enable();
}

static int copier(void *arg)
{
	struct mm_struct *mm = mm_alloc();
	u64 pattern[32], back[32];
	long at;

	if (IS_ERR(mm))
		return -ENOMEM;
	kthread_use_mm(mm);
	mmput(mm);
	at = mm_map(mm, 0, PAGE_SIZE, PROT_READ | PROT_WRITE);
	if (at < 0)
		return -ENOMEM;
	for (u64 round = 0; round < 2000; round++) {
		for (int i = 0; i < 32; i++)
			pattern[i] = (u64)current->pid << 32 | (round + (u64)i);
		if (copy_to_user((void __user *)at, pattern, sizeof(pattern)))
			return 1;
		if (!(round & 7))
			yield();
		if (copy_from_user(back, (void __user *)at, sizeof(back)) ||
		    memcmp(pattern, back, sizeof(back)))
			return 2;
	}
	return 0;
}

/* All use the same user address. */
static void on_all_cpus(struct kunit *test)
{
	struct task *tasks[8];

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(copier, NULL, "copier/%zu", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
}

static void areas(struct kunit *test)
{
	struct mm_struct *mm = current->mm;
	unsigned long pages = mm->nr_pages;
	long a = mm_map(mm, 0, 5 * PAGE_SIZE, PROT_READ | PROT_WRITE);

	KUNIT_ASSERT_GT(test, a, 0L);
	KUNIT_EXPECT_EQ(test, mm->nr_pages, pages + 5);
	KUNIT_EXPECT_EQ(test, mm_map(mm, (unsigned long)a + PAGE_SIZE, 1, PROT_READ),
			(long)-EEXIST);
	KUNIT_EXPECT_EQ(test, mm_map(mm, (unsigned long)a + 1, 1, PROT_READ), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, mm_map(mm, 0x1000, 1, PROT_READ), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, mm_map(mm, TASK_SIZE, 1, PROT_READ), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, mm_map(mm, TASK_SIZE - PAGE_SIZE, 2 * PAGE_SIZE, PROT_READ),
			(long)-EINVAL);
	KUNIT_EXPECT_EQ(test, mm_map(mm, 0, 0, PROT_READ), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, mm_map(mm, 0, TASK_SIZE, PROT_READ), (long)-ENOMEM);
	KUNIT_EXPECT_EQ(test, mm_unmap(mm, (unsigned long)a + PAGE_SIZE, 3 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, mm->nr_pages, pages + 2);
	KUNIT_EXPECT_EQ(test, mm_unmap(mm, (unsigned long)a, 5 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, mm->nr_pages, pages);
}

KUNIT_CASES(cases, KUNIT_CASE(whole_page), KUNIT_CASE(partial_copies),
	    KUNIT_CASE(kernel_misalignment), KUNIT_CASE(ranges), KUNIT_CASE(bad_addresses),
	    KUNIT_CASE(raw_copies_of_kernel_memory), KUNIT_CASE(rights), KUNIT_CASE(single_values),
	    KUNIT_CASE(strings), KUNIT_CASE(end_of_user_space),
	    KUNIT_CASE(without_an_address_space), KUNIT_CASE(in_atomic_context),
	    KUNIT_CASE(on_all_cpus), KUNIT_CASE(areas));

static struct kunit_suite suite = {
	.name = "uaccess",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = uaccess_init,
	.exit = kasan_test_exit,
	.test_cases = cases,
};
kunit_test_suite(suite);
