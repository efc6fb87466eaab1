// SPDX-License-Identifier: MIT
/*
 * elf.c - from an ELF file to an address space that is ready to run.
 *
 * The file may come from anywhere, so every number in it is checked before it is used. Accepted are
 * static programs at fixed addresses (ET_EXEC) for 64-bit little-endian machines of this architecture.
 */
#include <kernel/elf.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <asm/elf.h>

#include "internal.h"

#define ELF_PHDRS_MAX 32U
/* Programs end below what vm_mmap() hands out, with room for the heap. */
#define ELF_ADDR_MAX (MMAP_BASE / 2)

#define AT_NULL	  0
#define AT_PAGESZ 6

static bool header_is_valid(const Elf64_Ehdr *h, size_t size)
{
	/* Magic, 64 bits, little endian, version 1. */
	static const u8 ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	return !memcmp(h->e_ident, ident, sizeof(ident)) && h->e_type == ET_EXEC &&
	       h->e_machine == ELF_MACHINE && h->e_phentsize == sizeof(Elf64_Phdr) &&
	       h->e_phnum <= ELF_PHDRS_MAX && h->e_phoff <= size &&
	       h->e_phnum * sizeof(Elf64_Phdr) <= size - h->e_phoff;
}

static int load_segment(struct mm_struct *mm, const Elf64_Phdr *ph, const char *image, size_t size)
{
	unsigned long start = ph->p_vaddr & PAGE_MASK;
	unsigned int prot = 0;
	long at;

	if (!ph->p_memsz)
		return 0;
	if (ph->p_filesz > ph->p_memsz || ph->p_offset > size ||
	    ph->p_filesz > size - ph->p_offset || ph->p_vaddr < MMAP_MIN_ADDR ||
	    ph->p_vaddr >= ELF_ADDR_MAX || ph->p_memsz > ELF_ADDR_MAX - ph->p_vaddr)
		return -ENOEXEC;
	if (ph->p_flags & PF_R)
		prot |= PROT_READ;
	if (ph->p_flags & PF_W)
		prot |= PROT_WRITE;
	if (ph->p_flags & PF_X)
		prot |= PROT_EXEC;
	if (!prot)
		return -ENOEXEC;
	/* Two segments that share a page would need its rights twice: -EEXIST. */
	at = mm_map(mm, start, ph->p_vaddr + ph->p_memsz - start, prot);
	if (at < 0)
		return at == -ENOMEM ? -ENOMEM : -ENOEXEC;
	return mm_write(mm, ph->p_vaddr, image + ph->p_offset, ph->p_filesz);
}

int elf_load(struct mm_struct *mm, const void *image, size_t size, unsigned long *entry)
{
	bool entry_is_code = false;
	Elf64_Ehdr header;
	unsigned long end = 0;
	int err;

	if (size < sizeof(header))
		return -ENOEXEC;
	memcpy(&header, image, sizeof(header));
	if (!header_is_valid(&header, size))
		return -ENOEXEC;
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, (const char *)image + header.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_INTERP)
			return -ENOEXEC;
		if (ph.p_type != PT_LOAD)
			continue;
		err = load_segment(mm, &ph, image, size);
		if (err)
			return err;
		if (ph.p_flags & PF_X && header.e_entry - ph.p_vaddr < ph.p_memsz)
			entry_is_code = true;
		if (ph.p_memsz)
			end = max(end, (unsigned long)(ph.p_vaddr + ph.p_memsz));
	}
	if (!entry_is_code || header.e_entry % ELF_CODE_ALIGN)
		return -ENOEXEC;
	mm->start_brk = mm->brk = PAGE_ALIGN(end);
	*entry = header.e_entry;
	return 0;
}

/* From the stack pointer up: argc, the argument pointers, NULL, an empty environment, NULL, pairs of the
 * auxiliary vector; the strings are above. */
static int fill_stack(struct mm_struct *mm, int argc, const char *const *argv, u64 *words,
		      unsigned long *sp)
{
	unsigned long strings = USER_STACK_TOP;
	unsigned int n = 0;
	int err;

	words[n++] = (u64)argc;
	for (int i = 0; i < argc; i++) {
		size_t size = strlen(argv[i]) + 1;

		if (size > PROCESS_ARG_SIZE - (USER_STACK_TOP - strings))
			return -E2BIG;
		strings -= size;
		err = mm_write(mm, strings, argv[i], size);
		if (err)
			return err;
		words[n++] = strings;
	}
	words[n++] = 0;
	words[n++] = 0;
	words[n++] = AT_PAGESZ;
	words[n++] = PAGE_SIZE;
	words[n++] = AT_NULL;
	words[n++] = 0;
	*sp = (strings - n * sizeof(*words)) & ~15UL;
	return mm_write(mm, *sp, words, n * sizeof(*words));
}

int elf_build_stack(struct mm_struct *mm, int argc, const char *const *argv, unsigned long *sp)
{
	u64 *words;
	long at;
	int err;

	if (argc < 0 || (unsigned int)argc > PROCESS_ARGS_MAX)
		return -E2BIG;
	at = mm_map(mm, USER_STACK_TOP - USER_STACK_SIZE, USER_STACK_SIZE, PROT_READ | PROT_WRITE);
	if (at < 0)
		return at == -ENOMEM ? -ENOMEM : -ENOEXEC;
	words = kcalloc(PROCESS_ARGS_MAX + 8, sizeof(*words), GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	err = fill_stack(mm, argc, argv, words, sp);
	kfree(words);
	return err;
}
