// SPDX-License-Identifier: MIT
/*
 * threads.c - the threads of a program: how they begin and end.
 *
 * The library keeps its own part of a thread (thread-local variables, what join() waits for) in memory of its own, see
 * musl/threads.c. The stack is the kernel's: with guard pages, checked, and poisoned when the thread is gone.
 *
 * A program ends as a whole: kernel/program/program.c then calls libc_stop_threads(), from a thread that is none of the
 * program's.
 */
#include <kernel/errno.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/program.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <asm/fpu.h>

#include "../program/internal.h"
#include "threads.h"

/* Checked frames are larger than those that the library's and the program's sizes are meant for, and an interrupt or a
 * report needs room below them. */
#define STACK_BYTES(size) (2 * (size) + THREAD_SIZE)
#define STACK_LIMIT	  (1UL << 30)
/* As for a program that has to be ended, see kernel/program/program.c. */
#define KILL_MS 10000

static struct libc_thread first;
static LIST_HEAD(threads);
static bool stopping;
static DEFINE_SPINLOCK(threads_lock);

static int run_thread(void *arg)
{
	struct libc_thread *self = arg;

	self->fn(self->arg);
	libc_thread_exit(0);
}

struct libc_thread *libc_self(void)
{
	return current->thread_fn == run_thread ? current->thread_arg : &first;
}

long libc_tid(void)
{
	return current->thread_fn == run_thread ? current->pid : PROGRAM_PID;
}

/* Return: true if @thread was in the list. The caller then owns what the list had. */
static bool take_off(struct libc_thread *thread)
{
	unsigned long flags;
	bool listed;

	spin_lock_irqsave(&threads_lock, flags);
	listed = thread->listed;
	if (listed)
		list_del(&thread->link);
	thread->listed = false;
	spin_unlock_irqrestore(&threads_lock, flags);
	return listed;
}

static void release(struct libc_thread *thread)
{
	put_task_struct(thread->task);
	kfree(thread);
}

bool libc_is_member(void)
{
	/* The threads that libc_stop_threads() ends die together, and the program is over already. */
	return current->thread_fn == run_thread && READ_ONCE(libc_self()->listed) &&
	       !READ_ONCE(stopping);
}

void libc_stop_threads(void)
{
	const long timeout = (long)msecs_to_jiffies(KILL_MS);
	struct libc_thread *thread;
	unsigned long flags;
	int value;

	spin_lock_irqsave(&threads_lock, flags);
	WRITE_ONCE(stopping, true);
	/* All at once: each may take a tick to notice. */
	list_for_each_entry (thread, &threads, link)
		kthread_kill(thread->task);
	spin_unlock_irqrestore(&threads_lock, flags);
	for (;;) {
		spin_lock_irqsave(&threads_lock, flags);
		thread = list_empty(&threads)
				 ? NULL
				 : list_first_entry(&threads, struct libc_thread, link);
		if (thread) {
			list_del(&thread->link);
			thread->listed = false;
		}
		spin_unlock_irqrestore(&threads_lock, flags);
		if (!thread)
			return;
		/* A thread that cannot be ended stays behind, with its structure. */
		if (kthread_join_timeout(thread->task, timeout, &value))
			kfree(thread);
		else
			put_task_struct(thread->task);
	}
}

/* The search also looks at memory below a thread's stack pointer. At worst a leak stays hidden. */
static void scan_thread(const struct libc_thread *thread,
			void (*scan)(const void *start, size_t size))
{
	const struct task *task = thread->task;

	scan(thread, sizeof(*thread));
	if (!task || task == current)
		return;
	scan(task, sizeof(*task));
	scan(task->stack, task->stack_size);
	if (task->other_stack)
		scan(task->other_stack, task->other_size);
	if (task->fpu)
		scan(task->fpu, sizeof(*task->fpu));
}

void libc_threads_roots(void (*scan)(const void *start, size_t size))
{
	struct libc_thread *thread;

	scan_thread(&first, scan);
	list_for_each_entry (thread, &threads, link)
		scan_thread(thread, scan);
}

void libc_threads_reset(void)
{
	/* The library has already said where the end of its first thread is to be noted. */
	first = (struct libc_thread){.task = current, .ended = first.ended};
	stopping = false;
}

/* Return: the thread of that number; NULL if there is none. threads_lock is held. */
static struct libc_thread *find(long tid)
{
	struct libc_thread *thread;

	list_for_each_entry (thread, &threads, link) {
		if (thread->task->pid == tid)
			return thread;
	}
	return tid == PROGRAM_PID ? &first : NULL;
}

bool libc_interrupt(long tid, u64 signals, bool wake)
{
	struct libc_thread *thread;
	unsigned long flags;

	spin_lock_irqsave(&threads_lock, flags);
	thread = find(tid);
	if (thread)
		__atomic_fetch_or(&thread->pending, signals, __ATOMIC_RELAXED);
	if (thread && wake) {
		WRITE_ONCE(thread->interrupted, true);
		/* If it is just about to wait it will look soon anyway. */
		if (READ_ONCE(thread->waits))
			wake_up_state(thread->task, TASK_UNINTERRUPTIBLE);
	}
	spin_unlock_irqrestore(&threads_lock, flags);
	return thread != NULL;
}

/* Return: the task of @thread, not woken yet, or an error pointer. */
static struct task *create_task(struct libc_thread *thread, size_t stack, void *tls)
{
	struct task *task =
		kthread_create_demand(run_thread, thread, STACK_BYTES(stack), "%s", current->comm);

	if (IS_ERR(task))
		return task;
	if (fpu_attach(task)) {
		/* Never woken, so it does not run at all. */
		kthread_join(task);
		return ERR_PTR(-ENOMEM);
	}
	task->user_tls = (unsigned long)tls;
	task->kflags |= PF_PROGRAM | (current->kflags & PF_ONE_REPORT);
	return task;
}

long redzone_libc_thread(int (*fn)(void *arg), void *arg, size_t stack, void *tls, int *tid,
			 int *ended)
{
	struct libc_thread *thread;
	struct task *task;
	unsigned long flags;
	long number;
	bool refused;

	if (stack > STACK_LIMIT)
		return -ENOMEM;
	thread = kmalloc(sizeof(*thread), GFP_KERNEL | __GFP_NOWARN);
	if (!thread)
		return -ENOMEM;
	*thread = (struct libc_thread){
		.fn = fn, .arg = arg, .ended = ended, .blocked = libc_self()->blocked};
	task = create_task(thread, stack, tls);
	if (IS_ERR(task)) {
		kfree(thread);
		return PTR_ERR(task);
	}
	thread->task = task;
	/* The thread may have ended before the call that wakes it returns. */
	number = task->pid;
	*tid = (int)number;
	spin_lock_irqsave(&threads_lock, flags);
	refused = stopping;
	if (!refused) {
		list_add_tail(&thread->link, &threads);
		thread->listed = true;
		wake_up_process(task);
	}
	spin_unlock_irqrestore(&threads_lock, flags);
	if (refused) {
		kthread_join(task);
		kfree(thread);
		return -EAGAIN;
	}
	return number;
}

void libc_thread_exit(int status)
{
	struct libc_thread *self = libc_self();
	int *ended = self->ended;

	if (self == &first && list_empty(&threads))
		program_exit(status);
	/* Not ended from outside in the middle of this. */
	current->kflags |= PF_NO_KILL;
	if (ended) {
		__atomic_store_n(ended, 0, __ATOMIC_SEQ_CST);
		libc_futex_wake(ended, 1);
	}
	/* The first thread's end would be the program's. It waits until another thread ends that. */
	while (self == &first)
		libc_sleep_until(FOREVER);
	if (take_off(self))
		release(self);
	kthread_exit(0);
}

void redzone_libc_stack(void **top, size_t *size)
{
	*top = task_stack_top(current);
	*size = current->stack_size;
}

long libc_setname(const char *name)
{
	strscpy(current->comm, name, sizeof(current->comm));
	return 0;
}

long libc_getname(char *name)
{
	memcpy(name, current->comm, sizeof(current->comm));
	return 0;
}
