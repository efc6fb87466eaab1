/* SPDX-License-Identifier: MIT */
/* extable.h - the table of instructions that may fault, and of where to continue after a fault. */
#ifndef KERNEL_EXTABLE_H
#define KERNEL_EXTABLE_H

#include <kernel/types.h>

/** struct exception_entry - @insn: the instruction, @fixup: where to continue; both relative to the field itself. The
 *  architecture's copies of user memory are the only code with such instructions. */
struct exception_entry {
	s32 insn;
	s32 fixup;
};

#endif
