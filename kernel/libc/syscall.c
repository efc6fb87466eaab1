// SPDX-License-Identifier: MIT
/*
 * syscall.c - redzone_syscall(): what the C library asks of the kernel, by Linux's numbers.
 *
 * A number that is not here gives -ENOSYS, as an old Linux would. missing.c notes it.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "../program/internal.h"
#include "libc.h"
#include "threads.h"

/* The numbers of most architectures, from Linux's asm-generic/unistd.h; x86 has others. */
enum {
	NR_GETCWD = 17,
	NR_DUP = 23,
	NR_DUP3 = 24,
	NR_FCNTL = 25,
	NR_IOCTL = 29,
	NR_FLOCK = 32,
	NR_MKDIRAT = 34,
	NR_UNLINKAT = 35,
	NR_SYMLINKAT = 36,
	NR_LINKAT = 37,
	NR_RENAMEAT = 38,
	NR_TRUNCATE = 45,
	NR_FTRUNCATE = 46,
	NR_FACCESSAT = 48,
	NR_CHDIR = 49,
	NR_FCHDIR = 50,
	NR_FCHMOD = 52,
	NR_FCHMODAT = 53,
	NR_FCHOWNAT = 54,
	NR_FCHOWN = 55,
	NR_OPENAT = 56,
	NR_CLOSE = 57,
	NR_PIPE2 = 59,
	NR_GETDENTS64 = 61,
	NR_LSEEK = 62,
	NR_READ = 63,
	NR_WRITE = 64,
	NR_READV = 65,
	NR_WRITEV = 66,
	NR_PREAD64 = 67,
	NR_PWRITE64 = 68,
	NR_PREADV = 69,
	NR_PWRITEV = 70,
	NR_READLINKAT = 78,
	NR_NEWFSTATAT = 79,
	NR_FSTAT = 80,
	NR_FSYNC = 82,
	NR_FDATASYNC = 83,
	NR_UTIMENSAT = 88,
	NR_EXIT = 93,
	NR_EXIT_GROUP = 94,
	NR_SET_TID_ADDRESS = 96,
	NR_FUTEX = 98,
	NR_SET_ROBUST_LIST = 99,
	NR_NANOSLEEP = 101,
	NR_CLOCK_GETTIME = 113,
	NR_CLOCK_GETRES = 114,
	NR_CLOCK_NANOSLEEP = 115,
	NR_SCHED_GETAFFINITY = 123,
	NR_SCHED_YIELD = 124,
	NR_KILL = 129,
	NR_TKILL = 130,
	NR_TGKILL = 131,
	NR_SIGALTSTACK = 132,
	NR_RT_SIGACTION = 134,
	NR_RT_SIGPROCMASK = 135,
	NR_RT_SIGPENDING = 136,
	NR_UNAME = 160,
	NR_UMASK = 166,
	NR_PRCTL = 167,
	NR_GETPID = 172,
	NR_GETPPID = 173,
	NR_GETUID = 174,
	NR_GETEUID = 175,
	NR_GETGID = 176,
	NR_GETEGID = 177,
	NR_GETTID = 178,
	NR_MUNMAP = 215,
	NR_MREMAP = 216,
	NR_MMAP = 222,
	NR_MPROTECT = 226,
	NR_MSYNC = 227,
	NR_MLOCK = 228,
	NR_MUNLOCK = 229,
	NR_MADVISE = 233,
	NR_RENAMEAT2 = 276,
	NR_GETRANDOM = 278,
};

#define UTSNAME_LENGTH 65
#define PR_SET_NAME    15
#define PR_GET_NAME    16

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

/* Calls about files. Return: false if @nr is none. */
static bool file_call(long nr, const long a[6], long *result)
{
	struct libc_iovec piece = {.base = (void *)a[1], .len = (size_t)a[2]};
	s64 pos = a[3];
	int fd = (int)a[0];

	switch (nr) {
	case NR_DUP:
		*result = libc_dup(fd, 0);
		break;
	case NR_DUP3:
		*result = libc_dup3(fd, (int)a[1]);
		break;
	case NR_FCNTL:
		*result = libc_fcntl(fd, (int)a[1], a[2]);
		break;
	case NR_IOCTL:
		*result = libc_ioctl(fd, (unsigned long)a[1], (void *)a[2]);
		break;
	case NR_TRUNCATE:
		*result = libc_truncate((const char *)a[0], a[1]);
		break;
	case NR_FTRUNCATE:
		*result = libc_ftruncate(fd, a[1]);
		break;
	case NR_FCHMOD:
		*result = libc_fchmod(fd, (u32)a[1]);
		break;
	case NR_CLOSE:
		*result = libc_close(fd);
		break;
	case NR_GETDENTS64:
		*result = libc_getdents(fd, (char *)a[1], (size_t)a[2]);
		break;
	case NR_LSEEK:
		*result = libc_lseek(fd, a[1], (int)a[2]);
		break;
	case NR_READ:
		*result = libc_readv(fd, &piece, 1, NULL);
		break;
	case NR_WRITE:
		*result = libc_writev(fd, &piece, 1, NULL);
		break;
	case NR_READV:
		*result = libc_readv(fd, (const struct libc_iovec *)a[1], (int)a[2], NULL);
		break;
	case NR_WRITEV:
		*result = libc_writev(fd, (const struct libc_iovec *)a[1], (int)a[2], NULL);
		break;
	case NR_PREAD64:
		*result = libc_readv(fd, &piece, 1, &pos);
		break;
	case NR_PWRITE64:
		*result = libc_writev(fd, &piece, 1, &pos);
		break;
	case NR_PREADV:
		*result = libc_readv(fd, (const struct libc_iovec *)a[1], (int)a[2], &pos);
		break;
	case NR_PWRITEV:
		*result = libc_writev(fd, (const struct libc_iovec *)a[1], (int)a[2], &pos);
		break;
	case NR_FSTAT:
		*result = libc_fstat(fd, (struct libc_stat *)a[1]);
		break;
	case NR_PIPE2:
		*result = libc_pipe2((int *)a[0], (unsigned int)a[1]);
		break;
	case NR_FLOCK:
	case NR_FSYNC:
	case NR_FDATASYNC:
	case NR_FCHOWN:
		*result = libc_fd_valid(fd);
		break;
	default:
		return false;
	}
	return true;
}

/* Calls with the name of a file. Return: false if @nr is none. */
static bool name_call(long nr, const long a[6], long *result)
{
	const char *path = (const char *)a[1];
	int dir = (int)a[0];

	switch (nr) {
	case NR_GETCWD:
		*result = libc_getcwd((char *)a[0], (size_t)a[1]);
		break;
	case NR_CHDIR:
		*result = libc_chdir((const char *)a[0]);
		break;
	case NR_FCHDIR:
		*result = libc_fchdir(dir);
		break;
	case NR_MKDIRAT:
		*result = libc_mkdirat(dir, path, (u32)a[2]);
		break;
	case NR_UNLINKAT:
		*result = libc_unlinkat(dir, path, (int)a[2]);
		break;
	case NR_SYMLINKAT:
	case NR_LINKAT:
		/* As file systems without links say it. */
		libc_note_missing(nr);
		*result = -EPERM;
		break;
	case NR_RENAMEAT:
	case NR_RENAMEAT2:
		*result = libc_renameat(dir, path, (int)a[2], (const char *)a[3],
					nr == NR_RENAMEAT2 ? (unsigned int)a[4] : 0);
		break;
	case NR_FACCESSAT:
	case NR_FCHOWNAT:
		*result = libc_faccessat(dir, path);
		break;
	case NR_FCHMODAT:
		*result = libc_fchmodat(dir, path, (u32)a[2]);
		break;
	case NR_OPENAT:
		*result = libc_openat(dir, path, (unsigned int)a[2], (u32)a[3]);
		break;
	case NR_READLINKAT:
		*result = libc_readlinkat(dir, path);
		break;
	case NR_NEWFSTATAT:
		*result = libc_fstatat(dir, path, (struct libc_stat *)a[2], (int)a[3]);
		break;
	case NR_UTIMENSAT:
		*result = libc_utimensat(dir, path, (const struct libc_timespec *)a[2]);
		break;
	case NR_UMASK:
		*result = libc_umask((u32)a[0]);
		break;
	default:
		return false;
	}
	return true;
}

/* All calls that return. Not inlined: see redzone_syscall(). */
static noinline long do_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	const long args[6] = {a, b, c, d, e, f};
	long result;

	if (file_call(nr, args, &result) || name_call(nr, args, &result))
		return result;
	switch (nr) {
	case NR_SET_TID_ADDRESS:
		libc_self()->ended = (int *)a;
		return libc_tid();
	case NR_FUTEX:
		return libc_futex((int *)a, (int)b, (int)c, (const struct libc_timespec *)d);
	case NR_PRCTL:
		if (a == PR_SET_NAME)
			return libc_setname((const char *)b);
		return a == PR_GET_NAME ? libc_getname((char *)b) : -EINVAL;
	case NR_SET_ROBUST_LIST:
		/* The library goes through the list itself. */
		return 0;
	case NR_GETTID:
		return libc_tid();
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
		return a == PROGRAM_PID || !a ? libc_kill(libc_tid(), (int)b) : -ESRCH;
	case NR_TKILL:
		return libc_kill(a, (int)b);
	case NR_TGKILL:
		return libc_kill(b, (int)c);
	case NR_SIGALTSTACK:
		return libc_sigaltstack((const struct libc_stack *)a, (struct libc_stack *)b);
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
	case NR_MREMAP:
		return libc_mremap((void *)a, (size_t)b, (size_t)c, (int)d);
	case NR_MPROTECT:
		return libc_mprotect((void *)a, (size_t)b, (int)c);
	case NR_MADVISE:
		return libc_madvise((void *)a, (size_t)b, (int)c);
	case NR_MSYNC:
	case NR_MLOCK:
	case NR_MUNLOCK:
		/* Nothing is written back, and all memory stays where it is. */
		return 0;
	case NR_GETRANDOM:
		get_random_bytes((void *)a, (size_t)b);
		return b;
	default:
		libc_note_missing(nr);
		return -ENOSYS;
	}
}

long redzone_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	long result;

	/* The search for leaks looks at all of the stack from here on. In a large frame it would find what earlier functions have
	 * left there, and take that for pointers of the program. */
	switch (nr) {
	case NR_EXIT:
		libc_thread_exit((int)(a & 0xff));
	case NR_EXIT_GROUP:
		program_exit((int)(a & 0xff));
	}
	result = do_syscall(nr, a, b, c, d, e, f);
	/* Replace the pages that the kernel has needed of the stack. A failure counts only if a page is touched and there is none. */
	(void)stack_refill(GFP_KERNEL);

	libc_deliver_signals(libc_self());
	return result;
}
