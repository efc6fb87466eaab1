/* SPDX-License-Identifier: MIT */
/*
 * process.h - programs in user mode: started from an ELF file, ended, waited for.
 *
 * A process is one task with one address space. There is no fork: a process starts others from a file,
 * and is their parent. What a program does can end that program only.
 */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/list.h>
#include <kernel/types.h>

struct initrd_file;
struct mm_struct;
struct pt_regs;
struct task;

/* Signal numbers of the Linux ABI: why a process was ended. There are no handlers. */
#define SIGILL	4
#define SIGTRAP 5
#define SIGBUS	7
#define SIGKILL 9
#define SIGSEGV 11

/* A wait status, encoded as by wait(2). */
#define PROCESS_EXITED(status)	  (((status) & 0x7f) == 0)
#define PROCESS_EXIT_CODE(status) ((status) >> 8 & 0xff)
#define PROCESS_SIGNAL(status)	  ((status) & 0x7f)

#define PROCESS_FILES	 16U   /* file descriptors, 0 to 2 are the console */
#define PROCESS_ARGS_MAX 64U   /* arguments of a program */
#define PROCESS_ARG_SIZE 4096U /* bytes of all of them, NULs included */

/** struct open_file - what a file descriptor stands for. @data: NULL: not open. @pos: offset of the
 *  next read. */
struct open_file {
	const struct initrd_file *file;
	size_t pos;
};

/**
 * struct process - one program
 * @usage: references: the task's own, and that of whoever waits for it.
 * @mm: its address space. @task: valid as long as the process structure is.
 * @status: how it ended, a wait status; valid once @exited is complete.
 * @signal: why process_kill() was called; 0: it was not.
 * @parent: the process that started it; NULL: the kernel, or it has ended. @children, @sibling:
 *	guarded, with @parent, by a lock of process.c.
 * @files: by descriptor; only the task itself uses them. @console_open: bit n: descriptor n, 0 to 2.
 * @output, @output_arg: where writes to descriptors 1 and 2 go; NULL: the console.
 */
struct process {
	atomic_t usage;
	char name[16];
	pid_t pid;
	struct task *task;
	struct mm_struct *mm;
	unsigned long entry, stack;
	int status;
	int signal;
	struct completion exited;
	struct process *parent;
	struct list_head children, sibling;
	struct wait_queue_head child_exited;
	struct open_file files[PROCESS_FILES];
	unsigned int console_open;
	void (*output)(void *arg, const char *text, size_t n);
	void *output_arg;
};

/**
 * process_create() - load a program; process_start() lets it run
 * @image, @size: an ELF file, kernel memory; not needed afterwards.
 * @name: of the process and its task.
 * @argc, @argv: its arguments, the name included.
 *
 * May sleep. The caller owns a reference, given up by process_wait() or process_put().
 *
 * Return: ERR_PTR(-ENOEXEC): no static ELF program for this machine; -E2BIG: too many or too long
 * arguments; -ENOMEM; -EAGAIN: too many processes.
 */
struct process *process_create(const void *image, size_t size, const char *name, int argc,
			       const char *const *argv);

void process_start(struct process *process);

/** user_program_register() - have programs find a file that is not on the RAM disk, by @name: spawn()
 *  looks among these first. @image lives for ever. Return: 0; -ENOSPC: there are enough of them; -EEXIST. */
int user_program_register(const char *name, const void *image, size_t size);

/** user_program_find() - Return: the file of that name, of user_program_register() or of the RAM disk;
 *  false if there is none. @image, @size: filled. */
bool user_program_find(const char *name, const void **image, size_t *size);

/** process_wait() - sleep until @process has ended and its memory is given back; drop the caller's
 *  reference. One that was never started is discarded. Return: its wait status. */
int process_wait(struct process *process);

/** process_kill() - end @process as soon as it is in user mode or sleeps in a system call. @signal: what
 *  its status will say. Any context that may take spin locks. */
void process_kill(struct process *process, int signal);

void process_put(struct process *process);

/* --- Of the running process ----------------------------------------------------------------------- */

/** process_exit() - end it. @code: exit code, the low 8 bits count. */
_Noreturn void process_exit(int code);

/** process_die() - end it because of what it did: prints a line with @why and where. */
_Noreturn void process_die(int signal, const char *why, const struct pt_regs *regs);

/** process_exit_killed() - end it because of process_kill(). */
_Noreturn void process_exit_killed(void);

/** process_killed() - Return: true if process_kill() was called: a system call that sleeps returns
 *  -EINTR. */
bool process_killed(void);

/** process_gone() - a task ends, by whatever way; if it runs a process, that has ended. Called by
 *  kthread_exit(). */
void process_gone(void);

/** user_syscall() - system call @nr with @args, six of them. Return: its result, an error negated. */
long user_syscall(unsigned long nr, const u64 *args);

/** user_syscall_register() - have @fn serve system call @nr, SYSCALL_FIRST_OWN to SYSCALL_LAST_OWN, of
 *  which the kernel itself uses none; NULL: nobody does any more. Return: 0; -EINVAL; -EBUSY. */
typedef long (*syscall_fn)(const u64 *args);
int user_syscall_register(unsigned long nr, syscall_fn fn);
#define SYSCALL_FIRST_OWN 1040UL
#define SYSCALL_LAST_OWN  1047UL

#endif
