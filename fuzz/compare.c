// SPDX-License-Identifier: MIT
/*
 * compare.c - operands of failed comparisons, which the engine puts into the next inputs.
 *
 * A table in the mailbox keeps the newest ones. A slot is a hash of the operands, so a loop that repeats a comparison
 * takes one slot. An engine that follows each place from one input to the next gets them in order in a log instead.
 * Operands of 1 and 2 bytes are soon found without help, and are left out.
 */
#include "internal.h"

/* Called by compiled code. const_: the first operand is a constant (Clang). */
void __sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b);
void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b);
void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b);
void __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b);
void __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b);
void __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases);
/* GCC: operands in floating point registers, which are not used. */
void __sanitizer_cov_trace_cmpf(void);
void __sanitizer_cov_trace_cmpd(void);

struct __attribute__((packed, may_alias)) word {
	uint64_t value;
};

#define PLACES 1024

/* How many comparisons of a place, found by its hash, are in the log. */
static struct {
	uint32_t input, count;
} places[PLACES];

static inline uint32_t hash_of(uint64_t number)
{
	return (uint32_t)(number * 0x9e3779b97f4a7c15ULL >> 32);
}

/* Return: the next entry of the log; NULL if it is full. */
static __attribute__((__noinline__)) struct kasan_fuzz_cmp *
log_entry(struct kasan_fuzz_mailbox *box, uint64_t place)
{
	const uint32_t slot = hash_of(place) % PLACES, at = box->logged;

	/* A loop must not take the room of all other places. */
	if (places[slot].input != kasan_fuzz_state.input) {
		places[slot].input = kasan_fuzz_state.input;
		places[slot].count = 0;
	}
	if (places[slot].count >= KASAN_FUZZ_LOG_EACH || at >= KASAN_FUZZ_LOG)
		return NULL;
	places[slot].count++;
	box->logged = at + 1;
	box->log[at].place = place;
	return &box->log[at].cmp;
}

/* @hash: of the operands. Return: where to put them; NULL: nowhere. */
static inline struct kasan_fuzz_cmp *entry(struct kasan_fuzz_mailbox *box, const void *place,
					   uint64_t hash, size_t size)
{
	struct kasan_fuzz_cmp *cmp = &box->cmps[hash_of(hash) % KASAN_FUZZ_CMPS];

	if (__atomic_load_n(&box->compare, __ATOMIC_RELAXED) == KASAN_FUZZ_COMPARE_LOG) {
		cmp = log_entry(box, (uintptr_t)place);
		if (!cmp)
			return NULL;
	}
	cmp->input = kasan_fuzz_state.input;
	cmp->size = (uint16_t)size;
	return cmp;
}

static inline void integers(const void *place, uint64_t a, uint64_t b, size_t size)
{
	struct kasan_fuzz_mailbox *box;
	struct kasan_fuzz_cmp *cmp;

	if (a == b)
		return;
	box = fuzz_counting();
	if (!box)
		return;
	cmp = entry(box, place, a ^ b << 1, size);
	if (!cmp)
		return;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	/* The first bytes are the operand as it lies in memory. */
	a <<= 64 - 8 * size;
	b <<= 64 - 8 * size;
#endif
	cmp->memory = 0;
	*(struct word *)cmp->a = (struct word){a};
	*(struct word *)cmp->b = (struct word){b};
}

bool kasan_fuzz_wants_compare(void)
{
	return fuzz_counting() != NULL;
}

void kasan_fuzz_compare(const void *place, const void *a, const void *b, size_t size)
{
	struct kasan_fuzz_mailbox *box = fuzz_counting();
	const uint8_t *left = a, *right = b;
	struct kasan_fuzz_cmp *cmp;
	uint64_t hash = size;

	if (!box || size < 2)
		return;
	if (size > KASAN_FUZZ_CMP_MAX)
		size = KASAN_FUZZ_CMP_MAX;
	for (size_t i = 0; i < size; i++)
		hash = hash * 31 + left[i] * 7U + right[i];
	cmp = entry(box, place, hash, size);
	if (!cmp)
		return;
	cmp->memory = 1;
	for (size_t i = 0; i < size; i++) {
		cmp->a[i] = left[i];
		cmp->b[i] = right[i];
	}
}

void __sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b)
{
	(void)a;
	(void)b;
}

void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b)
{
	(void)a;
	(void)b;
}

void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b)
{
	integers(__builtin_return_address(0), a, b, sizeof(a));
}

void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b)
{
	integers(__builtin_return_address(0), a, b, sizeof(a));
}

void __sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b)
{
	(void)a;
	(void)b;
}

void __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b)
{
	(void)a;
	(void)b;
}

void __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b)
{
	integers(__builtin_return_address(0), a, b, sizeof(a));
}

void __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b)
{
	integers(__builtin_return_address(0), a, b, sizeof(a));
}

/* @cases: their number, the bits of the value, and then the cases, each of which is a place of its own. */
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
	const uint64_t count = cases[0], bits = cases[1];

	if (bits < 32 || !kasan_fuzz_state.box)
		return;
	for (uint64_t i = 0; i < count; i++)
		integers((const char *)__builtin_return_address(0) + i, cases[2 + i], value,
			 bits / 8);
}

void __sanitizer_cov_trace_cmpf(void)
{
}

void __sanitizer_cov_trace_cmpd(void)
{
}
