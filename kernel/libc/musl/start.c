// SPDX-License-Identifier: MIT
/*
 * start.c - how a program that uses the C library begins and ends. Compiled like a file of that library, with
 * its internal headers.
 *
 * The library expects what Linux puts on a new program's stack: arguments, environment and auxiliary vector, one
 * after the other. Everything here becomes part of the program's own object, so each program of a kernel has its
 * own copy of the library's variables.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include "libc.h"
#include "pthread_impl.h"

/* What the kernel's kernel/libc/program.c offers. */
void redzone_libc_constructors(void);
void redzone_libc_destructors(void);
void redzone_libc_begin(int *(*location)(void));
char **redzone_libc_environ(void);
void redzone_libc_stack(void **top, size_t *size);

/* The initial values of all thread-local variables of the kernel's image: see kernel.lds.S. */
extern const char redzone_tls_start[], redzone_tls_filled[], redzone_tls_end[], redzone_tls_align[];

/* Bytes of a thread's stack if the program does not say; the kernel adds to it what checked code needs. */
#define THREAD_STACK (256UL << 10)

int main(int argc, char **argv, char **envp);

/* The library's own files name these, in functions that are replaced below. Without a value they would be symbols of
 * the kernel's address 0. */
void (*const __init_array_start)(void), (*const __init_array_end)(void);
void (*const __fini_array_start)(void), (*const __fini_array_end)(void);
const size_t _DYNAMIC[1];

static size_t count(char **list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* The library calls this when it is ready, before main(). The kernel has the program's constructors in a list. */
__attribute__((__noinline__)) void __libc_start_init(void)
{
	struct pthread *self = __pthread_self();

	redzone_libc_stack(&self->stack, &self->stack_size);
	/* From here on malloc(), which is the kernel's, sets the errno of the calling thread. */
	redzone_libc_begin(__errno_location);
	redzone_libc_constructors();
}

/* Called by exit(), after the functions of atexit(). */
void __libc_exit_fini(void)
{
	redzone_libc_destructors();
}

/**
 * redzone_libc_main() - the program's first function
 *
 * Does not return: the library calls exit() with main()'s value.
 */
int redzone_libc_main(int argc, char **argv)
{
	/* The library looks here for the initial values of thread-local variables, and for the size of stacks. */
	const Elf64_Phdr segments[] = {
		{.p_type = PT_TLS,
		 .p_vaddr = (size_t)redzone_tls_start,
		 .p_filesz = (size_t)(redzone_tls_filled - redzone_tls_start),
		 .p_memsz = (size_t)(redzone_tls_end - redzone_tls_start),
		 .p_align = (size_t)(redzone_tls_align - redzone_tls_start)},
		{.p_type = PT_GNU_STACK, .p_memsz = THREAD_STACK},
	};
	/* All user and group numbers are 0, and so equal: the program has no special rights. */
	const size_t aux[] = {
		AT_PAGESZ, 1UL << CONFIG_PAGE_SHIFT,
		AT_PHDR,   (size_t)segments,
		AT_PHENT,  sizeof(segments[0]),
		AT_PHNUM,  sizeof(segments) / sizeof(segments[0]),
		AT_NULL,   0,
	};
	char **env = redzone_libc_environ(), **args, **envs;
	size_t envc = count(env), n = 0;
	size_t words = (size_t)argc + 1 + envc + 1 + sizeof(aux) / sizeof(aux[0]);
	size_t block[words];

	for (int i = 0; i <= argc; i++)
		block[n++] = (size_t)argv[i];
	for (size_t i = 0; i <= envc; i++)
		block[n++] = (size_t)env[i];
	for (size_t i = 0; i < sizeof(aux) / sizeof(aux[0]); i++)
		block[n++] = aux[i];
	/* As the library's own start does it, whose two functions would be in every trace. */
	args = (char **)block;
	envs = args + argc + 1;
	__init_libc(envs, args[0]);
	/* Not inlined: only now the register of thread-local variables has its value. */
	__libc_start_init();
	exit(main(argc, args, envs));
}
