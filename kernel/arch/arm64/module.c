// SPDX-License-Identifier: MIT
/*
 * module.c - relocations of "ELF for the Arm 64-bit Architecture" that compilers emit for a kernel
 * without position independence, and the cache maintenance that new code needs.
 */
#include <kernel/arch.h>
#include <kernel/elf.h>
#include <kernel/string.h>
#include <asm/barrier.h>
#include <asm/elf.h>

#define R_AARCH64_NONE		      0
#define R_AARCH64_WITHDRAWN	      256
#define R_AARCH64_ABS64		      257
#define R_AARCH64_ABS32		      258
#define R_AARCH64_ABS16		      259
#define R_AARCH64_PREL64	      260
#define R_AARCH64_PREL32	      261
#define R_AARCH64_PREL16	      262
#define R_AARCH64_MOVW_UABS_G0	      263
#define R_AARCH64_MOVW_UABS_G0_NC     264
#define R_AARCH64_MOVW_UABS_G1	      265
#define R_AARCH64_MOVW_UABS_G1_NC     266
#define R_AARCH64_MOVW_UABS_G2	      267
#define R_AARCH64_MOVW_UABS_G2_NC     268
#define R_AARCH64_MOVW_UABS_G3	      269
#define R_AARCH64_LD_PREL_LO19	      273
#define R_AARCH64_ADR_PREL_LO21	      274
#define R_AARCH64_ADR_PREL_PG_HI21    275
#define R_AARCH64_ADR_PREL_PG_HI21_NC 276
#define R_AARCH64_ADD_ABS_LO12_NC     277
#define R_AARCH64_LDST8_ABS_LO12_NC   278
#define R_AARCH64_TSTBR14	      279
#define R_AARCH64_CONDBR19	      280
#define R_AARCH64_JUMP26	      282
#define R_AARCH64_CALL26	      283
#define R_AARCH64_LDST16_ABS_LO12_NC  284
#define R_AARCH64_LDST32_ABS_LO12_NC  285
#define R_AARCH64_LDST64_ABS_LO12_NC  286
#define R_AARCH64_LDST128_ABS_LO12_NC 299
#define R_AARCH64_ADR_GOT_PAGE	      311
#define R_AARCH64_LD64_GOT_LO12_NC    312

/* How a value is encoded in its field. */
enum field {
	FIELD_DATA64,
	FIELD_DATA32,
	FIELD_DATA16,
	FIELD_MOVW,  /* bits 5-20 */
	FIELD_ADR,   /* bits 29-30 and 5-23 */
	FIELD_IMM12, /* bits 10-21 */
	FIELD_IMM14, /* bits 5-18 */
	FIELD_IMM19, /* bits 5-23 */
	FIELD_IMM26, /* bits 0-25 */
};

/* How the value is computed: S + A, or relative to the place, or either of them in pages. */
enum operation {
	OP_ABS,
	OP_PREL,
	OP_PAGE,
};

enum check {
	CHECK_NONE,
	CHECK_SIGNED,
	CHECK_UNSIGNED,
	CHECK_EITHER, /* data: must fit as a signed or as an unsigned number */
};

/**
 * struct howto - one relocation type
 * @low: lowest bit of the value that goes into the field; for branches the bits below must be 0.
 * @bits: number of low bits of the value that the overflow check allows.
 */
struct howto {
	u16 type;
	u8 field, operation, low, bits, check;
	bool branch, got;
};

static const struct howto howtos[] = {
	{R_AARCH64_ABS64, FIELD_DATA64, OP_ABS, 0, 64, CHECK_NONE, false, false},
	{R_AARCH64_ABS32, FIELD_DATA32, OP_ABS, 0, 32, CHECK_EITHER, false, false},
	{R_AARCH64_ABS16, FIELD_DATA16, OP_ABS, 0, 16, CHECK_EITHER, false, false},
	{R_AARCH64_PREL64, FIELD_DATA64, OP_PREL, 0, 64, CHECK_NONE, false, false},
	{R_AARCH64_PREL32, FIELD_DATA32, OP_PREL, 0, 32, CHECK_EITHER, false, false},
	{R_AARCH64_PREL16, FIELD_DATA16, OP_PREL, 0, 16, CHECK_EITHER, false, false},
	{R_AARCH64_MOVW_UABS_G0, FIELD_MOVW, OP_ABS, 0, 16, CHECK_UNSIGNED, false, false},
	{R_AARCH64_MOVW_UABS_G0_NC, FIELD_MOVW, OP_ABS, 0, 64, CHECK_NONE, false, false},
	{R_AARCH64_MOVW_UABS_G1, FIELD_MOVW, OP_ABS, 16, 32, CHECK_UNSIGNED, false, false},
	{R_AARCH64_MOVW_UABS_G1_NC, FIELD_MOVW, OP_ABS, 16, 64, CHECK_NONE, false, false},
	{R_AARCH64_MOVW_UABS_G2, FIELD_MOVW, OP_ABS, 32, 48, CHECK_UNSIGNED, false, false},
	{R_AARCH64_MOVW_UABS_G2_NC, FIELD_MOVW, OP_ABS, 32, 64, CHECK_NONE, false, false},
	{R_AARCH64_MOVW_UABS_G3, FIELD_MOVW, OP_ABS, 48, 64, CHECK_NONE, false, false},
	{R_AARCH64_LD_PREL_LO19, FIELD_IMM19, OP_PREL, 2, 21, CHECK_SIGNED, false, false},
	{R_AARCH64_ADR_PREL_LO21, FIELD_ADR, OP_PREL, 0, 21, CHECK_SIGNED, false, false},
	{R_AARCH64_ADR_PREL_PG_HI21, FIELD_ADR, OP_PAGE, 12, 33, CHECK_SIGNED, false, false},
	{R_AARCH64_ADR_PREL_PG_HI21_NC, FIELD_ADR, OP_PAGE, 12, 64, CHECK_NONE, false, false},
	{R_AARCH64_ADD_ABS_LO12_NC, FIELD_IMM12, OP_ABS, 0, 64, CHECK_NONE, false, false},
	{R_AARCH64_LDST8_ABS_LO12_NC, FIELD_IMM12, OP_ABS, 0, 64, CHECK_NONE, false, false},
	{R_AARCH64_LDST16_ABS_LO12_NC, FIELD_IMM12, OP_ABS, 1, 64, CHECK_NONE, false, false},
	{R_AARCH64_LDST32_ABS_LO12_NC, FIELD_IMM12, OP_ABS, 2, 64, CHECK_NONE, false, false},
	{R_AARCH64_LDST64_ABS_LO12_NC, FIELD_IMM12, OP_ABS, 3, 64, CHECK_NONE, false, false},
	{R_AARCH64_LDST128_ABS_LO12_NC, FIELD_IMM12, OP_ABS, 4, 64, CHECK_NONE, false, false},
	{R_AARCH64_TSTBR14, FIELD_IMM14, OP_PREL, 2, 16, CHECK_SIGNED, false, false},
	{R_AARCH64_CONDBR19, FIELD_IMM19, OP_PREL, 2, 21, CHECK_SIGNED, false, false},
	{R_AARCH64_JUMP26, FIELD_IMM26, OP_PREL, 2, 28, CHECK_SIGNED, true, false},
	{R_AARCH64_CALL26, FIELD_IMM26, OP_PREL, 2, 28, CHECK_SIGNED, true, false},
	{R_AARCH64_ADR_GOT_PAGE, FIELD_ADR, OP_PAGE, 12, 33, CHECK_SIGNED, false, true},
	{R_AARCH64_LD64_GOT_LO12_NC, FIELD_IMM12, OP_ABS, 3, 64, CHECK_NONE, false, true},
};

static const struct howto *find_howto(u32 type)
{
	for (size_t i = 0; i < ARRAY_SIZE(howtos); i++) {
		if (howtos[i].type == type)
			return &howtos[i];
	}
	return NULL;
}

bool module_reloc_is_none(u32 type)
{
	return type == R_AARCH64_NONE || type == R_AARCH64_WITHDRAWN;
}

size_t module_reloc_size(u32 type)
{
	const struct howto *howto = find_howto(type);

	if (!howto)
		return 0;
	switch (howto->field) {
	case FIELD_DATA64:
		return 8;
	case FIELD_DATA16:
		return 2;
	default:
		return 4;
	}
}

bool module_reloc_is_branch(u32 type)
{
	const struct howto *howto = find_howto(type);

	return howto && howto->branch;
}

bool module_reloc_is_got(u32 type)
{
	const struct howto *howto = find_howto(type);

	return howto && howto->got;
}

static bool fits(s64 value, unsigned int bits, enum check check)
{
	s64 limit;

	if (check == CHECK_NONE || bits >= 64)
		return true;
	if (check == CHECK_UNSIGNED)
		return !((u64)value >> bits);
	limit = (s64)1 << (bits - 1);
	if (value >= -limit && value < limit)
		return true;
	return check == CHECK_EITHER && !((u64)value >> bits);
}

static u32 put_bits(u32 insn, u64 value, unsigned int at, unsigned int bits)
{
	u32 mask = (((u32)1 << bits) - 1) << at;

	return (insn & ~mask) | ((u32)(value << at) & mask);
}

static u32 put_field(u32 insn, enum field field, unsigned int low, u64 value)
{
	value >>= low;
	switch (field) {
	case FIELD_MOVW:
		return put_bits(insn, value, 5, 16);
	case FIELD_ADR:
		return put_bits(put_bits(insn, value, 29, 2), value >> 2, 5, 19);
	case FIELD_IMM12:
		/* The lower twelve bits of the address, in units of the access. */
		return put_bits(insn, value & (0xfffU >> low), 10, 12);
	case FIELD_IMM14:
		return put_bits(insn, value, 5, 14);
	case FIELD_IMM19:
		return put_bits(insn, value, 5, 19);
	default:
		return put_bits(insn, value, 0, 26);
	}
}

enum module_reloc_result module_relocate(const struct module_reloc *reloc)
{
	void *place = reloc->place;
	u64 value = reloc->value;
	const struct howto *howto = find_howto(reloc->type);
	u64 at = (u64)(uintptr_t)place;
	u32 insn;

	if (!howto)
		return MODULE_RELOC_UNKNOWN;
	if (howto->operation == OP_PREL)
		value -= at;
	else if (howto->operation == OP_PAGE)
		value = (value & ~0xfffULL) - (at & ~0xfffULL);

	if (!fits((s64)value, howto->bits, howto->check))
		return howto->branch ? MODULE_RELOC_OUT_OF_RANGE : MODULE_RELOC_OVERFLOW;
	if (howto->operation != OP_PAGE && howto->field != FIELD_MOVW &&
	    value & ((1ULL << howto->low) - 1))
		return MODULE_RELOC_UNALIGNED;

	switch (howto->field) {
	case FIELD_DATA64:
	case FIELD_DATA32:
	case FIELD_DATA16:
		/* Little endian: the low bytes come first. */
		memcpy(place, &value, module_reloc_size(reloc->type));
		return MODULE_RELOC_OK;
	default:
		break;
	}
	if (at & 3)
		return MODULE_RELOC_UNALIGNED;
	memcpy(&insn, place, sizeof(insn));
	insn = put_field(insn, howto->field, howto->low, value);
	memcpy(place, &insn, sizeof(insn));
	return MODULE_RELOC_OK;
}

void module_write_veneer(void *veneer, u64 target)
{
	/* The procedure call standard reserves x16 for such code. */
	static const u32 code[2] = {
		0x58000050, /* ldr x16, .+8 */
		0xd61f0200, /* br x16 */
	};

	_Static_assert(sizeof(code) + sizeof(target) == MODULE_VENEER_SIZE, "size of a veneer");
	memcpy(veneer, code, sizeof(code));
	memcpy((char *)veneer + sizeof(code), &target, sizeof(target));
}

void module_sync_code(unsigned long start, size_t size)
{
	unsigned long ctr, line, end = start + size;

	__asm__ __volatile__("mrs %0, ctr_el0" : "=r"(ctr));
	/* Sizes of the smallest cache lines, as logarithms of words. */
	line = 4UL << ((ctr >> 16) & 0xf);
	for (unsigned long va = start & ~(line - 1); va < end; va += line)
		__asm__ __volatile__("dc cvau, %0" ::"r"(va) : "memory");
	dsb(ish);
	line = 4UL << (ctr & 0xf);
	for (unsigned long va = start & ~(line - 1); va < end; va += line)
		__asm__ __volatile__("ic ivau, %0" ::"r"(va) : "memory");
	dsb(ish);
	isb();
}
