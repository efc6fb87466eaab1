/* SPDX-License-Identifier: MIT */
/*
 * heap.h - the functions by which programs allocate, as <stdlib.h> declares them for those. Kernel code has kmalloc();
 * only the kernel's tests of these functions include this file.
 */
#ifndef PROGRAM_HEAP_H
#define PROGRAM_HEAP_H

#include <kernel/types.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *ptr, size_t size);
void *reallocarray(void *ptr, size_t count, size_t size);
void free(void *ptr);
void *aligned_alloc(size_t align, size_t size);
void *memalign(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);
/** malloc_usable_size() - Return: the size that the program asked for: bytes after it are redzone. */
size_t malloc_usable_size(void *ptr);

#endif
