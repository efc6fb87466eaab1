// SPDX-License-Identifier: MIT
/*
 * memory.c - mmap() and its relatives for the C library, over vmalloc().
 *
 * Each mapping has an area of its own, with all of its memory; that of a file is a copy. Pages that the program has unmapped
 * or protected are so in the page tables: an access faults, and one to an unmapped page is reported before. The area is
 * freed when no page of it is left.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>
#include <kasan/kasan.h>

#include "libc.h"

/* Linux's numbers. */
#define PROT_READ      0x1
#define PROT_WRITE     0x2
#define PROT_EXEC      0x4
#define MAP_SHARED     0x01
#define MAP_FIXED      0x10
#define MAP_ANONYMOUS  0x20
#define MREMAP_MAYMOVE 1
#define MADV_DONTNEED  4

/**
 * struct mapping - one live mapping
 * @addr: as the program got it. @size: whole pages. @file: it is the copy of a file.
 * @left: pages that the program has not unmapped. @gone: one for each page, true if it is unmapped.
 */
struct mapping {
	struct mapping *next;
	void *addr;
	size_t size;
	bool file;
	size_t left;
	bool gone[];
};

static struct mapping *mappings;

/* Its holder may change the list, the mappings and their pages. Waiting for a file may take long, so it is not a spinlock. */
static bool locked;
/* How often protect() was called. */
static unsigned long changes;

/* The thread is not ended from outside meanwhile. Return: for unlock(). */
static unsigned int lock(void)
{
	const unsigned int kept = current->kflags & PF_NO_KILL;

	current->kflags |= PF_NO_KILL;
	while (__atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE))
		yield();
	return kept;
}

static void unlock(unsigned int kept)
{
	__atomic_store_n(&locked, false, __ATOMIC_RELEASE);
	if (!kept)
		current->kflags &= ~PF_NO_KILL;
}

static unsigned long start_of(const struct mapping *mapping)
{
	return (unsigned long)kasan_reset_tag(mapping->addr);
}

static bool overlaps(const struct mapping *mapping, unsigned long start, size_t size)
{
	return start < start_of(mapping) + mapping->size && start_of(mapping) < start + size;
}

/* Return: the mapping that has all of these pages; NULL if there is none. */
static struct mapping *find(unsigned long start, size_t size)
{
	struct mapping *mapping;

	for (mapping = mappings; mapping && !overlaps(mapping, start, size);)
		mapping = mapping->next;
	if (!mapping || start < start_of(mapping) ||
	    start + size > start_of(mapping) + mapping->size)
		return NULL;
	for (size_t done = 0; done < size; done += PAGE_SIZE)
		if (mapping->gone[(start + done - start_of(mapping)) >> PAGE_SHIFT])
			return NULL;
	return mapping;
}

/* Give [@start, @start + @size) of @mapping the protection @prot. Page tables for it exist, so it cannot fail. */
static void protect(const struct mapping *mapping, unsigned long start, size_t size, int prot)
{
	struct vm_struct *vm = find_vm_area(mapping->addr);
	size_t page = (start - start_of(mapping)) >> PAGE_SHIFT;

	__atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
	if (!prot) {
		unmap_kernel_range(start, size);
		return;
	}
	for (size_t done = 0; done < size; done += PAGE_SIZE)
		map_kernel_range(start + done, page_to_phys(vm->pages[page++]), PAGE_SIZE,
				 prot & PROT_WRITE ? PAGE_KERNEL_TAGGED : PAGE_KERNEL_TAGGED_RO);
}

static void free_mapping(struct mapping *mapping)
{
	/* The pages may be poisoned in place. */
	protect(mapping, start_of(mapping), mapping->size, PROT_WRITE);
	vfree(mapping->addr);
	kvfree(mapping);
}

/* Return: an error as mmap() has it for what pread() said of the file. */
static long file_error(int fd, long error)
{
	if (error == -EBADF && !libc_fd_valid(fd))
		return -EACCES;
	return error == -ESPIPE || error == -EISDIR ? -ENODEV : error;
}

/* Fill memory of a mapping with what is at @offset of a file. Behind the file's end it is zero. */
static long fill(int fd, void *addr, size_t size, s64 offset)
{
	size_t done = 0;

	while (done < size) {
		long n = libc_pread(fd, (char *)addr + done, size - done, offset + (s64)done);

		if (n < 0)
			return file_error(fd, n);
		if (!n)
			break;
		done += (size_t)n;
	}
	return 0;
}

static struct mapping *new_mapping(size_t size)
{
	const size_t bytes = sizeof(struct mapping) + (size >> PAGE_SHIFT);
	struct mapping *mapping = kvmalloc(bytes, GFP_KERNEL | __GFP_NOWARN);

	if (!mapping)
		return NULL;
	memset(mapping, 0, bytes);
	mapping->addr = __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!mapping->addr) {
		kvfree(mapping);
		return NULL;
	}
	mapping->size = size;
	mapping->left = size >> PAGE_SHIFT;
	return mapping;
}

/* A new mapping in place of pages of another one. */
static long map_over(unsigned long start, size_t size, int prot, bool anonymous, int fd, s64 offset)
{
	struct mapping *mapping = find(start, size);
	char *addr;
	long error = 0;

	if (!mapping)
		return -ENOMEM;
	addr = (char *)mapping->addr + (start - start_of(mapping));
	protect(mapping, start, size, PROT_WRITE);
	memset(addr, 0, size);
	mapping->file |= !anonymous;
	if (!anonymous)
		error = fill(fd, addr, size, offset);
	protect(mapping, start, size, prot);
	return error ?: (long)addr;
}

static long map(size_t size, int prot, bool anonymous, int fd, s64 offset)
{
	struct mapping *mapping = new_mapping(size);
	long error = 0;

	if (!mapping) {
		program_no_memory(size);
		return -ENOMEM;
	}
	mapping->file = !anonymous;
	if (!anonymous)
		error = fill(fd, mapping->addr, size, offset);
	if (error) {
		free_mapping(mapping);
		return error;
	}
	if (!(prot & PROT_WRITE))
		protect(mapping, start_of(mapping), size, prot);
	mapping->next = mappings;
	mappings = mapping;
	return (long)mapping->addr;
}

long libc_mmap(void *addr, size_t size, int prot, int flags, int fd, s64 offset)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr);
	const bool anonymous = flags & MAP_ANONYMOUS;
	unsigned int kept;
	long result;

	if (!size || offset < 0 || offset & (PAGE_SIZE - 1))
		return -EINVAL;
	/* Nothing is written back to a file. */
	if (!anonymous && flags & MAP_SHARED && prot & PROT_WRITE)
		return -EINVAL;
	if (flags & MAP_FIXED && start & (PAGE_SIZE - 1))
		return -EINVAL;
	/* Memory is never code. */
	if (prot & PROT_EXEC)
		return -EACCES;
	if (size > SIZE_MAX - PAGE_SIZE || (flags & MAP_FIXED && start + size < start))
		return -ENOMEM;
	size = ALIGN(size, PAGE_SIZE);
	kept = lock();
	if (flags & MAP_FIXED)
		result = map_over(start, size, prot, anonymous, fd, offset);
	else
		result = map(size, prot, anonymous, fd, offset);
	unlock(kept);
	return result;
}

/* Take those pages of @mapping from the program that are in [@start, @end). */
static void unmap_part(struct mapping *mapping, unsigned long start, unsigned long end)
{
	const unsigned long base = start_of(mapping);

	start = max(start, base);
	end = min(end, base + mapping->size);
	for (size_t page = (start - base) >> PAGE_SHIFT; page < (end - base) >> PAGE_SHIFT;
	     page++) {
		mapping->left -= !mapping->gone[page];
		mapping->gone[page] = true;
	}
	/* With hardware tags the poison is in the pages themselves. */
	protect(mapping, start, end - start, PROT_WRITE);
	kasan_poison_vmalloc((char *)mapping->addr + (start - base), end - start);
	protect(mapping, start, end - start, 0);
}

static void unmap(unsigned long start, size_t size)
{
	struct mapping **link = &mappings, *mapping;

	while ((mapping = *link)) {
		if (overlaps(mapping, start, size)) {
			/* A whole one needs no work for each page. */
			if (start > start_of(mapping) ||
			    start + size < start_of(mapping) + mapping->size)
				unmap_part(mapping, start, start + size);
			else
				mapping->left = 0;
		}
		if (!mapping->left) {
			*link = mapping->next;
			free_mapping(mapping);
		} else {
			link = &mapping->next;
		}
	}
}

/* Are these pages of an address space at all? */
static bool is_range(unsigned long start, size_t size)
{
	return size && !(start & (PAGE_SIZE - 1)) && size <= SIZE_MAX - PAGE_SIZE - start;
}

long libc_munmap(void *addr, size_t size)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr);
	unsigned int kept;

	if (!is_range(start, size))
		return -EINVAL;
	kept = lock();
	unmap(start, ALIGN(size, PAGE_SIZE));
	unlock(kept);
	return 0;
}

/* Move [@start, @start + @size) of @old to a new mapping of @new_size bytes, which is more. */
static long move(const struct mapping *old, unsigned long start, size_t size, size_t new_size)
{
	struct mapping *mapping = new_mapping(new_size);
	const char *from = (const char *)old->addr + (start - start_of(old));

	if (!mapping) {
		program_no_memory(new_size);
		return -ENOMEM;
	}
	/* The program may have closed some of its pages. */
	protect(old, start, size, PROT_READ);
	memcpy(mapping->addr, from, size);
	mapping->file = old->file;
	unmap(start, size);
	mapping->next = mappings;
	mappings = mapping;
	return (long)mapping->addr;
}

long libc_mremap(void *addr, size_t size, size_t new_size, int flags)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr);
	const struct mapping *mapping;
	unsigned int kept;
	long result;

	if (flags & ~MREMAP_MAYMOVE || !is_range(start, size) || !new_size)
		return -EINVAL;
	if (new_size > SIZE_MAX - PAGE_SIZE)
		return -ENOMEM;
	size = ALIGN(size, PAGE_SIZE);
	new_size = ALIGN(new_size, PAGE_SIZE);
	kept = lock();
	mapping = find(start, size);
	result = (long)addr;
	if (!mapping)
		result = -EFAULT;
	else if (new_size < size)
		unmap(start + new_size, size - new_size);
	else if (new_size > size)
		result = flags & MREMAP_MAYMOVE ? move(mapping, start, size, new_size) : -ENOMEM;
	unlock(kept);
	return result;
}

long libc_mprotect(void *addr, size_t size, int prot)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr);
	const struct mapping *mapping;
	unsigned int kept;

	if (!size)
		return 0;
	if (!is_range(start, size))
		return -EINVAL;
	if (prot & PROT_EXEC)
		return -EACCES;
	size = ALIGN(size, PAGE_SIZE);
	kept = lock();
	mapping = find(start, size);
	/* Other memory stays readable and writable. */
	if (mapping)
		protect(mapping, start, size, prot);
	unlock(kept);
	return 0;
}

long libc_madvise(void *addr, size_t size, int advice)
{
	const unsigned long start = (unsigned long)kasan_reset_tag(addr);
	const struct mapping *mapping;
	unsigned int kept;
	long result = 0;

	if (advice != MADV_DONTNEED || !size)
		return 0;
	if (!is_range(start, size))
		return -EINVAL;
	size = ALIGN(size, PAGE_SIZE);
	kept = lock();
	mapping = find(start, size);
	/* The program relies on zeros from here on. The file's bytes cannot be had again. */
	if (!mapping)
		result = -ENOMEM;
	else if (mapping->file)
		result = -EINVAL;
	for (size_t done = 0; !result && done < size; done += PAGE_SIZE) {
		const unsigned long va = start + done;
		bool writable = false;
		int prot = kernel_va_to_pa(va, &writable) ? PROT_READ : 0;

		protect(mapping, va, PAGE_SIZE, PROT_WRITE);
		memset((char *)mapping->addr + (va - start_of(mapping)), 0, PAGE_SIZE);
		if (!writable)
			protect(mapping, va, PAGE_SIZE, prot);
	}
	unlock(kept);
	return result;
}

unsigned long libc_memory_changes(void)
{
	return __atomic_load_n(&changes, __ATOMIC_RELAXED);
}

bool program_closed_page(unsigned long addr)
{
	unsigned int kept = lock();
	/* It faulted, and it was not unmapped. */
	bool closed = find(addr & PAGE_MASK, PAGE_SIZE);

	unlock(kept);
	return closed;
}

void libc_memory_roots(void (*scan)(const void *start, size_t size))
{
	for (const struct mapping *mapping = mappings; mapping; mapping = mapping->next)
		scan(mapping->addr, mapping->size);
}

void libc_memory_reset(void)
{
	/* Addresses of an earlier program are not used again: a pointer to it may exist. */
	mappings = NULL;
	locked = false;
}
