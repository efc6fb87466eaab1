/* SPDX-License-Identifier: MIT */
/* sample.h - sampled heap objects (<kasan/sample.h>) in this kernel. */
#ifndef KERNEL_SAMPLE_H
#define KERNEL_SAMPLE_H

#include <kasan/config.h>
#include <kasan/sample.h>
#include <kernel/types.h>

struct fault;
struct pt_regs;

#ifdef CONFIG_KASAN_SAMPLE

/** sample_init() - make the pool if kasan.sample= asks for samples. Boot CPU, when pages can be allocated. */
void sample_init(void);

/** sample_start() - make the pool in any case, once. Thread context. Return: false: there is no memory for it. */
bool sample_start(void);

/** sample_tick() - see whether a sample is due. In the timer interrupt of one CPU. */
void sample_tick(void);

/** sample_next() - the next object that is allocated is sampled, unless an interrupt or another CPU is faster. */
void sample_next(void);

/** sample_fault() - report @fault if it is of a sampled object. Return: true: the access can be tried again. */
bool sample_fault(const struct pt_regs *regs, const struct fault *fault);

#else

static inline void sample_init(void)
{
}

static inline void sample_tick(void)
{
}

static inline bool sample_fault(const struct pt_regs *regs, const struct fault *fault)
{
	return false;
}

#endif

#endif
