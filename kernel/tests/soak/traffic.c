// SPDX-License-Identifier: MIT
/*
 * traffic.c - traffic in slab objects: kmalloc() and its relatives, caches that come and go, pools.
 */
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "soak.h"

/* --- kmalloc() ------------------------------------------------------------------------------------- */

#define OBJECTS 256U

/* An object that a worker owns. It holds soak_fill()'s pattern. */
struct object {
	void *p;
	u32 size, key;
};

struct objects {
	struct object slot[OBJECTS];
};

static bool slab_setup(struct soak_worker *w)
{
	w->private = kzalloc(sizeof(struct objects), GFP_KERNEL);
	return w->private;
}

static void free_private(struct soak_worker *w)
{
	kfree(w->private);
}

/* Mostly small, sometimes too large for a slab. */
static u32 random_size(struct soak_worker *w)
{
	u32 size = 1 + soak_below(w, 1U << (3 + soak_below(w, 8)));

	return soak_below(w, 200) ? size : size * 40;
}

static void get_object(struct soak_worker *w, struct object *o)
{
	gfp_t gfp = soak_below(w, 8) ? GFP_KERNEL : GFP_ATOMIC | __GFP_NOWARN;
	u8 *p;

	o->size = random_size(w);
	o->key = prandom_u32_state(&w->rnd);
	switch (soak_below(w, 4)) {
	case 0:
		o->p = p = kzalloc(o->size, gfp);
		if (p && (p[0] || p[o->size - 1] || memchr_inv(p, 0, o->size)))
			soak_fail("kzalloc(%u) is not clear", o->size);
		break;
	case 1:
		o->p = kmalloc_array(o->size, 1, gfp);
		break;
	case 2:
		o->p = kmemdup(w->private, min(o->size, (u32)sizeof(struct objects)), gfp);
		o->size = min(o->size, (u32)sizeof(struct objects));
		break;
	default:
		o->p = kmalloc(o->size, gfp);
		break;
	}
	if (!o->p)
		soak_no_memory();
	else
		soak_fill(o->p, o->size, o->key);
}

static void resize_object(struct soak_worker *w, struct object *o)
{
	u32 size = random_size(w);
	u32 both = min(size, o->size);
	void *p = krealloc(o->p, size, GFP_KERNEL);

	if (!p) {
		soak_no_memory();
		return;
	}
	/* The bytes that both sizes share are kept; the pattern's gaps depend on the size. */
	soak_check(p, min(both, 64U), o->key, "krealloc");
	o->p = p;
	o->size = size;
	soak_fill(p, size, o->key);
}

static void put_object(struct soak_worker *w, struct object *o)
{
	soak_check(o->p, o->size, o->key, "kmalloc");
	if (soak_below(w, 8))
		kfree(o->p);
	else
		kfree_sensitive(o->p);
	o->p = NULL;
}

static void slab_step(struct soak_worker *w)
{
	struct objects *objects = w->private;
	struct object *o = &objects->slot[soak_below(w, OBJECTS)];

	if (!o->p)
		get_object(w, o);
	else if (!soak_below(w, 5))
		resize_object(w, o);
	else if (!soak_below(w, 10) && ksize(o->p) < o->size)
		soak_fail("ksize() of %u bytes is %zu", o->size, ksize(o->p));
	else
		put_object(w, o);
}

static void slab_drain(struct soak_worker *w)
{
	struct objects *objects = w->private;

	for (unsigned int i = 0; i < OBJECTS; i++) {
		if (objects->slot[i].p)
			put_object(w, &objects->slot[i]);
	}
}

/* --- Caches ---------------------------------------------------------------------------------------- */

#define CACHES	    4U
#define BULK	    16U
#define CONSTRUCTED 0x5aU

struct caches {
	struct kmem_cache *cache[CACHES];
	/* Objects of each, all or none. */
	void *objects[CACHES][BULK];
	bool filled[CACHES];
	bool constructed[CACHES];
};

static void construct(void *object)
{
	*(u8 *)object = CONSTRUCTED;
}

static bool caches_setup(struct soak_worker *w)
{
	w->private = kzalloc(sizeof(struct caches), GFP_KERNEL);
	return w->private;
}

static void make_cache(struct soak_worker *w, struct caches *caches, unsigned int i)
{
	static const unsigned int flags[] = {0, SLAB_HWCACHE_ALIGN, SLAB_TYPESAFE_BY_RCU};
	char name[24];

	snprintf(name, sizeof(name), "soak_%u_%u", w->nth, i);
	caches->constructed[i] = soak_below(w, 2);
	caches->cache[i] = kmem_cache_create(name, 1 + soak_below(w, 700), 0,
					     flags[soak_below(w, ARRAY_SIZE(flags))],
					     caches->constructed[i] ? construct : NULL);
	if (!caches->cache[i])
		soak_no_memory();
}

static void fill_cache(struct caches *caches, unsigned int i)
{
	void **objects = caches->objects[i];

	if (kmem_cache_alloc_bulk(caches->cache[i], GFP_KERNEL, BULK, objects) != BULK) {
		soak_no_memory();
		return;
	}
	caches->filled[i] = true;
	for (unsigned int n = 0; n < BULK; n++) {
		u8 *first = objects[n];

		if (caches->constructed[i] && *first != CONSTRUCTED)
			soak_fail("%s: an object is not constructed",
				  kmem_cache_name(caches->cache[i]));
		*first = CONSTRUCTED;
	}
}

static void empty_cache(struct soak_worker *w, struct caches *caches, unsigned int i)
{
	if (soak_below(w, 2)) {
		kmem_cache_free_bulk(caches->cache[i], BULK, caches->objects[i]);
	} else {
		for (unsigned int n = 0; n < BULK; n++)
			kmem_cache_free(caches->cache[i], caches->objects[i][n]);
	}
	caches->filled[i] = false;
}

static void caches_step(struct soak_worker *w)
{
	struct caches *caches = w->private;
	unsigned int i = soak_below(w, CACHES);

	if (!caches->cache[i]) {
		make_cache(w, caches, i);
	} else if (!caches->filled[i]) {
		if (soak_below(w, 16)) {
			fill_cache(caches, i);
		} else {
			kmem_cache_destroy(caches->cache[i]);
			caches->cache[i] = NULL;
		}
	} else {
		empty_cache(w, caches, i);
		if (!soak_below(w, 16))
			kmem_cache_shrink(caches->cache[i]);
	}
}

static void caches_drain(struct soak_worker *w)
{
	struct caches *caches = w->private;

	for (unsigned int i = 0; i < CACHES; i++) {
		if (caches->filled[i])
			empty_cache(w, caches, i);
		kmem_cache_destroy(caches->cache[i]);
		caches->cache[i] = NULL;
	}
}

/* --- Pools ----------------------------------------------------------------------------------------- */

#define POOL_MIN      6
#define POOL_ELEMENTS 24U
#define POOL_SIZE     200U

struct pool {
	mempool_t *pool;
	void *element[POOL_ELEMENTS];
};

static bool pool_setup(struct soak_worker *w)
{
	struct pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);

	w->private = pool;
	if (pool)
		pool->pool = mempool_create_kmalloc_pool(POOL_MIN, POOL_SIZE);
	return pool && pool->pool;
}

static void pool_step(struct soak_worker *w)
{
	struct pool *pool = w->private;
	unsigned int i = soak_below(w, POOL_ELEMENTS);

	if (pool->element[i]) {
		soak_check(pool->element[i], POOL_SIZE, i, "a pool's element");
		mempool_free(pool->element[i], pool->pool);
		pool->element[i] = NULL;
		return;
	}
	/* The reserve is used as well, not only when memory is short. */
	if (soak_below(w, 2))
		pool->element[i] = mempool_alloc_preallocated(pool->pool);
	else
		pool->element[i] = mempool_alloc(pool->pool, GFP_KERNEL);
	if (pool->element[i])
		soak_fill(pool->element[i], POOL_SIZE, i);
}

static void pool_drain(struct soak_worker *w)
{
	struct pool *pool = w->private;

	for (unsigned int i = 0; i < POOL_ELEMENTS; i++) {
		mempool_free(pool->element[i], pool->pool);
		pool->element[i] = NULL;
	}
}

static void pool_teardown(struct soak_worker *w)
{
	struct pool *pool = w->private;

	mempool_destroy(pool->pool);
	kfree(pool);
}

const struct soak_kind soak_slab_kinds[] = {
	{.name = "slab",
	 .threads = 4,
	 .setup = slab_setup,
	 .step = slab_step,
	 .drain = slab_drain,
	 .teardown = free_private},
	{.name = "caches",
	 .threads = 2,
	 .setup = caches_setup,
	 .step = caches_step,
	 .drain = caches_drain,
	 .teardown = free_private},
	{.name = "pool",
	 .threads = 1,
	 .setup = pool_setup,
	 .step = pool_step,
	 .drain = pool_drain,
	 .teardown = pool_teardown},
	{},
};
