/* SPDX-License-Identifier: MIT */
/*
 * mte.h - the instructions of arm64's Memory Tagging Extension, as inline functions.
 *
 * No other file contains them. Each one tells the assembler about the extension, so the surrounding code
 * needs no -march option and runs on CPUs without the extension, as long as it calls none of these there.
 * Pointers carry the tag that is to be stored in bits 59:56.
 */
#ifndef KASAN_ARCH_ARM64_MTE_H
#define KASAN_ARCH_ARM64_MTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KASAN_MTE ".arch armv8.5-a+memtag\n\t"

/* Tag one granule, or two, at @addr. Return: the address behind. */
static inline uintptr_t kasan_mte_stg(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "stg %0, [%0], #16" : "+r"(addr)::"memory");
	return addr;
}

static inline uintptr_t kasan_mte_st2g(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "st2g %0, [%0], #32" : "+r"(addr)::"memory");
	return addr;
}

/* Tag one granule at @addr, with the tag of @source. */
static inline void kasan_mte_stg_as(uintptr_t addr, uintptr_t source)
{
	__asm__ __volatile__(KASAN_MTE "stg %1, [%0]" ::"r"(addr), "r"(source) : "memory");
}

/* As the first two, and clear the memory. */
static inline uintptr_t kasan_mte_stzg(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "stzg %0, [%0], #16" : "+r"(addr)::"memory");
	return addr;
}

static inline uintptr_t kasan_mte_stz2g(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "stz2g %0, [%0], #32" : "+r"(addr)::"memory");
	return addr;
}

/* A block of kasan_mte_multiple_size() bytes. @tags: the tag in each of 16 nibbles; @addr has no tag. */
static inline void kasan_mte_stgm(uintptr_t addr, uint64_t tags)
{
	__asm__ __volatile__(KASAN_MTE "stgm %0, [%1]" ::"r"(tags), "r"(addr) : "memory");
}

/* A block of kasan_mte_zero_size() bytes: tags; tags and clears. */
static inline void kasan_mte_dc_gva(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "dc gva, %0" ::"r"(addr) : "memory");
}

static inline void kasan_mte_dc_gzva(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "dc gzva, %0" ::"r"(addr) : "memory");
}

/* Return: @addr with the tag of its memory, which must be mapped. */
static inline uintptr_t kasan_mte_ldg(uintptr_t addr)
{
	__asm__ __volatile__(KASAN_MTE "ldg %0, [%0]" : "+r"(addr)::"memory");
	return addr;
}

/* Return: a random tag that GCR_EL1 does not exclude, in bits 59:56. */
static inline uintptr_t kasan_mte_irg(void)
{
	uintptr_t addr = 0;

	__asm__ __volatile__(KASAN_MTE "irg %0, %0" : "+r"(addr));
	return addr;
}

/* Bytes that one stgm covers: GMID_EL1.BS counts granules' tags in words of 4 bytes. */
static inline size_t kasan_mte_multiple_size(void)
{
	uint64_t gmid;

	__asm__("mrs %0, S3_1_C0_C0_4" : "=r"(gmid));
	return 4UL << (gmid & 15);
}

/* Bytes that one dc gva or gzva covers, 0 if they must not be used: DCZID_EL0. */
static inline size_t kasan_mte_zero_size(void)
{
	uint64_t dczid;

	__asm__("mrs %0, dczid_el0" : "=r"(dczid));
	return dczid & 16 ? 0 : 4UL << (dczid & 15);
}

/* Return: is @addr mapped as memory that has tags? Interrupts are off: handlers use the register as well. */
static inline bool kasan_mte_is_tagged(uintptr_t addr)
{
	uint64_t par;

	__asm__ __volatile__("at s1e1r, %1\n\t"
			     "isb\n\t"
			     "mrs %0, par_el1"
			     : "=r"(par)
			     : "r"(addr)
			     : "memory");
	/* Bit 0: the translation failed. Attribute f0: normal memory, write-back, tagged. */
	return !(par & 1) && par >> 56 == 0xf0;
}

/** kasan_mte_async_fault() - Return: has a tag check of this CPU failed since the note was last cleared,
 *  one of those that are not reported at once? */
static inline bool kasan_mte_async_fault(void)
{
	uint64_t tfsr;

	/* The barrier makes the checks of finished accesses visible. */
	__asm__ __volatile__("dsb nsh\n\t"
			     "isb\n\t"
			     "mrs %0, S3_0_C5_C6_0"
			     : "=r"(tfsr)::"memory");
	return tfsr & 2;
}

/** kasan_mte_clear_async_fault() - clear the note. Interrupts are off since the note was read. */
static inline void kasan_mte_clear_async_fault(void)
{
	__asm__ __volatile__("msr S3_0_C5_C6_0, xzr\n\t"
			     "isb" ::
				     : "memory");
}

#endif /* KASAN_ARCH_ARM64_MTE_H */
