/* SPDX-License-Identifier: MIT */
/* patch.h - the no-ops at the start of functions that arch_patch_jump() changes: one instruction is enough for a jump. */
#ifndef ASM_PATCH_H
#define ASM_PATCH_H

#define ENTRY_NOPS	1
#define ENTRY_NOP_BYTES 4

#endif
