/* SPDX-License-Identifier: MIT */
/*
 * fault.c - memory accesses that the MMU refuses: what they are, and the instructions that make them. <kernel/fault.h> has
 * what becomes of them.
 *
 * Not instrumented: the code that explains a bad access must not make one.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/scs.h>
#include "internal.h"
#include "mte.h"

#define ESR_ISS_WNR  BIT(6)
#define ESR_ISS_CM   BIT(8)
#define ESR_FSC(esr) ((unsigned int)((esr) & 0x3f))

/* Fault status codes; the low two bits of the first three groups hold the level. */
#define FSC_IS_TRANSLATION(fsc)	 (((fsc) & 0x3c) == 0x04)
#define FSC_IS_PERMISSION(fsc)	 (((fsc) & 0x3c) == 0x0c)
#define FSC_IS_ADDRESS_SIZE(fsc) (((fsc) & 0x3c) == 0x00)
#define FSC_EXTERNAL		 0x10
#define FSC_TAG_CHECK		 0x11
#define FSC_ALIGNMENT		 0x21

static const char *fsc_name(unsigned int fsc)
{
	static const char *const names[] = {
		"address size fault at level 0", "address size fault at level 1",
		"address size fault at level 2", "address size fault at level 3",
		"translation fault at level 0",	 "translation fault at level 1",
		"translation fault at level 2",	 "translation fault at level 3",
		"access flag fault at level 0",	 "access flag fault at level 1",
		"access flag fault at level 2",	 "access flag fault at level 3",
		"permission fault at level 0",	 "permission fault at level 1",
		"permission fault at level 2",	 "permission fault at level 3",
	};

	if (fsc < ARRAY_SIZE(names))
		return names[fsc];
	switch (fsc) {
	case FSC_EXTERNAL:
		return "external abort";
	case FSC_TAG_CHECK:
		return "tag check fault";
	case FSC_ALIGNMENT:
		return "alignment fault";
	case 0x30:
		return "TLB conflict abort";
	default:
		return "unknown fault";
	}
}

#if defined(CONFIG_KASAN) || defined(CONFIG_KASAN_SAMPLE)

/* --- Instructions ----------------------------------------------------------------------------- */

enum address_form { FORM_OFFSET, FORM_UNSCALED, FORM_POST, FORM_PRE, FORM_REGISTER };

/** struct access - one load or store of a general register */
struct access {
	enum address_form form;
	unsigned int rt, rn, rm;
	unsigned int size; /* bytes */
	unsigned int opc;  /* 0: store, 1: load, 2: load and sign-extend to 64 bits, 3: to 32 */
	long imm;	   /* for the unscaled, post- and pre-indexed forms */
};

static bool decode_access(u32 insn, struct access *a)
{
	/* size 111 0 xx: load/store register, not SIMD */
	if ((insn & 0x3c000000) != 0x38000000)
		return false;
	a->size = 1U << (insn >> 30);
	a->opc = (insn >> 22) & 3;
	a->rt = insn & 31;
	a->rn = (insn >> 5) & 31;
	a->rm = (insn >> 16) & 31;
	a->imm = (long)((int)(insn << 11) >> 23);
	if (insn & BIT(24)) {
		a->form = FORM_OFFSET;
		return true;
	}
	if (insn & BIT(21)) {
		a->form = FORM_REGISTER;
		/* Otherwise an atomic or an authenticated load. */
		return ((insn >> 10) & 3) == 2;
	}
	switch ((insn >> 10) & 3) {
	case 0:
		a->form = FORM_UNSCALED;
		return true;
	case 1:
		a->form = FORM_POST;
		return true;
	case 3:
		a->form = FORM_PRE;
		return true;
	default:
		/* Unprivileged access. */
		return false;
	}
}

size_t arch_access_size(const struct pt_regs *regs)
{
	struct access a;
	u32 insn;

	if (!kernel_text_address(regs->pc))
		return 0;
	insn = *(const u32 *)regs->pc;
	if (decode_access(insn, &a))
		return a.size;
	/* A SIMD and floating-point register. */
	if ((insn & 0x3e000000) == 0x3c000000)
		return insn & BIT(23) ? 16 : 1UL << (insn >> 30);
	/* Pairs, of general registers with 4 or 8 bytes each, of the others with 4, 8 or 16. */
	if ((insn & 0x3a000000) == 0x28000000)
		return insn & BIT(26) ? 8UL << (insn >> 30) : insn & BIT(31) ? 16 : 8;
	/* Exclusive and ordered accesses. */
	if ((insn & 0x3f000000) == 0x08000000)
		return 1UL << (insn >> 30);
	return 0;
}

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/*
 * Is @rt compared soon after @pc? A shadow value always is, either at once or after the address's low bits
 * are prepared.
 */
static bool is_tested_soon(unsigned long pc, unsigned int rt)
{
	for (unsigned int i = 1; i <= 8; i++) {
		u32 insn;

		if (!kernel_text_address(pc + 4 * i))
			return false;
		insn = *(const u32 *)(pc + 4 * i);
		/* cbz, cbnz */
		if ((insn & 0x7e000000) == 0x34000000 && (insn & 31) == rt)
			return true;
		/* cmp register, #imm; cmp register, register; tst */
		if ((insn & 0x7f80001f) == 0x7100001f && ((insn >> 5) & 31) == rt)
			return true;
		if ((insn & 0x7f20001f) == 0x6b00001f &&
		    (((insn >> 5) & 31) == rt || ((insn >> 16) & 31) == rt))
			return true;
		if ((insn & 0x7f80001f) == 0x7200001f && ((insn >> 5) & 31) == rt)
			return true;
	}
	return false;
}

unsigned int arch_shadow_load(const struct pt_regs *regs)
{
	unsigned int load = SHADOW_LOAD;
	struct access a;

	/* A check loads one shadow byte, or two for an access of 16 bytes. */
	if (!decode_access(*(const u32 *)regs->pc, &a) || a.opc == 0 || a.size > 2 || a.rt == 31)
		return 0;
	if (a.form == FORM_REGISTER &&
	    (regs->regs[a.rm] == CONFIG_KASAN_SHADOW_OFFSET ||
	     (a.rn < 31 && regs->regs[a.rn] == CONFIG_KASAN_SHADOW_OFFSET)))
		load |= SHADOW_LOAD_BY_OFFSET;
	else if (is_tested_soon(regs->pc, a.rt))
		load |= SHADOW_LOAD_TESTED;
	return load;
}

bool arch_finish_shadow_load(struct pt_regs *regs)
{
	struct access a;
	u64 value;

	if (!decode_access(*(const u32 *)regs->pc, &a))
		return false;
	if (a.form == FORM_POST || a.form == FORM_PRE) {
		if (a.rn == 31)
			return false;
		regs->regs[a.rn] += (u64)a.imm;
	}
	/* "No byte is accessible", extended as the load would have done it. */
	value = a.size == 1 ? 0xff : 0xffff;
	if (a.opc == 2)
		value = ~0UL;
	else if (a.opc == 3)
		value = 0xffffffffUL;
	regs->regs[a.rt] = value;
	regs->pc += 4;
	return true;
}

#endif

#endif /* CONFIG_KASAN || CONFIG_KASAN_SAMPLE */

struct fault fault_of(const struct pt_regs *regs, bool exec)
{
	const unsigned int fsc = ESR_FSC(regs->esr);
	struct fault fault = {.addr = regs->far, .exec = exec, .name = fsc_name(fsc)};

	fault.write = !exec && (regs->esr & ESR_ISS_WNR) && !(regs->esr & ESR_ISS_CM);
	if (FSC_IS_TRANSLATION(fsc) || FSC_IS_ADDRESS_SIZE(fsc))
		fault.kind = FAULT_UNMAPPED;
	else if (FSC_IS_PERMISSION(fsc))
		fault.kind = FAULT_PROTECTED;
	else
		fault.kind = fsc == FSC_ALIGNMENT ? FAULT_ALIGNMENT : FAULT_BUS;
	return fault;
}

void do_data_abort(struct pt_regs *regs)
{
	const struct fault fault = fault_of(regs, false);

#ifdef CONFIG_KASAN_HW_TAGS
	if (ESR_FSC(regs->esr) == FSC_TAG_CHECK) {
		mte_tag_check_fault(regs);
		return;
	}
#endif
	kernel_fault(regs, &fault);
}

void do_instruction_abort(struct pt_regs *regs)
{
	const struct fault fault = fault_of(regs, true);

	if (scs_handle_underflow(regs))
		die("Oops - shadow call stack underflow", regs);
	kernel_fault(regs, &fault);
}
