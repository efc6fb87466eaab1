/* SPDX-License-Identifier: MIT */
/*
 * uaccess.h - the raw copies of uaccess.S. They check neither the range nor shadow: everybody but
 * <kernel/uaccess.h> calls that.
 */
#ifndef ASM_UACCESS_H
#define ASM_UACCESS_H

#include <kernel/types.h>

/* A pointer into the address space of the program that runs: for the reader's eyes. */
#define __user

/* User addresses are the lower half, 48 bits. */
#define TASK_SIZE (1UL << 48)

/* Return: bytes that were not copied or cleared. */
unsigned long __arch_copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long __arch_copy_to_user(void __user *to, const void *from, unsigned long n);
unsigned long __arch_clear_user(void __user *to, unsigned long n);

/* Return: characters before the NUL, @n if there is none among the first @n; -1 after a fault. */
long __arch_strncpy_from_user(char *to, const char __user *from, unsigned long n);
long __arch_strnlen_user(const char __user *s, unsigned long n);

/** struct user_value - what a load of a user's word gives. @error: 0 or -1. */
struct user_value {
	u64 value;
	long error;
};

struct user_value __arch_get_user_1(const void __user *from);
struct user_value __arch_get_user_2(const void __user *from);
struct user_value __arch_get_user_4(const void __user *from);
struct user_value __arch_get_user_8(const void __user *from);
/* Return: 0 or -1. */
long __arch_put_user_1(void __user *to, u64 value);
long __arch_put_user_2(void __user *to, u64 value);
long __arch_put_user_4(void __user *to, u64 value);
long __arch_put_user_8(void __user *to, u64 value);

#endif
