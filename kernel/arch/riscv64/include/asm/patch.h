/* SPDX-License-Identifier: MIT */
/* patch.h - the no-ops at the start of functions that arch_patch_jump() changes: compressed ones of 2 bytes, in place of
 * which come auipc and jalr. One jump reaches 1 MiB only. */
#ifndef ASM_PATCH_H
#define ASM_PATCH_H

#define ENTRY_NOPS	4
#define ENTRY_NOP_BYTES 8

#endif
