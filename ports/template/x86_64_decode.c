/* SPDX-License-Identifier: MIT */
/*
 * x86_64_decode.c - the memory operand of an instruction in 64-bit mode, from its bytes and the registers. Never
 * instrumented.
 *
 * It knows the general instructions, and where VEX and SSE instructions have their operand, but not in which direction
 * all of these go. Encodings: Intel SDM volume 2, chapter 2 and appendix A.
 */
#include "x86_64_trap.h"

#include <kasan/port.h>
#include <kasan/report.h>

#define REX_W 8U
#define REX_X 2U
#define REX_B 1U

/**
 * struct insn - an instruction, as far as it was read
 * @at: the next byte. @frame: registers. @segment: base of an override. @rex: its bits, also those of VEX.
 * @operand_16: prefix 66. @repeat: prefix f2 or f3. @reg: of the ModRM byte, an opcode's extension.
 * @is_register: the operand is register @rm. @operand: else its address.
 */
struct insn {
	const uint8_t *at;
	const struct kasan_x86_64_frame *frame;
	uintptr_t segment;
	unsigned int rex;
	bool operand_16, address_32;
	uint8_t repeat;
	unsigned int reg, rm;
	bool is_register, is_relative;
	uintptr_t operand;
};

static uintptr_t reg(const struct insn *insn, unsigned int number)
{
	return number == KASAN_X86_64_RSP ? insn->frame->rsp : insn->frame->regs[number];
}

static uint64_t take(struct insn *insn, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)*insn->at++ << 8 * i;
	return value;
}

static void take_prefixes(struct insn *insn, uintptr_t fs, uintptr_t gs)
{
	for (;; insn->at++) {
		switch (*insn->at) {
		case 0x64:
			insn->segment = fs;
			continue;
		case 0x65:
			insn->segment = gs;
			continue;
		case 0x66:
			insn->operand_16 = true;
			continue;
		case 0x67:
			insn->address_32 = true;
			continue;
		case 0xf2:
		case 0xf3:
			insn->repeat = *insn->at;
			continue;
		case 0x26: /* segments that have no base, lock */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			continue;
		}
		break;
	}
	if ((*insn->at & 0xf0) == 0x40)
		insn->rex = *insn->at++ & 15;
}

/* What a byte after the opcode says about the operand. */
static void take_modrm(struct insn *insn)
{
	const uint8_t byte = *insn->at++;
	const unsigned int mod = byte >> 6;
	unsigned int base = byte & 7;
	uintptr_t addr = 0;

	insn->reg = byte >> 3 & 7;
	insn->rm = base | (insn->rex & REX_B) << 3;
	insn->is_register = mod == 3;
	if (mod == 3)
		return;
	if (base == 4) {
		const uint8_t sib = *insn->at++;
		const unsigned int index = (sib >> 3 & 7) | (insn->rex & REX_X) << 2;

		base = sib & 7;
		if (index != 4)
			addr = reg(insn, index) << (sib >> 6);
		if (base == 5 && !mod)
			addr += (uintptr_t)(intptr_t)(int32_t)take(insn, 4);
		else
			addr += reg(insn, base | (insn->rex & REX_B) << 3);
	} else if (base == 5 && !mod) {
		/* Relative to the next instruction: near the code, so always an address that can exist. */
		insn->is_relative = true;
		return;
	} else {
		addr = reg(insn, insn->rm);
	}
	if (mod == 1)
		addr += (uintptr_t)(intptr_t)(int8_t)take(insn, 1);
	else if (mod == 2)
		addr += (uintptr_t)(intptr_t)(int32_t)take(insn, 4);
	if (insn->address_32)
		addr = (uint32_t)addr;
	insn->operand = addr + insn->segment;
}

static size_t word_size(const struct insn *insn)
{
	return insn->rex & REX_W ? 8 : insn->operand_16 ? 2 : 4;
}

static size_t size_of(const struct insn *insn, uint8_t opcode)
{
	return opcode & 1 ? word_size(insn) : 1;
}

static bool operand(const struct insn *insn, size_t size, int direction,
		    struct kasan_x86_64_access *access)
{
	if (insn->is_register || insn->is_relative)
		return false;
	access->addr = insn->operand;
	access->size = size;
	access->direction = direction;
	return true;
}

static bool at_register(const struct insn *insn, unsigned int number, size_t size, int direction,
			struct kasan_x86_64_access *access)
{
	access->addr = reg(insn, number);
	access->size = size;
	access->direction = direction;
	return true;
}

/* A branch to the address in memory at @from. If that is no address itself, the read of it is the access. */
static bool branch_by(uintptr_t from, bool (*canonical)(uintptr_t),
		      struct kasan_x86_64_access *access)
{
	access->addr = from;
	access->size = sizeof(uint64_t);
	access->direction = KASAN_FAULT_READ;
	if (!canonical(from) || !kasan_port_readable((const void *)from, sizeof(uint64_t)))
		return true;
	access->addr = *(const uint64_t *)from;
	access->size = 0;
	access->is_branch = true;
	return true;
}

static bool group_ff(const struct insn *insn, bool (*canonical)(uintptr_t),
		     struct kasan_x86_64_access *access)
{
	switch (insn->reg) {
	case 0: /* inc, dec */
	case 1:
		return operand(insn, word_size(insn), KASAN_FAULT_WRITE, access);
	case 2: /* call, jmp */
	case 4:
		if (!insn->is_register)
			return !insn->is_relative && branch_by(insn->operand, canonical, access);
		access->addr = reg(insn, insn->rm);
		access->is_branch = true;
		access->direction = KASAN_FAULT_READ;
		return true;
	default: /* push */
		return operand(insn, 8, KASAN_FAULT_READ, access);
	}
}

/* rsi is read, rdi written; cmps reads both, scas only rdi. */
static bool string(const struct insn *insn, uint8_t opcode, bool (*canonical)(uintptr_t),
		   struct kasan_x86_64_access *access)
{
	const bool has_rsi = opcode < 0xa8 || (opcode & 0xfe) == 0xac;
	const bool has_rdi = (opcode & 0xfe) != 0xac;
	const bool writes = (opcode & 0xfe) == 0xa4 || (opcode & 0xfe) == 0xaa;

	if (has_rsi && (!has_rdi || !canonical(reg(insn, KASAN_X86_64_RSI))))
		return at_register(insn, KASAN_X86_64_RSI, size_of(insn, opcode), KASAN_FAULT_READ,
				   access);
	return at_register(insn, KASAN_X86_64_RDI, size_of(insn, opcode),
			   writes ? KASAN_FAULT_WRITE : KASAN_FAULT_READ, access);
}

/* SSE moves between a register and memory; whether they write is a bit of the opcode. */
static bool vector_move(const struct insn *insn, uint8_t opcode, struct kasan_x86_64_access *access)
{
	const int direction =
		opcode & (opcode < 0x60 ? 1 : 16) ? KASAN_FAULT_WRITE : KASAN_FAULT_READ;
	size_t size = 16;

	if (opcode <= 0x11)
		size = insn->repeat == 0xf3 ? 4 : insn->repeat == 0xf2 ? 8 : 16;
	else if (!insn->operand_16 && insn->repeat != 0xf3 && opcode >= 0x60)
		size = 8;
	return operand(insn, size, direction, access);
}

/* Opcodes after 0f. */
static bool two_bytes(struct insn *insn, struct kasan_x86_64_access *access)
{
	const uint8_t opcode = *insn->at++;
	size_t size = 0;
	int direction = KASAN_FAULT_UNKNOWN;

	if (opcode == 0x38 || opcode == 0x3a) {
		insn->at++;
		take_modrm(insn);
		return operand(insn, 0, KASAN_FAULT_UNKNOWN, access);
	}
	if (opcode >= 0x80 && opcode <= 0x8f) /* jumps */
		return false;
	take_modrm(insn);
	switch (opcode) {
	case 0x10:
	case 0x11:
	case 0x28:
	case 0x29:
	case 0x6f:
	case 0x7f:
		return vector_move(insn, opcode, access);
	case 0x40 ... 0x4f: /* cmov */
	case 0xaf:	    /* imul */
	case 0xa3:	    /* bt */
	case 0xb8:	    /* popcnt */
	case 0xbc:	    /* bsf, bsr */
	case 0xbd:
		size = word_size(insn);
		direction = KASAN_FAULT_READ;
		break;
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
		size = opcode & 1 ? 2 : 1;
		direction = KASAN_FAULT_READ;
		break;
	case 0x90 ... 0x9f: /* setcc */
		size = 1;
		direction = KASAN_FAULT_WRITE;
		break;
	case 0xba: /* bt, bts, btr, btc */
		size = word_size(insn);
		direction = insn->reg == 4 ? KASAN_FAULT_READ : KASAN_FAULT_WRITE;
		break;
	case 0xb0: /* cmpxchg, xadd */
	case 0xb1:
	case 0xc0:
	case 0xc1:
		size = size_of(insn, opcode);
		direction = KASAN_FAULT_WRITE;
		break;
	case 0xa4: /* shld, shrd, bts, btr, btc, movnti */
	case 0xa5:
	case 0xac:
	case 0xad:
	case 0xab:
	case 0xb3:
	case 0xbb:
	case 0xc3:
		size = word_size(insn);
		direction = KASAN_FAULT_WRITE;
		break;
	case 0xc7: /* cmpxchg8b, cmpxchg16b */
		if (insn->reg == 1) {
			size = insn->rex & REX_W ? 16 : 8;
			direction = KASAN_FAULT_WRITE;
		}
		break;
	case 0x00 ... 0x0f: /* of these and the next, most are about the system */
	case 0x20 ... 0x23:
	case 0x30 ... 0x37:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return false;
	}
	return operand(insn, size, direction, access);
}

/* VEX: the bits of REX, inverted, and the opcode's page; then an opcode and ModRM. */
static bool vex(struct insn *insn, uint8_t first, struct kasan_x86_64_access *access)
{
	const uint8_t bits = *insn->at++;

	if (first == 0xc4) {
		insn->rex = ~(unsigned int)bits >> 5 & 7;
		insn->at++;
	}
	insn->at++;
	take_modrm(insn);
	return operand(insn, 0, KASAN_FAULT_UNKNOWN, access);
}

static bool one_byte(struct insn *insn, uint8_t opcode, bool (*canonical)(uintptr_t),
		     struct kasan_x86_64_access *access)
{
	const size_t size = size_of(insn, opcode);

	/* add, or, adc, sbb, and, sub, xor, cmp: to memory, from memory, with constants. */
	if (opcode < 0x40 && opcode != 0x0f) {
		if ((opcode & 7) > 3)
			return false;
		take_modrm(insn);
		return operand(insn, size,
			       opcode & 2 || opcode >> 3 == 7 ? KASAN_FAULT_READ
							      : KASAN_FAULT_WRITE,
			       access);
	}
	switch (opcode) {
	case 0xc3: /* ret */
	case 0xc2:
		return branch_by(reg(insn, KASAN_X86_64_RSP), canonical, access);
	case 0xc9: /* leave */
		return at_register(insn, KASAN_X86_64_RBP, 8, KASAN_FAULT_READ, access);
	case 0xa0 ... 0xa3:
		access->addr = take(insn, 8) + insn->segment;
		access->size = size;
		access->direction = opcode & 2 ? KASAN_FAULT_WRITE : KASAN_FAULT_READ;
		return true;
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		return string(insn, opcode, canonical, access);
	case 0x63: /* movsxd, imul, test */
	case 0x69:
	case 0x6b:
		take_modrm(insn);
		return operand(insn, opcode == 0x63 ? 4 : word_size(insn), KASAN_FAULT_READ,
			       access);
	case 0x84:
	case 0x85:
	case 0x8a: /* mov from memory */
	case 0x8b:
		take_modrm(insn);
		return operand(insn, size, KASAN_FAULT_READ, access);
	case 0x80 ... 0x83: /* add and so on */
		take_modrm(insn);
		return operand(insn, size, insn->reg == 7 ? KASAN_FAULT_READ : KASAN_FAULT_WRITE,
			       access);
	case 0x86: /* xchg, mov to memory */
	case 0x87:
	case 0x88:
	case 0x89:
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xd0 ... 0xd3:
	case 0xc6: /* mov of a constant */
	case 0xc7:
	case 0xfe:
		take_modrm(insn);
		return operand(insn, size, KASAN_FAULT_WRITE, access);
	case 0x8f: /* pop */
		take_modrm(insn);
		return operand(insn, 8, KASAN_FAULT_WRITE, access);
	case 0xf6: /* test, not, neg, mul, div */
	case 0xf7:
		take_modrm(insn);
		return operand(insn, size,
			       insn->reg == 2 || insn->reg == 3 ? KASAN_FAULT_WRITE
								: KASAN_FAULT_READ,
			       access);
	case 0xff:
		take_modrm(insn);
		return group_ff(insn, canonical, access);
	case 0xc4:
	case 0xc5:
		return vex(insn, opcode, access);
	case 0x0f:
		return two_bytes(insn, access);
	case 0xd8 ... 0xdf: /* x87 */
		take_modrm(insn);
		return operand(insn, 0, KASAN_FAULT_UNKNOWN, access);
	default:
		return false;
	}
}

enum kasan_x86_64_operand kasan_x86_64_decode(const struct kasan_x86_64_frame *frame,
					      bool (*canonical)(uintptr_t), uintptr_t fs,
					      uintptr_t gs, struct kasan_x86_64_access *access)
{
	struct insn insn = {.at = (const uint8_t *)frame->rip, .frame = frame};
	uint8_t opcode;

	*access = (struct kasan_x86_64_access){.direction = KASAN_FAULT_UNKNOWN};
	take_prefixes(&insn, fs, gs);
	opcode = *insn.at++;
	/* EVEX multiplies short displacements, by a number that depends on the opcode; REX2 has more registers. */
	if (opcode == 0x62 || opcode == 0xd5)
		return KASAN_X86_64_UNKNOWN;
	return one_byte(&insn, opcode, canonical, access) ? KASAN_X86_64_OPERAND
							  : KASAN_X86_64_NO_OPERAND;
}
