// SPDX-License-Identifier: MIT
/*
 * threads.c - what the C library's threads are made of here. Compiled like a file of that library.
 *
 * The library maps one piece of memory for a thread: the stack, and above it thread-local variables. Here the kernel has
 * a stack for each of its threads, so only the upper end is needed. It comes from malloc(), which checks it: an access
 * after the thread's data is reported, and one after the thread's end.
 */
#include <fenv.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "pthread_impl.h"

/* What the kernel's kernel/libc/threads.c offers. */
long redzone_libc_thread(int (*fn)(void *), void *arg, size_t stack, void *tls, int *tid,
			 int *ended);
void redzone_libc_stack(void **top, size_t *size);

#define CLONE_THREAD 0x00010000
/* Below thread-local variables, the library puts the arguments of a thread's first function, and __clone() its own. */
#define ARGUMENTS 256

/** struct beginning - what a new thread does; @rounding: that of the thread that made it */
struct beginning {
	int (*func)(void *);
	void *arg;
	int rounding;
};

static size_t used(void)
{
	return (libc.tls_size + __pthread_tsd_size + ARGUMENTS + 15) & -16UL;
}

/* In place of mmap() in pthread_create(). Return: where a mapping of @size bytes would begin whose end is there. */
void *redzone_thread_map(void *start, size_t size, int prot, int flags, int fd, off_t offset)
{
	char *memory = calloc(1, used());

	return memory ? memory + used() - size : MAP_FAILED;
}

/* In place of munmap() in the same function and in pthread_join(). */
int redzone_thread_unmap(void *start, size_t size)
{
	free((char *)start + size - used());
	return 0;
}

/* The end of a detached thread: its stack is the kernel's, so it stays until the thread is gone. */
void __unmapself(void *start, size_t size)
{
	redzone_thread_unmap(start, size);
	for (;;)
		__syscall(SYS_exit, 0);
}

static int begin(void *arg)
{
	struct beginning beginning = *(struct beginning *)arg;
	pthread_t self = __pthread_self();

	fesetround(beginning.rounding);
	redzone_libc_stack(&self->stack, &self->stack_size);
	return beginning.func(beginning.arg);
}

int __clone(int (*func)(void *), void *stack, int flags, void *arg, ...)
{
	struct beginning *beginning = (void *)(((uintptr_t)stack & -16UL) - sizeof(*beginning));
	int *tid, *ended;
	struct pthread *new;
	void *tls;
	va_list args;

	/* There is one process, so this fails; and the kernel tells the user of it. */
	if (!(flags & CLONE_THREAD))
		return __syscall(SYS_clone, flags);
	va_start(args, arg);
	tid = va_arg(args, int *);
	tls = va_arg(args, void *);
	ended = va_arg(args, int *);
	va_end(args);
	new = (void *)((uintptr_t)tls - (uintptr_t)TP_ADJ(0));
	beginning->func = func;
	beginning->arg = arg;
	beginning->rounding = fegetround();
	return redzone_libc_thread(begin, beginning, new->stack_size, tls, tid, ended);
}
