/* SPDX-License-Identifier: MIT */
/*
 * module.h - the architecture's part of loading a module: relocations, and making new code visible.
 */
#ifndef ASM_MODULE_H
#define ASM_MODULE_H

#include <kernel/types.h>

#define MODULE_ELF_MACHINE 183 /* EM_AARCH64 */

/* A branch reaches 128 MiB; what is farther away is reached through one of these. */
#define MODULE_VENEER_SIZE 16

/* Outcomes of module_relocate(). */
enum module_reloc_result {
	MODULE_RELOC_OK,
	MODULE_RELOC_UNKNOWN,	   /* no such type */
	MODULE_RELOC_OVERFLOW,	   /* the value does not fit */
	MODULE_RELOC_UNALIGNED,	   /* the value is not a multiple of what the field counts in */
	MODULE_RELOC_OUT_OF_RANGE, /* the branch does not reach its target: needs a veneer */
};

/** module_reloc_size() - Return: bytes that a relocation of @type changes, 0 for a type that is not
 *  known, and for those that change nothing: see module_reloc_is_none(). */
size_t module_reloc_size(u32 type);
bool module_reloc_is_none(u32 type);

/** module_reloc_is_branch(), module_reloc_is_got() - may it need a veneer; does it address a GOT
 *  entry, which holds the symbol's address? */
bool module_reloc_is_branch(u32 type);
bool module_reloc_is_got(u32 type);

/** module_relocate() - set the field at @place to @value (symbol and addend) as @type says. @place is
 *  writable and of module_reloc_size() bytes, but not necessarily aligned for data. */
enum module_reloc_result module_relocate(void *place, u32 type, u64 value);

/** module_write_veneer() - write code to @veneer that jumps to @target. */
void module_write_veneer(void *veneer, u64 target);

/** module_sync_code() - what was written to [@start, @start + @size) is code from now on. */
void module_sync_code(unsigned long start, size_t size);

#endif
