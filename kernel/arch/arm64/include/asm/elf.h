/* SPDX-License-Identifier: MIT */
/* elf.h - ELF files of this architecture: programs and modules. */
#ifndef ASM_ELF_H
#define ASM_ELF_H

#define ELF_MACHINE	 183 /* EM_AARCH64 */
#define ELF_MACHINE_NAME "aarch64"
#define ELF_CODE_ALIGN	 4 /* bytes; addresses of instructions are multiples of it */

/* How far a call reaches. Code that is farther away is reached through a veneer. */
#define MODULE_CALL_REACH  (128UL << 20)
#define MODULE_VENEER_SIZE 16

#endif
