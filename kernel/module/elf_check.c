// SPDX-License-Identifier: MIT
/*
 * elf_check.c - decides whether a file may be loaded. Everything that later code uses as an offset, an
 * index or a size is compared with the file here. The error names the part of the file that is wrong.
 */
#include <kernel/string.h>

#include "internal.h"

#ifdef CONFIG_KASAN_TAGGED_GLOBALS
#define TAGGED_GLOBALS true
#else
#define TAGGED_GLOBALS false
#endif

/* Return: true if [@offset, @offset + @size) is inside the file. */
static bool in_file(const struct load_info *info, u64 offset, u64 size)
{
	return offset <= info->size && size <= info->size - offset;
}

static int check_header(struct load_info *info)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)info->image;

	if (info->size < sizeof(*h))
		return module_fail(info, -ENOEXEC,
				   "the file has %zu bytes, less than an ELF header", info->size);
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return module_fail(info, -ENOEXEC, "not an ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return module_fail(info, -ENOEXEC, "not a 64-bit little-endian ELF file");
	if (h->e_machine != ELF_MACHINE)
		return module_fail(info, -ENOEXEC, "for machine %u, this kernel is for machine %u",
				   h->e_machine, ELF_MACHINE);
	if (h->e_type != ET_REL)
		return module_fail(info, -ENOEXEC, "ELF type %u, a module is relocatable (type %u)",
				   h->e_type, ET_REL);
	if (h->e_shentsize != sizeof(Elf64_Shdr))
		return module_fail(info, -ENOEXEC, "section headers of %u bytes, not %zu",
				   h->e_shentsize, sizeof(Elf64_Shdr));
	if (!h->e_shnum || h->e_shoff % 8 ||
	    !in_file(info, h->e_shoff, (u64)h->e_shnum * sizeof(Elf64_Shdr)))
		return module_fail(
			info, -ENOEXEC,
			"%u section headers at 0x%llx are not inside the file (%zu bytes)",
			h->e_shnum, (unsigned long long)h->e_shoff, info->size);
	info->header = h;
	info->sections = (const Elf64_Shdr *)(info->image + h->e_shoff);
	info->nr_sections = h->e_shnum;
	return 0;
}

/* Return: true if section @i is a string table whose last string is terminated. */
static bool is_string_table(const struct load_info *info, unsigned int i)
{
	const Elf64_Shdr *s;

	if (!i || i >= info->nr_sections)
		return false;
	s = &info->sections[i];
	return s->sh_type == SHT_STRTAB && s->sh_size && in_file(info, s->sh_offset, s->sh_size) &&
	       !info->image[s->sh_offset + s->sh_size - 1];
}

static int check_names(struct load_info *info)
{
	unsigned int section = info->header->e_shstrndx;
	size_t size;

	if (!is_string_table(info, section))
		return module_fail(info, -ENOEXEC,
				   "section %u, the section names, is no string table", section);
	info->names = (const char *)info->image + info->sections[section].sh_offset;
	size = info->sections[section].sh_size;
	for (unsigned int i = 0; i < info->nr_sections; i++) {
		if (info->sections[i].sh_name >= size)
			return module_fail(info, -ENOEXEC,
					   "section %u: its name lies at 0x%x of 0x%zx", i,
					   info->sections[i].sh_name, size);
	}
	return 0;
}

static int check_section(struct load_info *info, unsigned int i)
{
	const Elf64_Shdr *s = &info->sections[i];
	const char *name = section_name(info, i);

	if (s->sh_type != SHT_NOBITS && !in_file(info, s->sh_offset, s->sh_size))
		return module_fail(
			info, -ENOEXEC,
			"section %u (%s): 0x%llx bytes at 0x%llx are not inside the file", i, name,
			(unsigned long long)s->sh_size, (unsigned long long)s->sh_offset);
	if (!(s->sh_flags & SHF_ALLOC))
		return 0;
	if (s->sh_size > MODULE_MAX_SIZE)
		return module_fail(info, -ENOEXEC, "section %u (%s): 0x%llx bytes, at most 0x%lx",
				   i, name, (unsigned long long)s->sh_size, MODULE_MAX_SIZE);
	if (s->sh_addralign & (s->sh_addralign - 1) || s->sh_addralign > PAGE_SIZE)
		return module_fail(info, -ENOEXEC, "section %u (%s): alignment 0x%llx", i, name,
				   (unsigned long long)s->sh_addralign);
	if (s->sh_flags & SHF_TLS)
		return module_fail(info, -ENOEXEC,
				   "section %u (%s): thread-local variables do not exist here", i,
				   name);
	if (s->sh_flags & SHF_WRITE && s->sh_flags & SHF_EXECINSTR)
		return module_fail(info, -ENOEXEC, "section %u (%s): code that can be written", i,
				   name);
	return 0;
}

static int check_symbol_table(struct load_info *info, unsigned int i)
{
	const Elf64_Shdr *s = &info->sections[i];
	const char *name = section_name(info, i);

	if (info->symbols)
		return module_fail(info, -ENOEXEC, "section %u (%s): a second symbol table", i,
				   name);
	if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_size % sizeof(Elf64_Sym) ||
	    s->sh_size / sizeof(Elf64_Sym) > UINT32_MAX || s->sh_offset % 8)
		return module_fail(info, -ENOEXEC, "section %u (%s): no table of symbols", i, name);
	if (!is_string_table(info, s->sh_link))
		return module_fail(
			info, -ENOEXEC,
			"section %u (%s): section %u, the symbols' names, is no string table", i,
			name, s->sh_link);
	info->symbols = (const Elf64_Sym *)(info->image + s->sh_offset);
	info->nr_symbols = (unsigned int)(s->sh_size / sizeof(Elf64_Sym));
	info->symbols_section = i;
	info->strings = (const char *)info->image + info->sections[s->sh_link].sh_offset;
	return 0;
}

static int check_symbol(struct load_info *info, unsigned int i)
{
	const Elf64_Sym *symbol = &info->symbols[i];
	const Elf64_Shdr *table = &info->sections[info->symbols_section];
	unsigned int section = symbol->st_shndx;
	u64 value = symbol->st_value;

	if (symbol->st_name >= info->sections[table->sh_link].sh_size)
		return module_fail(info, -ENOEXEC, "symbol %u: its name lies at 0x%x of 0x%llx", i,
				   symbol->st_name,
				   (unsigned long long)info->sections[table->sh_link].sh_size);
	if (section == SHN_UNDEF || section == SHN_ABS)
		return 0;
	if (section == SHN_COMMON)
		return module_fail(info, -ENOEXEC,
				   "symbol %u (%s): common; compile with -fno-common", i,
				   symbol_name(info, i));
	if (section >= info->nr_sections)
		return module_fail(info, -ENOEXEC, "symbol %u (%s): in section %u of %u", i,
				   symbol_name(info, i), section, info->nr_sections);
	/* A tagged global has its tag in the top byte. */
	if (TAGGED_GLOBALS)
		value &= (1ULL << 56) - 1;
	if (info->sections[section].sh_flags & SHF_ALLOC && value > info->sections[section].sh_size)
		return module_fail(info, -ENOEXEC,
				   "symbol %u (%s): at 0x%llx of section %s, 0x%llx bytes", i,
				   symbol_name(info, i), (unsigned long long)symbol->st_value,
				   section_name(info, section),
				   (unsigned long long)info->sections[section].sh_size);
	return 0;
}

/* Check section @i, which relocates a section that is loaded. */
static int check_relocations(struct load_info *info, unsigned int i)
{
	const Elf64_Shdr *s = &info->sections[i], *target = &info->sections[s->sh_info];
	const char *name = section_name(info, i);
	const Elf64_Rela *rela;

	if (s->sh_type == SHT_REL)
		return module_fail(info, -ENOEXEC, "section %u (%s): relocations without addends",
				   i, name);
	if (s->sh_entsize != sizeof(Elf64_Rela) || s->sh_size % sizeof(Elf64_Rela) ||
	    s->sh_offset % 8)
		return module_fail(info, -ENOEXEC, "section %u (%s): no table of relocations", i,
				   name);
	if (!info->symbols || s->sh_link != info->symbols_section)
		return module_fail(info, -ENOEXEC,
				   "section %u (%s): section %u is not the symbol table", i, name,
				   s->sh_link);
	if (target->sh_type == SHT_NOBITS && s->sh_size)
		return module_fail(info, -ENOEXEC,
				   "section %u (%s): relocations for a section without data", i,
				   name);
	rela = (const Elf64_Rela *)(info->image + s->sh_offset);
	for (size_t n = s->sh_size / sizeof(*rela); n; n--, rela++) {
		u32 type = ELF64_R_TYPE(rela->r_info);
		size_t size = module_reloc_size(type);

		if (ELF64_R_SYM(rela->r_info) >= info->nr_symbols)
			return module_fail(info, -ENOEXEC,
					   "%s: relocation at 0x%llx: symbol %u of %u", name,
					   (unsigned long long)rela->r_offset,
					   ELF64_R_SYM(rela->r_info), info->nr_symbols);
		if (!size && !module_reloc_is_none(type))
			return module_fail(info, -ENOEXEC,
					   "%s: relocation at 0x%llx: unknown type %u (symbol %s)",
					   name, (unsigned long long)rela->r_offset, type,
					   symbol_name(info, ELF64_R_SYM(rela->r_info)));
		if (rela->r_offset > target->sh_size || size > target->sh_size - rela->r_offset)
			return module_fail(info, -ENOEXEC,
					   "%s: relocation at 0x%llx: the section has 0x%llx bytes",
					   name, (unsigned long long)rela->r_offset,
					   (unsigned long long)target->sh_size);
	}
	return 0;
}

int module_elf_check(struct load_info *info)
{
	int err = check_header(info);

	if (!err)
		err = check_names(info);
	for (unsigned int i = 1; !err && i < info->nr_sections; i++) {
		err = check_section(info, i);
		if (!err && info->sections[i].sh_type == SHT_SYMTAB)
			err = check_symbol_table(info, i);
	}
	/* The first symbol stands for "none", but its name may be printed: check it too. */
	for (unsigned int i = 0; !err && i < info->nr_symbols; i++)
		err = check_symbol(info, i);
	for (unsigned int i = 1; !err && i < info->nr_sections; i++) {
		const Elf64_Shdr *s = &info->sections[i];

		if (s->sh_type != SHT_RELA && s->sh_type != SHT_REL)
			continue;
		if (s->sh_info >= info->nr_sections)
			err = module_fail(info, -ENOEXEC,
					  "section %u (%s): relocations for section %u of %u", i,
					  section_name(info, i), s->sh_info, info->nr_sections);
		else if (info->sections[s->sh_info].sh_flags & SHF_ALLOC)
			err = check_relocations(info, i);
	}
	return err;
}
