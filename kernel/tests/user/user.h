/* SPDX-License-Identifier: MIT */
/* user.h - system calls as a program in user mode makes them. Results are the kernel's: an error is a
 * negative number. */
#ifndef TESTS_USER_USER_H
#define TESTS_USER_USER_H

#include <stddef.h>
#include <stdint.h>

#include <syscall.h>

enum {
	NR_dup = 23,
	NR_dup3 = 24,
	NR_openat = 56,
	NR_close = 57,
	NR_pipe2 = 59,
	NR_lseek = 62,
	NR_read = 63,
	NR_write = 64,
	NR_exit = 93,
	NR_exit_group = 94,
	NR_nanosleep = 101,
	NR_clock_gettime = 113,
	NR_sched_yield = 124,
	NR_kill = 129,
	NR_uname = 160,
	NR_getcpu = 168,
	NR_getpid = 172,
	NR_brk = 214,
	NR_munmap = 215,
	NR_mmap = 222,
	NR_wait4 = 260,
	NR_getrandom = 278,
	NR_spawn = 1024,
	NR_own = 1040,
};

enum {
	EPERM = 1,
	ESRCH = 3,
	ENOEXEC = 8,
	EBADF = 9,
	ECHILD = 10,
	EAGAIN = 11,
	ENOMEM = 12,
	EFAULT = 14,
	EINVAL = 22,
	EMFILE = 24,
	ESPIPE = 29,
	EPIPE = 32,
	ENOSYS = 38
};

enum { O_NONBLOCK = 04000, O_CLOEXEC = 02000000 };

#define PAGE_SIZE (1UL << CONFIG_PAGE_SHIFT)

#define syscall3(nr, a, b, c) \
	syscall6(nr, (unsigned long)(a), (unsigned long)(b), (unsigned long)(c), 0, 0, 0)
#define syscall2(nr, a, b) syscall3(nr, a, b, 0)
#define syscall1(nr, a)	   syscall3(nr, a, 0, 0)
#define syscall0(nr)	   syscall3(nr, 0, 0, 0)

/** map() - @size bytes of fresh memory with @prot rights, of mmap(2). Return: the address, or an error. */
static inline long map(size_t size, unsigned long prot)
{
	return syscall6(NR_mmap, 0, size, prot, 0x22, (unsigned long)-1, 0);
}

/* lib.c */
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
void *memset(void *to, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);
unsigned long number(const char *s);
char *decimal(unsigned long n, char text[24]);
void random_seed(unsigned long seed);
unsigned long random_number(void);
void print(const char *s);
void print_number(unsigned long n);
_Noreturn void user_start(unsigned long *stack);

/* user_start.S of the architecture */
long check_registers(unsigned long rounds);

int main(int argc, char **argv);

/** CHECK() - the program ends with its line's number, modulo 255 and plus 1, if @condition is false. */
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			syscall1(NR_exit, check_failed(#condition, __LINE__)); \
	} while (0)
int check_failed(const char *what, int line);

/* memory.c, calls.c, pipes.c, stackleak.c: cases of main.c's table. */
int case_memory(int argc, char **argv);
int case_hog(int argc, char **argv);
int case_isolation(int argc, char **argv);
int case_bad_pointers(int argc, char **argv);
int case_partial(int argc, char **argv);
int case_fuzz(int argc, char **argv);
int case_fuzz_stack(int argc, char **argv);
int case_pipe_calls(int argc, char **argv);
int case_pipe_pointers(int argc, char **argv);
int case_pipe_echo(int argc, char **argv);
int case_pipe_pingpong(int argc, char **argv);
int case_pipe_source(int argc, char **argv);
int case_pipe_stream(int argc, char **argv);
int case_pipe_reader(int argc, char **argv);
int case_pipe_writer(int argc, char **argv);
int case_pipe_dies(int argc, char **argv);
int case_pipe_orphan(int argc, char **argv);
int case_pipe_idle(int argc, char **argv);
int case_pipe_blocked(int argc, char **argv);
int case_pipe_records(int argc, char **argv);
int case_pipe_collect(int argc, char **argv);
int case_pipe_many(int argc, char **argv);
int case_pipe_mix(int argc, char **argv);
int case_crash(int argc, char **argv);
int case_calls(int argc, char **argv);
int case_spin_calls(int argc, char **argv);
int case_random_calls(int argc, char **argv);

#endif
