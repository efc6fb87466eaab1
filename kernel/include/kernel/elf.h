/* SPDX-License-Identifier: MIT */
/*
 * elf.h - the parts of the ELF-64 format that relocatable files use. Names and values are those of the
 * generic ABI and of "ELF for the Arm 64-bit Architecture".
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

#define ET_REL	   1
#define EM_AARCH64 183

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

#define R_AARCH64_NONE		      0
#define R_AARCH64_WITHDRAWN	      256
#define R_AARCH64_ABS64		      257
#define R_AARCH64_ABS32		      258
#define R_AARCH64_ABS16		      259
#define R_AARCH64_PREL64	      260
#define R_AARCH64_PREL32	      261
#define R_AARCH64_PREL16	      262
#define R_AARCH64_MOVW_UABS_G0	      263
#define R_AARCH64_MOVW_UABS_G0_NC     264
#define R_AARCH64_MOVW_UABS_G1	      265
#define R_AARCH64_MOVW_UABS_G1_NC     266
#define R_AARCH64_MOVW_UABS_G2	      267
#define R_AARCH64_MOVW_UABS_G2_NC     268
#define R_AARCH64_MOVW_UABS_G3	      269
#define R_AARCH64_LD_PREL_LO19	      273
#define R_AARCH64_ADR_PREL_LO21	      274
#define R_AARCH64_ADR_PREL_PG_HI21    275
#define R_AARCH64_ADR_PREL_PG_HI21_NC 276
#define R_AARCH64_ADD_ABS_LO12_NC     277
#define R_AARCH64_LDST8_ABS_LO12_NC   278
#define R_AARCH64_TSTBR14	      279
#define R_AARCH64_CONDBR19	      280
#define R_AARCH64_JUMP26	      282
#define R_AARCH64_CALL26	      283
#define R_AARCH64_LDST16_ABS_LO12_NC  284
#define R_AARCH64_LDST32_ABS_LO12_NC  285
#define R_AARCH64_LDST64_ABS_LO12_NC  286
#define R_AARCH64_LDST128_ABS_LO12_NC 299
#define R_AARCH64_ADR_GOT_PAGE	      311
#define R_AARCH64_LD64_GOT_LO12_NC    312

#endif
