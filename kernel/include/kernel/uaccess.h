/* SPDX-License-Identifier: MIT */
/*
 * uaccess.h - copying between kernel memory and the address space of the running task.
 *
 * Every pointer that a program passes to the kernel goes through one of these functions. If a user address
 * is not mapped, not writable or outside of user space, the function fails; that is never a bug of the
 * kernel. User memory has no shadow. KASAN checks the *kernel's* range as a whole before the first byte is
 * copied, and reports a bad read or write at the caller; after a report nothing is copied.
 *
 * They do not sleep: user pages exist as soon as they are mapped. They work in any context and use the
 * running task's address space; a task without one has no user memory.
 */
#ifndef KERNEL_UACCESS_H
#define KERNEL_UACCESS_H

#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/string.h>
#include <kernel/types.h>

/** access_ok() - Return: true if all of [@addr, @addr + @size) are user addresses; they need not be
 *  mapped. */
static inline bool access_ok(const void __user *addr, unsigned long size)
{
	return size <= TASK_SIZE && (unsigned long)addr <= TASK_SIZE - size;
}

/**
 * copy_to_user() - copy from kernel memory to user memory
 * @to: user address. @from: kernel memory. @n: bytes.
 *
 * Return: bytes that could not be copied, at the end; 0 if all went well.
 */
static __always_inline __must_check unsigned long copy_to_user(void __user *to, const void *from,
							       unsigned long n)
{
	if (!kasan_check_read(from, n) || !access_ok(to, n))
		return n;
	return __arch_copy_to_user(to, from, n);
}

/**
 * copy_from_user() - copy from user memory to kernel memory
 * @to: kernel memory. @from: user address. @n: bytes.
 *
 * Bytes of @to that could not be copied are cleared, so that old contents are not taken for the user's data.
 *
 * Return: bytes that could not be copied, at the end; 0 if all went well.
 */
static __always_inline __must_check unsigned long copy_from_user(void *to, const void __user *from,
								 unsigned long n)
{
	unsigned long left = n;

	/* With an impossible size it does not even clear. */
	if (!kasan_check_write(to, n) || n > LONG_MAX)
		return n;
	if (access_ok(from, n))
		left = __arch_copy_from_user(to, from, n);
	if (unlikely(left))
		memset((char *)to + (n - left), 0, left);
	return left;
}

/**
 * __copy_to_user(), __copy_from_user() - for callers that have checked access_ok() themselves
 *
 * KASAN checks them too. They also fail for an address outside of user space, because they have the
 * rights of user mode. Nothing is cleared. The _inatomic forms are the same, since none of these functions
 * sleeps.
 *
 * Return: bytes that could not be copied.
 */
static __always_inline __must_check unsigned long __copy_to_user(void __user *to, const void *from,
								 unsigned long n)
{
	return kasan_check_read(from, n) ? __arch_copy_to_user(to, from, n) : n;
}

static __always_inline __must_check unsigned long
__copy_from_user(void *to, const void __user *from, unsigned long n)
{
	return kasan_check_write(to, n) ? __arch_copy_from_user(to, from, n) : n;
}
#define __copy_to_user_inatomic(to, from, n)   __copy_to_user(to, from, n)
#define __copy_from_user_inatomic(to, from, n) __copy_from_user(to, from, n)

/**
 * copy_to_kernel_nofault(), copy_from_kernel_nofault() - copy between kernel memory and a kernel address that
 * may be wrong
 * @dst, @src: kernel addresses. @size: bytes.
 *
 * An address where nothing is mapped, or not with that right, makes them fail. KASAN checks both ranges of
 * copy_to_kernel_nofault(). It does not check what copy_from_kernel_nofault() reads, because that may be
 * anything. Any context.
 *
 * Return: 0; -EFAULT after a fault, with a part perhaps copied, or after a KASAN report, with nothing copied; -ERANGE
 * for a user address.
 */
long copy_to_kernel_nofault(void *dst, const void *src, size_t size);
long copy_from_kernel_nofault(void *dst, const void *src, size_t size);

/** clear_user() - write zeroes to user memory. Return: bytes that could not be cleared. */
static inline __must_check unsigned long clear_user(void __user *to, unsigned long n)
{
	return access_ok(to, n) ? __arch_clear_user(to, n) : n;
}

/**
 * strncpy_from_user() - copy a string from user memory
 * @to: @n bytes of kernel memory, all of which are checked. @from: user address.
 *
 * Return: length of the string without its NUL, which is also copied; @n if the first @n characters hold no
 * NUL (@to then has none); -EFAULT if the string runs into an unreadable address, or after a KASAN report.
 */
static __always_inline __must_check long strncpy_from_user(char *to, const char __user *from,
							   long n)
{
	unsigned long limit = n;
	long length;

	if (n <= 0)
		return 0;
	if (!kasan_check_write(to, n) || !access_ok(from, 1))
		return -EFAULT;
	/* A string may end with the last byte of the address space. */
	if (limit > TASK_SIZE - (unsigned long)from)
		limit = TASK_SIZE - (unsigned long)from;
	length = __arch_strncpy_from_user(to, from, limit);
	if (length < 0 || (length == (long)limit && length < n))
		return -EFAULT;
	return length;
}

/**
 * strnlen_user() - length of a string in user memory
 *
 * Return: its length with the NUL; @n + 1 if the first @n characters hold no NUL; 0 if it runs into an
 * unreadable address.
 */
static inline __must_check long strnlen_user(const char __user *s, long n)
{
	unsigned long limit = n;
	long length;

	if (n <= 0 || !access_ok(s, 1))
		return 0;
	if (limit > TASK_SIZE - (unsigned long)s)
		limit = TASK_SIZE - (unsigned long)s;
	length = __arch_strnlen_user(s, limit);
	if (length < 0 || (length == (long)limit && length < n))
		return 0;
	return length + 1;
}

/**
 * get_user() - read one value from user memory
 * @x: an integer or pointer, set to 0 on failure. @ptr: user address of 1, 2, 4 or 8 bytes; its type is the
 *	one that is read. It need not be aligned.
 *
 * Return: 0 or -EFAULT.
 */
#define get_user(x, ptr)                                                                \
	({                                                                              \
		const __typeof__(*(ptr)) __user *__gu_ptr = (ptr);                      \
		struct user_value __gu = __get_user_sized(__gu_ptr, sizeof(*__gu_ptr)); \
                                                                                        \
		(x) = (__typeof__(*(ptr)))__gu.value;                                   \
		(int)__gu.error;                                                        \
	})

/** put_user() - write one value to user memory: @x, converted to the type that @ptr points to. Return: 0 or
 *  -EFAULT. */
#define put_user(x, ptr)                                                        \
	({                                                                      \
		__typeof__(*(ptr)) __user *__pu_ptr = (ptr);                    \
		__typeof__(*(ptr)) __pu_value = (x);                            \
                                                                                \
		__put_user_sized(__pu_ptr, (u64)__pu_value, sizeof(*__pu_ptr)); \
	})

/* Not defined: other sizes fail to link. */
struct user_value __get_user_of_unsupported_size(void);
long __put_user_of_unsupported_size(void);

static __always_inline struct user_value __get_user_sized(const void __user *ptr, size_t size)
{
	struct user_value v = {.error = -EFAULT};

	if (!access_ok(ptr, size))
		return v;
	switch (size) {
	case 1:
		v = __arch_get_user_1(ptr);
		break;
	case 2:
		v = __arch_get_user_2(ptr);
		break;
	case 4:
		v = __arch_get_user_4(ptr);
		break;
	case 8:
		v = __arch_get_user_8(ptr);
		break;
	default:
		return __get_user_of_unsupported_size();
	}
	v.error = v.error ? -EFAULT : 0;
	return v;
}

static __always_inline int __put_user_sized(void __user *ptr, u64 value, size_t size)
{
	long error;

	if (!access_ok(ptr, size))
		return -EFAULT;
	switch (size) {
	case 1:
		error = __arch_put_user_1(ptr, value);
		break;
	case 2:
		error = __arch_put_user_2(ptr, value);
		break;
	case 4:
		error = __arch_put_user_4(ptr, value);
		break;
	case 8:
		error = __arch_put_user_8(ptr, value);
		break;
	default:
		error = __put_user_of_unsupported_size();
	}
	return error ? -EFAULT : 0;
}

#endif
