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
#include <kernel/pgtable.h>
#include <kernel/sched.h>
#include <kernel/user_mm.h>
#include <asm/stacktrace.h>
#include "internal.h"
#include "traps.h"

#if defined(CONFIG_KASAN) || defined(CONFIG_KASAN_SAMPLE)

/* --- Instructions ----------------------------------------------------------------------------- */

/* Instructions are aligned to 2 bytes. */
static u32 read_insn(unsigned long pc)
{
	const u16 *half = (const u16 *)pc;

	return arch_insn_size(half[0]) == 4 ? half[0] | (u32)half[1] << 16 : half[0];
}

#define FUNCT3(insn) ((insn) >> 12 & 7)
#define RD(insn)     ((insn) >> 7 & 31)
#define RS1(insn)    ((insn) >> 15 & 31)
#define RS2(insn)    ((insn) >> 20 & 31)

#define OPCODE_LOAD    0x03
#define OPCODE_LOAD_F  0x07
#define OPCODE_IMM     0x13
#define OPCODE_STORE   0x23
#define OPCODE_STORE_F 0x27
#define OPCODE_AMO     0x2f
#define OPCODE_OP      0x33
#define OPCODE_BRANCH  0x63

size_t arch_access_size(const struct pt_regs *regs)
{
	u32 insn;

	if (!kernel_text_address(regs->pc))
		return 0;
	insn = read_insn(regs->pc);
	switch (insn & 0x7f) {
	case OPCODE_LOAD:
	case OPCODE_STORE:
	case OPCODE_LOAD_F:
	case OPCODE_STORE_F:
	case OPCODE_AMO:
		return 1UL << (FUNCT3(insn) & 3);
	default:
		break;
	}
	if ((insn & 3) == 1 || (insn & 3) == 3)
		return 0;
	/* The compressed ones, relative to a register and to the stack pointer, are numbered alike: lw and sw, and those of
	 * 8 bytes. */
	switch (insn >> 13 & 3) {
	case 0:
		return 0;
	case 2:
		return 4;
	default:
		return 8;
	}
}

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* Does @insn compare @rd with another register, or with 0? */
static bool tests(u32 insn, unsigned int rd)
{
	const unsigned int opcode = insn & 0x7f;

	if ((insn & 3) != 3)
		/* c.beqz, c.bnez */
		return (insn & 0xc003) == 0xc001 && (insn >> 7 & 7) + 8 == rd;
	if (opcode == OPCODE_BRANCH)
		return RS1(insn) == rd || RS2(insn) == rd;
	/* slt, sltu and their forms with an immediate number: seqz and snez among them */
	if (FUNCT3(insn) != 2 && FUNCT3(insn) != 3)
		return false;
	return (opcode == OPCODE_OP && (RS1(insn) == rd || RS2(insn) == rd)) ||
	       (opcode == OPCODE_IMM && RS1(insn) == rd);
}

/* Is @rd compared soon after @pc? A shadow value always is, either at once or after the address's low bits are prepared. */
static bool is_tested_soon(unsigned long pc, unsigned int rd)
{
	for (unsigned int i = 0; i < 8; i++) {
		pc += arch_insn_size(*(const u16 *)pc);
		if (!kernel_text_address(pc))
			return false;
		if (tests(read_insn(pc), rd))
			return true;
	}
	return false;
}

unsigned int arch_shadow_load(const struct pt_regs *regs)
{
	const u32 insn = read_insn(regs->pc);

	/* A check loads one shadow byte, or two for an access of 16 bytes. Only the base instructions do that. */
	if ((insn & 0x7f) != OPCODE_LOAD || (FUNCT3(insn) & 3) > 1 || FUNCT3(insn) > 5 || !RD(insn))
		return 0;
	/* The offset was added before: nothing of the instruction has it. */
	return SHADOW_LOAD | (is_tested_soon(regs->pc, RD(insn)) ? SHADOW_LOAD_TESTED : 0);
}

bool arch_finish_shadow_load(struct pt_regs *regs)
{
	const u32 insn = read_insn(regs->pc);

	if (RD(insn) == REG_SP || RD(insn) == REG_GP || RD(insn) == REG_CURRENT)
		return false;
	/* "No byte is accessible", extended as the load would have done it. */
	if (!(FUNCT3(insn) & 4))
		regs->regs[RD(insn)] = ~0UL;
	else
		regs->regs[RD(insn)] = FUNCT3(insn) & 1 ? 0xffff : 0xff;
	regs->pc += arch_insn_size((u16)insn);
	return true;
}

#endif

#endif /* CONFIG_KASAN || CONFIG_KASAN_SAMPLE */

/* --- Faults ----------------------------------------------------------------------------------- */

/* Return: the entry of the page tables that ends the walk for @va. */
static u64 entry_of(unsigned long va)
{
	int level;

	if (va >= PAGE_OFFSET)
		return READ_ONCE(*pgtable_walk(va, &level));
	return va < TASK_SIZE && current->mm ? user_pgtable_entry(current->mm, va) : 0;
}

struct fault fault_of(const struct pt_regs *regs)
{
	static const char *const names[] = {
		[CAUSE_INSN_MISALIGNED] = "instruction address misaligned",
		[CAUSE_INSN_ACCESS] = "instruction access fault",
		[CAUSE_LOAD_MISALIGNED] = "load address misaligned",
		[CAUSE_LOAD_ACCESS] = "load access fault",
		[CAUSE_STORE_MISALIGNED] = "store address misaligned",
		[CAUSE_STORE_ACCESS] = "store access fault",
		[CAUSE_INSN_PAGE] = "instruction page fault",
		[CAUSE_LOAD_PAGE] = "load page fault",
		[CAUSE_STORE_PAGE] = "store page fault",
	};
	struct fault fault = {.addr = regs->badaddr, .name = names[regs->cause]};

	switch (regs->cause) {
	case CAUSE_INSN_MISALIGNED:
	case CAUSE_INSN_ACCESS:
	case CAUSE_INSN_PAGE:
		fault.exec = true;
		break;
	case CAUSE_STORE_MISALIGNED:
	case CAUSE_STORE_ACCESS:
	case CAUSE_STORE_PAGE:
		fault.write = true;
		break;
	default:
		break;
	}
	switch (regs->cause) {
	case CAUSE_INSN_PAGE:
	case CAUSE_LOAD_PAGE:
	case CAUSE_STORE_PAGE:
		/* The CPU does not say which: the tables do. */
		fault.kind = entry_of(fault.addr) & PTE_VALID ? FAULT_PROTECTED : FAULT_UNMAPPED;
		break;
	case CAUSE_INSN_MISALIGNED:
	case CAUSE_LOAD_MISALIGNED:
	case CAUSE_STORE_MISALIGNED:
		fault.kind = FAULT_ALIGNMENT;
		break;
	default:
		fault.kind = FAULT_BUS;
	}
	return fault;
}

#ifdef CONFIG_KASAN_SW_TAGS
/* Return: what is left of @addr when the CPU ignores the highest bits. */
static unsigned long masked(unsigned long addr)
{
	return (unsigned long)((long)(addr << (64 - VA_BITS)) >> (64 - VA_BITS));
}

/*
 * The CPU says the address without those bits. They are in the register that the instruction adds its offset to: the shadow of an
 * address without shadow differs there from memory, and a report shows the whole pointer.
 */
unsigned long fault_pointer(const struct pt_regs *regs, unsigned long addr)
{
	unsigned long pointer;
	unsigned int base;
	u32 insn;

	if (!kernel_text_address(regs->pc))
		return addr;
	insn = read_insn(regs->pc);
	base = RS1(insn);
	switch (insn & 0x7f) {
	case OPCODE_LOAD:
	case OPCODE_LOAD_F:
		pointer = (unsigned long)((s32)insn >> 20);
		break;
	case OPCODE_STORE:
	case OPCODE_STORE_F:
		pointer = ((unsigned long)((s32)insn >> 25) << 5) | RD(insn);
		break;
	case OPCODE_AMO:
		pointer = 0;
		break;
	default:
		/* The compressed ones. Those that are relative to the stack pointer have no bits that are ignored. */
		if (insn & 3)
			return addr;
		base = 8 + (insn >> 7 & 7);
		pointer = insn >> 7 & 0x38;
		if (insn >> 13 & 1)
			pointer |= insn << 1 & 0xc0;
		else
			pointer |= (insn << 1 & 0x40) | (insn >> 4 & 4);
	}
	pointer += base ? regs->regs[base] : 0;
	return masked(pointer) == addr ? pointer : addr;
}
#else
unsigned long fault_pointer(const struct pt_regs *regs, unsigned long addr)
{
	return addr;
}
#endif

bool fault_is_over(const struct fault *fault, bool user)
{
	const u64 wanted = PTE_VALID |
			   (fault->exec	   ? PTE_X
			    : fault->write ? PTE_W
					   : PTE_R) |
			   (user ? PTE_USER : 0);

	if (fault->kind != FAULT_PROTECTED || user != (fault->addr < TASK_SIZE) ||
	    (entry_of(fault->addr) & wanted) != wanted)
		return false;
	__asm__ __volatile__("sfence.vma %0" ::"r"(fault->addr) : "memory");
	return true;
}
