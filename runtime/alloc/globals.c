/* SPDX-License-Identifier: MIT */
/*
 * globals.c - redzones of global variables, and the registry that finds a global by its address.
 *
 * Each instrumented file has one array of descriptors, made by the compiler and writable, which a constructor registers
 * long before any allocator works. The registry therefore takes no memory: it chains the arrays through their own first
 * descriptors. odr_indicator and has_dynamic_init mean nothing in a kernel (they are for checks of the one definition
 * rule and of C++ initialisation order), so they hold the next array's address and this array's length.
 *
 * The arrays lie among the globals that a bug may overrun. So the length carries a mark, and a damaged chain ends at
 * the damage.
 */
#include "globals.h"

#include "../base/lock.h"
#include "../base/up.h"
#include "../shadow/shadow.h"

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_GLOBALS

/* has_dynamic_init of a chained array: a mark in the top byte, the length in the rest. */
#define CHAIN_MARK_SHIFT ((unsigned int)sizeof(uintptr_t) * 8 - 8)
#define CHAIN_MARK	 ((uintptr_t)0xA9 << CHAIN_MARK_SHIFT)
#define CHAIN_MAX	 (((uintptr_t)1 << CHAIN_MARK_SHIFT) - 1)

static struct kasan_lock globals_lock;
static struct kasan_global *globals_head;
static size_t globals_arrays;

static bool is_chained(const struct kasan_global *globals)
{
	return globals->has_dynamic_init >> CHAIN_MARK_SHIFT == CHAIN_MARK >> CHAIN_MARK_SHIFT;
}

void kasan_register_globals(struct kasan_global *globals, size_t n)
{
	unsigned long flags;
	size_t i;

	if (!n || n > CHAIN_MAX)
		return;
	for (i = 0; i < n; i++)
		kasan_poison_tail((const void *)globals[i].beg, globals[i].size,
				  globals[i].size_with_redzone, KASAN_GLOBAL_REDZONE);

	flags = kasan_lock(&globals_lock);
	if (!is_chained(globals)) {
		globals->odr_indicator = (uintptr_t)globals_head;
		globals->has_dynamic_init = CHAIN_MARK | n;
		globals_head = globals;
		globals_arrays++;
	}
	kasan_unlock(&globals_lock, flags);
}

void kasan_unregister_globals(struct kasan_global *globals, size_t n)
{
	struct kasan_global *at, *before = NULL;
	unsigned long flags;
	size_t i, left;

	if (!n)
		return;
	flags = kasan_lock(&globals_lock);
	at = globals_head;
	for (left = globals_arrays; left && at && at != globals && is_chained(at); left--) {
		before = at;
		at = (struct kasan_global *)at->odr_indicator;
	}
	if (!left || at != globals) {
		kasan_unlock(&globals_lock, flags);
		return;
	}
	if (before)
		before->odr_indicator = globals->odr_indicator;
	else
		globals_head = (struct kasan_global *)globals->odr_indicator;
	globals_arrays--;
	globals->odr_indicator = 0;
	globals->has_dynamic_init = 0;
	kasan_unlock(&globals_lock, flags);

	/* The memory may be a module's, about to be used for something else, so no poison may stay. */
	for (i = 0; i < n; i++)
		kasan_unpoison((const void *)globals[i].beg, globals[i].size_with_redzone);
}

/* Return: the first chained array whose descriptors start inside [@start, @start + @size); NULL if there is none. */
static struct kasan_global *find_array_in(uintptr_t start, size_t size)
{
	struct kasan_global *at = globals_head;
	size_t left;

	for (left = globals_arrays; left && at && is_chained(at); left--) {
		if ((uintptr_t)at - start < size)
			return at;
		at = (struct kasan_global *)at->odr_indicator;
	}
	return NULL;
}

void kasan_unload_globals(const void *start, size_t size)
{
	struct kasan_global *array;
	unsigned long flags;
	bool any = false;
	size_t n;

	for (;;) {
		flags = kasan_lock(&globals_lock);
		array = find_array_in((uintptr_t)start, size);
		n = array ? array->has_dynamic_init & CHAIN_MAX : 0;
		kasan_unlock(&globals_lock, flags);
		if (!array)
			break;
		kasan_unregister_globals(array, n);
		any = true;
	}
	/* A report on another CPU may have found one of them before. */
	if (any)
		kasan_wait_for_report();
}

/* An address outside of every global lies in the redzone after one, and often just before the next. Overruns are more
 * common, so the report names the global below, unless the one above is this close: one or two elements, where an index
 * of -1 leads. */
#define UNDERRUN_LIMIT 16

struct nearest {
	const struct kasan_global *below, *above;
	size_t above_distance;
};

static void consider(struct nearest *nearest, const struct kasan_global *g, uintptr_t addr)
{
	if (addr - g->beg < g->size_with_redzone) {
		nearest->below = g;
	} else if (g->beg - addr < nearest->above_distance &&
		   g->beg - addr <= g->size_with_redzone - g->size) {
		nearest->above = g;
		nearest->above_distance = g->beg - addr;
	}
}

static const struct kasan_global *choose(const struct nearest *nearest, uintptr_t addr)
{
	const struct kasan_global *g = nearest->below;

	if (!g || addr - g->beg < g->size)
		return g ? g : nearest->above;
	if (nearest->above && nearest->above_distance <= UNDERRUN_LIMIT &&
	    nearest->above_distance < addr - g->beg - g->size + 1)
		return nearest->above;
	return g;
}

const struct kasan_global *kasan_find_global(uintptr_t addr)
{
	struct nearest nearest;
	const struct kasan_global *at;
	size_t i, n, left;
	unsigned long flags;

	if (!kasan_lock_for_report(&globals_lock, &flags))
		return NULL;
	kasan_clear(&nearest);
	nearest.above_distance = SIZE_MAX;
	at = globals_head;
	for (left = globals_arrays; left && at; left--) {
		if (!kasan_port_readable(at, sizeof(*at)) || !is_chained(at))
			break;
		n = at->has_dynamic_init & CHAIN_MAX;
		if (n > SIZE_MAX / sizeof(*at) || !kasan_port_readable(at, n * sizeof(*at)))
			break;
		for (i = 0; i < n; i++)
			consider(&nearest, &at[i], addr);
		at = (const struct kasan_global *)at->odr_indicator;
	}
	kasan_unlock(&globals_lock, flags);
	return choose(&nearest, addr);
}

#elif defined(CONFIG_KASAN_HW_TAGS)

/* No compiler gives globals tags that the CPU checks, so none are registered. */
void kasan_unload_globals(const void *start, size_t size)
{
	(void)start;
	(void)size;
}

#endif /* CONFIG_KASAN_GENERIC */
