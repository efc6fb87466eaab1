// SPDX-License-Identifier: MIT
/*
 * elf.c - from an ELF file to an address space that is ready to run.
 *
 * The file may come from anywhere, so every number in it is checked before it is used. Accepted are
 * static programs at fixed addresses (ET_EXEC) for 64-bit little-endian arm64.
 */
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "internal.h"

#define ELF_PHDRS_MAX 32U
/* Programs end below what vm_mmap() hands out, with room for the heap. */
#define ELF_ADDR_MAX (MMAP_BASE / 2)

#define ET_EXEC	   2
#define EM_AARCH64 183
#define PT_LOAD	   1
#define PT_INTERP  3
#define PF_X	   1
#define PF_W	   2
#define PF_R	   4

#define AT_NULL	  0
#define AT_PAGESZ 6

struct elf_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_phdr {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

static bool header_is_valid(const struct elf_header *h, size_t size)
{
	/* Magic, 64 bits, little endian, version 1. */
	static const u8 ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	return !memcmp(h->ident, ident, sizeof(ident)) && h->type == ET_EXEC &&
	       h->machine == EM_AARCH64 && h->phentsize == sizeof(struct elf_phdr) &&
	       h->phnum <= ELF_PHDRS_MAX && h->phoff <= size &&
	       h->phnum * sizeof(struct elf_phdr) <= size - h->phoff;
}

static int load_segment(struct mm_struct *mm, const struct elf_phdr *ph, const char *image,
			size_t size)
{
	unsigned long start = ph->vaddr & PAGE_MASK;
	unsigned int prot = 0;
	long at;

	if (!ph->memsz)
		return 0;
	if (ph->filesz > ph->memsz || ph->offset > size || ph->filesz > size - ph->offset ||
	    ph->vaddr < MMAP_MIN_ADDR || ph->vaddr >= ELF_ADDR_MAX ||
	    ph->memsz > ELF_ADDR_MAX - ph->vaddr)
		return -ENOEXEC;
	if (ph->flags & PF_R)
		prot |= PROT_READ;
	if (ph->flags & PF_W)
		prot |= PROT_WRITE;
	if (ph->flags & PF_X)
		prot |= PROT_EXEC;
	if (!prot)
		return -ENOEXEC;
	/* Two segments that share a page would need its rights twice: -EEXIST. */
	at = mm_map(mm, start, ph->vaddr + ph->memsz - start, prot);
	if (at < 0)
		return at == -ENOMEM ? -ENOMEM : -ENOEXEC;
	return mm_write(mm, ph->vaddr, image + ph->offset, ph->filesz);
}

int elf_load(struct mm_struct *mm, const void *image, size_t size, unsigned long *entry)
{
	bool entry_is_code = false;
	struct elf_header header;
	unsigned long end = 0;
	int err;

	if (size < sizeof(header))
		return -ENOEXEC;
	memcpy(&header, image, sizeof(header));
	if (!header_is_valid(&header, size))
		return -ENOEXEC;
	for (unsigned int i = 0; i < header.phnum; i++) {
		struct elf_phdr ph;

		memcpy(&ph, (const char *)image + header.phoff + i * sizeof(ph), sizeof(ph));
		if (ph.type == PT_INTERP)
			return -ENOEXEC;
		if (ph.type != PT_LOAD)
			continue;
		err = load_segment(mm, &ph, image, size);
		if (err)
			return err;
		if (ph.flags & PF_X && header.entry - ph.vaddr < ph.memsz)
			entry_is_code = true;
		if (ph.memsz)
			end = max(end, (unsigned long)(ph.vaddr + ph.memsz));
	}
	if (!entry_is_code || header.entry & 3)
		return -ENOEXEC;
	mm->start_brk = mm->brk = PAGE_ALIGN(end);
	*entry = header.entry;
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
