// SPDX-License-Identifier: MIT
/* nofault.c - copies for debuggers and tracers, between kernel memory and addresses that may be wrong. */
#include <kernel/uaccess.h>

/* User memory has functions of its own; these would read it without PAN. */
static bool is_user_address(const void *addr)
{
	return (unsigned long)kasan_reset_tag(addr) < TASK_SIZE;
}

long copy_to_kernel_nofault(void *dst, const void *src, size_t size)
{
	if (is_user_address(dst))
		return -ERANGE;
	/* The address may be wrong, but memory that is there must not be overwritten by mistake. */
	if (!kasan_check_read(src, size) || !kasan_check_write(dst, size))
		return -EFAULT;
	return __arch_copy_to_kernel(dst, src, size) ? -EFAULT : 0;
}

long copy_from_kernel_nofault(void *dst, const void *src, size_t size)
{
	if (is_user_address(src))
		return -ERANGE;
	if (!kasan_check_write(dst, size))
		return -EFAULT;
	/* Whoever reads at an arbitrary address has no pointer with the right tag. */
	return __arch_copy_from_kernel(dst, kasan_reset_tag(src), size) ? -EFAULT : 0;
}
