/* SPDX-License-Identifier: MIT */
/* extable.h - instructions that may fault, and where to continue after a fault. */
#ifndef ARM64_EXTABLE_H
#define ARM64_EXTABLE_H

#include <kernel/types.h>
#include <asm/ptrace.h>

/** struct exception_entry - @insn: the instruction, @fixup: where to continue; both relative to the
 *  field itself. uaccess.S makes the table; it is the only file with such instructions. */
struct exception_entry {
	s32 insn;
	s32 fixup;
};

/** fixup_exception() - continue at the fixup if the table has the instruction at @regs->pc. Return: true if
 *  it has. */
bool fixup_exception(struct pt_regs *regs);

#endif
