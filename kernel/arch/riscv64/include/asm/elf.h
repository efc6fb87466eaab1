/* SPDX-License-Identifier: MIT */
/* elf.h - ELF files of this architecture: programs and modules. */
#ifndef ASM_ELF_H
#define ASM_ELF_H

#define ELF_MACHINE	 243 /* EM_RISCV */
#define ELF_MACHINE_NAME "riscv64"
#define ELF_CODE_ALIGN	 2 /* bytes; addresses of instructions are multiples of it */

/* A call reaches 2 GiB, and a single jump 1 MiB. Code that is farther away is reached through a veneer. */
#define MODULE_VENEER_SIZE 24

#endif
