// SPDX-License-Identifier: MIT
/*
 * report.c - fuzzes the report printer, runtime/report/: a bad access while the data that its report reads is garbage.
 *
 * An input is a byte that chooses the data, a byte that chooses the access, and the garbage. The report must be whole, as
 * kernel/tests/kasan_whole.c sees it, and the only one. It is the text that the fuzzer's hooks do not see.
 */
#include <stddef.h>
#include <stdint.h>

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "../../../kernel/tests/kasan_test.h"
#include "../../../kernel/tests/kasan_whole.h"

/* --- What kasan_whole.c asks of the test suites --- */

bool kasan_may_be_late(enum kasan_access access)
{
	return false;
}

unsigned int kasan_expect_count(void)
{
	return 0;
}

void kunit_fail(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	printk("%s\n", line);
	BUG();
}

/* --- Garbage --- */

#define GARBAGE_MAX 256

static const uint8_t *garbage;
static size_t garbage_size;
static u8 saved[GARBAGE_MAX];

/* Overwrite as much of @size bytes as there is garbage. These functions are not checked. */
static void spoil(void *ptr, size_t size)
{
	BUG_ON(size > GARBAGE_MAX);
	__memcpy(saved, ptr, size);
	__memcpy(ptr, garbage, min(size, garbage_size));
}

static void restore(void *ptr, size_t size)
{
	__memcpy(ptr, saved, size);
}

/* Word @n of the garbage. */
static u64 word(unsigned int n)
{
	u64 value = 0;

	if (garbage_size >= (n + 1) * sizeof(value))
		__memcpy(&value, garbage + n * sizeof(value), sizeof(value));
	return value;
}

static volatile char sink;

static noinline void read_byte(const char *p)
{
	HIDE_VAR(p);
	sink = *(const volatile char *)p;
	barrier();
}

static void read_spoiled(const char *p, void *data, size_t size)
{
	spoil(data, size);
	read_byte(p);
	restore(data, size);
}

/* --- Objects --- */

static struct kasan_cache *cache_of(void *object)
{
	struct kasan_object found;

	BUG_ON(!kasan_port_find_object(object, &found) || found.kind != KASAN_OBJECT_SLAB);
	return found.cache;
}

static struct kasan_alloc_meta *meta_of(char *object)
{
	return (void *)(object + cache_of(object)->alloc_meta_offset);
}

static void live_object(unsigned int at)
{
	char *object = kmalloc(40, GFP_KERNEL);

	if (!object)
		return;
	read_spoiled(object + 40 + at % 8, meta_of(object), sizeof(struct kasan_alloc_meta));
	kfree(object);
}

static void handles_of_stacks(unsigned int at)
{
	char *object = kmalloc(40, GFP_KERNEL);

	if (!object)
		return;
	read_spoiled(object + 40 + at % 8, meta_of(object)->aux_stack,
		     sizeof(meta_of(object)->aux_stack));
	kfree(object);
}

static void freed_object(unsigned int at)
{
	char *object = kmalloc(40, GFP_KERNEL);
	struct kasan_alloc_meta *meta;
	void *inside;

	if (!object)
		return;
	meta = meta_of(object);
	inside = object + cache_of(object)->free_meta_offset;
	kfree(object);
	if (at & 1)
		read_spoiled(object + at % 40, meta, sizeof(*meta));
	else
		read_spoiled(object + at % 40, inside, sizeof(struct kasan_free_meta));
}

static void freed_again(unsigned int at)
{
	char *object = kmalloc(40, GFP_KERNEL);
	void *data;
	size_t size;

	if (!object)
		return;
	data = at & 1 ? (void *)meta_of(object) : object + cache_of(object)->free_meta_offset;
	size = at & 1 ? sizeof(struct kasan_alloc_meta) : sizeof(struct kasan_free_meta);
	kfree(object);
	spoil(data, size);
	HIDE_VAR(object);
	kfree(object);
	restore(data, size);
}

static void large_object(unsigned int at)
{
	char *object = kmalloc(20000, GFP_KERNEL);
	struct page *page;

	if (!object)
		return;
	page = virt_to_page(object);
	read_spoiled(object + 20000 + at, &page->large, sizeof(page->large));
	kfree(object);
}

/* A slot of a cache of its own, so that nobody else takes it, and the descriptor of its slab. */
static void free_slot(unsigned int at)
{
	static struct kmem_cache *cache;
	static char *kept, *object;
	struct page *page;

	if (!cache) {
		cache = kmem_cache_create("fuzz_garbage", 64, 0, 0, NULL);
		kept = kmem_cache_alloc(cache, GFP_KERNEL);
		object = kmem_cache_alloc(cache, GFP_KERNEL);
		BUG_ON(!kept || !object);
		kmem_cache_free(cache, object);
		kmem_cache_shrink(cache);
	}
	page = virt_to_page(object);
	if (at & 1)
		read_spoiled(object + at % 64, object, 64);
	else
		read_spoiled(object + at % 64, (char *)page + offsetof(struct page, slab_cache),
			     sizeof(*page) - offsetof(struct page, slab_cache));
}

/* --- The task --- */

static void freed_byte(void)
{
	char *object = kmalloc(40, GFP_KERNEL);

	if (!object)
		return;
	kfree(object);
	read_byte(object + 20);
}

static void name_of_the_task(unsigned int at)
{
	spoil(current->comm, sizeof(current->comm));
	freed_byte();
	restore(current->comm, sizeof(current->comm));
}

static noinline void stack_of_the_task(unsigned int at)
{
	void *record = __builtin_frame_address(0);
	const size_t size = current->stack_size;
	void *stack = current->stack;
	char *object = kmalloc(40, GFP_KERNEL);
	unsigned long flags;

	if (!object)
		return;
	kfree(object);
	/* Only an interrupt could look at this stack now. */
	local_irq_save(flags);
	if (at & 1)
		spoil(record, 16);
	if (at & 2)
		current->stack = (void *)(uintptr_t)word(2);
	if (at & 4)
		current->stack_size = word(3);
	read_byte(object + 20);
	current->stack = stack;
	current->stack_size = size;
	if (at & 1)
		restore(record, 16);
	local_irq_restore(flags);
}

/* The three words in a frame's left redzone, the first of which says that the others are there. */
static noinline void frame(unsigned int at)
{
	char array[24];
	char *p = array;
	const u8 *shadow;
	size_t skip = at & 1 ? 8 : 0;

	HIDE_VAR(p);
	for (shadow = kasan_shadow_of(p); *shadow != KASAN_STACK_LEFT; shadow--)
		p -= 8;
	for (; shadow[-1] == KASAN_STACK_LEFT; shadow--)
		p -= 8;
	p = (char *)((uintptr_t)p & ~7UL) + skip;
	read_spoiled(array + sizeof(array), p, 24 - skip);
}

/* --- Wild pointers, and sizes that make no sense. What is printed of memory depends on the address. --- */

static unsigned int lines, separators;

/* The frame of a report: the lines in between are text. */
static bool look_at_line(const char *text)
{
	const bool separator = strlen(text) == 66 && strspn(text, "=") == 66;

	BUG_ON((lines == 0) != (separator && separators == 0));
	BUG_ON(lines == 1 && !str_has_prefix(text, "BUG: KASAN: "));
	BUG_ON(separators == 2);
	for (const char *at = text; *at; at++)
		BUG_ON(*at < ' ' || *at > '~');
	separators += separator;
	lines++;
	return false;
}

/* A report looks for the first bad byte in all of an access: one of terabytes takes minutes. */
#define SIZE_MAX_OF_FAULT (1UL << 20)

static void fault(unsigned int at)
{
	kasan_report_fault(word(0), word(1) % SIZE_MAX_OF_FAULT, (int)at % 3 - 1, word(2), word(3));
}

static void interrupted(unsigned int at)
{
	const struct kasan_regs regs = {.pc = word(2), .sp = word(3), .lr = word(4), .fp = word(5)};

	kasan_report_fault_at(word(0), word(1) % SIZE_MAX_OF_FAULT, (int)at % 3 - 1, &regs);
}

static void bad_free(unsigned int at)
{
	if (at & 1)
		kasan_report_invalid_free((void *)(uintptr_t)word(0), word(1));
	else
		kasan_report_double_free((void *)(uintptr_t)word(0), word(1));
}

static void (*const objects[])(unsigned int at) = {
	live_object, handles_of_stacks, freed_object,	   freed_again, large_object,
	free_slot,   name_of_the_task,	stack_of_the_task, frame,
};
static void (*const addresses[])(unsigned int at) = {fault, interrupted, bad_free};

static void report_of_an_object(unsigned int kind, unsigned int at)
{
	const char *wrong = NULL;

	kasan_watch_begin(0, NULL);
	/* Garbage bounds of the stack may leave no room for a whole report. */
	kasan_watch_short(objects[kind] == stack_of_the_task);
	preempt_disable();
	objects[kind](at);
	preempt_enable();
	BUG_ON(kasan_watched(&wrong) > 1);
	/* Says what is wrong. */
	kasan_watch_end(NULL, NULL);
	/* Bounds that leave no room for a report are said later, and belong to no other input. */
	kasan_flush_reports();
}

static void report_of_an_address(unsigned int kind, unsigned int at)
{
	kasan_line_tap_fn tap = kasan_line_tap(look_at_line);

	/* Not one line for a place that had a report before. */
	kasan_option("kasan.repeat", "full");
	lines = separators = 0;
	preempt_disable();
	addresses[kind](at);
	preempt_enable();
	BUG_ON(separators % 2);
	kasan_line_tap(tap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kasan_report_filter_fn filter;
	kasan_report_hook_fn hook;
	unsigned int kind;

	if (size < 2)
		return 0;
	garbage = data + 2;
	garbage_size = size - 2;
	hook = kasan_report_hook(NULL);
	filter = kasan_report_filter(NULL);
	kind = data[0] % (ARRAY_SIZE(objects) + ARRAY_SIZE(addresses));
	if (kind < ARRAY_SIZE(objects))
		report_of_an_object(kind, data[1]);
	else
		report_of_an_address(kind - ARRAY_SIZE(objects), data[1]);
	kasan_report_filter(filter);
	kasan_report_hook(hook);
	return 0;
}
