/* SPDX-License-Identifier: MIT */
/*
 * slab.h - objects smaller than a page: kmem_cache_*() and kmalloc().
 *
 * Any context may allocate and free, including interrupts, if the flags do not contain
 * __GFP_DIRECT_RECLAIM. Creating, shrinking and destroying a cache may take long and needs interrupts
 * enabled.
 */
#ifndef KERNEL_SLAB_H
#define KERNEL_SLAB_H

#include <kernel/gfp.h>
#include <kernel/types.h>

struct kmem_cache;

/* The chosen allocator (REDZONE_ALLOCATOR): it finds free slots by bitmaps, or by links in the slots. */
#ifdef CONFIG_SLAB
#define SLAB_IS_BITMAP 1
#else
#define SLAB_IS_BITMAP 0
#endif

/* Flags of kmem_cache_create(). */
#define SLAB_HWCACHE_ALIGN 0x01U /* objects start on a cache line; small ones share one evenly */
#define SLAB_PANIC	   0x02U /* panic if the cache cannot be created */
#define SLAB_TYPESAFE_BY_RCU \
	0x04U /* freed memory stays an object of this cache for a grace period: readers that found
		 it under rcu_read_lock() may read it, but it may be a new object by then */

/* The result of kmalloc(0): not NULL, must not be accessed, may be passed to kfree(). */
#define ZERO_SIZE_PTR	    ((void *)16)
#define ZERO_OR_NULL_PTR(p) ((uintptr_t)(p) <= (uintptr_t)ZERO_SIZE_PTR)

/* Largest kmalloc() from a slab, and largest of all. The very largest objects have no redzone: see
 * docs/costs.md. */
#define KMALLOC_MAX_CACHE_SIZE 8192UL
#define KMALLOC_MAX_SIZE       (PAGE_SIZE << MAX_ORDER)
/* Every object is aligned to at least this. An object whose size is a power of two is aligned to its size. */
#define ARCH_KMALLOC_MINALIGN 8UL

/**
 * kmem_cache_create() - make a cache of equal objects
 * @name: for reports; it is copied.
 * @size: bytes of an object, at most 65536.
 * @align: power of two, at most PAGE_SIZE; 0: pointer alignment.
 * @flags: SLAB_*.
 * @ctor: runs once for each object when its slab is made, not at each allocation; NULL: none. A
 *	freed object must be left as constructed.
 *
 * Return: the cache; NULL if there is no memory, or with a warning if an argument is wrong.
 */
struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
				     unsigned int flags, void (*ctor)(void *));

/** KMEM_CACHE() - a cache for struct @s, named after it. */
#define KMEM_CACHE(s, flags) \
	kmem_cache_create(#s, sizeof(struct s), __alignof__(struct s), (flags), NULL)

/** kmem_cache_destroy() - free the cache. Sleeps if it is SLAB_TYPESAFE_BY_RCU. NULL is ignored. If objects
 *  are still allocated, it warns and lists them, and keeps the unreachable cache, so that freeing them stays
 *  safe. */
void kmem_cache_destroy(struct kmem_cache *cache);

/** kmem_cache_shrink() - free the cache's objects in the quarantine, and all empty slabs. Return: 0 if no
 *  slab is left, 1 if some are. */
int kmem_cache_shrink(struct kmem_cache *cache);

/** kmem_cache_check_slack() - with kasan.slack=check, report each live object of @cache, or of all caches if NULL, that
 *  was overwritten past its end. See kasan_cache_check_slack(). Return: number of them. */
size_t kmem_cache_check_slack(struct kmem_cache *cache);

/** kmem_cache_size(), kmem_cache_name() - Return: bytes of an object; the cache's name. */
unsigned int kmem_cache_size(const struct kmem_cache *cache);
const char *kmem_cache_name(const struct kmem_cache *cache);

/** kmem_cache_alloc() - Return: an object, NULL if there is no memory. Without __GFP_ZERO its bytes are
 *  as constructed, or undefined. */
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);

static inline void *kmem_cache_zalloc(struct kmem_cache *cache, gfp_t gfp)
{
	return kmem_cache_alloc(cache, gfp | __GFP_ZERO);
}

/** kmem_cache_free() - free an object. NULL is ignored. An object of another cache causes a warning and goes
 *  back to its own cache. */
void kmem_cache_free(struct kmem_cache *cache, void *object);

/** kmem_cache_alloc_bulk() - allocate @nr objects at once, into @objects[]. Return: @nr, or 0 with none
 *  allocated. */
size_t kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t nr, void **objects);

/** kmem_cache_free_bulk() - free @nr objects. */
void kmem_cache_free_bulk(struct kmem_cache *cache, size_t nr, void **objects);

/**
 * kmalloc() - allocate @size bytes
 * @size: 0 gives ZERO_SIZE_PTR; more than KMALLOC_MAX_SIZE fails and warns unless __GFP_NOWARN.
 * @gfp: how.
 *
 * Return: NULL if there is no memory.
 */
void *kmalloc(size_t size, gfp_t gfp);

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp | __GFP_ZERO);
}

/** kmalloc_node(), kzalloc_node() - the same, near a CPU. @node: NUMA_NO_NODE or a node's number. There is
 *  only one node, so the value does not matter. */
#define NUMA_NO_NODE (-1)

static inline void *kmalloc_node(size_t size, gfp_t gfp, int node)
{
	return kmalloc(size, gfp);
}

static inline void *kzalloc_node(size_t size, gfp_t gfp, int node)
{
	return kzalloc(size, gfp);
}

/** kmalloc_array(), kcalloc() - @n elements of @size bytes; NULL if the product overflows. */
static inline void *kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return kmalloc(bytes, gfp);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return kmalloc_array(n, size, gfp | __GFP_ZERO);
}

/**
 * krealloc() - change the size of an object, in place or by moving it
 * @p: from kmalloc(); NULL: just kmalloc().
 * @size: new size; 0 frees and gives ZERO_SIZE_PTR.
 * @gfp: with __GFP_ZERO the bytes after the old size are cleared, if every (re)allocation of the object
 *	had the flag.
 *
 * Return: the object; NULL if there is no memory, with @p still valid. A pointer that is not a live
 * kmalloc() object is reported, and the result is NULL.
 */
void *krealloc(const void *p, size_t size, gfp_t gfp);

/** krealloc_array() - the same for @n elements; NULL if the product overflows. */
static inline void *krealloc_array(void *p, size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return krealloc(p, bytes, gfp);
}

/** kfree() - free an object of kmalloc() or kmem_cache_alloc(). NULL and ZERO_SIZE_PTR are ignored. Other
 *  pointers are reported (KASAN) or cause a warning, and are not freed. */
void kfree(const void *p);

/** kfree_sensitive() - the same, but clear the object first. */
void kfree_sensitive(const void *p);

/**
 * ksize() - number of bytes of a live object, perhaps more than requested
 *
 * Unpoisons nothing: under KASAN the bytes after the requested size stay redzone. To use them, request
 * kmalloc_size_roundup() bytes, or call krealloc().
 *
 * Return: bytes; 0 for NULL, for ZERO_SIZE_PTR, and with a report for a pointer that is not a live object.
 */
size_t ksize(const void *p);

/** kmalloc_usable_size() - number of them that may be accessed: under KASAN the requested size, without it
 *  all of ksize(). */
size_t kmalloc_usable_size(const void *p);

/** kmalloc_size_roundup() - Return: bytes that kmalloc(@size) reserves for the caller at no cost. */
size_t kmalloc_size_roundup(size_t size);

/** kstrdup(), kstrndup(), kmemdup() - copy into new memory. Return: the copy; NULL if there is no memory, or
 *  if @s is NULL. kstrndup() copies at most @max characters and adds the NUL. */
char *kstrdup(const char *s, gfp_t gfp);
char *kstrndup(const char *s, size_t max, gfp_t gfp);
void *kmemdup(const void *src, size_t len, gfp_t gfp);

/** kmem_cache_init() - make the kmalloc caches; called once by mm_init(). */
void kmem_cache_init(void);

/** kmem_cache_shrink_all() - kmem_cache_shrink() of every cache, for when memory is short. */
void kmem_cache_shrink_all(void);

/** struct slabinfo - statistics of one cache, a snapshot */
struct slabinfo {
	unsigned int object_size;   /* bytes of an object */
	unsigned int slot_size;	    /* bytes an object takes, including redzone and metadata */
	unsigned int objs_per_slab; /* objects and pages of a slab; */
	unsigned int slab_pages;    /* those made when memory is fragmented are smaller */
	unsigned long slabs;	    /* slabs that exist */
	unsigned long active; /* slots not free; also those in a CPU's list or the quarantine */
};
void kmem_cache_info(struct kmem_cache *cache, struct slabinfo *info);

/** kmem_cache_totals() - the same for all caches together: pages of all slabs, and slots that are not free.
 *  Exact after kmem_cache_shrink_all(). Not for interrupts. */
void kmem_cache_totals(unsigned long *pages, unsigned long *active);

#endif /* KERNEL_SLAB_H */
