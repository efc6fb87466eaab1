// SPDX-License-Identifier: MIT
/*
 * loop.c - takes inputs from the mailbox, calls the target, and leaves coverage and verdict there.
 *
 * One side writes a word, the other polls it. The host may change any byte at any time, so each number is read once and
 * checked.
 */
#include "internal.h"

#define LOAD(word)	   __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)
/* A store must be visible before the next load, because both sides write one word and then read the other's. */
#define BARRIER() __atomic_thread_fence(__ATOMIC_SEQ_CST)

struct kasan_fuzz_state kasan_fuzz_state;
/* The loop's mailbox from its first input on, even while no target runs. */
static struct kasan_fuzz_mailbox *mailbox;

void kasan_fuzz_reported(bool changes)
{
	struct kasan_fuzz_mailbox *box = __atomic_load_n(&mailbox, __ATOMIC_RELAXED);

	if (!box)
		return;
	if (changes)
		__atomic_fetch_add(&box->reports_bad, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&box->reports, 1, __ATOMIC_RELAXED);
}

/* Return: the number of the next input; 0: the host is gone. */
static uint32_t next_input(struct kasan_fuzz_mailbox *box, uint32_t before)
{
	uint32_t posted, rounds = 0;
	bool sleep = false;

	while ((posted = LOAD(box->posted)) == before || !posted) {
		if (!sleep && rounds++ >= LOAD(box->spin)) {
			/* The host looks at this word after it has posted, and wakes us. So look once more in
			 * between. */
			STORE(box->guest_sleeps, 1);
			BARRIER();
			sleep = true;
			continue;
		}
		if (!kasan_port_fuzz_wait(sleep))
			return 0;
	}
	STORE(box->guest_sleeps, 0);
	return posted;
}

static void run_one(struct kasan_fuzz_mailbox *box, kasan_fuzz_target_fn target, uint32_t number)
{
	size_t size = LOAD(box->input_size);
	int result;

	if (size > sizeof(box->input))
		size = sizeof(box->input);
	kasan_fuzz_state.input = number;
	kasan_fuzz_state.last = 0;
	box->logged = 0;
	fuzz_counters_begin();
	/* The compiler must not move this store into the target, if it is inlined. */
	STORE(kasan_fuzz_state.box, box);
	result = target(box->input, size);
	STORE(kasan_fuzz_state.box, NULL);
	fuzz_counters_end(box);
	box->result = result;
}

void kasan_fuzz_loop(struct kasan_fuzz_mailbox *box, kasan_fuzz_target_fn target)
{
	uint32_t number = 0;

	box->version = KASAN_FUZZ_VERSION;
	box->size = sizeof(*box);
	kasan_fuzz_state.stack = fuzz_own_stack();
	fuzz_counters_end(box);
	__atomic_store_n(&mailbox, box, __ATOMIC_RELEASE);
	STORE(box->magic, KASAN_FUZZ_MAGIC);
	while ((number = next_input(box, number))) {
		STORE(box->taken, number);
		run_one(box, target, number);
		STORE(box->done, number);
		BARRIER();
		if (LOAD(box->host_sleeps))
			kasan_port_fuzz_wake();
	}
	__atomic_store_n(&mailbox, NULL, __ATOMIC_RELEASE);
}
