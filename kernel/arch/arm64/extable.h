/* SPDX-License-Identifier: MIT */
/* extable.h - instructions that may fault, and where to go on then. */
#ifndef ARM64_EXTABLE_H
#define ARM64_EXTABLE_H

#include <kernel/types.h>
#include <asm/ptrace.h>

/** struct exception_entry - @insn: the instruction, @fixup: where to continue; both relative to the
 *  field itself. The table is made by uaccess.S, the only file with such instructions. */
struct exception_entry {
	s32 insn;
	s32 fixup;
};

/** fixup_exception() - did a fault come from an instruction of the table? Then @regs continue at
 *  its fixup. Return: true if so. */
bool fixup_exception(struct pt_regs *regs);

#endif
