/* SPDX-License-Identifier: MIT */
/*
 * mte.h - the Memory Tagging Extension in this kernel: enabling it on each CPU, and its faults.
 *
 * See ID_AA64PFR1_EL1 and the registers below in the Arm Architecture Reference Manual. Without hardware
 * tags (CONFIG_KASAN_HW_TAGS) all functions are empty.
 */
#ifndef ARM64_MTE_H
#define ARM64_MTE_H

#include <asm/memory.h>

/* ID_AA64PFR1_EL1.MTE: from this value on memory has tags; from the next on there are asymmetric checks. */
#define ID_PFR1_MTE_SHIFT 8
#define ID_PFR1_MTE_TAGS  2
#define ID_PFR1_MTE_ASYMM 3
/* MTE_frac: are there asynchronous checks? MTEX: memory can have canonical tags instead of stored ones. */
#define ID_PFR1_MTE_FRAC_SHIFT 40
#define ID_PFR1_MTEX_SHIFT     52
/* ID_AA64PFR2_EL1: MTESTOREONLY. */
#define ID_PFR2_STORE_ONLY_SHIFT 4

/* HCR_EL2.ATA: EL1 may use tags. */
#define HCR_EL2_ATA_SHIFT 56

/* TCR_EL1.TCMA1: accesses to the upper half with tag 15 are not checked. */
#define TCR_EL1_TCMA1_SHIFT 58

#ifndef __ASSEMBLER__
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include "sysreg.h"

struct pt_regs;

#ifdef CONFIG_KASAN_HW_TAGS

/* Read in exception entries and context switches; does not change after early boot. */
extern bool mte_present;

/** mte_check_instructions() - stop if the code has MTE's instructions, to tag stack variables, and this CPU does not know
 *  them. Called before any such code. */
void mte_check_instructions(void);

/**
 * struct mte_features - what a CPU can do
 * @tags: memory has tags (FEAT_MTE2). @async: bad accesses can be noted in TFSR_EL1 (FEAT_MTE_ASYNC).
 * @asymm: only those of writes (FEAT_MTE3). @store_only: reads can go unchecked (FEAT_MTE_STORE_ONLY).
 * @canonical: FEAT_MTE_CANONICAL_TAGS and FEAT_MTE_NO_ADDRESS_TAGS. This kernel does not use them.
 */
struct mte_features {
	bool tags, async, asymm, store_only, canonical;
};

/** mte_read_features() - those of this CPU, less what the parameters id_aa64pfr1.* take away. Any context. */
void mte_read_features(struct mte_features *features);

/** mte_enable_cpu() - start checks on a secondary CPU, before it does anything else. */
void mte_enable_cpu(void);

/** mte_exception_entry() - switch checks on again, which taking an exception switches off. First in a handler. */
static __always_inline void mte_exception_entry(void)
{
	/* msr tco, #0; the name is known to assemblers only with the extension. */
	if (mte_present)
		__asm__ __volatile__(".inst 0xd503409f" ::: "memory");
}

/** mte_check_async_of() - at the start of an interrupt, check for the interrupted code: @regs */
void __mte_check_async_of(const struct pt_regs *regs);
static __always_inline void mte_check_async_of(const struct pt_regs *regs)
{
	if (unlikely(mte_may_be_async))
		__mte_check_async_of(regs);
}

/** mte_tag_check_fault() - handle a data abort with the status "tag check fault": report, and continue. */
void mte_tag_check_fault(struct pt_regs *regs);

/**
 * mte_end_of_step() - end, at an exception, the run without checks that mte_tag_check_fault() started
 * @sync: the exception is synchronous.
 *
 * Called before anything else in a handler, with debug exceptions still masked. Restores in @regs what the
 * run had changed. Return: true if the exception was the end of the run and nothing else.
 */
bool __mte_end_of_step(struct pt_regs *regs, bool sync);
static __always_inline bool mte_end_of_step(struct pt_regs *regs, bool sync)
{
	return mte_present && __mte_end_of_step(regs, sync);
}

#else
static inline void mte_check_instructions(void)
{
}
static inline void mte_enable_cpu(void)
{
}
static inline void mte_exception_entry(void)
{
}
static inline void mte_check_async_of(const struct pt_regs *regs)
{
}
static inline bool mte_end_of_step(struct pt_regs *regs, bool sync)
{
	return false;
}
#endif
#endif /* !__ASSEMBLER__ */
#endif
