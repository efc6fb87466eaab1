// SPDX-License-Identifier: MIT
/*
 * syscall.c - redzone_syscall(): what the large C library asks of the kernel, by Linux's numbers for arm64.
 *
 * A number that is not here gives -ENOSYS, as an old Linux would. Such calls are listed in docs/libc.md.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>

#include "../ulib/ulib.h"
#include "libc.h"

/* Linux's numbers of the architectures that share one table, from its asm-generic/unistd.h. */
enum {
	NR_GETCWD = 17,
	NR_FCNTL = 25,
	NR_IOCTL = 29,
	NR_FACCESSAT = 48,
	NR_OPENAT = 56,
	NR_CLOSE = 57,
	NR_LSEEK = 62,
	NR_READ = 63,
	NR_WRITE = 64,
	NR_READV = 65,
	NR_WRITEV = 66,
	NR_PREAD64 = 67,
	NR_NEWFSTATAT = 79,
	NR_FSTAT = 80,
	NR_EXIT = 93,
	NR_EXIT_GROUP = 94,
	NR_SET_TID_ADDRESS = 96,
	NR_NANOSLEEP = 101,
	NR_CLOCK_GETTIME = 113,
	NR_CLOCK_GETRES = 114,
	NR_CLOCK_NANOSLEEP = 115,
	NR_SCHED_GETAFFINITY = 123,
	NR_SCHED_YIELD = 124,
	NR_KILL = 129,
	NR_TKILL = 130,
	NR_TGKILL = 131,
	NR_RT_SIGACTION = 134,
	NR_RT_SIGPROCMASK = 135,
	NR_RT_SIGPENDING = 136,
	NR_UNAME = 160,
	NR_GETPID = 172,
	NR_GETPPID = 173,
	NR_GETUID = 174,
	NR_GETEUID = 175,
	NR_GETGID = 176,
	NR_GETEGID = 177,
	NR_GETTID = 178,
	NR_MUNMAP = 215,
	NR_MMAP = 222,
	NR_MPROTECT = 226,
	NR_MADVISE = 233,
	NR_GETRANDOM = 278,
};

#define UTSNAME_LENGTH 65
#define PROGRAM_PID    1

/** struct libc_utsname - six strings of uname() */
struct libc_utsname {
	char field[6][UTSNAME_LENGTH];
};

static long libc_uname(struct libc_utsname *name)
{
	static const char *const words[] = {"Redzone", "redzone", "0", "0", CONFIG_ARCH_NAME, ""};

	memset(name, 0, sizeof(*name));
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
		strscpy(name->field[i], words[i], UTSNAME_LENGTH);
	return 0;
}

static long libc_getcwd(char *buf, size_t size)
{
	if (size < 2)
		return -ERANGE;
	memcpy(buf, "/", 2);
	return 2;
}

static long libc_getaffinity(size_t size, unsigned long *mask)
{
	if (size < sizeof(*mask))
		return -EINVAL;
	*mask = 0;
	for (unsigned int cpu = 0; cpu < CONFIG_NR_CPUS; cpu++)
		if (cpu_online(cpu))
			*mask |= 1UL << cpu;
	return sizeof(*mask);
}

long redzone_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	struct libc_iovec piece = {.base = (void *)b, .len = (size_t)c};

	switch (nr) {
	case NR_GETCWD:
		return libc_getcwd((char *)a, (size_t)b);
	case NR_FCNTL:
		return libc_fcntl((int)a, (int)b);
	case NR_IOCTL:
		return libc_ioctl((int)a, (unsigned long)b, (void *)c);
	case NR_FACCESSAT:
		return libc_faccessat((int)a, (const char *)b, (int)c);
	case NR_OPENAT:
		return libc_openat((int)a, (const char *)b, (int)c);
	case NR_CLOSE:
		return libc_close((int)a);
	case NR_LSEEK:
		return libc_lseek((int)a, b, (int)c);
	case NR_READ:
		return libc_readv((int)a, &piece, 1);
	case NR_WRITE:
		return libc_writev((int)a, &piece, 1);
	case NR_READV:
		return libc_readv((int)a, (const struct libc_iovec *)b, (int)c);
	case NR_WRITEV:
		return libc_writev((int)a, (const struct libc_iovec *)b, (int)c);
	case NR_PREAD64:
		return libc_pread((int)a, (void *)b, (size_t)c, d);
	case NR_NEWFSTATAT:
		return libc_fstatat((int)a, (const char *)b, (struct libc_stat *)c);
	case NR_FSTAT:
		return libc_fstat((int)a, (struct libc_stat *)b);
	case NR_EXIT:
	case NR_EXIT_GROUP:
		ulib_end_program((int)(a & 0xff));
	case NR_SET_TID_ADDRESS:
	case NR_GETTID:
	case NR_GETPID:
		return PROGRAM_PID;
	case NR_GETPPID:
	case NR_GETUID:
	case NR_GETEUID:
	case NR_GETGID:
	case NR_GETEGID:
		return 0;
	case NR_NANOSLEEP:
		return libc_clock_nanosleep(1, 0, (const struct libc_timespec *)a);
	case NR_CLOCK_GETTIME:
		return libc_clock_gettime((int)a, (struct libc_timespec *)b);
	case NR_CLOCK_GETRES:
		return libc_clock_getres((int)a, (struct libc_timespec *)b);
	case NR_CLOCK_NANOSLEEP:
		return libc_clock_nanosleep((int)a, (int)b, (const struct libc_timespec *)c);
	case NR_SCHED_GETAFFINITY:
		return libc_getaffinity((size_t)b, (unsigned long *)c);
	case NR_SCHED_YIELD:
		yield();
		return 0;
	case NR_KILL:
	case NR_TKILL:
		return a == PROGRAM_PID || (nr == NR_KILL && !a) ? libc_raise((int)b) : -ESRCH;
	case NR_TGKILL:
		return b == PROGRAM_PID ? libc_raise((int)c) : -ESRCH;
	case NR_RT_SIGACTION:
		return libc_sigaction((int)a, (const struct libc_sigaction *)b,
				      (struct libc_sigaction *)c);
	case NR_RT_SIGPROCMASK:
		return libc_sigprocmask((int)a, (const u64 *)b, (u64 *)c);
	case NR_RT_SIGPENDING:
		return libc_sigpending((u64 *)a);
	case NR_UNAME:
		return libc_uname((struct libc_utsname *)a);
	case NR_MMAP:
		return libc_mmap((void *)a, (size_t)b, (int)c, (int)d, (int)e, f);
	case NR_MUNMAP:
		return libc_munmap((void *)a, (size_t)b);
	case NR_MPROTECT:
	case NR_MADVISE:
		/* All memory stays readable and writable. */
		return 0;
	case NR_GETRANDOM:
		get_random_bytes((void *)a, (size_t)b);
		return b;
	default:
		return -ENOSYS;
	}
}
