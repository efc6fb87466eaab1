// SPDX-License-Identifier: MIT
/*
 * afl_cmplog.c - CmpLog: shows AFL++ the operands of comparisons, for each place of the code in their order.
 *
 * AFL++ runs an input twice, with other bytes the second time, and looks which operands of a place have changed with them. So a
 * place keeps its key for the life of the process. The form of the memory is that of AFL++ 3 and 4 up to 4.10; later ones want it
 * otherwise, and refuse a target that has not said so.
 */
#include <string.h>

#include "proxy.h"

#define KEYS 65536
/* Comparisons of a key: of integers, and of memory, which take twice the room. */
#define INTEGERS 32
#define MEMORIES 8
/* Bytes of an operand that have room. */
#define MEMORY_MAX 31
/* The kinds of a key, as its header has them. */
#define KIND_INTEGERS 1
#define KIND_MEMORY   2

/* What AFL++ maps. A header: bits 0 to 23 the number of comparisons, 48 to 52 the bytes of an operand less one, 53 and
 * 54 the kind; the rest is 0. */
struct integers {
	uint64_t a, b, a_high, b_high;
};

struct memories {
	uint8_t a[MEMORY_MAX], a_size;
	uint8_t b[MEMORY_MAX], b_size;
};

struct map {
	uint64_t headers[KEYS];
	union {
		struct integers integers[INTEGERS];
		struct memories memories[INTEGERS / 2];
	} logs[KEYS];
};

static struct map *map;
/* Places that have keys; 0: none. */
static uint64_t places[KEYS];
static struct {
	uint8_t count, size, kind;
} keys[KEYS];

void afl_cmplog_start(void *memory)
{
	map = memory;
}

/* Return: the key of @place; KEYS if there is none left. */
static size_t key_of(uint64_t place)
{
	size_t key = (size_t)(place * 0x9e3779b97f4a7c15ULL >> 48);

	for (size_t tries = 0; tries < KEYS; tries++, key = (key + 1) % KEYS) {
		if (!places[key])
			places[key] = place;
		if (places[key] == place)
			return key;
	}
	return KEYS;
}

static void add_integers(size_t key, const struct kasan_fuzz_cmp *cmp)
{
	struct integers *entry = &map->logs[key].integers[keys[key].count];

	memset(entry, 0, sizeof(*entry));
	memcpy(&entry->a, cmp->a, sizeof(entry->a));
	memcpy(&entry->b, cmp->b, sizeof(entry->b));
}

static void add_memory(size_t key, const struct kasan_fuzz_cmp *cmp)
{
	struct memories *entry = &map->logs[key].memories[keys[key].count];

	memset(entry, 0, sizeof(*entry));
	memcpy(entry->a, cmp->a, cmp->size);
	memcpy(entry->b, cmp->b, cmp->size);
	entry->a_size = entry->b_size = (uint8_t)cmp->size;
}

static void add(const struct kasan_fuzz_logged *logged)
{
	const struct kasan_fuzz_cmp *cmp = &logged->cmp;
	const uint8_t kind = cmp->memory ? KIND_MEMORY : KIND_INTEGERS;
	const size_t key = key_of(logged->place), limit = cmp->memory ? MEMORIES : INTEGERS;

	if (key == KEYS || keys[key].count >= limit || (keys[key].count && keys[key].kind != kind))
		return;
	if (cmp->memory)
		add_memory(key, cmp);
	else
		add_integers(key, cmp);
	keys[key].kind = kind;
	keys[key].count++;
	if (keys[key].size < cmp->size)
		keys[key].size = (uint8_t)cmp->size;
	map->headers[key] =
		keys[key].count | (uint64_t)(keys[key].size - 1) << 48 | (uint64_t)kind << 53;
}

void afl_cmplog_take(const struct kasan_fuzz_mailbox *box)
{
	size_t count = box->logged;

	if (count > KASAN_FUZZ_LOG)
		count = KASAN_FUZZ_LOG;
	memset(keys, 0, sizeof(keys));
	for (size_t i = 0; i < count; i++) {
		/* A copy: the guest may change it at any time. */
		const struct kasan_fuzz_logged logged = box->log[i];

		if (logged.cmp.input == guest_number() && logged.cmp.size &&
		    logged.cmp.size <= KASAN_FUZZ_CMP_MAX && logged.place)
			add(&logged);
	}
}
