/* SPDX-License-Identifier: MIT */
/*
 * elf.h - the parts of the ELF-64 format that modules and programs use. Names and values are those of the
 * generic ABI; <asm/elf.h> has the numbers of a machine.
 */
#ifndef KERNEL_ELF_H
#define KERNEL_ELF_H

#include <kernel/types.h>

#define EI_NIDENT   16
#define EI_CLASS    4
#define EI_DATA	    5
#define ELFMAG	    "\177ELF"
#define SELFMAG	    4
#define ELFCLASS64  2
#define ELFDATA2LSB 1

#define ET_REL	1
#define ET_EXEC 2

typedef struct {
	u8 e_ident[EI_NIDENT];
	u16 e_type, e_machine;
	u32 e_version;
	u64 e_entry, e_phoff, e_shoff;
	u32 e_flags;
	u16 e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx;
} Elf64_Ehdr;

#define SHN_UNDEF     0
#define SHN_LORESERVE 0xff00
#define SHN_ABS	      0xfff1
#define SHN_COMMON    0xfff2

#define SHT_PROGBITS   1
#define SHT_SYMTAB     2
#define SHT_STRTAB     3
#define SHT_RELA       4
#define SHT_NOBITS     8
#define SHT_REL	       9
#define SHT_INIT_ARRAY 14
#define SHT_FINI_ARRAY 15

#define SHF_WRITE     0x1
#define SHF_ALLOC     0x2
#define SHF_EXECINSTR 0x4
#define SHF_TLS	      0x400

typedef struct {
	u32 sh_name, sh_type;
	u64 sh_flags, sh_addr, sh_offset, sh_size;
	u32 sh_link, sh_info;
	u64 sh_addralign, sh_entsize;
} Elf64_Shdr;

#define STB_LOCAL  0
#define STB_GLOBAL 1
#define STB_WEAK   2

#define STT_NOTYPE  0
#define STT_OBJECT  1
#define STT_FUNC    2
#define STT_SECTION 3
#define STT_FILE    4

#define ELF64_ST_BIND(info) ((info) >> 4)
#define ELF64_ST_TYPE(info) ((info) & 0xf)

typedef struct {
	u32 st_name;
	u8 st_info, st_other;
	u16 st_shndx;
	u64 st_value, st_size;
} Elf64_Sym;

#define ELF64_R_SYM(info)  ((u32)((info) >> 32))
#define ELF64_R_TYPE(info) ((u32)(info))

typedef struct {
	u64 r_offset, r_info;
	s64 r_addend;
} Elf64_Rela;

#define PT_LOAD	  1
#define PT_INTERP 3

#define PF_X 1
#define PF_W 2
#define PF_R 4

typedef struct {
	u32 p_type, p_flags;
	u64 p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
} Elf64_Phdr;

#endif
