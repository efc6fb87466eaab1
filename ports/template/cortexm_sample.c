/* SPDX-License-Identifier: MIT */
/*
 * cortexm_sample.c - Cortex-M3 and later: the pages of sampled objects are opened and closed by the MPU. Never instrumented.
 *
 * Armv7-M: a region without access holds the whole pool, and each open page has another one above it, which wins.
 *
 * Armv8-M: no attribute of a region refuses privileged code, but an address that two regions hold is refused to all code. So
 * one region holds the whole pool, and each run of closed pages has a second one. Objects' pages are never neighbours, so n
 * open pages need n + 1 such runs.
 *
 * Some regions are kept for reports: the page of a freed object is opened for the access that was reported, and closed again
 * if another report needs the region.
 *
 * Registers, their fields, and what overlapping regions mean: Armv7-M and Armv8-M Architecture Reference Manuals, Protected
 * Memory System Architecture. Encodings of loads and stores: the same, T32 instruction set.
 */
#include "cortexm_sample.h"

#include <kasan/port.h>

#include "cortexm_fault.h"

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
#error "Cortex-M0, M0+ and M23 do not tell the address of an access that the MPU has refused"
#endif

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define MPU_TYPE	  REGISTER(0xe000ed90)
#define MPU_CTRL	  REGISTER(0xe000ed94)
#define MPU_RNR		  REGISTER(0xe000ed98)
#define MPU_RBAR	  REGISTER(0xe000ed9c)
#define MPU_RLAR	  REGISTER(0xe000eda0) /* Armv8-M */
#define MPU_RASR	  REGISTER(0xe000eda0) /* Armv7-M */
#define MPU_MAIR0	  REGISTER(0xe000edc0) /* Armv8-M */

#define CTRL_ON		(1U << 0)
#define CTRL_BACKGROUND (1U << 2) /* privileged code may use memory that no region holds */

/* One for the pool, and at least one for an object. */
#define LEAST_REGIONS (2U + FOR_REPORTS)

#define PAGE CONFIG_KASAN_PAGE_SIZE

static uintptr_t pool;
static unsigned int first_region, more_regions; /* the pool's; those after it */
/* LENT: opened for an access that was reported. */
static enum { CLOSED, OPEN, LENT } pages[KASAN_SAMPLE_PAGES];
static bool reporting;
static unsigned int last_lent;

#if KASAN_CORTEXM_SAMPLE_V8

/* The neighbour of a page that was lent needs no other region. */
#define FOR_REPORTS 1U

#define RBAR_NO_CODE (1U << 0)
#define RBAR_ALL_MAY (1U << 1) /* read and write, at each privilege */
#define RLAR_ON	     (1U << 0)
#define ATTRIBUTE    7U	   /* of the pool's memory: the last one, which systems use the least */
#define WRITE_BACK   0xffU /* normal memory, as RAM without a region is */

static void set_region(unsigned int number, uintptr_t start, size_t size)
{
	MPU_RNR = number;
	MPU_RLAR = 0;
	if (!size)
		return;
	MPU_RBAR = (uint32_t)start | RBAR_ALL_MAY | RBAR_NO_CODE;
	MPU_RLAR = (uint32_t)(start + size - 32) | ATTRIBUTE << 1 | RLAR_ON;
}

static void set_pool(void)
{
	const unsigned int attributes = ATTRIBUTE % 4 * 8;
	volatile uint32_t *const mair = &MPU_MAIR0 + ATTRIBUTE / 4;

	*mair = (*mair & ~(0xffU << attributes)) | WRITE_BACK << attributes;
	set_region(first_region, pool, KASAN_CORTEXM_SAMPLE_BYTES);
}

/* Return: the regions that the pages need. @write: write them; there are enough. */
static unsigned int regions_of_pages(bool write)
{
	unsigned int from = 0, to, used = 0;

	while (from < KASAN_SAMPLE_PAGES) {
		for (to = from; to < KASAN_SAMPLE_PAGES && !pages[to]; to++)
			;
		if (to > from && write)
			set_region(first_region + 1 + used, pool + from * PAGE, (to - from) * PAGE);
		used += to > from;
		from = to + 1;
	}
	return used;
}

#else

#if CONFIG_KASAN_SAMPLE_OBJECTS & (CONFIG_KASAN_SAMPLE_OBJECTS + 1)
#error "CONFIG_KASAN_SAMPLE_OBJECTS is not one less than a power of two"
#endif

/* An instruction may access two pages, and both must be open at once. */
#define FOR_REPORTS 2U

#define RASR_NO_CODE (1U << 28)
#define RASR_ALL_MAY (3U << 24)	  /* read and write, at each privilege */
#define RASR_NORMAL  (0xbU << 16) /* memory as RAM without a region is: write-back */
#define RASR_ON	     (1U << 0)

/* @size: a power of two, and @start is aligned to it. */
static void set_region(unsigned int number, uintptr_t start, size_t size, uint32_t attributes)
{
	MPU_RNR = number;
	MPU_RASR = 0;
	if (!size)
		return;
	MPU_RBAR = (uint32_t)start;
	MPU_RASR = attributes | RASR_NO_CODE | (uint32_t)(__builtin_ctzl(size) - 1) << 1 | RASR_ON;
}

static void set_pool(void)
{
	set_region(first_region, pool, KASAN_CORTEXM_SAMPLE_BYTES, 0);
}

static unsigned int regions_of_pages(bool write)
{
	unsigned int i, used = 0;

	for (i = 0; i < KASAN_SAMPLE_PAGES; i++) {
		if (pages[i] && write)
			set_region(first_region + 1 + used, pool + i * PAGE, PAGE,
				   RASR_ALL_MAY | RASR_NORMAL);
		used += pages[i] != CLOSED;
	}
	return used;
}

#endif

static bool fits(void)
{
	return regions_of_pages(false) + (reporting ? 0 : FOR_REPORTS) <= more_regions;
}

/* Interrupts are off: between two stores the wrong pages may be open. */
static void write_regions(void)
{
	unsigned int used = regions_of_pages(true);

	for (; used < more_regions; used++) {
		MPU_RNR = first_region + 1 + used;
		MPU_RLAR = 0; /* or RASR, which lies there */
	}
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

static unsigned int number_of(const void *page)
{
	return (unsigned int)(((uintptr_t)page - pool) / PAGE);
}

/* Close those of the pages from @from to @to that were lent. */
static void take_back(unsigned int from, unsigned int to)
{
	for (; from <= to; from++) {
		if (pages[from] == LENT)
			pages[from] = CLOSED;
	}
}

bool kasan_port_sample_open(void *page)
{
	const unsigned int number = number_of(page);
	const unsigned long flags = kasan_port_irq_save();
	const bool keep = FOR_REPORTS > 1 && reporting && pages[last_lent] == LENT;
	bool done = true;

	if (!reporting)
		pages[number] = OPEN;
	else if (!pages[number])
		pages[number] = LENT;
	if (!fits()) {
		take_back(0, KASAN_SAMPLE_PAGES - 1);
		pages[number] = reporting ? LENT : OPEN;
		if (keep)
			pages[last_lent] = LENT;
		done = fits();
		if (!done)
			pages[number] = CLOSED;
	}
	if (reporting && done)
		last_lent = number;
	write_regions();
	kasan_port_irq_restore(flags);
	return done;
}

/* A page of an object has a guard on both sides, which would be a run of its own if it stayed open. */
void kasan_port_sample_close(void *page)
{
	const unsigned int number = number_of(page);
	const unsigned long flags = kasan_port_irq_save();

	pages[number] = CLOSED;
	if (number & 1)
		take_back(number - 1, number + 1);
	write_regions();
	kasan_port_irq_restore(flags);
}

bool kasan_cortexm_sample_start(void *memory, unsigned int first)
{
	const unsigned int regions = MPU_TYPE >> 8 & 0xff;

	if (regions < first + LEAST_REGIONS || (uintptr_t)memory & (KASAN_CORTEXM_SAMPLE_ALIGN - 1))
		return false;
	pool = (uintptr_t)memory;
	first_region = first;
	more_regions = regions - first - 1;
	__asm__ volatile("dmb" ::: "memory");
	set_pool();
	write_regions();
	MPU_CTRL |= CTRL_ON | CTRL_BACKGROUND;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
	kasan_sample_start(memory);
	return true;
}

/* --- What the instruction does ---------------------------------------------------------------------------- */

struct access {
	size_t size; /* 0: unknown */
	bool is_load;
};

/* Instructions for several words are refused at one of them. */
static struct access of_16_bits(unsigned int code)
{
	/* STR, STRH, STRB, LDRSB, LDR, LDRH, LDRB, LDRSH with a register as the offset. */
	static const uint8_t sizes[8] = {4, 2, 1, 1, 4, 2, 1, 2};
	const unsigned int kind = code >> 9 & 7;
	const bool bit_11 = code >> 11 & 1;

	switch (code >> 12) {
	case 0x4: /* LDR of a literal */
		return (struct access){bit_11 ? 4 : 0, true};
	case 0x5:
		return (struct access){sizes[kind], kind >= 3};
	case 0x7:
		return (struct access){1, bit_11};
	case 0x8:
		return (struct access){2, bit_11};
	case 0x6:
	case 0x9: /* with SP */
	case 0xb: /* PUSH, POP */
	case 0xc: /* STM, LDM */
		return (struct access){4, bit_11};
	default:
		return (struct access){0, false};
	}
}

static struct access of_32_bits(unsigned int code, unsigned int second)
{
	const bool bit_4 = code >> 4 & 1;

	/* LDR, STR and their kin; bits 6 and 5 are the logarithm of the size. */
	if ((code & 0xfe00) == 0xf800 && (code & 0x60) != 0x60)
		return (struct access){1U << (code >> 5 & 3), bit_4};
	/* Exclusive, acquire and release, of a byte, two, or four; TBB and TBH. */
	if ((code & 0xffe0) == 0xe8c0 && (second & 0x30) != 0x30)
		return (struct access){1U << (second >> 4 & 3), bit_4};
	/* LDM, STM, LDRD, STRD, LDREX, STREX; registers of floating point. */
	if ((code & 0xfe00) == 0xe800 || (code & 0xfe00) == 0xec00)
		return (struct access){4, bit_4};
	return (struct access){0, false};
}

bool kasan_cortexm_sampled(const struct kasan_cortexm_fault *fault)
{
	const uint16_t *const code = (const uint16_t *)(fault->regs.pc & ~(uintptr_t)1);
	struct access access;
	int direction = KASAN_FAULT_UNKNOWN;
	bool again;

	if (!fault->has_frame || fault->address - pool >= KASAN_CORTEXM_SAMPLE_BYTES)
		return false;
	access = code[0] >> 11 < 0x1d ? of_16_bits(code[0]) : of_32_bits(code[0], code[1]);
	if (access.size)
		direction = access.is_load ? KASAN_FAULT_READ : KASAN_FAULT_WRITE;
	reporting = true;
	again = kasan_sample_fault(fault->address, access.size, direction, &fault->regs);
	reporting = false;
	return again;
}
