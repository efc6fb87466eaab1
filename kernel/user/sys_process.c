// SPDX-License-Identifier: MIT
/* sys_process.c - system calls about processes, and sleeping. */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/uaccess.h>

#include "file.h"
#include "internal.h"

#define PATH_SIZE 256L
#define WNOHANG	  1UL

/* As user programs have it. */
struct user_timespec {
	s64 sec, nsec;
};

long sys_exit(const u64 *args)
{
	process_exit((int)args[0]);
}

long sys_getpid(const u64 *args)
{
	return current->pid;
}

long sys_sched_yield(const u64 *args)
{
	yield();
	return 0;
}

/* Ticks that @t takes, rounded up, and one more, because the current one has begun already; as many as a
 * timer can do if that is less. */
static long timespec_to_ticks(const struct user_timespec *t)
{
	if (t->sec > (s64)(LONG_MAX / HZ) - 2)
		return MAX_SCHEDULE_TIMEOUT - 1;
	return t->sec * HZ + (long)DIV_ROUND_UP((u64)t->nsec, TICK_NSEC) + 1;
}

/* nanosleep(time, remaining): only process_kill() ends it early, so nothing remains. */
long sys_nanosleep(const u64 *args)
{
	struct user_timespec t;
	long left;

	if (copy_from_user(&t, (void __user *)args[0], sizeof(t)))
		return -EFAULT;
	if (t.sec < 0 || t.nsec < 0 || t.nsec >= (s64)NSEC_PER_SEC)
		return -EINVAL;
	left = timespec_to_ticks(&t);
	while (left > 0 && !process_killed()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (process_killed()) {
			__set_current_state(TASK_RUNNING);
			break;
		}
		left = schedule_timeout(left);
	}
	return process_killed() ? -EINTR : 0;
}

/* --- Other processes ------------------------------------------------------------------------------- */

/** struct arguments - of a program to be started, in kernel memory; @text holds the strings */
struct arguments {
	const char *argv[PROCESS_ARGS_MAX + 1];
	int argc;
	char path[PATH_SIZE];
	char text[PROCESS_ARG_SIZE];
};

/* Copy the strings that the user's array of pointers, ended by NULL, points to. */
static long copy_arguments(struct arguments *a, u64 __user *uargv)
{
	size_t used = 0;

	for (;;) {
		u64 pointer;
		long n;

		if (get_user(pointer, uargv + a->argc))
			return -EFAULT;
		if (!pointer)
			return 0;
		if (a->argc == PROCESS_ARGS_MAX || used == sizeof(a->text))
			return -E2BIG;
		n = strncpy_from_user(a->text + used, (char __user *)pointer,
				      (long)(sizeof(a->text) - used));
		if (n < 0)
			return n;
		if (n == (long)(sizeof(a->text) - used))
			return -E2BIG;
		a->argv[a->argc++] = a->text + used;
		used += (size_t)n + 1;
	}
}

static long spawn(struct arguments *a, const char __user *upath, u64 __user *uargv)
{
	struct process *child;
	const void *image;
	const char *name;
	size_t size;
	long n;

	n = strncpy_from_user(a->path, upath, PATH_SIZE);
	if (n < 0)
		return n;
	if (n == PATH_SIZE)
		return -ENAMETOOLONG;
	n = copy_arguments(a, uargv);
	if (n)
		return n;
	if (!user_program_find(a->path[0] == '/' ? a->path + 1 : a->path, &image, &size))
		return -ENOENT;
	name = strrchr(a->path, '/');
	child = process_create(image, size, name ? name + 1 : a->path, a->argc, a->argv);
	if (IS_ERR(child))
		return PTR_ERR(child);
	child->output = current->process->output;
	child->output_arg = current->process->output_arg;
	files_inherit(child);
	n = child->pid;
	process_adopt(child);
	process_start(child);
	return n;
}

/* spawn(path, argv): start a program, see user_program_find(). It has the same open files under the same
 * numbers, except those that are close-on-exec. Returns its number. */
long sys_spawn(const u64 *args)
{
	/* Too large for the stack. */
	struct arguments *a = kzalloc(sizeof(*a), GFP_KERNEL);
	long result;

	if (!a)
		return -ENOMEM;
	result = spawn(a, (const char __user *)args[0], (u64 __user *)args[1]);
	kfree(a);
	return result;
}

/* wait4(pid, status, options, usage): @usage is not filled. */
long sys_wait4(const u64 *args)
{
	int __user *ustatus = (int __user *)args[1];
	long pid = (int)args[0];
	int status = 0;

	if (args[2] & ~WNOHANG || (pid <= 0 && pid != -1))
		return -EINVAL;
	pid = process_wait_child(pid, args[2] & WNOHANG, &status);
	if (pid > 0 && ustatus && put_user(status, ustatus))
		return -EFAULT;
	return pid;
}

/* kill(pid, signal): a process may end its children; signal 0 only tests whether the child exists. */
long sys_kill(const u64 *args)
{
	int signal = (int)args[1];

	if (signal < 0 || signal > 64)
		return -EINVAL;
	return process_kill_child((int)args[0], signal);
}
