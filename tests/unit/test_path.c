/* SPDX-License-Identifier: MIT */
/*
 * test_path.c - traces in a system that walks its stacks by tables of its own: whatever the stack holds and whatever is
 * known, the trace is the one that a walk gives.
 *
 * The functions of this test do not run. A number says how large each one's frame is, and how its caller is found, and
 * the stack is an array that looks as if they had called each other.
 */
#include <pthread.h>
#include <string.h>

#include "../../runtime/track/known.h"
#include "unit.h"

__thread uintptr_t unit_stack_start, unit_stack_end;

#define WORDS 2048
#define CODE  ((uintptr_t)0xffff800080000000)
#define WORD  sizeof(uintptr_t)

enum kind {
	BY_SP,	       /* the frame's size says where the caller is */
	SAVES_POINTER, /* the same, and it uses the frame pointer for something else */
	BY_POINTER,    /* the frame pointer says it: such a frame is as large as it likes */
	BY_COPY,       /* a word two below where the frame pointer points says it */
	WITHOUT_PATH,  /* like BY_POINTER, but the walk cannot say it in a path */
	LAST,
	KINDS,
};

#define FUNCTIONS 400

static uintptr_t place_of(unsigned int function)
{
	return CODE + 16 * function + 4;
}

static bool is_code(uintptr_t word)
{
	return word >= place_of(0) && word <= place_of(FUNCTIONS - 1) && word % 16 == 4;
}

static enum kind kind_of(uintptr_t ip)
{
	return (ip - CODE) / 16 % KINDS;
}

/* Words of the frame, the return address included; at least two, which those of BY_POINTER have. */
static size_t size_of(uintptr_t ip)
{
	return 2 + (ip - CODE) / 16 / KINDS % 9;
}

/* --- The stack ---------------------------------------------------------------------------------- */

static __thread uintptr_t words[WORDS];
/* The frame pointer of the hook, whose caller is the first function. */
static __thread uintptr_t fp;
static __thread uint64_t seed;

static size_t below(size_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

/* Those with saved registers are rare, as in real programs. */
static bool is_wanted(enum kind kind, unsigned int kinds)
{
	if (!(kinds >> kind & 1))
		return false;
	return !(kinds & 1U << BY_SP) || (kind != BY_POINTER && kind != BY_COPY) || !below(3);
}

/* Make a stack of @count functions; @kinds: a bit for each kind that may occur, beside LAST at the end. @chain: which
 * functions; @layout: where they lie, and what the other words hold. */
static void make_stack(size_t count, unsigned int kinds, uint64_t chain, uint64_t layout)
{
	uintptr_t functions[100], saved, at;
	size_t i;

	seed = chain * 0x9e3779b97f4a7c15 + 1;
	for (i = 0; i < count; i++) {
		do {
			functions[i] = place_of((unsigned int)below(FUNCTIONS));
		} while (i + 1 == count ? kind_of(functions[i]) != LAST
					: !is_wanted(kind_of(functions[i]), kinds));
	}
	seed = layout * 0x9e3779b97f4a7c15 + 1;
	for (i = 0; i < WORDS; i++)
		words[i] = below(3) ? place_of((unsigned int)below(FUNCTIONS)) : below(1 << 20);
	unit_stack_start = (uintptr_t)words;
	unit_stack_end = (uintptr_t)(words + WORDS);
	fp = (uintptr_t)&words[8 + below(4)];
	at = fp + KASAN_PATH_START;
	saved = at - WORD;
	for (i = 0; i < count; i++) {
		*(uintptr_t *)at = functions[i];
		at += size_of(functions[i]) * WORD;
		switch (kind_of(functions[i])) {
		case SAVES_POINTER:
			saved = at - WORD;
			break;
		case BY_POINTER:
		case WITHOUT_PATH:
			at += below(4) * WORD;
			*(uintptr_t *)saved = at - WORD;
			saved = at - WORD;
			break;
		case BY_COPY:
			/* Between the two lies a gap. */
			at += 2 * WORD;
			*(uintptr_t *)saved = at;
			saved = at;
			*(uintptr_t *)(at - 2 * WORD) = at + (1 + below(4)) * WORD;
			at = *(uintptr_t *)(at - 2 * WORD);
			break;
		default:
			break;
		}
	}
}

/* --- The port's walk ---------------------------------------------------------------------------- */

static __thread size_t walks;

size_t kasan_port_walk(uintptr_t start, uintptr_t end, uintptr_t ip, uintptr_t frame,
		       uintptr_t *pcs, size_t max, uint16_t *path)
{
	uintptr_t at = frame + KASAN_PATH_START, saved = at - WORD, to;
	uint16_t *entry = path;
	size_t count = 1;

	walks++;
	pcs[0] = ip;
	if (path)
		*path = 0;
	if (saved < start || at > end - WORD || frame % WORD)
		return 1;
	while (count < max && kind_of(pcs[count - 1]) != LAST) {
		const enum kind kind = kind_of(pcs[count - 1]);

		to = at + size_of(pcs[count - 1]) * WORD;
		if (kind == BY_POINTER || kind == WITHOUT_PATH)
			to = *(uintptr_t *)saved + WORD;
		if (kind == BY_COPY) {
			const uintptr_t pointer = *(uintptr_t *)saved;

			to = 0;
			if (pointer >= at + 2 * WORD && pointer < end && pointer % WORD == 0)
				to = *(uintptr_t *)(pointer - 2 * WORD);
		}
		if (kind == WITHOUT_PATH)
			entry = NULL;
		if (to <= at || to > end - WORD || to % WORD || !is_code(*(uintptr_t *)to)) {
			entry = NULL;
			break;
		}
		if (entry) {
			*entry++ = (uint16_t)((to - at) | (kind == BY_POINTER ? 1
							   : kind == BY_COPY  ? 2
									      : 0));
			if (kind == BY_POINTER || kind == BY_COPY) {
				*entry++ = (uint16_t)(to - saved);
				*entry++ = (uint16_t)(to + WORD - *(uintptr_t *)saved);
			}
			if (kind == BY_COPY) {
				*entry++ = (uint16_t)(to - (*(uintptr_t *)saved - 2 * WORD));
				*entry++ = (uint16_t)WORD;
			}
			if (entry > path + KASAN_PATH_MOST - 6)
				entry = NULL;
		}
		if (kind == BY_COPY)
			saved = *(uintptr_t *)saved;
		else if (kind != BY_SP)
			saved = to - WORD;
		pcs[count++] = *(uintptr_t *)to;
		at = to;
	}
	if (*(uintptr_t *)(frame + KASAN_PATH_START) != ip)
		entry = NULL;
	if (entry)
		*entry = 0;
	else if (path)
		*path = 0;
	return count;
}

/* --- Asking ------------------------------------------------------------------------------------- */

static uintptr_t ip(void)
{
	return *(uintptr_t *)(fp + KASAN_PATH_START);
}

/* As a hook asks: first without a call. @found: it was known. */
static uint32_t ask(bool *found)
{
	uint32_t handle = 0;

	*found = kasan_known_stack(kasan_known, ip(), fp, &handle);
	return *found ? handle : kasan_save_track_stack(ip(), fp);
}

static bool is_right(uint32_t handle)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	const size_t count = kasan_port_walk(unit_stack_start, unit_stack_end, ip(), fp, pcs,
					     CONFIG_KASAN_STACK_DEPTH, NULL);
	const uintptr_t *got;

	return kasan_depot_fetch(handle, &got) == count && !memcmp(got, pcs, count * sizeof(*pcs));
}

#define ALL  (1U << BY_SP | 1U << SAVES_POINTER | 1U << BY_POINTER | 1U << BY_COPY)
#define MOST 90

/* --- Traces ------------------------------------------------------------------------------------- */

/* Every depth, also more than fit. The second time the stack is known. */
static void every_depth(void)
{
	bool found;

	for (size_t count = 2; count <= MOST; count++) {
		uint32_t first, second;

		/* A path has room for two entries for each return address, and saved registers need more. */
		make_stack(count, 1U << BY_SP | 1U << SAVES_POINTER, count, 1);
		first = ask(&found);
		CHECK(first && !found && is_right(first));
		second = ask(&found);
		CHECK(found);
		CHECK_EQ(second, first);
	}
}

static void pointers(void)
{
	unsigned int known = 0;
	bool found;

	for (unsigned int n = 0; n < 500; n++) {
		make_stack(3 + n % 30, ALL, n, n);
		CHECK(is_right(ask(&found)));
		CHECK(is_right(ask(&found)));
		known += found;
	}
	/* The others have too many of them. */
	CHECK(known > 300 && known < 500);
	/* Nothing else. */
	make_stack(20, 1U << BY_POINTER, 1, 1);
	ask(&found);
	CHECK(is_right(ask(&found)) && !found);
}

static void no_path(void)
{
	bool found;

	for (unsigned int n = 0; n < 50; n++) {
		make_stack(12, 1U << WITHOUT_PATH, n, n);
		for (int i = 0; i < 2; i++)
			CHECK(is_right(ask(&found)) && !found);
	}
	/* A function with nothing above it. */
	make_stack(1, ALL, 1, 1);
	for (int i = 0; i < 2; i++)
		CHECK(is_right(ask(&found)) && !found);
}

/* Any word of a known stack changes: a return address, a saved frame pointer, a word that is not looked at. */
static void changed_words(void)
{
	unsigned int known = 0, changed = 0;
	uintptr_t before, *word;
	uint32_t first, handle;
	bool found;

	for (unsigned int n = 0; n < 100; n++) {
		make_stack(10, ALL, n, 2 * n);
		ask(&found);
		first = ask(&found);
		for (unsigned int i = 0; i < 110; i++) {
			word = (uintptr_t *)fp + i;
			before = *word;
			*word = i % 3 == 0   ? place_of((unsigned int)unit_below(FUNCTIONS))
				: i % 3 == 1 ? before + WORD
					     : (uintptr_t)&words[unit_below(WORDS)];
			handle = ask(&found);
			CHECK(is_right(handle));
			known += found;
			changed += handle != first;
			*word = before;
		}
	}
	CHECK(known > 1000 && changed > 1000);
}

/* The same functions, and frames of other sizes: one of the layouts is known, and all traces are right. */
static void other_layout(void)
{
	unsigned int known = 0;
	uint32_t first;
	bool found;

	for (unsigned int n = 0; n < 100; n++) {
		make_stack(10, 1U << BY_SP | 1U << BY_POINTER, n, 0);
		first = ask(&found);
		for (unsigned int layout = 0; layout < 20; layout++) {
			make_stack(10, 1U << BY_SP | 1U << BY_POINTER, n, layout);
			CHECK_EQ(ask(&found), first);
			CHECK(is_right(first));
			known += found;
		}
	}
	CHECK(known > 50 && known < 1000);
}

/* The stack ends before a trace that has the same words above its end: what is there is not looked at. */
static void end_of_stack(void)
{
	const struct kasan_record *record, **entry;
	unsigned int tried = 0;
	uint32_t handle;
	uintptr_t at;
	bool found;

	for (unsigned int n = 0; n < 50; n++) {
		make_stack(10, ALL, 5000 + n, n);
		at = fp + KASAN_PATH_START;
		handle = ask(&found);
		entry = kasan_known_entry(kasan_known,
					  kasan_path_key(ip(), at, unit_stack_end - WORD));
		record = *entry;
		/* It has too many frame pointers. */
		if (!record || record->handle != handle)
			continue;
		tried++;
		unit_stack_end = at + record->span;
		entry = kasan_known_entry(kasan_known,
					  kasan_path_key(ip(), at, unit_stack_end - WORD));
		for (unsigned int way = 0; way < KASAN_KNOWN_WAYS; way++)
			*kasan_known_way(entry, way) = record;
		CHECK(is_right(ask(&found)) && !found);
		/* With one word more it is that trace. */
		unit_stack_end += WORD;
		CHECK(is_right(ask(&found)));
		CHECK_EQ(kasan_save_track_stack(ip(), fp), handle);
	}
	CHECK(tried > 30);
}

/* @ip is not the return address of @fp's function, or @fp is not in the stack. */
static void another_start(void)
{
	const uintptr_t *pcs;
	uintptr_t first;
	uint32_t handle;
	size_t before;
	bool found;

	make_stack(10, ALL, 6000, 1);
	ask(&found);
	handle = kasan_save_stack(place_of(LAST), fp);
	CHECK(kasan_depot_fetch(handle, &pcs) == 1 && pcs[0] == place_of(LAST));
	CHECK(!kasan_save_stack(0, fp));
	/* The rest of the stack is known. */
	first = ip();
	*(uintptr_t *)(fp + KASAN_PATH_START) = place_of(LAST);
	before = walks;
	kasan_save_stack(first, fp);
	CHECK_EQ(walks, before + 1);
	*(uintptr_t *)(fp + KASAN_PATH_START) = first;
	kasan_save_stack(first, fp);
	CHECK_EQ(walks, before + 1);
	for (uintptr_t bad = 0; bad < 3; bad++) {
		const uintptr_t frames[] = {fp + 1, unit_stack_end + 64, 0};

		handle = kasan_save_stack(ip(), frames[bad]);
		CHECK(kasan_depot_fetch(handle, &pcs) == 1 && pcs[0] == ip());
	}
}

/* A report's trace. */
static void reported(void)
{
	struct kasan_port_task task = {.stack_start = (uintptr_t)words};
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	const uintptr_t *stored;
	uint32_t handle;
	bool found;

	make_stack(10, ALL, 3, 3);
	handle = ask(&found);
	task.stack_end = unit_stack_end;
	CHECK_EQ(kasan_stack_walk_in(&task, ip(), fp, pcs, CONFIG_KASAN_STACK_DEPTH),
		 kasan_depot_fetch(handle, &stored));
	CHECK(!memcmp(pcs, stored, 10 * sizeof(*pcs)));
	CHECK_EQ(kasan_stack_walk_in(&task, ip(), fp, pcs, 3), 3);
	task.stack_start = 0;
	CHECK_EQ(kasan_stack_walk_in(&task, ip(), fp, pcs, 3), 1);
	CHECK_EQ(kasan_stack_walk_fault(&task, ip(), fp, pcs, 3), 1);
	CHECK_EQ(kasan_stack_walk_fault(&task, 0, fp, pcs, 3), 0);
}

/* --- Threads ------------------------------------------------------------------------------------ */

#define THREADS 4

static pthread_barrier_t barrier;

/* Several threads find the same traces at the same time, by different paths. */
static void *look(void *arg)
{
	const uint64_t own = (uintptr_t)arg;
	size_t wrong = 0;
	bool found;

	pthread_barrier_wait(&barrier);
	for (unsigned int n = 0; n < 20000; n++) {
		make_stack(5 + n / 4 % 7, ALL, 1000 + n / 4, n % 2 ? own : n);
		wrong += !is_right(ask(&found));
	}
	return (void *)wrong;
}

static void threads_agree(void)
{
	pthread_t threads[THREADS];
	void *wrong;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, look, (void *)(i + 1)));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		CHECK_EQ((size_t)wrong, 0);
	}
}

/* --- Boot parameters ---------------------------------------------------------------------------- */

static void off_and_collect(void)
{
	struct kasan_track track;
	uint32_t handle, first;
	bool found;

	make_stack(10, ALL, 5, 5);
	ask(&found);
	first = ask(&found);
	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	kasan_set_track(&track, ip(), fp);
	CHECK(track.pid == 7 && !track.stack);
	CHECK_EQ(kasan_option("kasan.stacktrace", "collect"), 0);
	CHECK(!kasan_known_stack(kasan_known, ip(), fp, &handle));
	kasan_set_full_track(&track, ip(), fp);
	CHECK(track.pid == 7 && !track.stack);
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
	kasan_set_full_track(&track, ip(), fp);
	CHECK(track.pid == 7 && track.stack == first);
}

UNIT_MAIN(every_depth, pointers, no_path, changed_words, other_layout, end_of_stack, another_start,
	  reported, threads_agree, off_and_collect)
