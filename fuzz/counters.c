// SPDX-License-Identifier: MIT
/*
 * counters.c - coverage: what compilers call or count for -fsanitize-coverage=.
 *
 * Inline counters lie in arrays of the program, which are cleared before the target runs and copied after it. Counters
 * of the two ways with calls lie in the mailbox, where the host clears them.
 */
#include "internal.h"

/* Arrays of inline counters: one for the program, and one for each module that is linked separately. */
#define ARRAYS 16

struct array {
	uint8_t *start;
	size_t size;
};

static struct array arrays[ARRAYS];
static unsigned int nr_arrays;
/* How many numbers guards have been given. */
static uint32_t nr_guards;

/* Called by compiled code. */
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc(void);

/* Called by a constructor of every file, always with the bounds of the whole array. */
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop)
{
	for (unsigned int i = 0; i < nr_arrays; i++)
		if (arrays[i].start == start)
			return;
	if (start < stop && nr_arrays < ARRAYS)
		arrays[nr_arrays++] = (struct array){start, (size_t)(stop - start)};
}

/* The host reads the table of places from the program's file. */
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop)
{
	(void)start;
	(void)stop;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
	if (start == stop || *start)
		return;
	/* Guards beyond the mailbox's room stay 0, which counts nothing. */
	for (uint32_t *guard = start; guard < stop && nr_guards < KASAN_FUZZ_COUNTERS_MAX; guard++)
		*guard = ++nr_guards;
}

static inline void count(uint8_t *counter)
{
	/* It stops at its maximum: libFuzzer wants 128 and more, and 0 would mean never. */
	if (*counter != UINT8_MAX)
		(*counter)++;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	struct kasan_fuzz_mailbox *box = fuzz_counting();
	const uint32_t number = *guard;

	/* A bug of the target may have overwritten the guard. */
	if (box && number - 1 < nr_guards)
		count(&box->counters[number - 1]);
}

/* GCC gives no number. The hash of this place and the one before, an edge, serves as one. */
void __sanitizer_cov_trace_pc(void)
{
	const uint32_t place =
		(uint32_t)((uintptr_t)__builtin_return_address(0) * 2654435761U >> 8);
	struct kasan_fuzz_mailbox *box = fuzz_counting();

	if (!box)
		return;
	count(&box->counters[(place ^ kasan_fuzz_state.last) % KASAN_FUZZ_HASHED]);
	kasan_fuzz_state.last = place >> 1;
	if (!nr_guards)
		nr_guards = KASAN_FUZZ_HASHED;
}

/* Words of any alignment. */
struct __attribute__((packed, may_alias)) word {
	uint64_t value;
};
#define WORDS 4
/* Keeps compilers from turning a loop into a call of the checked memset() or memcpy(). */
#define NO_LIBRARY_CALL() __asm__ volatile("" ::: "memory")

static void clear(uint8_t *to, size_t size)
{
	size_t at = 0;

	for (; size - at >= WORDS * sizeof(struct word); at += WORDS * sizeof(struct word)) {
		struct word *words = (struct word *)(to + at);

		words[0].value = 0;
		words[1].value = 0;
		words[2].value = 0;
		words[3].value = 0;
		NO_LIBRARY_CALL();
	}
	for (; at < size; at++) {
		to[at] = 0;
		NO_LIBRARY_CALL();
	}
}

static void copy(uint8_t *to, const uint8_t *from, size_t size)
{
	size_t at = 0;

	for (; size - at >= sizeof(struct word); at += sizeof(struct word)) {
		((struct word *)(to + at))->value = ((const struct word *)(from + at))->value;
		NO_LIBRARY_CALL();
	}
	for (; at < size; at++) {
		to[at] = from[at];
		NO_LIBRARY_CALL();
	}
}

void fuzz_counters_begin(void)
{
	for (unsigned int i = 0; i < nr_arrays; i++)
		clear(arrays[i].start, arrays[i].size);
}

void fuzz_counters_end(struct kasan_fuzz_mailbox *box)
{
	size_t used = 0;

	for (unsigned int i = 0; i < nr_arrays; i++) {
		size_t size = arrays[i].size;

		if (size > sizeof(box->counters) - used)
			size = sizeof(box->counters) - used;
		copy(box->counters + used, arrays[i].start, size);
		used += size;
	}
	box->counters_used = (uint32_t)(used ? used : nr_guards);
}
