/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - names for code addresses, from the program's own ELF symbol table.
 *
 * Static functions are in .symtab only, never in the dynamic symbols, and dladdr() takes a lock that
 * the faulting thread may hold. So the file is mapped once at start; a lookup only reads memory.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static const ElfW(Sym) * symbols;
static size_t symbol_count;
static const char *names;
static size_t names_size;
static uintptr_t load_base;

/* Where the program was loaded: its program headers' address less the one the linker gave them. */
static void find_load_base(void)
{
	const ElfW(Phdr) *phdr = (const void *)getauxval(AT_PHDR);
	size_t count = getauxval(AT_PHNUM);

	for (size_t i = 0; phdr && i < count; i++)
		if (phdr[i].p_type == PT_PHDR)
			load_base = (uintptr_t)phdr - phdr[i].p_vaddr;
}

static bool inside(size_t file_size, size_t offset, size_t size)
{
	return offset <= file_size && size <= file_size - offset;
}

static void use_tables(const char *image, size_t file_size)
{
	const ElfW(Ehdr) *ehdr = (const void *)image;
	const ElfW(Shdr) * sections;

	if (file_size < sizeof(*ehdr) || ehdr->e_shentsize != sizeof(*sections) ||
	    !inside(file_size, ehdr->e_shoff, ehdr->e_shnum * sizeof(*sections)))
		return;
	sections = (const void *)(image + ehdr->e_shoff);
	for (size_t i = 0; i < ehdr->e_shnum; i++) {
		const ElfW(Shdr) *tab = &sections[i], *str;

		if (tab->sh_type != SHT_SYMTAB || tab->sh_link >= ehdr->e_shnum)
			continue;
		str = &sections[tab->sh_link];
		if (!inside(file_size, tab->sh_offset, tab->sh_size) ||
		    !inside(file_size, str->sh_offset, str->sh_size))
			continue;
		symbols = (const void *)(image + tab->sh_offset);
		symbol_count = tab->sh_size / sizeof(*symbols);
		names = image + str->sh_offset;
		names_size = str->sh_size;
	}
}

void kasan_posix_symbols_init(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *image;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image != MAP_FAILED) {
			find_load_base();
			use_tables(image, (size_t)st.st_size);
		}
	}
	close(fd);
}

bool kasan_posix_symbolize(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym)
{
	uintptr_t value = pc - load_base;

	for (size_t i = 0; i < symbol_count; i++) {
		const ElfW(Sym) *s = &symbols[i];
		size_t n = 0;

		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF)
			continue;
		if (value < s->st_value || value - s->st_value >= s->st_size ||
		    s->st_name >= names_size)
			continue;
		for (const char *name = names + s->st_name; name[n] && n + 1 < size; n++)
			buf[n] = name[n];
		buf[n] = '\0';
		sym->start = load_base + s->st_value;
		sym->size = s->st_size;
		sym->module = NULL;
		return true;
	}
	return false;
}
