/* SPDX-License-Identifier: MIT */
/*
 * repeat.c - kasan.repeat=: the places whose bugs have been reported.
 *
 * A bug in a loop is found each time round, and the second report repeats the first. So a table remembers the places of
 * reports, and a later report of the same place is one line.
 *
 * A place is the type of the bug, the kind of access, and the first frames of the call trace: the bad access with its
 * callers, because one helper may serve many callers. An asynchronous report does not begin at its access, so its place
 * is the whole trace. One of UBSan has the line and the column of the operation instead of its address.
 *
 * The table is bounded. When it is full, the place that was quiet for the longest time is forgotten: a bug in a loop
 * keeps its entry, and a forgotten one is reported whole again.
 */
#include "captured.h"

/** struct place - @count: its reports; 0: a free entry. @last: the table's clock at the last one. @kind: of access. */
struct place {
	unsigned long count, last;
	const char *type;
	uint8_t kind;
	uintptr_t pcs[KASAN_PLACE_FRAMES];
};

/* The report lock guards these. */
static struct place places[CONFIG_KASAN_REPEAT_PLACES];
static unsigned long table_clock;

/* Types are constants, but each file may have its own copy. */
static bool same_type(const char *a, const char *b)
{
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
	return a->kind == b->kind && same_type(a->type, b->type);
}

static void fill_place(struct place *place, const struct kasan_report *report)
{
	size_t i;

	__memset(place, 0, sizeof(*place));
	place->type = report->type;
	place->kind = (uint8_t)(report->is_write | report->is_free << 1 | report->is_async << 2);
	for (i = 0; i < report->depth && i < KASAN_PLACE_FRAMES; i++)
		place->pcs[i] = report->pcs[i];
#ifdef CONFIG_KASAN_UBSAN
	/* One operation in the source may be several in the code: of a loop that was unrolled. */
	if (report->is_undefined && report->file)
		place->pcs[0] = (uintptr_t)report->file + report->line * 0x9e3779b1U +
				report->column * 0x85ebca6bU;
#endif
	/* The rest of the trace is mixed into the last one. The factor is odd, so no bit is lost. */
	for (; i < report->depth && report->is_async; i++)
		place->pcs[KASAN_PLACE_FRAMES - 1] =
			(place->pcs[KASAN_PLACE_FRAMES - 1] ^ report->pcs[i]) * 0x9e3779b1U;
}

unsigned long kasan_count_repeats(const struct kasan_report *report)
{
	struct place place, *at, *oldest = places;

	fill_place(&place, report);
	for (at = places; at < places + CONFIG_KASAN_REPEAT_PLACES; at++) {
		if (at->count && same_place(at, &place))
			goto found;
		if (at->last < oldest->last)
			oldest = at;
	}
	at = oldest;
	__memcpy(at, &place, sizeof(place));
found:
	at->last = ++table_clock;
	return ++at->count;
}
