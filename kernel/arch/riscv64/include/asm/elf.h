/* SPDX-License-Identifier: MIT */
/* elf.h - ELF files of this architecture: programs and modules. */
#ifndef ASM_ELF_H
#define ASM_ELF_H

#define ELF_MACHINE	 243 /* EM_RISCV */
#define ELF_MACHINE_NAME "riscv64"
#define ELF_CODE_ALIGN	 2 /* bytes; addresses of instructions are multiples of it */

/* How far a call reaches. Code that is farther away is reached through a veneer. */
#define MODULE_CALL_REACH  (2UL << 30)
#define MODULE_VENEER_SIZE 24

#endif
