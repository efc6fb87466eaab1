// SPDX-License-Identifier: MIT
/*
 * heap.c - malloc() and its relatives over kmalloc(), so that KASAN knows a program's objects like the
 * kernel's.
 *
 * Objects too large for the slab and page allocators are listed in a small hash table, because
 * vmalloc areas end at pages and free() has to know them. Other objects need no entry.
 */
#include <kernel/errno.h>
#include <kernel/gfp.h>
#include <kernel/kernel.h>
#include <kernel/lockdep.h>
#include <kernel/param.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/types.h>
#include <kernel/vmalloc.h>
#include <kasan/asan_interface.h>
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "heap.h"
#include "internal.h"

#define BLOCK_BUCKETS 64

/** struct block - a vmalloc area that is a program's object; @size: as the program asked. */
struct block {
	struct block *next;
	void *ptr;
	size_t size;
};

static struct block *blocks[BLOCK_BUCKETS];
static DEFINE_SPINLOCK(blocks_lock);

static struct block **bucket_of(const void *ptr)
{
	return &blocks[((uintptr_t)ptr >> PAGE_SHIFT) % BLOCK_BUCKETS];
}

static bool block_add(void *ptr, size_t size)
{
	struct block *block = kmalloc(sizeof(*block), GFP_KERNEL);
	unsigned long flags;

	if (!block)
		return false;
	*block = (struct block){.ptr = ptr, .size = size};
	spin_lock_irqsave(&blocks_lock, flags);
	block->next = *bucket_of(ptr);
	*bucket_of(ptr) = block;
	spin_unlock_irqrestore(&blocks_lock, flags);
	return true;
}

/* @copy: filled with the table's entry of @ptr. @take: remove the entry. */
static bool block_find(const void *ptr, struct block *copy, bool take)
{
	struct block **link, *block;
	unsigned long flags;

	spin_lock_irqsave(&blocks_lock, flags);
	for (link = bucket_of(ptr); (block = *link); link = &block->next)
		if (block->ptr == ptr)
			break;
	if (block) {
		*copy = *block;
		if (take)
			*link = block->next;
	}
	spin_unlock_irqrestore(&blocks_lock, flags);
	if (block && take)
		kfree(block);
	return block;
}

#ifdef CONFIG_KASAN
#ifdef CONFIG_KASAN_TAGS
#define EMPTY_OBJECT 0
#else
#define EMPTY_OBJECT KASAN_SLAB_REDZONE
#endif

/* Return: true if a live object starts at @ptr. @size: filled, as asked for. */
static bool object_size(const void *ptr, size_t *size)
{
	struct kasan_object object;
	u8 state;

	if (!kasan_memory_state(ptr, &state) || !kasan_port_find_object(ptr, &object) ||
	    object.start != kasan_reset_tag(ptr))
		return false;
	*size = object.kind == KASAN_OBJECT_SLAB ? kasan_object_size(object.cache, ptr)
						 : object.size;
	/* An object of no bytes is redzone from its start on, with tags a granule without a byte. */
	return kasan_byte_accessible(ptr) || state == KASAN_USER_POISON ||
	       (state == EMPTY_OBJECT && *size == 0);
}

/* Turn everything after the first @size bytes of a slab object into redzone. */
static void set_object_size(void *ptr, size_t size)
{
	struct kasan_object object;

	if (kasan_port_find_object(ptr, &object) && object.kind == KASAN_OBJECT_SLAB)
		kasan_slab_realloc(object.cache, ptr, size);
}

/* Of bytes that the program may have poisoned. */
static void copy_object(void *to, const void *from, size_t size)
{
	__memcpy(kasan_reset_tag(to), kasan_reset_tag(from), size);
}
#else
static bool object_size(const void *ptr, size_t *size)
{
	*size = kmalloc_usable_size(ptr);
	return *size != 0;
}

static void set_object_size(void *ptr, size_t size)
{
}

static void copy_object(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
}
#endif

/* --- Whether objects are left over: leaks.c --- */

void (*program_heap_watch)(void *ptr, size_t size, bool allocated);

static __always_inline void tell(void *ptr, size_t size, bool allocated)
{
	void (*watch)(void *ptr, size_t size, bool allocated) = READ_ONCE(program_heap_watch);

	if (unlikely(watch))
		watch(ptr, size, allocated);
}

/* @align: a power of two of at least a page. */
static void *malloc_large(size_t size, size_t align, gfp_t gfp)
{
	void *ptr = __vmalloc_align(size ? size : 1, align, gfp);

	if (!ptr)
		return NULL;
	if (!size)
		kasan_vrealloc(ptr, 1, 0);
	if (!block_add(ptr, size)) {
		vfree(ptr);
		return NULL;
	}
	return ptr;
}

/* Such calls get an error, which a program that makes them hardly expects. */
static bool notices;
core_param("program.notices", notices, bool, "on|off",
	   "print calls of malloc() and its relatives that no machine could grant");

/* @ip: where @function was called with @first and @second. */
static noinline void notice(const char *function, size_t first, size_t second, unsigned long ip)
{
	if (notices)
		printk("program: %s(%lu, %lu) can never succeed; called by %pB\n", function, first,
		       second, (void *)ip);
}

/* A negative number, most of all. */
#define MORE_THAN_ADDRESSES (1UL << 47)

static noinline void *no_memory(size_t size, unsigned long ip)
{
	if (size < MORE_THAN_ADDRESSES)
		program_no_memory(size);
	else if (notices)
		printk("program: an object of %lu bytes can never be had; asked for by %pB\n", size,
		       (void *)ip);
	*program_errno() = ENOMEM;
	return NULL;
}

/* No warning: a size that is too large for the page allocator is not a fault here. */
#define PROGRAM_GFP (GFP_KERNEL | __GFP_NOWARN)

/* @ptr: what kmalloc() gave for @size bytes, NULL if it has no memory or was not asked. @zero: clear the object. Return:
 * what the program gets. */
static __always_inline void *new_object(void *ptr, size_t size, gfp_t zero)
{
	if (!ptr && size > PAGE_SIZE)
		ptr = malloc_large(size, PAGE_SIZE, PROGRAM_GFP | zero);
	if (unlikely(!ptr))
		return no_memory(size, _RET_IP_);
	if (unlikely(!size))
		set_object_size(ptr, 0);
	tell(ptr, size, true);
	return ptr;
}

void *malloc(size_t size)
{
	void *ptr = size <= KMALLOC_MAX_SIZE ? kmalloc(size ? size : 1, PROGRAM_GFP) : NULL;

	return new_object(ptr, size, 0);
}

/* Not by malloc(), which would be one more call, and one more line in each trace. */
void *calloc(size_t count, size_t size)
{
	size_t total;
	void *ptr;

	if (__builtin_mul_overflow(count, size, &total)) {
		notice("calloc", count, size, _RET_IP_);
		*program_errno() = ENOMEM;
		return NULL;
	}
	ptr = total <= KMALLOC_MAX_SIZE ? kmalloc(total ? total : 1, PROGRAM_GFP | __GFP_ZERO)
					: NULL;
	return new_object(ptr, total, __GFP_ZERO);
}

void free(void *ptr)
{
	struct block block;

	if (!ptr)
		return;
	tell(ptr, 0, false);
	/* kfree() reports a pointer that is not an object. */
	if (is_vmalloc_addr(ptr) && block_find(ptr, &block, true))
		vfree(ptr);
	else
		kfree(ptr);
}

void *realloc(void *ptr, size_t size)
{
	struct block block;
	size_t old;
	void *moved;

	if (!ptr)
		return malloc(size);
	if (is_vmalloc_addr(ptr) && block_find(ptr, &block, false)) {
		old = block.size;
	} else if (!object_size(ptr, &old)) {
		/* Freed before, or never allocated: kfree() says which. */
		kfree(ptr);
		*program_errno() = EINVAL;
		return NULL;
	}
	/* All of the result is accessible, whatever the program has poisoned before. */
	if (size == old && !__asan_region_is_poisoned(ptr, old))
		return ptr;
	moved = malloc(size);
	if (!moved)
		return NULL;
	copy_object(moved, ptr, min(old, size));
	free(ptr);
	return moved;
}

size_t malloc_usable_size(void *ptr)
{
	struct block block;
	size_t size;

	if (!ptr)
		return 0;
	if (is_vmalloc_addr(ptr) && block_find(ptr, &block, false))
		return block.size;
	return object_size(ptr, &size) ? size : 0;
}

void *reallocarray(void *ptr, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		notice("reallocarray", count, size, _RET_IP_);
		*program_errno() = ENOMEM;
		return NULL;
	}
	return realloc(ptr, total);
}

/* --- Alignment beyond what malloc() promises -------------------------------------------------- */

void *aligned_alloc(size_t align, size_t size)
{
	size_t span;
	void *ptr;

	if (align & (align - 1)) {
		notice("aligned_alloc", align, size, _RET_IP_);
		*program_errno() = EINVAL;
		return NULL;
	}
	/* Whole pages are aligned, and so is a size class that is a power of two, to its own size. */
	if (align <= 8 || (align <= PAGE_SIZE && size > KMALLOC_MAX_CACHE_SIZE))
		return malloc(size);
	if (align > PAGE_SIZE) {
		ptr = size <= SIZE_MAX - align ? malloc_large(size, align, PROGRAM_GFP) : NULL;
	} else {
		for (span = align; span < size;)
			span *= 2;
		ptr = kmalloc(span, PROGRAM_GFP);
		if (ptr)
			set_object_size(ptr, size);
	}
	if (!ptr)
		return no_memory(size, _RET_IP_);
	tell(ptr, size, true);
	return ptr;
}

void *memalign(size_t align, size_t size)
{
	return aligned_alloc(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	int *error = program_errno(), saved = *error;
	void *ptr;

	if (align < sizeof(void *) || (align & (align - 1))) {
		notice("posix_memalign", align, size, _RET_IP_);
		return EINVAL;
	}
	ptr = aligned_alloc(align, size);
	*error = saved;
	if (!ptr)
		return ENOMEM;
	*out = ptr;
	return 0;
}
