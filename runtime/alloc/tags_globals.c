/* SPDX-License-Identifier: MIT */
/*
 * tags_globals.c - tags of global variables with software tags, and the registry that finds a tagged global by its
 * address.
 *
 * Clang gives each global a tag at compile time: it adds the tag to the top byte of the symbol's value, so every
 * pointer that the linker makes has it. A kernel address begins with 0xff, so the pointer's tag is one less than the
 * compiler's, and the variable's memory must get that sum. The compiler leaves a descriptor of each such variable in
 * section hwasan_globals.
 *
 * The registry takes no memory: descriptors are read in place, and a table's list node is its owner's.
 */
#include "globals.h"

#include "../base/lock.h"
#include "../shadow/shadow.h"
#include "../tags/tags.h"

#ifdef CONFIG_KASAN_SW_TAGS

/* Where the compiler's tag is in a descriptor's second word. */
#define INFO_TAG_SHIFT 24

/* Tags repeat, so an overrun is attributed to a variable at most this many bytes away. */
#define NEAR_GLOBAL 4096

static struct kasan_lock globals_lock;
static struct kasan_globals_table *tables;

/* What one descriptor says. A variable that is too large for one has several. */
struct piece {
	uintptr_t start;
	size_t size, span;
	uint8_t tag;
};

static struct piece read_descriptor(const struct kasan_global_descriptor *d)
{
	const uintptr_t addr = (uintptr_t)&d->offset + (uintptr_t)(intptr_t)d->offset;
	struct piece piece;

	piece.start = kasan_untag_addr(addr);
	piece.size = kasan_global_size(d);
	piece.span = (piece.size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;
	piece.tag = (uint8_t)(kasan_addr_tag(addr) + (d->info >> INFO_TAG_SHIFT));
	return piece;
}

void kasan_prepare_globals(const struct kasan_global_descriptor *start,
			   const struct kasan_global_descriptor *end)
{
	for (; start < end; start++) {
		const struct piece piece = read_descriptor(start);

		/* The compiler has written its own tag there, which no pointer has. */
		if (piece.size & KASAN_GRANULE_MASK)
			*(uint8_t *)(piece.start + piece.span - 1) = piece.tag;
	}
}

static void tag_memory(const struct piece *piece)
{
	const size_t rest = piece->size & KASAN_GRANULE_MASK;
	const uintptr_t last = piece->start + piece->span - 1;

	kasan_tags_fill(piece->start, piece->span, piece->tag);
	/* A short granule keeps its tag in its last byte, which may be read-only by now. If it is missing, all of the
	 * granule stays accessible. */
	if (rest && *(const uint8_t *)last == piece->tag)
		kasan_tags_fill(last & ~(uintptr_t)KASAN_GRANULE_MASK, KASAN_GRANULE_SIZE,
				(uint8_t)rest);
}

void kasan_load_globals(struct kasan_globals_table *table,
			const struct kasan_global_descriptor *start,
			const struct kasan_global_descriptor *end)
{
	const struct kasan_global_descriptor *d;
	struct kasan_globals_table *at;
	unsigned long flags;

	for (d = start; d < end; d++) {
		const struct piece piece = read_descriptor(d);

		tag_memory(&piece);
	}
	flags = kasan_lock(&globals_lock);
	for (at = tables; at && at != table; at = at->next)
		;
	if (!at) {
		table->start = start;
		table->end = end;
		table->next = tables;
		tables = table;
	}
	kasan_unlock(&globals_lock, flags);
}

void kasan_unload_globals(const void *start, size_t size)
{
	struct kasan_globals_table **link, *table = NULL;
	const struct kasan_global_descriptor *d;
	unsigned long flags;

	flags = kasan_lock(&globals_lock);
	for (link = &tables; *link; link = &(*link)->next) {
		if ((uintptr_t)(*link)->start - (uintptr_t)start < size) {
			table = *link;
			*link = table->next;
			break;
		}
	}
	kasan_unlock(&globals_lock, flags);
	if (!table)
		return;
	/* The memory is about to be used for something else. */
	for (d = table->start; d < table->end; d++) {
		const struct piece piece = read_descriptor(d);

		kasan_tags_fill(piece.start, piece.span, KASAN_TAG_KERNEL);
	}
}

/* The variable at an address, and the nearest one whose pointers have a tag. */
struct search {
	uintptr_t addr;
	uint8_t tag;
	size_t distance;
	struct piece at, near;
};

static void consider(struct search *search, const struct piece *piece)
{
	size_t distance = 0;

	if (search->addr - piece->start < piece->span)
		kasan_copy(&search->at, piece);
	if (piece->tag != search->tag)
		return;
	if (search->addr < piece->start)
		distance = piece->start - search->addr;
	else if (search->addr - piece->start >= piece->size)
		distance = search->addr - (piece->start + piece->size) + 1;
	if (distance < search->distance) {
		search->distance = distance;
		kasan_copy(&search->near, piece);
	}
}

const struct kasan_global *kasan_find_tagged_global(uintptr_t addr, uint8_t tag, bool *is_pointers)
{
	/* Only one report is made at a time. */
	static struct kasan_global found;
	static char name[96];
	const struct kasan_globals_table *table;
	struct search search;
	unsigned long flags;

	kasan_clear(&search);
	search.addr = kasan_untag_addr(addr);
	search.tag = tag;
	search.distance = NEAR_GLOBAL + 1;
	if (!kasan_lock_for_report(&globals_lock, &flags))
		return NULL;
	for (table = tables; table; table = table->next) {
		const struct kasan_global_descriptor *d;

		if (!kasan_port_readable(table->start, (size_t)((const char *)table->end -
								(const char *)table->start)))
			continue;
		for (d = table->start; d < table->end; d++) {
			const struct piece piece = read_descriptor(d);

			consider(&search, &piece);
		}
	}
	kasan_unlock(&globals_lock, flags);

	*is_pointers = tag != KASAN_TAG_KERNEL && search.near.start;
	if (!*is_pointers)
		kasan_copy(&search.near, &search.at);
	if (!search.near.start)
		return NULL;
	kasan_clear(&found);
	found.beg = search.near.start;
	found.size = search.near.size;
	found.size_with_redzone = search.near.span;
	found.name = kasan_port_variable(search.near.start, name, sizeof(name))
			     ? name
			     : "<unnamed constant>";
	return &found;
}

#endif /* CONFIG_KASAN_SW_TAGS */
