/* SPDX-License-Identifier: MIT */
/*
 * percpu.h - memory with one copy per CPU (CONFIG_KASAN_PERCPU): redzones between the copies of a variable.
 *
 * To an instrumented compiler such a variable is one array, and to a heap one object, so an overflow of one CPU's copy
 * into the next one's is not found without these. docs/port/percpu.md has the report and what each mode finds.
 *
 * Without CONFIG_KASAN_PERCPU these are empty.
 */
#ifndef KASAN_PERCPU_H
#define KASAN_PERCPU_H

#include <kasan/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct kasan_percpu - a variable with one copy per CPU, for reports: kasan_port_find_percpu() of <kasan/port.h>
 * @first: address of the first copy, without a tag. @size: bytes of a copy. @stride: from one copy to the next; the rest of
 * it is redzone. @copies: their number. @cpu: whose the first one is, mostly 0. Copies whose distances differ are described
 * one at a time. @name: of the variable; it is copied, from memory that can be read.
 */
struct kasan_percpu {
	uintptr_t first;
	size_t size, stride;
	unsigned int copies, cpu;
	const char *name;
};

#if defined(CONFIG_KASAN_PERCPU) && defined(CONFIG_KASAN)
/**
 * kasan_percpu_open() - make the copies of a variable accessible, and what lies between them inaccessible
 * @first: CPU 0's copy, aligned to a granule. Tag modes: all copies get its tag.
 * @size, @stride, @copies: as in struct kasan_percpu; @stride is a multiple of a granule.
 * @redzone: KASAN_GLOBAL_REDZONE for variables of the image, KASAN_SLAB_REDZONE for memory of an allocator.
 *
 * Copies that lie in units of an allocator far apart need a call each. Nothing has to be undone before the memory is
 * freed. Any context.
 */
void kasan_percpu_open(const void *first, size_t size, size_t stride, unsigned int copies,
		       uint8_t redzone);
#else
static inline void kasan_percpu_open(const void *first, size_t size, size_t stride,
				     unsigned int copies, uint8_t redzone)
{
	(void)first;
	(void)size;
	(void)stride;
	(void)copies;
	(void)redzone;
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PERCPU_H */
