/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - a fuzzing engine on the host drives a function inside the system: the mailbox that both share, and what the
 * system's port supplies.
 *
 * The mailbox is RAM of the guest that an emulator shares with the host. No device and no driver takes part: each side
 * polls words of the other one, and sleeps only after a long wait. Host programs include this header too. All numbers
 * are little-endian. Neither side trusts the other: the host checks every number that it reads.
 *
 * Coverage comes from the compiler, for the target's files only:
 *
 *	Clang	-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp	a counter for each edge
 *	Clang	-fsanitize-coverage=trace-pc-guard,trace-cmp			the same, by calls: only the task that
 *										runs the loop counts, interrupts do not
 *	GCC	-fsanitize-coverage=trace-pc,trace-cmp				the same, in a table of hash values
 *
 * The files of fuzz/ are linked only by systems that fuzz.
 */
#ifndef KASAN_PUBLIC_FUZZ_H
#define KASAN_PUBLIC_FUZZ_H

#include <kasan/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KASAN_FUZZ_MAGIC   0x786f42657a75464bULL
#define KASAN_FUZZ_VERSION 2
/** KASAN_FUZZ_HASHED - counters of GCC's trace-pc, which gives no numbers: slots of the table. A power of two. */
#define KASAN_FUZZ_HASHED 16384
/** KASAN_FUZZ_CMPS - comparisons of one input that are kept; later ones replace earlier ones. A power of two. */
#define KASAN_FUZZ_CMPS 128
/** KASAN_FUZZ_CMP_MAX - bytes of each operand that are kept. */
#define KASAN_FUZZ_CMP_MAX 16
/** KASAN_FUZZ_LOG, KASAN_FUZZ_LOG_EACH - comparisons of one input that the log has room for; of each place. */
#define KASAN_FUZZ_LOG	    4096
#define KASAN_FUZZ_LOG_EACH 32
/** KASAN_FUZZ_INPUT_MAX - bytes of the largest input. */
#define KASAN_FUZZ_INPUT_MAX (1UL << 20)
/** KASAN_FUZZ_COUNTERS_MAX - counters that the mailbox has room for; further ones are not seen. */
#define KASAN_FUZZ_COUNTERS_MAX (256UL << 10)

/* What the host wants to know about objects that an input leaves over: nothing; how many; a report, if there are any. */
#define KASAN_FUZZ_LEAKS_IGNORE 0
#define KASAN_FUZZ_LEAKS_COUNT	1
#define KASAN_FUZZ_LEAKS_REPORT 2

/* Which comparisons the host wants: the newest ones, in a table; or those of each place in their order, in a log. */
#define KASAN_FUZZ_COMPARE_NEWEST 0
#define KASAN_FUZZ_COMPARE_LOG	  1

/** struct kasan_fuzz_cmp - two operands of a comparison that were not the same. @input: the number of the input that
 *  made it; other numbers are older. @size: bytes of each operand. @memory: 1 if the operands are text or memory, 0 if
 *  they are integers in the order of bytes of the machine. */
struct kasan_fuzz_cmp {
	uint32_t input;
	uint16_t size;
	uint16_t memory;
	uint8_t a[KASAN_FUZZ_CMP_MAX];
	uint8_t b[KASAN_FUZZ_CMP_MAX];
};

/** struct kasan_fuzz_logged - a comparison of the log. @place: the code that made it; the same in each input. */
struct kasan_fuzz_logged {
	uint64_t place;
	struct kasan_fuzz_cmp cmp;
};

/**
 * struct kasan_fuzz_mailbox - what the guest and the host share; aligned to 64 bytes
 * @magic, @version, @size: KASAN_FUZZ_MAGIC (written last, when the loop begins), KASAN_FUZZ_VERSION, bytes of this
 * structure.
 * @counters_used: how many of @counters have a meaning.
 * @posted: the host's: number of the newest input, from 1 on. Written after @input_size and @input.
 * @host_sleeps: the host's: it sleeps, and wants to be woken.
 * @spin: the host's: how often the guest looks for the next input before it sleeps.
 * @leaks: the host's: KASAN_FUZZ_LEAKS_*; a port that cannot tell leaves @left as it is.
 * @compare: the host's: KASAN_FUZZ_COMPARE_*.
 * @reports_all: the host's: not 0: it looks for one bug, and runs similar inputs in one boot. A port that leaves
 * reports out because there were others before prints them now, for each input.
 * @done: the guest's: number of the input that it has finished. Written after all that belongs to the input.
 * @taken: the guest's: number of the input that it works on.
 * @guest_sleeps: the guest's: it sleeps, and wants to be woken.
 * @reports: the guest's: KASAN reports since the boot.
 * @reports_bad: the guest's: those of them after which memory may have changed: a write, or a free.
 * @left: the guest's: objects that the input left over; fewer than before is negative. @left_bytes: of them, if they
 * were looked for.
 * @result: the guest's: the target's result. libFuzzer leaves inputs with -1 out of the corpus.
 * @boot_again: the guest's: not 0: it wants a boot before the next input. That is not a finding.
 * @logged: the guest's: how many entries @log has.
 */
struct kasan_fuzz_mailbox {
	uint64_t magic;
	uint32_t version;
	uint32_t size;
	uint32_t counters_used;
	uint32_t unused[11];

	uint32_t posted;
	uint32_t input_size;
	uint32_t host_sleeps;
	uint32_t spin;
	uint32_t leaks;
	uint32_t compare;
	uint32_t reports_all;
	uint32_t unused_host[9];

	uint32_t done;
	uint32_t taken;
	uint32_t guest_sleeps;
	uint32_t reports;
	uint32_t reports_bad;
	int32_t result;
	int32_t left;
	uint32_t left_bytes;
	uint32_t boot_again;
	uint32_t logged;
	uint32_t unused_guest[6];

	struct kasan_fuzz_cmp cmps[KASAN_FUZZ_CMPS];
	struct kasan_fuzz_logged log[KASAN_FUZZ_LOG];
	uint8_t counters[KASAN_FUZZ_COUNTERS_MAX];
	uint8_t input[KASAN_FUZZ_INPUT_MAX];
};

/** kasan_fuzz_target_fn - libFuzzer's LLVMFuzzerTestOneInput(). @data: in the mailbox; a target whose reads past the
 *  end of the input must be seen copies it to an object of @size bytes first. */
typedef int (*kasan_fuzz_target_fn)(const uint8_t *data, size_t size);

/**
 * kasan_fuzz_loop() - call @target with one input after the other
 * @box: the mailbox, cleared. Memory that the host can find and write, without checks of the compiler.
 *
 * Coverage counts only while @target runs. Task context; sleeps and spins in kasan_port_fuzz_wait(). One at a time.
 *
 * Return: when kasan_port_fuzz_wait() says that the host is gone.
 */
void kasan_fuzz_loop(struct kasan_fuzz_mailbox *box, kasan_fuzz_target_fn target);

/** kasan_fuzz_reported() - a report was printed: for the port's kasan_report_hook(). @changes: the bug is a write or a
 *  free, so memory may not be what it was. Any context; before the loop it counts nothing. */
void kasan_fuzz_reported(bool changes);

/** kasan_fuzz_wants_compare() - Return: true if kasan_fuzz_compare() would keep something now. Any context. */
bool kasan_fuzz_wants_compare(void);

/** kasan_fuzz_compare() - the target compares memory: for the system's memcmp(), strcmp() and their like, whose
 *  operands no compiler shows. @place: the code that called them: their __builtin_return_address(0). @size: bytes of
 *  both. Any context; counts only in the loop's own task. */
void kasan_fuzz_compare(const void *place, const void *a, const void *b, size_t size);

/* --- What the port supplies; nothing else is needed --- */

/**
 * kasan_port_fuzz_wait() - nothing is posted
 * @sleep: false: return at once, because the host answers within microseconds. True: sleep until the host wakes the
 * guest, or for as long as the port likes. A port that cannot sleep returns at once.
 *
 * Return: true to look again, false to end the loop.
 */
bool kasan_port_fuzz_wait(bool sleep);

/** kasan_port_fuzz_wake() - the host sleeps: wake it. A port that cannot do that returns; the host looks from time to
 *  time. */
void kasan_port_fuzz_wake(void);

#ifdef __cplusplus
}
#endif

#endif
