/* SPDX-License-Identifier: MIT */
/*
 * chains.c - known traces against whole ones: chains of calls, at random, through functions with frames of many sizes. Each
 * chain's trace is looked for in the table of known stacks and stored, and then the stack is unwound from end to end.
 * Both must be the same. Old frames stay on the stack below, so a comparison that looks at a wrong word may find a right
 * value there. Not instrumented.
 *
 * The line "chains NAME MADE KNOWN DIFFERENT", once for traces as they are and once after a record was given another one's
 * handle: then some must differ, or this program sees nothing.
 */
#include "../../runtime/track/known.h"

#include "board.h"

#define KINDS	192U /* of chains */
#define RUNS	6000U
#define DEEPEST 10U

typedef void function(unsigned int depth, uint32_t chain);

static function *const functions[16];
static uint32_t made, known, different;

static uint32_t mix(uint32_t value)
{
	value = (value ^ value >> 16) * 0x7feb352dU;
	value = (value ^ value >> 15) * 0x846ca68bU;
	return value ^ value >> 16;
}

static bool same(uint32_t handle, const uintptr_t *pcs, size_t count)
{
	const uintptr_t *kept;

	if (kasan_depot_fetch(handle, &kept) != count)
		return false;
	while (count--) {
		if (kept[count] != pcs[count])
			return false;
	}
	return true;
}

__attribute__((noinline)) static void look(void)
{
	const uintptr_t ip = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	struct kasan_track track = {0};
	uint32_t handle = 0;
	const bool found = kasan_known_stack(kasan_known, ip, fp, &handle);
	size_t count;

	kasan_set_track(&track, ip, fp);
	count = kasan_stack_walk(ip, fp, pcs, CONFIG_KASAN_STACK_DEPTH);
	made++;
	known += found;
	different += !same(track.stack, pcs, count) || (found && !same(handle, pcs, count));
}

/* Two places to call from: at one depth, which the low byte of @chain says, the other one calls. So there are chains that
 * differ in one return address and in nothing else. */
static inline __attribute__((always_inline)) void go_on(unsigned int depth, uint32_t chain)
{
	function *const next = functions[mix((chain & ~0xffU) + depth) & 15];

	if (!depth)
		look();
	else if (depth == (chain & 0xff)) {
		next(depth - 1, chain);
		__asm__ volatile("nop");
	} else
		next(depth - 1, chain);
	__asm__ volatile("");
}

#define FRAME(name, words)                                                             \
	__attribute__((noinline)) static void name(unsigned int depth, uint32_t chain) \
	{                                                                              \
		volatile uint32_t room[words];                                         \
                                                                                       \
		room[0] = depth;                                                       \
		go_on(depth, chain);                                                   \
		room[(words) - 1] = room[0];                                           \
	}

FRAME(least, 1)
FRAME(small, 2)
FRAME(middle, 5)
FRAME(same_as_middle, 5)
FRAME(large, 30)
FRAME(huge, 260) /* farther than a byte can say */

__attribute__((noinline)) static void no_room(unsigned int depth, uint32_t chain)
{
	go_on(depth, chain);
}

/* Its frame has another size each time: sp does not find it. */
__attribute__((noinline)) static void any(unsigned int depth, uint32_t chain)
{
	volatile char *const room = __builtin_alloca(8 + (made * 8 & 56));

	room[0] = 1;
	go_on(depth, chain);
	room[7] = room[0];
}

/* Mostly those whose frames sp finds, or few chains would be known. */
static function *const functions[16] = {
	least,	small,		middle, same_as_middle, large, no_room, least, small,
	middle, same_as_middle, large,	no_room,	small, middle,	huge,  any};

static void put(uint32_t number)
{
	char text[12], *at = text + sizeof(text);

	*--at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	*--at = ' ';
	board_puts(at);
}

__attribute__((noinline)) static void run(const char *name)
{
	uint32_t i;

	made = known = different = 0;
	for (i = 0; i < RUNS; i++) {
		const uint32_t chain = mix(i) % KINDS;

		go_on(mix(chain / 8) % (DEEPEST + 1), chain / 8 << 8 | chain % 8);
	}
	board_puts("chains ");
	board_puts(name);
	put(made);
	put(known);
	put(different);
	board_puts("\n");
}

/* Give each of some records the handle of the one before. */
static void plant(void)
{
	const struct kasan_record *before = NULL, *record;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		record = kasan_known_read(kasan_known_entry(kasan_known_table(), 0) + i);
		if (record && before && record != before)
			((struct kasan_record *)record)->handle = before->handle;
		if (record)
			before = record;
	}
}

int program(void)
{
	run("real");
	plant();
	run("planted");
	return 0;
}
