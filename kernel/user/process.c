// SPDX-License-Identifier: MIT
/*
 * process.c - the life of a process: made, started, ended, waited for.
 *
 * A process ends in one of three ways, all in its own task: it exits; it is killed, which it notices on the
 * way to user mode; or the kernel fails in one of its system calls, and the oops ends the task. In each
 * case kthread_exit() calls process_gone().
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/wait.h>

#include "file.h"
#include "internal.h"

/* Guards the lists of children. */
static DEFINE_SPINLOCK(family_lock);

/* --- Making and starting -------------------------------------------------------------------------- */

static int process_main(void *arg)
{
	struct process *process = arg;
	struct pt_regs *regs = task_pt_regs(current);

	user_init_regs(regs, process->entry, process->stack);
	/* The frames from here to the start of the thread never return. */
	kasan_unpoison_stack(current->stack, task_stack_top(current));
	enter_user_mode(regs);
}

static int load(struct process *process, const void *image, size_t size, int argc,
		const char *const *argv)
{
	int err;

	process->mm = mm_alloc();
	if (IS_ERR(process->mm)) {
		err = (int)PTR_ERR(process->mm);
		process->mm = NULL;
		return err;
	}
	err = elf_load(process->mm, image, size, &process->entry);
	if (!err)
		err = elf_build_stack(process->mm, argc, argv, &process->stack);
	if (err)
		return err;
	process->task = kthread_create(process_main, process, "%s", process->name);
	if (IS_ERR(process->task)) {
		err = (int)PTR_ERR(process->task);
		process->task = NULL;
		return err;
	}
	return 0;
}

struct process *process_create(const void *image, size_t size, const char *name, int argc,
			       const char *const *argv)
{
	struct process *process = kzalloc(sizeof(*process), GFP_KERNEL);
	int err;

	if (!process)
		return ERR_PTR(-ENOMEM);
	atomic_set(&process->usage, 1);
	strscpy(process->name, name, sizeof(process->name));
	init_completion(&process->exited);
	INIT_LIST_HEAD(&process->children);
	INIT_LIST_HEAD(&process->sibling);
	init_waitqueue_head(&process->child_exited);
	files_init(process);
	err = load(process, image, size, argc, argv);
	if (err) {
		process_put(process);
		return ERR_PTR(err);
	}
	process->pid = process->task->pid;
	return process;
}

void process_start(struct process *process)
{
	struct task *task = process->task;

	/* The task's own references, given up by process_gone() and exit_mm(). */
	atomic_inc(&process->usage);
	task->process = process;
	task->mm = process->mm;
	task->user_state = 1;
	process->mm = NULL;
	wake_up_process(task);
}

void process_put(struct process *process)
{
	if (!atomic_dec_and_test(&process->usage))
		return;
	/* The end of a process that was never started. */
	files_close_all(process);
	if (process->mm)
		mmput(process->mm);
	if (process->task && process->task->state == TASK_NEW)
		kthread_join(process->task);
	else if (process->task)
		put_task_struct(process->task);
	kfree(process);
}

/* --- Files ----------------------------------------------------------------------------------------- */

#define PROGRAMS_MAX 16U

static struct {
	const char *name;
	const void *image;
	size_t size;
} programs[PROGRAMS_MAX];
static unsigned int nr_programs;
static DEFINE_SPINLOCK(programs_lock);

int user_program_register(const char *name, const void *image, size_t size)
{
	int err = 0;

	spin_lock(&programs_lock);
	for (unsigned int i = 0; i < nr_programs && !err; i++) {
		if (!strcmp(programs[i].name, name))
			err = -EEXIST;
	}
	if (!err && nr_programs == PROGRAMS_MAX)
		err = -ENOSPC;
	if (!err) {
		programs[nr_programs].name = name;
		programs[nr_programs].image = image;
		programs[nr_programs].size = size;
		nr_programs++;
	}
	spin_unlock(&programs_lock);
	return err;
}

bool user_program_find(const char *name, const void **image, size_t *size)
{
	const struct initrd_file *file;
	bool found = false;

	spin_lock(&programs_lock);
	for (unsigned int i = 0; i < nr_programs && !found; i++) {
		if (!strcmp(programs[i].name, name)) {
			*image = programs[i].image;
			*size = programs[i].size;
			found = true;
		}
	}
	spin_unlock(&programs_lock);
	if (found)
		return true;
	file = initrd_find(name);
	if (!file)
		return false;
	*image = file->data;
	*size = file->size;
	return true;
}

/* --- Families ------------------------------------------------------------------------------------ */

void process_adopt(struct process *child)
{
	struct process *parent = current->process;

	spin_lock(&family_lock);
	child->parent = parent;
	list_add_tail(&child->sibling, &parent->children);
	spin_unlock(&family_lock);
}

/* The caller gets the parent's reference to its child. */
static void take_from_parent(struct process *child)
{
	list_del_init(&child->sibling);
	child->parent = NULL;
}

/* Find a child that matches @pid and has ended. @any: set if a matching child is still running. */
static struct process *find_ended_child(struct process *parent, long pid, bool *any)
{
	struct process *child, *found = NULL;

	*any = false;
	spin_lock(&family_lock);
	list_for_each_entry (child, &parent->children, sibling) {
		if (pid != -1 && child->pid != pid)
			continue;
		*any = true;
		if (completion_done(&child->exited)) {
			take_from_parent(child);
			found = child;
			break;
		}
	}
	spin_unlock(&family_lock);
	return found;
}

long process_wait_child(long pid, bool nohang, int *status)
{
	struct process *self = current->process, *child = NULL;
	struct wait_queue_entry wait;
	bool any = true;

	init_wait_entry(&wait);
	for (;;) {
		prepare_to_wait(&self->child_exited, &wait, TASK_INTERRUPTIBLE);
		child = find_ended_child(self, pid, &any);
		if (child || !any || nohang || process_killed())
			break;
		schedule();
	}
	finish_wait(&wait);
	if (!child)
		return !any ? -ECHILD : nohang ? 0 : -EINTR;
	pid = child->pid;
	*status = process_wait(child);
	return pid;
}

long process_kill_child(long pid, int signal)
{
	struct process *child, *found = NULL;

	spin_lock(&family_lock);
	list_for_each_entry (child, &current->process->children, sibling) {
		if (child->pid == pid) {
			found = child;
			atomic_inc(&found->usage);
			break;
		}
	}
	spin_unlock(&family_lock);
	if (!found)
		return -ESRCH;
	if (signal)
		process_kill(found, signal);
	process_put(found);
	return 0;
}

/* The process ends, so its children have no parent to wait for them. */
static void abandon_children(struct process *parent)
{
	for (;;) {
		struct process *child;

		spin_lock(&family_lock);
		child = list_first_entry_or_null(&parent->children, struct process, sibling);
		if (child)
			take_from_parent(child);
		spin_unlock(&family_lock);
		if (!child)
			return;
		process_put(child);
	}
}

/* --- The end ------------------------------------------------------------------------------------- */

void process_gone(void)
{
	struct process *process = current->process, *parent;

	if (!process)
		return;
	current->process = NULL;
	/* Its memory goes first, so that it is free when the waiting parent continues. */
	exit_mm();
	files_close_all(process);
	abandon_children(process);
	if (current->kflags & PF_KILLED)
		process->status = SIGKILL;

	/* With the lock held the parent cannot end between the two. */
	spin_lock(&family_lock);
	parent = process->parent;
	complete_all(&process->exited);
	if (parent)
		wake_up_all(&parent->child_exited);
	spin_unlock(&family_lock);
	process_put(process);
}

void process_exit(int code)
{
	current->process->status = (code & 0xff) << 8;
	kthread_exit(0);
}

void process_exit_killed(void)
{
	current->process->status = current->process->signal;
	kthread_exit(0);
}

void process_die(int signal, const char *why, const struct pt_regs *regs)
{
	pr_info("User program %s/%d is killed by signal %d: %s, pc %016lx, sp %016lx\n",
		current->comm, current->pid, signal, why, (unsigned long)regs->pc,
		(unsigned long)regs->sp);
	current->process->status = signal;
	kthread_exit(0);
}

bool process_killed(void)
{
	return READ_ONCE(current->flags) & BIT(TIF_PROCESS_KILL);
}

void process_kill(struct process *process, int signal)
{
	struct task *task = process->task;
	int none = 0;

	/* The first reason stays. */
	__atomic_compare_exchange_n(&process->signal, &none, signal, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	__atomic_fetch_or(&task->flags, BIT(TIF_PROCESS_KILL), __ATOMIC_SEQ_CST);
	wake_up_state(task, TASK_INTERRUPTIBLE);
	/* It may be in user mode on another CPU, where an interrupt makes it look. */
	smp_send_reschedule(READ_ONCE(task->cpu));
}

int process_wait(struct process *process)
{
	int status;

	might_sleep();
	/* Started: its task, kernel stack included, is gone when this one is complete. */
	if (process->mm)
		process->status = SIGKILL;
	else
		wait_for_completion(&process->task->exited);
	status = process->status;
	process_put(process);
	return status;
}
