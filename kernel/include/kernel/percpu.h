/* SPDX-License-Identifier: MIT */
/*
 * percpu.h - variables with one copy per CPU, as arrays indexed by CPU number.
 *
 * Each CPU's copy has cache lines of its own. Callers of this_cpu_ptr() keep preemption or interrupts off
 * while they use the pointer.
 *
 *	static DEFINE_PER_CPU(unsigned long, ticks);
 *	(*this_cpu_ptr(&ticks))++;
 *
 * Memory of the same form comes from the heap:
 *
 *	PER_CPU_POINTER(struct counters, counters);
 *	counters = alloc_percpu(counters);
 *	this_cpu_ptr(counters)->hits++;
 *	free_percpu(counters);
 *
 * With KASAN at least PERCPU_REDZONE bytes lie after each copy, which percpu_open() and alloc_percpu() make inaccessible.
 */
#ifndef KERNEL_PERCPU_H
#define KERNEL_PERCPU_H

#include <kernel/gfp.h>
#include <kernel/types.h>
#include <asm/percpu.h>

#define SMP_CACHE_BYTES 64

#if defined(CONFIG_KASAN_PERCPU) && defined(CONFIG_KASAN)
#define PERCPU_REDZONE 16

/** struct percpu_var - a variable of the image or of a module, in a table that the linker collects. @first: CPU 0's copy.
 *  @size: bytes of a copy; @stride: from one to the next. */
struct percpu_var {
	const char *name;
	void *first;
	size_t size, stride;
};

extern const struct percpu_var __percpu_vars_start[], __percpu_vars_end[];
#define PERCPU_VARS_SECTION ".percpu_vars"

#define __PERCPU_ROOM char redzone[PERCPU_REDZONE];
#define __PERCPU_VAR(variable)                                                                   \
	;                                                                                        \
	static const struct percpu_var __percpu_##variable __used __section(PERCPU_VARS_SECTION) \
		__aligned(8) = {#variable, variable, sizeof((variable)[0].value),                \
				sizeof((variable)[0])}

/** percpu_open() - poison what lies between the copies of the @nr variables at @vars. Once, after constructors, which
 *  make whole variables accessible, and before anything uses them. */
void percpu_open(const struct percpu_var *vars, size_t nr);

/** percpu_init() - percpu_open() for the image. Boot CPU. */
static inline void percpu_init(void)
{
	percpu_open(__percpu_vars_start, (size_t)(__percpu_vars_end - __percpu_vars_start));
}
#else
#define __PERCPU_ROOM
#define __PERCPU_VAR(variable)

static inline void percpu_init(void)
{
}
#endif

#define __PERCPU_COPY(type)                                \
	__typeof__(type) value __aligned(SMP_CACHE_BYTES); \
	__PERCPU_ROOM

/** DEFINE_PER_CPU() - define a variable, zero-initialised; `static` may stand before it. */
#define DEFINE_PER_CPU(type, name)  \
	struct {                    \
		__PERCPU_COPY(type) \
	} name[NR_CPUS] __PERCPU_VAR(name)

/** DECLARE_PER_CPU() - for a header; the definition is then DEFINE_DECLARED_PER_CPU(name). */
#define DECLARE_PER_CPU(type, name) \
	struct percpu_##name {      \
		__PERCPU_COPY(type) \
	};                          \
	extern struct percpu_##name name[NR_CPUS]
#define DEFINE_DECLARED_PER_CPU(name) struct percpu_##name name[NR_CPUS] __PERCPU_VAR(name)

/** per_cpu() - the copy of CPU @cpu, as an lvalue; per_cpu_ptr() - its address. */
#define per_cpu(name, cpu)	((name)[cpu].value)
#define per_cpu_ptr(array, cpu) (&(*(array))[cpu].value)
#define this_cpu_ptr(array)	per_cpu_ptr(array, smp_processor_id())
#define this_cpu_read(name)	per_cpu(name, smp_processor_id())
#define this_cpu_write(name, v) ((void)(per_cpu(name, smp_processor_id()) = (v)))

/* --- From the heap --- */

/** PER_CPU_POINTER() - declare @name, a pointer to memory with one copy of @type per CPU, for alloc_percpu(). A variable or
 *  a member of a structure. */
#define PER_CPU_POINTER(type, name) \
	struct {                    \
		__PERCPU_COPY(type) \
	}(*name)[NR_CPUS]

/* Bytes of the largest copy. */
#define PERCPU_MAX_SIZE (32UL << 10)

/**
 * alloc_percpu() - get zeroed memory for @pointer, declared by PER_CPU_POINTER()
 *
 * There are copies for the CPUs that the machine has, nr_cpu_ids. Thread context.
 *
 * Return: what to assign to @pointer; NULL if there is no memory.
 */
#define alloc_percpu(pointer) alloc_percpu_gfp(pointer, GFP_KERNEL)
#define alloc_percpu_gfp(pointer, gfp) \
	__alloc_percpu(#pointer, sizeof((*(pointer))[0].value), sizeof((*(pointer))[0]), gfp)

/** __alloc_percpu() - alloc_percpu() with numbers. @name: for reports; it stays valid. @size: up to PERCPU_MAX_SIZE; @stride:
 *  a multiple of SMP_CACHE_BYTES, larger than @size by PERCPU_REDZONE or more with KASAN. */
void *__alloc_percpu(const char *name, size_t size, size_t stride, gfp_t gfp);

/** free_percpu() - free what alloc_percpu() returned; NULL is ignored. Any context. */
void free_percpu(const void *pointer);

struct kasan_percpu;

/* Bytes before the first copy in the heap object that alloc_percpu() takes, at most. */
#define PERCPU_HEAD 160UL

/** percpu_find_object() - which per-CPU memory lies in the heap object at @object, live or freed? For reports: it believes
 *  nothing that does not fit together. PERCPU_HEAD bytes at @object can be read. @found: filled. Return: false if there is
 *  none. */
bool percpu_find_object(const void *object, struct kasan_percpu *found);

#endif
