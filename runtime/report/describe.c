/* SPDX-License-Identifier: MIT */
/*
 * describe.c - finds the owner of a bad address: heap object, global, stack or area.
 *
 * The allocator's own descriptors (which slot holds an address) are trusted. Data in redzones or in freed memory is
 * not: metadata counts only if its seal fits, and names are copied character by character from readable memory.
 */
#include "captured.h"

#include "../alloc/meta.h"
#include "../alloc/sampled.h"

/* --- Strings --- */

size_t kasan_copy_string(char *to, const char *from, size_t size)
{
	size_t i = 0;

	while (from && i + 1 < size) {
		/* Ask for the first character, and once for each page. */
		if ((i == 0 || !((uintptr_t)(from + i) & (CONFIG_KASAN_PAGE_SIZE - 1))) &&
		    !kasan_port_readable(from + i, 1))
			break;
		if (!from[i])
			break;
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
		i++;
	}
	to[i] = '\0';
	return i;
}

void kasan_copy_name(char *to, size_t size, const char *name, const char *otherwise)
{
	/* The constant can be read, and fits. */
	if (!kasan_copy_string(to, name, size))
		while ((*to++ = *otherwise++))
			;
}

/* --- Large allocations --- */

void kasan_owner_large(struct kasan_owner *owner, const struct kasan_object *object)
{
	const struct kasan_large_meta *large = object->large;
	uint8_t state = 0;

	owner->kind = KASAN_OBJECT_LARGE;
	owner->start = (uintptr_t)object->start;
	owner->size = owner->cache_size = object->size;
	kasan_owner_name(owner, object->name, "kmalloc-large");
	(void)kasan_memory_state(object->start, &state);
	owner->state =
		object->freed || state == KASAN_PAGE_FREE ? KASAN_OWNER_FREED : KASAN_OWNER_LIVE;
	if (!large || !kasan_port_readable(large, sizeof(*large)))
		return;
	owner->alloc = large->alloc;
	owner->has_alloc = large->alloc.pid || large->alloc.stack;
	owner->aux_stack[0] = large->aux_stack[0];
	owner->aux_stack[1] = large->aux_stack[1];
	owner->free = large->free;
	owner->has_free =
		owner->state == KASAN_OWNER_FREED && (large->free.pid || large->free.stack);
}

/* --- Simple heaps --- */

void kasan_owner_heap(struct kasan_owner *owner, const struct kasan_heap_chunk *chunk)
{
	owner->kind = KASAN_OBJECT_HEAP;
	owner->start = chunk->start;
	owner->size = owner->cache_size = chunk->size;
	owner->state = chunk->freed ? KASAN_OWNER_FREED : KASAN_OWNER_LIVE;
	owner->corrupt = !chunk->heap;
	kasan_owner_name(owner, chunk->heap ? chunk->heap->name : NULL, "heap");
	owner->alloc = chunk->alloc_track;
	owner->free = chunk->free_track;
	owner->has_alloc = chunk->heap != NULL;
	owner->has_free = chunk->heap && chunk->freed;
}

#ifdef CONFIG_KASAN_GENERIC
#if CONFIG_KASAN_SLAB

/* --- Slab objects --- */

static enum kasan_owner_state owner_state(uint32_t meta_state)
{
	switch (meta_state) {
	case KASAN_META_NEVER:
		return KASAN_OWNER_NEVER;
	case KASAN_META_LIVE:
		return KASAN_OWNER_LIVE;
	case KASAN_META_FREED:
		return KASAN_OWNER_FREED;
	default:
		return KASAN_OWNER_UNKNOWN;
	}
}

static void fill_slab_free(struct kasan_owner *owner, const struct kasan_cache *cache,
			   const void *object)
{
	const struct kasan_free_meta *meta = kasan_free_meta(cache, object);
	const uint8_t *shadow = kasan_shadow_of(object);

	/* Free metadata that overlays the object is there only while the shadow says so. After the object it stays
	 * until the next free, so the state decides. Either may have been overwritten. */
	if (!meta || !kasan_port_readable(meta, sizeof(*meta)))
		return;
	if (cache->free_meta_offset == 0 && shadow && *shadow != KASAN_SLAB_FREE_META)
		return;
	if (meta->check != kasan_free_seal(&meta->free, object))
		return;
	owner->free = meta->free;
	owner->has_free = true;
}

static void fill_slab(struct kasan_owner *owner, const struct kasan_object *object)
{
	const struct kasan_cache *cache = object->cache;
	const struct kasan_alloc_meta *meta = kasan_alloc_meta(cache, object->start);
	const uint8_t *shadow = kasan_shadow_of(object->start);

	owner->kind = KASAN_OBJECT_SLAB;
	owner->start = (uintptr_t)object->start;
	owner->slot_size = cache->slot_size;
	owner->cache_size = cache->object_size;
	owner->size = cache->object_size;
	kasan_owner_name(owner, cache->name, "?");
	if (!meta || !kasan_port_readable(meta, sizeof(*meta)))
		return;

	owner->state = owner_state(kasan_meta_state(meta, object->start));
	owner->aux_stack[0] = meta->aux_stack[0];
	owner->aux_stack[1] = meta->aux_stack[1];
	if (owner->state == KASAN_OWNER_LIVE || owner->state == KASAN_OWNER_FREED) {
		owner->size = meta->size;
		owner->alloc = meta->alloc;
		owner->has_alloc = true;
	} else if (owner->state == KASAN_OWNER_UNKNOWN) {
		/* The seal is broken, so the shadow gives the state, and the size of a live object. */
		owner->corrupt = true;
		owner->aux_stack[0] = owner->aux_stack[1] = 0;
		if (shadow && (*shadow == KASAN_SLAB_FREE || *shadow == KASAN_SLAB_FREE_META))
			owner->state = KASAN_OWNER_FREED;
		else if (shadow && *shadow < KASAN_GRANULE_SIZE) {
			owner->state = KASAN_OWNER_LIVE;
			owner->size = kasan_size_by_shadow(object->start, cache->object_size);
		}
	}
	if (owner->state == KASAN_OWNER_FREED)
		fill_slab_free(owner, cache, object->start);
}

#endif /* CONFIG_KASAN_SLAB */

/* --- All kinds --- */

/* Return: the size of the slot or pages that the port or a page heap finds at @addr; 0 if they find none. */
static size_t ask_port(struct kasan_owner *owner, uintptr_t addr)
{
#if CONFIG_KASAN_SLAB
	struct kasan_object object;

	__memset(owner, 0, sizeof(*owner));
	__memset(&object, 0, sizeof(object));
	if (!kasan_has_shadow(addr) || !kasan_find_object((const void *)addr, &object))
		return 0;
	if (object.kind == KASAN_OBJECT_SLAB && object.cache) {
		fill_slab(owner, &object);
		return owner->slot_size;
	}
	if (object.kind != KASAN_OBJECT_LARGE)
		return 0;
	kasan_owner_large(owner, &object);
	return owner->size;
#else
	(void)addr;
	__memset(owner, 0, sizeof(*owner));
	return 0;
#endif
}

/* A heap may get its memory from an allocator that the port knows, or the other way round. Then both objects hold the
 * address, and the program was given the inner, smaller one. */
static bool find_owner(struct kasan_owner *owner, uintptr_t addr)
{
	const size_t size = ask_port(owner, addr);
	struct kasan_heap_chunk chunk;

	if (!kasan_has_shadow(addr) || !kasan_heap_lookup(addr, &chunk))
		return owner->kind != KASAN_OBJECT_NONE;
	if (owner->kind == KASAN_OBJECT_NONE || chunk.span <= size) {
		__memset(owner, 0, sizeof(*owner));
		kasan_owner_heap(owner, &chunk);
	}
	return true;
}

/* A slot's redzone lies after its object and before the next one. Overruns and underruns are mostly short, so the
 * nearer object describes the address; the next one also if the slot itself has no live object. A next object that is
 * not live does not count, because nothing points to it. */
static void prefer_nearer(struct kasan_owner *owner, uintptr_t addr)
{
	const uintptr_t end = owner->start + owner->size;
	const uintptr_t next_start = owner->start + owner->slot_size;
	struct kasan_owner next;

	if (!CONFIG_KASAN_SLAB || owner->kind != KASAN_OBJECT_SLAB || addr < end ||
	    addr >= next_start)
		return;
	if (owner->state == KASAN_OWNER_LIVE && next_start - addr >= addr - end + 1)
		return;
	if (find_owner(&next, next_start) && next.kind == KASAN_OBJECT_SLAB &&
	    next.start == next_start && next.state == KASAN_OWNER_LIVE)
		__memcpy(owner, &next, sizeof(next));
}

/* Bytes before a slab's first object in which a small underrun of it ends. */
#define SLAB_HEAD 256

/* Bytes after a large object whose pages have no room for a redzone, in which a small overrun of it ends. */
#define LARGE_TAIL 256

/* Does @addr, on a free page, closely follow a live large object that ends with the page before? */
static bool find_large_before(struct kasan_owner *owner, uintptr_t addr)
{
	const uintptr_t page = addr & ~(uintptr_t)(CONFIG_KASAN_PAGE_SIZE - 1);

	if (CONFIG_KASAN_SLAB && addr - page < LARGE_TAIL && ask_port(owner, page - 1) &&
	    owner->kind == KASAN_OBJECT_LARGE && owner->state == KASAN_OWNER_LIVE &&
	    addr - (owner->start + owner->size) < LARGE_TAIL)
		return true;
	__memset(owner, 0, sizeof(*owner));
	return false;
}

/* An access that leaves the object it starts in has overrun that object. If it goes wrong before its end, it has met
 * another object inside, which is the one to describe. */
static void prefer_inner(struct kasan_owner *owner, const struct kasan_report *report)
{
	struct kasan_owner inner;

	if (report->first_bad != report->addr && report->first_bad - owner->start < owner->size &&
	    find_owner(&inner, report->first_bad) && inner.start != owner->start)
		__memcpy(owner, &inner, sizeof(inner));
}

void kasan_describe_object(struct kasan_report *report)
{
	struct kasan_owner *owner = &report->owner;
	uintptr_t step;

	kasan_heap_new_report();
	if (find_owner(owner, report->addr)) {
		prefer_nearer(owner, report->addr);
		prefer_inner(owner, report);
		return;
	}
	if (report->first_bad != report->addr && find_owner(owner, report->first_bad))
		return;
	if (report->bad_shadow == KASAN_PAGE_FREE && find_large_before(owner, report->first_bad))
		return;
	/* An allocator's poison without an object: one may start a little further up. */
	if (report->bad_shadow != KASAN_SLAB_REDZONE && report->bad_shadow != KASAN_PAGE_REDZONE &&
	    report->bad_shadow != KASAN_HEAP_LEFT_REDZONE)
		return;
	for (step = KASAN_GRANULE_SIZE; step <= SLAB_HEAD; step += KASAN_GRANULE_SIZE) {
		if (find_owner(owner, report->addr + step) && owner->start > report->addr)
			return;
	}
	__memset(owner, 0, sizeof(*owner));
}

#endif /* CONFIG_KASAN_GENERIC */

static void describe_area(struct kasan_report *report)
{
	const uintptr_t page = CONFIG_KASAN_PAGE_SIZE;
	const void *addr = (const void *)report->addr;

	report->has_area = kasan_port_find_area(addr, &report->area);
	/* Beside an area is its guard page, which for the reader belongs to it. With hardware tags it is not mapped, so
	 * it has no tag. */
	if (!report->has_area &&
	    (!report->has_shadow || report->bad_shadow == KASAN_VMALLOC_INVALID))
		report->has_area =
			kasan_port_find_area((const void *)(report->addr - page), &report->area) ||
			kasan_port_find_area((const void *)(report->addr + page), &report->area);
}

#ifdef CONFIG_KASAN_GENERIC
static bool is_stack_poison(uint8_t shadow)
{
	return (shadow >= KASAN_STACK_LEFT && shadow <= KASAN_STACK_RIGHT) ||
	       shadow == KASAN_STACK_AFTER_SCOPE || shadow == KASAN_ALLOCA_LEFT ||
	       shadow == KASAN_ALLOCA_RIGHT;
}
#else
/* A tag says nothing about the kind of memory. */
static bool is_stack_poison(uint8_t tag)
{
	(void)tag;
	return false;
}
#endif

static void describe_global(struct kasan_report *report)
{
#if !CONFIG_KASAN_GLOBALS
	(void)report;
#elif defined(CONFIG_KASAN_GENERIC)
	report->global = kasan_find_global(report->first_bad);
#elif defined(CONFIG_KASAN_SW_TAGS)
	bool is_pointers = false;

	report->global = kasan_find_tagged_global(report->first_bad,
						  kasan_addr_tag(report->pointer), &is_pointers);
	report->left_global = report->global && is_pointers &&
			      report->first_bad - report->global->beg >= report->global->size;
#else
	(void)report;
#endif
}

void kasan_describe(struct kasan_report *report)
{
#ifdef CONFIG_KASAN_HW_TAGS
	if (!report->has_shadow) {
		describe_area(report);
		return;
	}
#endif
	kasan_describe_stack(report);
	/* A stack may itself be a heap object, but the reader wants the frame. */
	if (!report->on_stack && !is_stack_poison(report->bad_shadow)) {
		kasan_describe_object(report);
		if (report->owner.kind == KASAN_OBJECT_NONE)
			describe_global(report);
	}
	if (CONFIG_KASAN_SLAB)
		describe_area(report);
}

/* --- Sampled objects --- */

#ifdef CONFIG_KASAN_SAMPLE
/* The MMU or the pattern has found it, so what shadow or tags say does not matter. Return: false if it is not one. */
static bool explain_sampled(struct kasan_report *report)
{
	struct kasan_owner *const owner = &report->owner;
	struct kasan_sampled object;

	if (!kasan_sample_find(report->addr, &object))
		return false;
	report->is_sampled = true;
	report->sampled_at_end = object.at_end;
	report->has_shadow = false;
	owner->kind = KASAN_OBJECT_SLAB;
	owner->state = object.live ? KASAN_OWNER_LIVE : KASAN_OWNER_FREED;
	owner->start = object.start;
	owner->size = object.size;
	owner->cache_size = object.cache_size;
	kasan_owner_name(owner, object.name, "?");
	owner->alloc = object.alloc;
	owner->free = object.free;
	owner->has_alloc = true;
	owner->has_free = !object.live;
	if (!report->type)
		report->type = !object.live && report->addr - object.start < object.size
				       ? "slab-use-after-free"
				       : "slab-out-of-bounds";
	return true;
}
#else
#define explain_sampled(report) ((void)(report), false)
#endif

/* With hardware tags, kernel memory that is not mapped has no state, but may have an owner beside it. */
#ifdef CONFIG_KASAN_HW_TAGS
#define MAY_HAVE_NO_TAGS true
#else
#define MAY_HAVE_NO_TAGS false
#endif

#ifdef CONFIG_KASAN_DMA
static void find_dma(struct kasan_report *report, bool classify)
{
	/* An unmap is over when it reports what it has found, perhaps past the end of the buffer. */
	const bool of_unmap =
		!classify && !report->is_free && report->type[0] == 'd' && report->type[1] == 'm';

	report->has_dma = kasan_dma_find(report->first_bad, of_unmap ? KASAN_GRANULE_SIZE : 0,
					 &report->dma) &&
			  (report->dma.mapped || of_unmap);
	if (classify && report->has_dma && report->bad_shadow == KASAN_USER_POISON)
		report->type = "dma-use";
}
#else
#define find_dma(report, classify) ((void)(report))
#endif

#ifdef CONFIG_KASAN_PERCPU
/* Between two copies is a redzone, which the object or the array that holds the copies of all CPUs does not know. */
static void find_percpu(struct kasan_report *report, bool classify)
{
	const struct kasan_owner *const owner = &report->owner;
	struct kasan_percpu *const var = &report->percpu;

	kasan_clear(var);
	report->has_percpu =
		kasan_port_find_percpu(report->addr, var) && var->stride && var->copies;
	if (!report->has_percpu)
		return;
	kasan_copy_name(report->percpu_name, sizeof(report->percpu_name), var->name, "?");
	if (!classify || report->is_fault || kasan_size_is_absurd(report) ||
	    (report->first_bad >= var->first &&
	     (report->first_bad - var->first) % var->stride < var->size))
		return;
	if (report->global)
		report->type = "global-out-of-bounds";
	else if (owner->state == KASAN_OWNER_LIVE &&
		 (owner->has_alloc || owner->kind == KASAN_OBJECT_LARGE))
		report->type = "slab-out-of-bounds";
}
#else
#define find_percpu(report, classify) ((void)(report))
#endif

void kasan_explain(struct kasan_report *report)
{
	/* The type of a bad free, or of a write found by its traces, is given. */
	const bool classify = !report->type;

	if (explain_sampled(report))
		return;
	if (classify)
		kasan_classify(report);
	if (report->has_shadow || MAY_HAVE_NO_TAGS)
		kasan_describe(report);
	if (classify)
		kasan_classify_by_owner(report);
	find_dma(report, classify);
	find_percpu(report, classify);
}
