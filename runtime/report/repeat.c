/* SPDX-License-Identifier: MIT */
/*
 * repeat.c - kasan.repeat=: the places whose bugs have been reported.
 *
 * A bug in a loop is found each time round, and the second report repeats the first. So a table remembers the places of
 * reports. When a place is reported for the 2nd, 4th, 8th time and so on, one line is printed. All other reports from it
 * are only counted. The runtime therefore captures first what it needs to count a report, and the rest, with the search
 * for the owner, only if the report will be printed.
 *
 * A place is the type of the bug, the kind of access, and the first frames of the call trace: the bad access with its
 * callers, because one helper may serve many callers. An asynchronous report does not begin at its access, so its place
 * is the whole trace. One of UBSan has the line and the column of the operation instead of its address.
 *
 * The table is bounded. When it is full, the place that was quiet for the longest time is forgotten: a bug in a loop
 * keeps its entry, and a forgotten one is reported whole again.
 */
#include "captured.h"

/**
 * struct place - @count: its reports; 0: a free entry. @last: the table's clock at the last one. @kind: of access.
 * @given, @memory: of the last report that was captured whole: its type if that was given, and the state of memory. The
 * same of both give the same type, so that the type need not be found out to count a bug.
 */
struct place {
	unsigned long count, last;
	const char *type;
	uint8_t kind;
#if CONFIG_KASAN_CHEAP_REPEATS
	uint8_t memory;
	const char *given;
#endif
	uintptr_t pcs[KASAN_PLACE_FRAMES];
};

/* The report lock guards these. */
static struct place places[CONFIG_KASAN_REPEAT_PLACES];
static unsigned long table_clock;

/* Types are constants, but each file may have its own copy. */
static bool same_type(const char *a, const char *b)
{
	if (CONFIG_KASAN_CHEAP_REPEATS && (!a || !b))
		return a == b;
	while (a != b && *a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool same_place(const struct place *a, const struct place *b)
{
	unsigned int i;

	for (i = 0; i < KASAN_PLACE_FRAMES; i++) {
		if (a->pcs[i] != b->pcs[i])
			return false;
	}
	return a->kind == b->kind;
}

#if CONFIG_KASAN_CHEAP_REPEATS
/* Return: what the type depends on, of the memory that was accessed. */
static uint8_t memory_of(const struct kasan_report *report)
{
	if (KASAN_IS_NOT_OF_MEMORY(report) || !report->has_shadow)
		return 0;
#ifdef CONFIG_KASAN_GENERIC
	/* A free leaves its trace in the first bytes. */
	return kasan_size_is_absurd(report) ? 1
	       : kasan_telling_shadow(report) == KASAN_SLAB_FREE_META
		       ? KASAN_SLAB_FREE
		       : kasan_telling_shadow(report);
#elif defined(CONFIG_KASAN_TAGS)
	/* All other tags are random. */
	return report->bad_shadow == KASAN_TAG_INVALID;
#else
	return 0;
#endif
}

static void learn(struct place *place, const struct kasan_report *report)
{
	place->given = report->given;
	place->memory = memory_of(report);
}
#else
#define learn(place, report) ((void)(place), (void)(report))
#endif

static void fill_place(struct place *place, const struct kasan_report *report)
{
	size_t i;

	__memset(place, 0, sizeof(*place));
	place->type = report->type;
	learn(place, report);
	place->kind =
		(uint8_t)(report->is_write | report->is_free << 1 | KASAN_IS_ASYNC(report) << 2);
	for (i = 0; i < report->depth && i < KASAN_PLACE_FRAMES; i++)
		place->pcs[i] = report->pcs[i];
#ifdef CONFIG_KASAN_UBSAN
	/* One operation in the source may be several in the code: of a loop that was unrolled. */
	if (report->is_undefined && report->file)
		place->pcs[0] = (uintptr_t)report->file + report->line * 0x9e3779b1U +
				report->column * 0x85ebca6bU;
#endif
	/* The rest of the trace is mixed into the last one. The factor is odd, so no bit is lost. */
	for (; i < report->depth && KASAN_IS_ASYNC(report); i++)
		place->pcs[KASAN_PLACE_FRAMES - 1] =
			(place->pcs[KASAN_PLACE_FRAMES - 1] ^ report->pcs[i]) * 0x9e3779b1U;
}

static unsigned long count_at(struct place *at)
{
	at->last = ++table_clock;
	return ++at->count;
}

unsigned long kasan_count_repeats(const struct kasan_report *report)
{
	struct place place, *at, *oldest = places;

	fill_place(&place, report);
	for (at = places; at < places + CONFIG_KASAN_REPEAT_PLACES; at++) {
		if (at->count && same_place(at, &place) && same_type(at->type, place.type))
			goto found;
		if (at->last < oldest->last)
			oldest = at;
	}
	at = oldest;
	__memcpy(at, &place, sizeof(place));
found:
	learn(at, report);
	return count_at(at);
}

#if CONFIG_KASAN_CHEAP_REPEATS
unsigned long kasan_count_silently(struct kasan_report *report)
{
	struct place place, *at, *found = NULL;

	/* If an address has no shadow, its type depends on the address itself: it needs the whole report. */
	if (!KASAN_IS_NOT_OF_MEMORY(report) && !report->has_shadow)
		return 0;
	fill_place(&place, report);
	for (at = places; at < places + CONFIG_KASAN_REPEAT_PLACES; at++) {
		if (!at->count || !same_place(at, &place) || at->memory != place.memory ||
		    !same_type(at->given, place.given))
			continue;
		/* The same access with two types: only the whole capture tells them apart. */
		if (found)
			return 0;
		found = at;
	}
	if (!found || kasan_repeat_has_line(found->count + 1))
		return 0;
	report->type = found->type;
	return count_at(found);
}
#endif
