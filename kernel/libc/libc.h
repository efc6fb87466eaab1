/* SPDX-License-Identifier: MIT */
/*
 * libc.h - shared by the files that are system calls for the C library of programs.
 *
 * Programs run in the kernel, so a system call is a function call, and its pointers are ordinary ones: they are
 * used as they come, by instrumented code, so a bad one is reported with the program's trace. Numbers, structures and
 * results are those of Linux: a result is a value, or a negative errno. All calls come from the thread of a
 * program.
 */
#ifndef KERNEL_LIBC_H
#define KERNEL_LIBC_H

#include <kernel/program.h>
#include <kernel/types.h>

/** struct libc_iovec - one piece of memory of readv() and writev() */
struct libc_iovec {
	void *base;
	size_t len;
};

/** struct libc_timespec - a time in seconds and nanoseconds */
struct libc_timespec {
	s64 sec;
	s64 nsec;
};

/** struct libc_sigaction - what sigaction() sets; @mask: bit n - 1 is signal n */
struct libc_sigaction {
	void (*handler)(int sig);
	unsigned long flags;
	void (*restorer)(void);
	u64 mask;
};

struct libc_stat;

/* --- syscall.c -------------------------------------------------------------------------------- */

/** redzone_syscall() - Linux's system call number @nr. Return: its result, or a negative errno. */
long redzone_syscall(long nr, long a, long b, long c, long d, long e, long f);

/* --- program.c: what the library's own first function calls, see musl/start.c ------------------ */

/** redzone_libc_begin() - the library is ready: files and signals are a new program's, and errno is at @location(). */
void redzone_libc_begin(int *(*location)(void));
void redzone_libc_constructors(void);
void redzone_libc_destructors(void);
/** redzone_libc_environ() - Return: the program's environment, with NULL after the last. */
char **redzone_libc_environ(void);

/* --- threads.c: what the library's own threads.c calls ----------------------------------------- */

/**
 * redzone_libc_thread() - a new thread of the program, which calls @fn(@arg)
 * @stack: bytes of its stack for code without checks; it gets more. @tls: its thread pointer.
 * @tid: filled with its number before it runs. @ended: becomes 0 when it has ended, and who waits there is woken.
 *
 * Its floating-point registers are zero, its signals are blocked as the caller's. May sleep.
 *
 * Return: its number, -ENOMEM, or -EAGAIN if the program is ending.
 */
long redzone_libc_thread(int (*fn)(void *arg), void *arg, size_t stack, void *tls, int *tid,
			 int *ended);

/** redzone_libc_stack() - the calling thread's stack. @top: filled with the address above it. @size: filled, bytes. */
void redzone_libc_stack(void **top, size_t *size);

/* --- clock.c ---------------------------------------------------------------------------------- */

long libc_clock_gettime(int clock, struct libc_timespec *time);
/** libc_boot_ns() - Return: when the machine booted, in nanoseconds since 1970. */
u64 libc_boot_ns(void);
long libc_clock_getres(int clock, struct libc_timespec *res);
/** libc_clock_nanosleep() - let others run until the time has come; @flags 1: an absolute time. */
long libc_clock_nanosleep(int clock, int flags, const struct libc_timespec *time);

/* --- files.c ---------------------------------------------------------------------------------- */

long libc_close(int fd);
long libc_dup(int fd, int least);
long libc_dup3(int fd, int to);
long libc_lseek(int fd, s64 offset, int whence);
/** libc_readv(), libc_writev() - @pos: an offset; NULL: the descriptor's own, which moves. */
long libc_readv(int fd, const struct libc_iovec *iov, int count, const s64 *pos);
long libc_writev(int fd, const struct libc_iovec *iov, int count, const s64 *pos);
long libc_pread(int fd, void *buf, size_t size, s64 offset);
long libc_ftruncate(int fd, s64 size);
long libc_getdents(int fd, char *buf, size_t size);
long libc_ioctl(int fd, unsigned long request, void *arg);
long libc_fcntl(int fd, int command, long arg);
/** libc_pipe2() - fill @fds with the descriptors of a pipe's reader and writer. */
long libc_pipe2(int *fds, unsigned int flags);
/** libc_fd_valid() - Return: 0 if @fd is open, else -EBADF. */
long libc_fd_valid(int fd);

/* --- names.c ---------------------------------------------------------------------------------- */

long libc_openat(int dir, const char *path, unsigned int flags, u32 mode);
long libc_mkdirat(int dir, const char *path, u32 mode);
long libc_unlinkat(int dir, const char *path, int flags);
long libc_renameat(int dir, const char *path, int new_dir, const char *new_path,
		   unsigned int flags);
long libc_fstatat(int dir, const char *path, struct libc_stat *stat, int flags);
long libc_fstat(int fd, struct libc_stat *stat);
long libc_faccessat(int dir, const char *path);
long libc_truncate(const char *path, s64 size);
long libc_fchmodat(int dir, const char *path, u32 mode);
long libc_fchmod(int fd, u32 mode);
long libc_utimensat(int dir, const char *path, const struct libc_timespec *times);
long libc_chdir(const char *path);
long libc_fchdir(int fd);
long libc_getcwd(char *buf, size_t size);
long libc_readlinkat(int dir, const char *path);
long libc_umask(u32 new);
/** libc_files_reset() - a new tree with the files of the boot image, and the console as the only open file. Return:
 *  false if there is no memory. */
bool libc_files_reset(void);
/** libc_files_end() - close all files and free the tree. */
void libc_files_end(void);

/* --- save.c ----------------------------------------------------------------------------------- */

/** libc_save_files() - give the host the files that it wants, of the program that has ended. May sleep. */
void libc_save_files(void);

/* --- missing.c -------------------------------------------------------------------------------- */

/** libc_note_missing() - the program has made the system call @nr, which is not there. */
void libc_note_missing(long nr);

/** libc_say_missing() - print which those were of the program that has ended, if there were any. */
void libc_say_missing(void);

/* --- memory.c --------------------------------------------------------------------------------- */

long libc_mmap(void *addr, size_t size, int prot, int flags, int fd, s64 offset);
long libc_munmap(void *addr, size_t size);
long libc_mremap(void *addr, size_t size, size_t new_size, int flags);
/** libc_mprotect() - protect pages of mappings. Other memory stays readable and writable. */
long libc_mprotect(void *addr, size_t size, int prot);
/** libc_madvise() - the advice that a page is not needed clears it, and others do nothing. */
long libc_madvise(void *addr, size_t size, int advice);
/** libc_memory_changes() - Return: a number that changes when the program makes memory accessible. */
unsigned long libc_memory_changes(void);
/** libc_memory_roots() - call @scan for all mappings. No other thread runs. */
void libc_memory_roots(void (*scan)(const void *start, size_t size));

/** libc_memory_reset() - a new program has no mappings. */
void libc_memory_reset(void);

/* --- signal.c --------------------------------------------------------------------------------- */

long libc_sigaction(int sig, const struct libc_sigaction *new, struct libc_sigaction *old);
long libc_sigprocmask(int how, const u64 *set, u64 *old);
long libc_sigpending(u64 *set);
/** libc_sigaltstack() - another stack for the caller's handlers with SA_ONSTACK, of the kernel's. */
long libc_sigaltstack(const struct libc_stack *new, struct libc_stack *old);
/** libc_faults_reset() - a new program has had no faults. */
void libc_faults_reset(void);
/** libc_kill() - send @sig to the thread @tid; 0: only look whether there is one. It is delivered at the end of a system
 *  call, for the caller that of this one. */
long libc_kill(long tid, int sig);
/** libc_signals_reset() - default actions. */
void libc_signals_reset(void);

#endif
