/* SPDX-License-Identifier: MIT */
/*
 * mte.h - the instructions of arm64's Memory Tagging Extension, as inline functions.
 *
 * The runtime takes them from here, and so may ports and their tests. Each tells the assembler about the extension, so
 * the surrounding code needs no -march option and runs on CPUs without the extension as long as it does not call these.
 * Pointers have the tag to be stored in bits 59:56.
 */
#ifndef KASAN_MTE_H
#define KASAN_MTE_H

#include <kasan/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KASAN_MTE ".arch armv8.5-a+memtag\n\t"

/* Tag one granule or two at @addr. Return: the address after them. */
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

/* The same, and clear the memory. */
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

/* Tag a block of kasan_mte_multiple_size() bytes. @tags: the tag in each of 16 nibbles; @addr has no tag. */
static inline void kasan_mte_stgm(uintptr_t addr, uint64_t tags)
{
	__asm__ __volatile__(KASAN_MTE "stgm %0, [%1]" ::"r"(tags), "r"(addr) : "memory");
}

/* Tag a block of kasan_mte_zero_size() bytes; the second also clears it. */
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

/* Return: the tags of a block of kasan_mte_multiple_size() bytes that @addr lies in, four bits for each granule, the first
 * one's lowest if a block has 256 bytes. It must be mapped as memory with tags. */
static inline uint64_t kasan_mte_ldgm(uintptr_t addr)
{
	uint64_t tags;

	__asm__ __volatile__(KASAN_MTE "ldgm %0, [%1]" : "=r"(tags) : "r"(addr) : "memory");
	return tags;
}

/**
 * kasan_mte_irg() - Return: @addr with a random tag in bits 59:56; with tag 0 if all are forbidden
 * @addr: any address. @exclude: bit N of the lower 16 forbids tag N; GCR_EL1 forbids more of them.
 *
 * One instruction, with the CPU's randomness as kasan_seed_hw_tags() set it up. Needs no lock: the state belongs to the
 * CPU, and an interrupt may come before or after it.
 */
static inline uintptr_t kasan_mte_irg(uintptr_t addr, uint64_t exclude)
{
	uintptr_t tagged;

	/* Volatile, because two calls give two tags. */
	__asm__ __volatile__(KASAN_MTE "irg %0, %1, %2" : "=r"(tagged) : "r"(addr), "r"(exclude));
	return tagged;
}

/** kasan_mte_gmi() - Return: the mask @exclude with the tag of @addr forbidden too. */
static inline uint64_t kasan_mte_gmi(uintptr_t addr, uint64_t exclude)
{
	uint64_t mask;

	__asm__(KASAN_MTE "gmi %0, %1, %2" : "=r"(mask) : "r"(addr), "r"(exclude));
	return mask;
}

/* Encodings of GCR_EL1 and RGSR_EL1, whose names assemblers know only with the extension. RRND: irg uses the CPU's own
 * source of randomness. A CPU without one may continue the sequence that starts at RGSR_EL1.SEED, which must not be 0
 * then. */
#define KASAN_MTE_GCR	    "S3_0_C1_C0_6"
#define KASAN_MTE_RGSR	    "S3_0_C1_C0_5"
#define KASAN_MTE_GCR_RRND  (1UL << 16)
#define KASAN_MTE_RGSR_SEED 8

/** kasan_mte_set_random() - how this CPU makes tags from now on. @exclude: tags that irg never gives. @seed: not 0. */
static inline void kasan_mte_set_random(uint16_t exclude, uint16_t seed)
{
	__asm__ __volatile__("msr " KASAN_MTE_GCR ", %0\n\t"
			     "msr " KASAN_MTE_RGSR ", %1\n\t"
			     "isb" ::"r"(KASAN_MTE_GCR_RRND | exclude),
			     "r"((uint64_t)seed << KASAN_MTE_RGSR_SEED)
			     : "memory");
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

/* Return: is @addr mapped, so that ldg does not fault? Memory without tags has tag 0. Interrupts are off, because
 * handlers use the register too. */
static inline bool kasan_mte_is_mapped(uintptr_t addr)
{
	uint64_t par;

	__asm__ __volatile__("at s1e1r, %1\n\t"
			     "isb\n\t"
			     "mrs %0, par_el1"
			     : "=r"(par)
			     : "r"(addr)
			     : "memory");
	return !(par & 1);
}

/* Return: is @addr mapped as memory with tags? Interrupts are off, because handlers use the register too. */
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

/** kasan_mte_async_fault() - Return: has a tag check that is not reported at once failed on this CPU since the note was
 *  cleared? */
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

#ifdef __cplusplus
}
#endif

#endif /* KASAN_MTE_H */
