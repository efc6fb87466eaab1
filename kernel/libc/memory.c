// SPDX-License-Identifier: MIT
/*
 * memory.c - mmap() of memory for the large C library, from vmalloc().
 *
 * Mappings are private, readable and writable; those of a file are a copy. munmap() frees a whole mapping and leaves a
 * part of one as it is, which keeps the rest usable.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/page.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "libc.h"

#define MAP_SHARED    0x01
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20

/** struct mapping - one live mapping; @size: whole pages */
struct mapping {
	struct mapping *next;
	void *addr;
	size_t size;
};

static struct mapping *mappings;
static DEFINE_SPINLOCK(mappings_lock);

static void add_mapping(struct mapping *mapping)
{
	unsigned long flags;

	spin_lock_irqsave(&mappings_lock, flags);
	mapping->next = mappings;
	mappings = mapping;
	spin_unlock_irqrestore(&mappings_lock, flags);
}

/* Return: the mapping of exactly these pages, no longer listed; NULL if there is none. */
static struct mapping *take_mapping(const void *addr, size_t size)
{
	struct mapping **link, *mapping;
	unsigned long flags;

	spin_lock_irqsave(&mappings_lock, flags);
	for (link = &mappings; (mapping = *link); link = &mapping->next)
		if (mapping->addr == addr && mapping->size == size)
			break;
	if (mapping)
		*link = mapping->next;
	spin_unlock_irqrestore(&mappings_lock, flags);
	return mapping;
}

long libc_mmap(void *addr, size_t size, int prot, int flags, int fd, s64 offset)
{
	bool anonymous = flags & MAP_ANONYMOUS;
	struct mapping *mapping;
	long error = 0;

	if (!size || offset < 0 || offset & (PAGE_SIZE - 1))
		return -EINVAL;
	/* Nothing is written back to a file, and no address can be asked for. */
	if (flags & MAP_FIXED || (!anonymous && flags & MAP_SHARED))
		return -EINVAL;
	size = ALIGN(size, PAGE_SIZE);
	mapping = kmalloc(sizeof(*mapping), GFP_KERNEL | __GFP_NOWARN);
	if (!mapping)
		return -ENOMEM;
	mapping->addr = __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	mapping->size = size;
	if (!mapping->addr) {
		kfree(mapping);
		return -ENOMEM;
	}
	if (!anonymous)
		error = libc_pread(fd, mapping->addr, size, offset);
	if (error < 0) {
		vfree(mapping->addr);
		kfree(mapping);
		return error;
	}
	addr = mapping->addr;
	add_mapping(mapping);
	return (long)addr;
}

long libc_munmap(void *addr, size_t size)
{
	struct mapping *mapping = take_mapping(addr, ALIGN(size, PAGE_SIZE));

	if (mapping) {
		vfree(addr);
		kfree(mapping);
	}
	return 0;
}
