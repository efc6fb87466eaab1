// SPDX-License-Identifier: MIT
/*
 * class.c - lock classes: found by their key, made at the first use of a lock, removed with their module.
 */
#include <kernel/module.h>
#include <asm/memory.h>

#include "internal.h"

#define NR_BUCKETS 256U

struct lock_class lock_classes[NR_CLASSES];
unsigned int nr_lock_classes;
static u16 buckets[NR_BUCKETS];
/* All classes from here on were never used; those before it may have been removed. */
static unsigned int never_used = 1;

static unsigned int bucket_of(const struct lock_class_key *key)
{
	return (u32)((uintptr_t)key >> 3) * 0x9e3779b1U >> 24;
}
_Static_assert(NR_BUCKETS == 1U << 8, "bucket_of() has 8 bits");

/* A key is found by its address, so that must be of memory that belongs to it for good. */
static bool is_static(const void *p)
{
	/* Under lockdep_lock(). */
	static struct module_place place;

	if (is_kernel_image(p))
		return true;
	return module_lookup((unsigned long)p, &place) && !place.unloaded;
}

static unsigned int find(const struct lock_class_key *key, unsigned int subclass)
{
	unsigned int class;

	for (class = buckets[bucket_of(key)]; class; class = lock_classes[class].hash_next) {
		if (lock_classes[class].key == key && lock_classes[class].subclass == subclass)
			break;
	}
	return class;
}

static unsigned int free_class(void)
{
	if (never_used < NR_CLASSES)
		return never_used++;
	for (unsigned int class = 1; class < NR_CLASSES; class ++) {
		if (!lock_classes[class].key)
			return class;
	}
	bound_reached("REDZONE_LOCKDEP_CLASSES", "lock classes", NR_CLASSES);
	return NO_CLASS;
}

static unsigned int make(const struct lockdep_map *map, const struct lock_class_key *key,
			 unsigned int subclass)
{
	unsigned int class = free_class(), bucket = bucket_of(key), base;

	if (!class)
		return NO_CLASS;
	lock_classes[class] = (struct lock_class){
		.key = key,
		.name = map->name ? map->name : "?",
		.subclass = (u8)subclass,
		.wait_type = map->wait_type,
		.hash_next = buckets[bucket],
	};
	buckets[bucket] = (u16) class;
	nr_lock_classes++;
	base = subclass ? find(key, 0) : class;
	if (base)
		__atomic_store_n(&lock_classes[base].sub[subclass], (u16) class, __ATOMIC_RELEASE);
	return class;
}

unsigned int class_known(const struct lockdep_map *map, unsigned int subclass)
{
	const size_t class = cached_class(map);

	if (class >= NR_CLASSES || lock_classes[class].key != map->key)
		return NO_CLASS;
	if (!subclass)
		return (unsigned int)class;
	if (lock_classes[class].subclass || subclass >= MAX_LOCKDEP_SUBCLASSES)
		return NO_CLASS;
	return __atomic_load_n(&lock_classes[class].sub[subclass], __ATOMIC_ACQUIRE);
}

/* The class of subclass 0 comes first, because it knows the others. */
static unsigned int find_or_make(struct lockdep_map *map, unsigned int subclass)
{
	unsigned int class = find(map->key, 0);

	if (!class)
		class = make(map, map->key, 0);
	if (!class || !subclass)
		return class;
	class = find(map->key, subclass);
	return class ? class : make(map, map->key, subclass);
}

unsigned int class_get(struct lockdep_map *map, unsigned int subclass, unsigned long ip)
{
	unsigned int class = class_known(map, subclass);

	if (class || map->class == &lock_classes[NO_CLASS])
		return class;
	if (subclass >= MAX_LOCKDEP_SUBCLASSES) {
		bound_reached("MAX_LOCKDEP_SUBCLASSES", "subclasses", MAX_LOCKDEP_SUBCLASSES);
		return NO_CLASS;
	}
	if (!map->key && is_static(map))
		map->key = (const struct lock_class_key *)map;
	/* A key or a name in a module that was unloaded must not be read by a report. */
	if (!map->key || !is_static(map->key) || (map->name && !is_static(map->name))) {
		if (report_once(LOCKDEP_NO_KEY, ip, 0))
			describe_no_key(map, ip);
		map->class = &lock_classes[NO_CLASS];
		return NO_CLASS;
	}
	class = find_or_make(map, subclass);
	if (!class)
		map->class = &lock_classes[NO_CLASS];
	else if (!subclass)
		map->class = &lock_classes[class];
	return class;
}

void lockdep_init_map(struct lockdep_map *map, const char *name, const struct lock_class_key *key,
		      unsigned int subclass, unsigned int wait_type)
{
	unsigned long flags;
	unsigned int class;

	if (!lock_usable(map))
		return;
	*map = (struct lockdep_map){.key = key, .name = name, .wait_type = (u8)wait_type};
	if (!subclass || !lockdep_enter(&flags))
		return;
	lockdep_lock();
	class = class_get(map, subclass, _RET_IP_);
	map->class = &lock_classes[class];
	lockdep_unlock();
	lockdep_leave(flags);
}

void lockdep_set_class_of(struct lockdep_map *map, const char *name,
			  const struct lock_class_key *key, unsigned int subclass)
{
	if (lock_usable(map))
		lockdep_init_map(map, name, key, subclass, map->wait_type);
}

static void forget(unsigned int class)
{
	struct lock_class *c = &lock_classes[class];
	unsigned int base = c->subclass ? find(c->key, 0) : NO_CLASS;
	u16 *link = &buckets[bucket_of(c->key)];

	chains_forget(class);
	graph_forget(class);
	reports_forget(class);
	if (base)
		lock_classes[base].sub[c->subclass] = NO_CLASS;
	while (*link != class)
		link = &lock_classes[*link].hash_next;
	*link = c->hash_next;
	*c = (struct lock_class){.key = NULL};
	nr_lock_classes--;
}

void lockdep_free_key_range(const void *start, size_t size)
{
	const uintptr_t from = (uintptr_t)kasan_reset_tag(start), to = from + size;
	unsigned long flags;

	if (!lockdep_enter(&flags))
		return;
	lockdep_lock();
	report_freed(from, size, _RET_IP_);
	for (unsigned int class = 1; class < never_used; class ++) {
		const uintptr_t key = kasan_untag_addr((uintptr_t)lock_classes[class].key);
		const uintptr_t name = kasan_untag_addr((uintptr_t)lock_classes[class].name);

		if (key && ((key >= from && key < to) || (name >= from && name < to)))
			forget(class);
	}
	lockdep_unlock();
	lockdep_leave(flags);
}
