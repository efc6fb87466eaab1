/* SPDX-License-Identifier: MIT */
/*
 * known.c - the table of known stacks: the other entries of a set, new entries, and growth with the depot.
 *
 * There are at most twenty entries for each trace, and 5/32 of the depot's own bound in bytes; with the earlier tables
 * 5/16. Memory is never given back, because another CPU may be looking into an old table. Without memory for a larger
 * table more stacks are looked up in the depot.
 */
#include "known.h"
#include "track.h"

/* A depot of a few KiB has room for a few dozen traces. */
#if (CONFIG_KASAN_DEPOT_SIZE) <= 16384
#define FIRST_ENTRIES 64U
#define FIRST_SHIFT   26U
#else
#define FIRST_ENTRIES 256U
#define FIRST_SHIFT   24U
#endif
_Static_assert(FIRST_ENTRIES == (uint32_t)1 << (32 - FIRST_SHIFT),
	       "a shift of 32 bits to an index");
/* The entries in which a stack without a far key is looked up. */
#if KASAN_KNOWN_HAS_FAR && !defined(KASAN_PORT_HAS_SHADOW_STACK)
#define NEAR_WAYS 2U
#else
#define NEAR_WAYS KASAN_KNOWN_WAYS
#endif
/* How many times larger each table is than the one before. */
#define GROWTH 4U

#define ALIGNED __attribute__((__aligned__(64)))
static const struct kasan_record *first_entries[KASAN_KNOWN_ENTRIES(FIRST_ENTRIES)] ALIGNED;
/* A table in which every stack is unknown. It has two sets and is never written, because stacks that are not found are
 * entered into the table of known_stacks. */
#define NO_SHIFT 31U
static const struct kasan_record *const no_entries[2 * KASAN_KNOWN_WAYS] ALIGNED;

#define FIRST_TABLE ((char *)first_entries + FIRST_SHIFT)

char *kasan_known = FIRST_TABLE;

static struct {
	unsigned int growing; /* some CPU does; it alone changes the members below */
	char *table;
	size_t entries;
	size_t ask_again; /* traces at which to ask for memory that was refused */
	size_t bytes;	  /* that the port gave */
} known_stacks = {.table = FIRST_TABLE, .entries = FIRST_ENTRIES};

void kasan_known_update(void)
{
	char *table = __atomic_load_n(&known_stacks.table, __ATOMIC_ACQUIRE);

	if (!kasan_opt_stacktrace)
		table = NULL;
	else if (kasan_opt_stack_drop || kasan_silent())
		table = (char *)no_entries + NO_SHIFT;
	__atomic_store_n(&kasan_known, table, __ATOMIC_RELEASE);
}

char *kasan_known_table(void)
{
	return __atomic_load_n(&known_stacks.table, __ATOMIC_ACQUIRE);
}

size_t kasan_known_bytes(void)
{
	return __atomic_load_n(&known_stacks.bytes, __ATOMIC_RELAXED);
}

/* Write @record into its entry of @table. The old one moves to a free entry of the set, or replaces another. */
static void enter(char *table, bool far, uint32_t key, const struct kasan_record *record)
{
	const struct kasan_record **const entry =
		far ? kasan_known_far(table, key) : kasan_known_entry(table, key);
	const struct kasan_record *const before = kasan_known_read(entry);
	const unsigned int ways = far ? KASAN_KNOWN_WAYS : NEAR_WAYS;
	/* The one next to it is also another stack's only entry. */
	unsigned int way, to = ways == 2 ? 0 : 1 + (key >> 4) % (ways - 1);

	__atomic_store_n(entry, record, __ATOMIC_RELEASE);
	if (!before)
		return;
	for (way = 1; way < ways; way++) {
		if (!kasan_known_read(kasan_known_way(entry, way)))
			to = way;
	}
	if (to)
		__atomic_store_n(kasan_known_way(entry, to), before, __ATOMIC_RELEASE);
}

#ifndef KASAN_DEPOT_IS_SMALL

/* Return: the far key of the trace. It covers no signatures, which are in the half of a word that keys leave out. */
static uint32_t far_key_of(const struct kasan_record *record)
{
	const size_t count = 1 + record->more / sizeof(record->pcs[0]);
	uint32_t key = (uint32_t)record->pcs[0];
	size_t i;

	for (i = 1; i < count && i < KASAN_FAR_WORDS; i++)
		key = kasan_known_mix(key, record->pcs[i]);
	return ~key;
}

/* Replace the table by a larger one with the same contents. */
static void grow(size_t traces)
{
	const size_t max = kasan_depot_max_bytes() / 8, page = CONFIG_KASAN_PAGE_SIZE;
	const struct kasan_record **const old = kasan_known_entry(known_stacks.table, 0);
	const struct kasan_record *record;
	const size_t old_entries = known_stacks.entries;
	size_t entries = old_entries * GROWTH, bytes;
	unsigned int shift = 32;
	uintptr_t start;
	char *table;
	void *memory;

	while (entries * sizeof(*old) > max)
		entries /= 2;
	if (entries <= old_entries || entries * sizeof(*old) % page)
		return;
	bytes = (KASAN_KNOWN_ENTRIES(entries) * sizeof(*old) + page - 1) / page * page;
	memory = kasan_port_alloc(bytes);
	if (!memory) {
		known_stacks.ask_again = 2 * traces;
		return;
	}
	/* The port guarantees an alignment of 16. If there is no more, half of the memory is used. */
	start = ((uintptr_t)memory + 63) & ~(uintptr_t)63;
	if (start != (uintptr_t)memory)
		entries /= 2;
	for (size_t n = entries; n > 1; n /= 2)
		shift--;
	table = (char *)start + shift;
	/* What other CPUs enter into the old table meanwhile will be looked up in the depot once more. */
	for (size_t i = 0; i < KASAN_KNOWN_ENTRIES(old_entries); i++) {
		const bool far = i >= old_entries;

		record = kasan_known_read(&old[i]);
		if (record)
			enter(table, far,
			      far ? far_key_of(record)
				  : __atomic_load_n(&record->key, __ATOMIC_RELAXED),
			      record);
	}
	__atomic_store_n(&known_stacks.bytes, known_stacks.bytes + bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&known_stacks.table, table, __ATOMIC_RELEASE);
	__atomic_store_n(&known_stacks.entries, entries, __ATOMIC_RELEASE);
	kasan_known_update();
}

static kasan_cold void consider_growth(size_t traces)
{
	if (traces < __atomic_load_n(&known_stacks.ask_again, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&known_stacks.growing, 1, __ATOMIC_ACQUIRE))
		return;
	if (traces > known_stacks.entries / 4)
		grow(traces);
	__atomic_store_n(&known_stacks.growing, 0, __ATOMIC_RELEASE);
}

#endif /* !KASAN_DEPOT_IS_SMALL */

void kasan_known_put(char *table, uint32_t key, const uint32_t *far, struct kasan_record *record)
{
#ifdef KASAN_DEPOT_IS_SMALL
	/* The bound for tables is less than a page. */
	enter(table, far, far ? *far : key, record);
#else
	const size_t traces = kasan_depot_traces();

	__atomic_store_n(&record->key, key, __ATOMIC_RELAXED);
	enter(table, far, far ? *far : key, record);
	if (kasan_unlikely(traces > __atomic_load_n(&known_stacks.entries, __ATOMIC_RELAXED) / 4))
		consider_growth(traces);
#endif
}
