// SPDX-License-Identifier: MIT
/*
 * module.c - relocations of the "RISC-V ELF psABI" that compilers emit for a kernel without position independence, and what
 * new code needs to be executed.
 *
 * Modules are compiled with -mno-relax, so no code is removed, and with -mcmodel=medany: an address is formed by two
 * instructions, relative to the first. The relocation of the second names the first one's place. Modules and kernel are
 * in the last 2 GiB, from where such code reaches both and address 0. So no address comes from a GOT: the load becomes an
 * addition.
 */
#include <kernel/arch.h>
#include <kernel/elf.h>
#include <kernel/string.h>
#include <asm/elf.h>
#include "fence.h"

#define R_RISCV_NONE	     0
#define R_RISCV_32	     1
#define R_RISCV_64	     2
#define R_RISCV_BRANCH	     16
#define R_RISCV_JAL	     17
#define R_RISCV_CALL	     18
#define R_RISCV_CALL_PLT     19
#define R_RISCV_GOT_HI20     20
#define R_RISCV_PCREL_HI20   23
#define R_RISCV_PCREL_LO12_I 24
#define R_RISCV_PCREL_LO12_S 25
#define R_RISCV_HI20	     26
#define R_RISCV_LO12_I	     27
#define R_RISCV_LO12_S	     28
#define R_RISCV_ADD8	     33
#define R_RISCV_ADD16	     34
#define R_RISCV_ADD32	     35
#define R_RISCV_ADD64	     36
#define R_RISCV_SUB8	     37
#define R_RISCV_SUB16	     38
#define R_RISCV_SUB32	     39
#define R_RISCV_SUB64	     40
#define R_RISCV_RVC_BRANCH   44
#define R_RISCV_RVC_JUMP     45
#define R_RISCV_RELAX	     51
#define R_RISCV_SET8	     54
#define R_RISCV_SET16	     55
#define R_RISCV_SET32	     56
#define R_RISCV_32_PCREL     57

/* How a value is encoded in its field. */
enum field {
	FIELD_NONE,
	FIELD_DATA,
	FIELD_ADD,
	FIELD_SUB,
	FIELD_B,
	FIELD_J,
	FIELD_U,
	FIELD_I,
	FIELD_S,
	FIELD_CB,
	FIELD_CJ,
	FIELD_CALL, /* auipc and jalr */
};

/** struct howto - one relocation type. @size: bytes. @relative: to the place. @bits: number of bits that the value has. */
struct howto {
	u8 field, size;
	bool relative, branch;
	u8 bits;
};

static const struct howto howtos[] = {
	[R_RISCV_32] = {FIELD_DATA, 4, false, false, 32},
	[R_RISCV_64] = {FIELD_DATA, 8, false, false, 64},
	[R_RISCV_BRANCH] = {FIELD_B, 4, true, false, 13},
	[R_RISCV_JAL] = {FIELD_J, 4, true, true, 21},
	[R_RISCV_CALL] = {FIELD_CALL, 8, true, true, 32},
	[R_RISCV_CALL_PLT] = {FIELD_CALL, 8, true, true, 32},
	[R_RISCV_GOT_HI20] = {FIELD_U, 4, true, false, 32},
	[R_RISCV_PCREL_HI20] = {FIELD_U, 4, true, false, 32},
	[R_RISCV_PCREL_LO12_I] = {FIELD_I, 4, false, false, 64},
	[R_RISCV_PCREL_LO12_S] = {FIELD_S, 4, false, false, 64},
	[R_RISCV_HI20] = {FIELD_U, 4, false, false, 32},
	[R_RISCV_LO12_I] = {FIELD_I, 4, false, false, 64},
	[R_RISCV_LO12_S] = {FIELD_S, 4, false, false, 64},
	[R_RISCV_ADD8] = {FIELD_ADD, 1, false, false, 64},
	[R_RISCV_ADD16] = {FIELD_ADD, 2, false, false, 64},
	[R_RISCV_ADD32] = {FIELD_ADD, 4, false, false, 64},
	[R_RISCV_ADD64] = {FIELD_ADD, 8, false, false, 64},
	[R_RISCV_SUB8] = {FIELD_SUB, 1, false, false, 64},
	[R_RISCV_SUB16] = {FIELD_SUB, 2, false, false, 64},
	[R_RISCV_SUB32] = {FIELD_SUB, 4, false, false, 64},
	[R_RISCV_SUB64] = {FIELD_SUB, 8, false, false, 64},
	[R_RISCV_RVC_BRANCH] = {FIELD_CB, 2, true, false, 9},
	[R_RISCV_RVC_JUMP] = {FIELD_CJ, 2, true, false, 12},
	[R_RISCV_SET8] = {FIELD_DATA, 1, false, false, 64},
	[R_RISCV_SET16] = {FIELD_DATA, 2, false, false, 64},
	[R_RISCV_SET32] = {FIELD_DATA, 4, false, false, 64},
	[R_RISCV_32_PCREL] = {FIELD_DATA, 4, true, false, 32},
};

static const struct howto *find_howto(u32 type)
{
	return type < ARRAY_SIZE(howtos) && howtos[type].field ? &howtos[type] : NULL;
}

bool module_reloc_is_none(u32 type)
{
	/* The last one allows a linker to make code shorter. */
	return type == R_RISCV_NONE || type == R_RISCV_RELAX;
}

size_t module_reloc_size(u32 type)
{
	const struct howto *howto = find_howto(type);

	return howto ? howto->size : 0;
}

bool module_reloc_is_branch(u32 type)
{
	const struct howto *howto = find_howto(type);

	return howto && howto->branch;
}

bool module_reloc_is_got(u32 type)
{
	return false;
}

/* Return: bits @high to @low of @value, at bit @at. */
static u32 bits(u64 value, unsigned int high, unsigned int low, unsigned int at)
{
	return (u32)((value >> low) & ((1UL << (high - low + 1)) - 1)) << at;
}

/* Does @value fit, as a signed number? Of a pair of instructions the second one's part is signed too, so the limits of the
 * first are lower by half of what it can express. */
static bool fits(s64 value, const struct howto *howto)
{
	const bool pair = howto->field == FIELD_U || howto->field == FIELD_CALL;
	s64 limit;

	if (howto->bits >= 64)
		return true;
	limit = (s64)1 << (howto->bits - 1);
	if (pair)
		value += 0x800;
	if (value >= -limit && value < limit)
		return true;
	/* Data may be meant as a number without a sign. */
	return howto->field == FIELD_DATA && !howto->relative && !((u64)value >> howto->bits);
}

static u32 put_field(u32 insn, enum field field, u64 value)
{
	switch (field) {
	case FIELD_B:
		return (insn & 0x01fff07f) | bits(value, 12, 12, 31) | bits(value, 10, 5, 25) |
		       bits(value, 4, 1, 8) | bits(value, 11, 11, 7);
	case FIELD_J:
		return (insn & 0xfff) | bits(value, 20, 20, 31) | bits(value, 10, 1, 21) |
		       bits(value, 11, 11, 20) | bits(value, 19, 12, 12);
	case FIELD_U:
		return (insn & 0xfff) | bits(value + 0x800, 31, 12, 12);
	case FIELD_I:
		return (insn & 0xfffff) | bits(value, 11, 0, 20);
	case FIELD_S:
		return (insn & 0x01fff07f) | bits(value, 11, 5, 25) | bits(value, 4, 0, 7);
	case FIELD_CB:
		return (insn & 0xe383) | bits(value, 8, 8, 12) | bits(value, 4, 3, 10) |
		       bits(value, 7, 6, 5) | bits(value, 2, 1, 3) | bits(value, 5, 5, 2);
	default: /* FIELD_CJ */
		return (insn & 0xe003) | bits(value, 11, 11, 12) | bits(value, 4, 4, 11) |
		       bits(value, 9, 8, 9) | bits(value, 10, 10, 8) | bits(value, 6, 6, 7) |
		       bits(value, 7, 7, 6) | bits(value, 3, 1, 3) | bits(value, 5, 5, 2);
	}
}

/* @reloc is of the second instruction of a pair, and its value is the address of the first. Find what that one is to form:
 * @value. @got: filled, whether it was to come from a GOT. */
static bool find_pair(const struct module_reloc *reloc, u64 *value, bool *got)
{
	const u64 offset = reloc->value - reloc->section;

	for (size_t i = 0; i < reloc->nr; i++) {
		const Elf64_Rela *rela = &reloc->relas[i];
		const u32 type = ELF64_R_TYPE(rela->r_info);

		if (rela->r_offset != offset ||
		    (type != R_RISCV_PCREL_HI20 && type != R_RISCV_GOT_HI20))
			continue;
		*got = type == R_RISCV_GOT_HI20;
		*value = reloc->symbols[ELF64_R_SYM(rela->r_info)] + (u64)rela->r_addend -
			 reloc->value;
		return true;
	}
	return false;
}

#define LD_MASK	 0x707fU
#define LD_MATCH 0x3003U
#define ADDI	 0x0013U

enum module_reloc_result module_relocate(const struct module_reloc *reloc)
{
	const struct howto *howto = find_howto(reloc->type);
	u64 value = reloc->value, old = 0;
	bool got = false;
	u32 insn = 0;

	if (!howto)
		return MODULE_RELOC_UNKNOWN;
	if (reloc->type == R_RISCV_PCREL_LO12_I || reloc->type == R_RISCV_PCREL_LO12_S) {
		if (!find_pair(reloc, &value, &got))
			return MODULE_RELOC_UNKNOWN;
	} else if (howto->relative) {
		value -= (u64)(uintptr_t)reloc->place;
	}
	if (!fits((s64)value, howto))
		return howto->branch ? MODULE_RELOC_OUT_OF_RANGE : MODULE_RELOC_OVERFLOW;

	/* Little endian: the low bytes come first. */
	memcpy(&old, reloc->place, howto->size);
	switch (howto->field) {
	case FIELD_ADD:
		value = old + value;
		break;
	case FIELD_SUB:
		value = old - value;
		break;
	case FIELD_DATA:
		break;
	case FIELD_CALL:
		if (value & 1 || (uintptr_t)reloc->place & 1)
			return MODULE_RELOC_UNALIGNED;
		value = put_field((u32)old, FIELD_U, value) |
			(u64)put_field((u32)(old >> 32), FIELD_I, value) << 32;
		break;
	default:
		if (howto->relative && howto->field != FIELD_U && value & 1)
			return MODULE_RELOC_UNALIGNED;
		if ((uintptr_t)reloc->place & 1)
			return MODULE_RELOC_UNALIGNED;
		insn = (u32)old;
		if (got) {
			if ((insn & LD_MASK) != LD_MATCH)
				return MODULE_RELOC_UNKNOWN;
			insn = (insn & ~LD_MASK) | ADDI;
		}
		value = put_field(insn, howto->field, value);
	}
	memcpy(reloc->place, &value, howto->size);
	return MODULE_RELOC_OK;
}

void module_write_veneer(void *veneer, u64 target)
{
	/* The calling convention has t1 for such code. */
	static const u32 code[4] = {
		0x00000317, /* auipc t1, 0 */
		0x01033303, /* ld t1, 16(t1) */
		0x00030067, /* jr t1 */
		0x00000013, /* nop */
	};

	_Static_assert(sizeof(code) + sizeof(target) == MODULE_VENEER_SIZE, "size of a veneer");
	memcpy(veneer, code, sizeof(code));
	memcpy((char *)veneer + sizeof(code), &target, sizeof(target));
}

void module_sync_code(unsigned long start, size_t size)
{
	fence_i_all();
}
