// SPDX-License-Identifier: MIT
/*
 * syscall.c - the table of system calls, and those that belong nowhere else.
 *
 * Numbers and arguments are those of Linux's generic ABI, as far as it has the call; spawn() is our own.
 * Arguments are the raw contents of the program's registers. A pointer that leads nowhere gives -EFAULT, a
 * number that is in no table -ENOSYS.
 */
#include <kasan/version.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/uaccess.h>
#include <asm/elf.h>

#include "internal.h"

/* As user programs have it. */
#define UTSNAME_LEN 65
struct user_utsname {
	char sysname[UTSNAME_LEN], nodename[UTSNAME_LEN], release[UTSNAME_LEN];
	char version[UTSNAME_LEN], machine[UTSNAME_LEN], domainname[UTSNAME_LEN];
};

/* clock_gettime(clock, time): one clock, time since boot. */
static long sys_clock_gettime(const u64 *args)
{
	u64 __user *t = (u64 __user *)args[1];
	u64 now = clock_ns();

	if (args[0] > 1)
		return -EINVAL;
	if (put_user(now / NSEC_PER_SEC, &t[0]) || put_user(now % NSEC_PER_SEC, &t[1]))
		return -EFAULT;
	return 0;
}

static long sys_uname(const u64 *args)
{
	static const struct user_utsname name = {
		.sysname = "Redzone",
		.nodename = "redzone",
		.release = REDZONE_VERSION,
		.version = "reference kernel",
		.machine = ELF_MACHINE_NAME,
	};

	return copy_to_user((void __user *)args[0], &name, sizeof(name)) ? -EFAULT : 0;
}

/* getcpu(cpu, node, unused) */
static long sys_getcpu(const u64 *args)
{
	u32 __user *cpu = (u32 __user *)args[0], *node = (u32 __user *)args[1];

	if ((cpu && put_user(smp_processor_id(), cpu)) || (node && put_user(0, node)))
		return -EFAULT;
	return 0;
}

/* getrandom(buffer, size, flags): from the kernel's repeatable generator. */
static long sys_getrandom(const u64 *args)
{
	char __user *to = (char __user *)args[0];
	unsigned long n = min((unsigned long)args[1], 1UL << 20), done = 0;
	u8 piece[64];

	while (done < n) {
		unsigned long size = min(n - done, (unsigned long)sizeof(piece)), left;

		get_random_bytes(piece, size);
		left = copy_to_user(to + done, piece, size);
		done += size - left;
		if (left)
			return done ? (long)done : -EFAULT;
	}
	return (long)done;
}

static long sys_brk(const u64 *args)
{
	return (long)mm_brk(current->mm, args[0]);
}

static long sys_munmap(const u64 *args)
{
	return vm_munmap(args[0], args[1]);
}

/* mmap(hint, size, rights, flags, fd, offset): memory of one's own; the hint is not taken. */
static long sys_mmap(const u64 *args)
{
	return (long)vm_mmap(NULL, 0, args[1], args[2], args[3], args[5]);
}

static const struct {
	unsigned int nr;
	syscall_fn fn;
} syscalls[] = {
	{23, sys_dup},		{24, sys_dup3},	   {56, sys_openat},	 {57, sys_close},
	{59, sys_pipe2},	{62, sys_lseek},   {63, sys_read},	 {64, sys_write},
	{93, sys_exit},		{94, sys_exit},	   {101, sys_nanosleep}, {113, sys_clock_gettime},
	{124, sys_sched_yield}, {129, sys_kill},   {160, sys_uname},	 {168, sys_getcpu},
	{172, sys_getpid},	{178, sys_getpid}, {214, sys_brk},	 {215, sys_munmap},
	{222, sys_mmap},	{260, sys_wait4},  {278, sys_getrandom}, {1024, sys_spawn},
};

static syscall_fn own_syscalls[SYSCALL_LAST_OWN - SYSCALL_FIRST_OWN + 1];

int user_syscall_register(unsigned long nr, syscall_fn fn)
{
	syscall_fn nobody = NULL;

	if (nr < SYSCALL_FIRST_OWN || nr > SYSCALL_LAST_OWN)
		return -EINVAL;
	nr -= SYSCALL_FIRST_OWN;
	if (!fn)
		__atomic_store_n(&own_syscalls[nr], NULL, __ATOMIC_RELEASE);
	else if (!__atomic_compare_exchange_n(&own_syscalls[nr], &nobody, fn, false,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return -EBUSY;
	return 0;
}

static syscall_fn find_syscall(unsigned long nr)
{
	unsigned int low = 0, high = ARRAY_SIZE(syscalls);

	if (nr >= SYSCALL_FIRST_OWN && nr <= SYSCALL_LAST_OWN)
		return __atomic_load_n(&own_syscalls[nr - SYSCALL_FIRST_OWN], __ATOMIC_ACQUIRE);
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (syscalls[middle].nr == nr)
			return syscalls[middle].fn;
		if (syscalls[middle].nr < nr)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

long user_syscall(unsigned long nr, const u64 *args)
{
	syscall_fn fn = find_syscall(nr);

	return fn ? fn(args) : -ENOSYS;
}
