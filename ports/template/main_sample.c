/* SPDX-License-Identifier: MIT */
/*
 * main_sample.c - the program with SAMPLE=1, in place of main.c: bugs in sampled heap objects, which the MPU or the free
 * finds, and correct use of more objects than there are regions. Exit status: 0 each was reported correctly, 1 some were
 * not.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "bugs.h"
#include "heap.h"
#include "tasks.h"

#define TRIES 1000

static struct kasan_report_info seen;
static unsigned int count;
/* What the report must say. @size: 0: a free. */
static struct {
	const char *at;
	size_t size;
	bool is_write;
} wanted;

static void note(const struct kasan_report_info *info)
{
	if (!count++)
		seen = *info;
}

static void fill(char *to, size_t size)
{
	while (size--)
		to[size] = 'f';
}

/* A sampled object of 64 bytes, at the beginning of its page or at the end. */
static char *sampled(bool at_end)
{
	unsigned int i;
	char *object;

	for (i = 0; i < TRIES; i++) {
		kasan_sample_next();
		object = malloc(64);
		if (kasan_sample_owns(object) &&
		    !((uintptr_t)object & (CONFIG_KASAN_PAGE_SIZE - 1)) == !at_end) {
			fill(object, 64);
			return (char *)runtime((size_t)object);
		}
		free(object);
	}
	kasan_port_panic("no object was sampled");
}

static void want(const char *at, size_t size, bool is_write)
{
	wanted.at = at;
	wanted.size = size;
	wanted.is_write = is_write;
}

static void write_past_the_end(void)
{
	char *object = sampled(true);

	want(object + 64, 4, true);
	*(volatile uint32_t *)(object + 64) = 1;
	free(object);
}

static void read_past_the_end(void)
{
	char *object = sampled(true);

	want(object + 64, 1, false);
	(void)*(volatile char *)(object + 64);
	free(object);
}

static void read_before(void)
{
	char *object = sampled(false);

	want(object - 2, 2, false);
	(void)*(volatile uint16_t *)(object - 2);
	free(object);
}

static void write_before(void)
{
	char *object = sampled(false);

	want(object - 1, 1, true);
	*(volatile char *)(object - 1) = 1;
	free(object);
}

/* The other side of the page: no region ends there, but the free compares. */
static void write_into_the_page(void)
{
	char *object = sampled(false);

	want(object + 65, 1, true);
	object[runtime(65)] = 0;
	free(object);
}

static void read_after_free(void)
{
	char *object = sampled(false);

	object[8] = 'k';
	free(object);
	want(object + 8, 1, false);
	/* The access is carried out after the report. */
	if (*(volatile char *)(object + 8) != 'k')
		count += 100;
}

static void write_after_free(void)
{
	char *object = sampled(true);

	free(object);
	want(object + 12, 4, true);
	*(volatile uint32_t *)(object + 12) = 1;
}

static void double_free(void)
{
	char *object = sampled(true);

	free(object);
	want(object, 0, false);
	free((void *)runtime((size_t)object));
}

static void invalid_free(void)
{
	char *object = sampled(true);

	want(object + 8, 0, false);
	free(object + runtime(8));
	free(object);
}

/* The fault cannot interrupt such code, so the processor makes it a HardFault. */
static void read_with_interrupts_off(void)
{
	char *object = sampled(true);
	unsigned long flags;

	want(object + 64, 1, false);
	flags = kasan_port_irq_save();
	(void)*(volatile char *)(object + 64);
	kasan_port_irq_restore(flags);
	free(object);
}

/* The instruction goes on when both pages are open: that of an object which was freed, and the guard. */
static void read_two_pages(void)
{
	char *live[2], *object;
	unsigned int i;
	uint32_t low, high;

	for (i = 0; i < 2; i++)
		live[i] = sampled(true);
	object = sampled(true);
	free(object);
	want(object + 60, 4, false);
	__asm__ volatile("ldrd %0, %1, [%2]"
			 : "=&r"(low), "=&r"(high)
			 : "r"(object + 60)
			 : "memory");
	/* One report for each page. */
	count -= count == 2;
	for (i = 0; i < 2; i++)
		free(live[i]);
}

/* By code that is not instrumented in any mode. */
static void copy_past_the_end(void)
{
	static char copy[80];
	char *object = sampled(true);

	want(object + 64, 1, false);
	__memcpy(copy, object, runtime(65));
	free(object);
}

/* Objects that are still used have the regions that there are; reports need one too, and give it back. */
static void freed_while_others_live(void)
{
	char *live[2], *freed[3];
	unsigned int i;

	for (i = 0; i < 2; i++)
		live[i] = sampled(i & 1);
	for (i = 0; i < 3; i++) {
		freed[i] = sampled(true);
		free(freed[i]);
	}
	for (i = 0; i < 3; i++)
		(void)*(volatile char *)freed[runtime(i)];
	for (i = 0; i < 2; i++) {
		(void)*(volatile char *)live[i];
		free(live[i]);
	}
	/* One report for each of the three. */
	if (count == 3)
		count = 1;
	want((const char *)seen.addr, 1, false);
}

static void correct_use(void)
{
	static char *objects[2 * CONFIG_KASAN_SAMPLE_OBJECTS];
	struct kasan_sample_counts before, after;
	unsigned int round, i;
	size_t size;

	kasan_sample_get_counts(&before);
	for (round = 0; round < 8; round++) {
		for (i = 0; i < 2 * CONFIG_KASAN_SAMPLE_OBJECTS; i++) {
			size = 1 + (i * 37 + round * 101) % 1500;
			kasan_sample_next();
			objects[i] = malloc(size);
			fill(objects[i], size);
			if (!(i & 3))
				objects[i] = realloc(objects[i], size + 8);
		}
		for (i = 0; i < 2 * CONFIG_KASAN_SAMPLE_OBJECTS; i++) {
			if (objects[i][runtime(0)] != 'f')
				count += 100;
			free(objects[i]);
		}
	}
	kasan_sample_get_counts(&after);
	/* There are fewer regions than pages, so some samples are skipped. */
	if (after.sampled - before.sampled < 16 || after.skipped == before.skipped || after.live)
		count += 100;
}

/* The period of kasan.sample=: the timer lets one be due. */
static void by_time(void)
{
	struct kasan_sample_counts before, after;
	volatile unsigned int i;

	kasan_option("kasan.sample", "10");
	kasan_sample_get_counts(&before);
	do {
		for (i = 0; i < 100; i++)
			free(malloc(runtime(64)));
		kasan_sample_get_counts(&after);
	} while (after.sampled - before.sampled < 5);
	kasan_option("kasan.sample", "0");
}

static const struct bug bugs[] = {
	{"write_past_the_end", "slab-out-of-bounds", write_past_the_end},
	{"read_past_the_end", "slab-out-of-bounds", read_past_the_end},
	{"read_before", "slab-out-of-bounds", read_before},
	{"write_before", "slab-out-of-bounds", write_before},
	{"write_into_the_page", "slab-out-of-bounds", write_into_the_page},
	{"read_after_free", "slab-use-after-free", read_after_free},
	{"write_after_free", "slab-use-after-free", write_after_free},
	{"double_free", "double-free", double_free},
	{"invalid_free", "invalid-free", invalid_free},
	{"read_with_interrupts_off", "slab-out-of-bounds", read_with_interrupts_off},
	{"read_two_pages", "slab-use-after-free", read_two_pages},
	{"copy_past_the_end", "slab-out-of-bounds", copy_past_the_end},
	{"freed_while_others_live", "slab-use-after-free", freed_while_others_live},
	{"correct_use", NULL, correct_use},
	{"by_time", NULL, by_time},
};

static bool as_expected(const struct bug *bug)
{
	if (bug->type == NULL)
		return count == 0;
	return count == 1 && same(seen.bug_type, bug->type) && seen.addr == (uintptr_t)wanted.at &&
	       seen.size == wanted.size && seen.is_write == wanted.is_write;
}

int main(void)
{
	unsigned int i, failed = 0;

	board_puts("template: start\n");
	kasan_report_hook(note);
	for (i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		count = 0;
		task_run(1, bugs[i].run);
		if (!as_expected(&bugs[i]))
			failed++;
		board_puts(as_expected(&bugs[i]) ? "template: ok " : "template: NOT OK ");
		board_puts(bugs[i].name);
		board_puts("\n");
	}
	board_puts(failed ? "template: done, some failed\n" : "template: done, all as expected\n");
	return failed ? 1 : 0;
}
