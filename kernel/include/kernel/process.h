/* SPDX-License-Identifier: MIT */
/*
 * process.h - programs in user mode: starting them from an ELF file, ending them, waiting for them.
 *
 * A process is one task with one address space. There is no fork: a process starts others from a file, and
 * is their parent. A program's errors can end only that program.
 */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/list.h>
#include <kernel/types.h>

struct mm_struct;
struct open_file;
struct pt_regs;
struct task;

/* Signal numbers of the Linux ABI: the reason why a process was ended. There are no handlers. */
#define SIGILL	4
#define SIGTRAP 5
#define SIGBUS	7
#define SIGKILL 9
#define SIGSEGV 11

/* A wait status, encoded as by wait(2). */
#define PROCESS_EXITED(status)	  (((status) & 0x7f) == 0)
#define PROCESS_EXIT_CODE(status) ((status) >> 8 & 0xff)
#define PROCESS_SIGNAL(status)	  ((status) & 0x7f)

#define PROCESS_FILES	 16U   /* file descriptors */
#define PROCESS_ARGS_MAX 64U   /* arguments of a program */
#define PROCESS_ARG_SIZE 4096U /* bytes of all of them, NULs included */

/**
 * struct process - one program
 * @usage: references: the task's own, and one for the waiter.
 * @mm: its address space. @task: valid as long as this structure.
 * @status: how it ended, a wait status; valid once @exited is complete.
 * @signal: argument of process_kill(); 0: not called.
 * @parent: the process that started it; NULL: the kernel has, or the parent has ended. @children, @sibling:
 *	guarded, with @parent, by a lock of process.c.
 * @files: by descriptor; only the task itself uses them. @close_on_exec: bit n: spawn() does not pass on
 *	descriptor n.
 * @output, @output_arg: gets what the process writes to the console; NULL: the console itself.
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
	struct open_file *files[PROCESS_FILES];
	unsigned int close_on_exec;
	void (*output)(void *arg, const char *text, size_t n);
	void *output_arg;
};

/**
 * process_create() - load a program; process_start() lets it run
 * @image, @size: an ELF file in kernel memory; not needed afterwards.
 * @name: of the process and its task.
 * @argc, @argv: its arguments, including the name.
 *
 * May sleep. The caller owns a reference, given up by process_wait() or process_put().
 *
 * Return: the process, or ERR_PTR(-ENOEXEC): not a static ELF program for this machine; -E2BIG: too many or
 * too long arguments; -ENOMEM; -EAGAIN: too many processes.
 */
struct process *process_create(const void *image, size_t size, const char *name, int argc,
			       const char *const *argv);

void process_start(struct process *process);

/** user_program_register() - let programs find a file @name that is not on the RAM disk: spawn() looks for
 *  registered files first. @image lives for ever. Return: 0; -ENOSPC: the table is full; -EEXIST. */
int user_program_register(const char *name, const void *image, size_t size);

/** user_program_find() - find the file of that name, registered or on the RAM disk. Return: false if
 *  there is none. @image, @size: filled. */
bool user_program_find(const char *name, const void **image, size_t *size);

/** process_wait() - sleep until @process has ended and its memory is freed; drop the caller's reference. A
 *  process that was never started is discarded. Return: its wait status. */
int process_wait(struct process *process);

/** process_kill() - end @process as soon as it is in user mode or sleeps in a system call. @signal: for its
 *  wait status. Any context that may take spin locks. */
void process_kill(struct process *process, int signal);

void process_put(struct process *process);

/** user_files_in_use(), user_pipes_in_use() - Return: open files of all processes, the console not counted, and
 *  pipes. For tests. */
unsigned long user_files_in_use(void);
unsigned long user_pipes_in_use(void);

/* --- Of the running process ------------------------------------------------------------------- */

/** process_exit() - end the running process. @code: exit code; the low 8 bits count. */
_Noreturn void process_exit(int code);

/** process_die() - end it for a forbidden action: prints a line with @why and the place. */
_Noreturn void process_die(int signal, const char *why, const struct pt_regs *regs);

/** process_exit_killed() - end it because of process_kill(). */
_Noreturn void process_exit_killed(void);

/** process_killed() - Return: true if process_kill() was called: a system call that sleeps returns
 *  -EINTR. */
bool process_killed(void);

/** process_gone() - the running task ends, and so does its process, if it has one. Called by kthread_exit(). */
void process_gone(void);

/** user_syscall() - run system call @nr with the six @args. Return: its result, or a negative error. */
long user_syscall(unsigned long nr, const u64 *args);

/** user_syscall_register() - let @fn serve system call @nr, from SYSCALL_FIRST_OWN to SYSCALL_LAST_OWN,
 *  which the kernel itself does not use; NULL: end that. Return: 0; -EINVAL; -EBUSY. */
typedef long (*syscall_fn)(const u64 *args);
int user_syscall_register(unsigned long nr, syscall_fn fn);
#define SYSCALL_FIRST_OWN 1040UL
#define SYSCALL_LAST_OWN  1047UL

#endif
