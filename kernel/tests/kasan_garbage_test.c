// SPDX-License-Identifier: MIT
/*
 * kasan_garbage_test.c - a bug may destroy the data that its report reads. Each piece of that data is overwritten
 * with garbage, again and again, and the report must still be whole.
 *
 * kasan_test.rounds= sets how often, kasan_test.seed= chooses the garbage. Each case prints its first
 * report only and reads the others.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/param.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kasan/port.h>
#include <asm/stacktrace.h>

#include "kasan_test.h"
#include "kasan_whole.h"

static unsigned int rounds = 100;
range_param("kasan_test.rounds", rounds, 1, 4294967295, "a number",
	    "rounds of each case of the suite kasan_garbage");

static unsigned long seed = 1;
core_param("kasan_test.seed", seed, ulong, "a number below 2^64",
	   "garbage of the suite kasan_garbage");

/* --- Garbage ---------------------------------------------------------------------------------- */

#define GARBAGE_MAX 256

static struct rnd_state rnd;
static u8 saved[GARBAGE_MAX];

static u64 random_u64(void)
{
	return (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);
}

/* Random bits, and plausible words: addresses of memory, or beside it, and small numbers. */
static u64 garbage_word(void)
{
	u64 word = random_u64();

	switch (prandom_u32_state(&rnd) % 8) {
	case 0:
		return PAGE_OFFSET + word % (1UL << 30);
	case 1:
		return VMALLOC_START + word % (1UL << 24);
	case 2:
		return KIMAGE_VADDR + word % (1UL << 22);
	case 3:
		return word % 4096;
	case 4:
		return 0 - word % 4096;
	case 5:
		return (u64)(uintptr_t)saved + word % 64;
	default:
		return word;
	}
}

/* Overwrite @size bytes, also in redzones: the runtime's unchecked functions may do that. */
static void spoil(void *ptr, size_t size)
{
	u64 words[GARBAGE_MAX / 8];

	BUG_ON(size > GARBAGE_MAX);
	__memcpy(saved, ptr, size);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = garbage_word();
	/* Sometimes all bytes are equal, like after a memset() that went too far. */
	if (prandom_u32_state(&rnd) % 8 == 0)
		memset(words, (int)words[0], sizeof(words));
	__memcpy(ptr, words, size);
}

static void restore(void *ptr, size_t size)
{
	__memcpy(ptr, saved, size);
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/** struct subject - the data that a case overwrites, and the access that causes the report */
struct subject {
	char *object;
	const struct kasan_cache *cache;
	struct kmem_cache *own;
	struct page *page;
	void *kept;
};

static noinline void read_byte(char *p)
{
	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(*p));
	/* Runs while the garbage is in place. */
	kasan_settle();
	barrier();
}

/* Begins of the lines that the report cannot have any more. */
static const char *unknown;
static unsigned int invented;

static void look_for_unknown(unsigned int complete, const char *text)
{
	if (unknown && strncmp(text, unknown, strlen(unknown)) == 0)
		invented++;
}

/* Each @round must cause one report of @access of @size bytes, without lines that begin with @not_known. */
static void run_rounds_of(struct kunit *test, void (*round)(struct subject *subject),
			  struct subject *subject, const char *not_known, enum kasan_access access,
			  size_t size)
{
	const char *wrong = NULL;
	unsigned int i, n = 0;

	prandom_seed_state(&rnd, seed);
	unknown = not_known;
	invented = 0;
	_KUNIT_SAVE_LOC(test);
	kasan_expect_begin();
	kasan_watch_begin(1, look_for_unknown);
	for (i = 0; i < rounds && !wrong; i++) {
		/* No other code may read the data before it is restored. */
		preempt_disable();
		round(subject);
		preempt_enable();
		n = kasan_watched(&wrong);
		if (n != i + 1)
			break;
	}
	KUNIT_EXPECT_EQ(test, kasan_watch_end(test, KUNIT_CURRENT_LOC), rounds);
	KUNIT_EXPECT_EQ(test, invented, 0);
	kasan_expect_end(test, KUNIT_CURRENT_LOC, "run_rounds()", NULL, access, size, false);
	kunit_info(test, "%u of %u rounds, kasan_test.seed=%lu", n, rounds, seed);
}

/* The same with a bad read of a byte. */
static void run_rounds(struct kunit *test, void (*round)(struct subject *subject),
		       struct subject *subject, const char *not_known)
{
	run_rounds_of(test, round, subject, not_known, KASAN_READ, 1);
}

/* --- What the allocator knows ----------------------------------------------------------------- */

/* A freed object in the test's own cache, so that no other code allocates or frees while its parts are
 * garbage. */
static void own_cache(struct kunit *test, struct subject *subject)
{
	subject->own = kmem_cache_create("kasan_garbage", 64, 0, 0, NULL);
	KUNIT_ASSERT_NOT_NULL(test, subject->own);
	subject->kept = kmem_cache_alloc(subject->own, GFP_KERNEL);
	subject->object = kmem_cache_alloc(subject->own, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, subject->kept);
	KUNIT_ASSERT_NOT_NULL(test, subject->object);
	kmem_cache_free(subject->own, subject->object);
	/* Out of the quarantine; the slab stays, as one of its objects is in use. */
	kmem_cache_shrink(subject->own);
}

static void destroy_cache(struct subject *subject)
{
	kmem_cache_free(subject->own, subject->kept);
	kmem_cache_destroy(subject->own);
}

static void spoil_free_slot(struct subject *subject)
{
	void *slot = kasan_reset_tag(subject->object);

	spoil(slot, 64);
	read_byte(subject->object + 20);
	restore(slot, 64);
}

/* The link to the next free slot is in the slot. */
static void freelist_pointer(struct kunit *test)
{
	struct subject subject = {};

	own_cache(test, &subject);
	run_rounds(test, spoil_free_slot, &subject, NULL);
	/* The link is restored, so these allocations take the slots. */
	for (int i = 0; i < 40; i++) {
		void *other = kmem_cache_alloc(subject.own, GFP_KERNEL);

		KUNIT_EXPECT_NOT_NULL(test, other);
		kmem_cache_free(subject.own, other);
	}
	destroy_cache(&subject);
}

static void spoil_slab(struct subject *subject)
{
	struct page *page = subject->page;
	/* Not the flags, which the page allocator looks at when a neighbour is freed. */
	const size_t from = offsetof(struct page, slab_cache);

	spoil((char *)page + from, sizeof(*page) - from);
	read_byte(subject->object + 20);
	restore((char *)page + from, sizeof(*page) - from);
}

static void descriptor_of_a_slab(struct kunit *test)
{
	struct subject subject = {};

	own_cache(test, &subject);
	subject.page = virt_to_page(subject.object);
	KUNIT_ASSERT_TRUE(test, PageSlab(subject.page));
	run_rounds(test, spoil_slab, &subject, NULL);
	destroy_cache(&subject);
}

/* --- The task --------------------------------------------------------------------------------- */

/* A report on a stack with less room may be short, and rightly. */
#define NEARLY_FULL (2 * PAGE_SIZE)

/* Put garbage in place of the bounds of the task's stack. frame: also in that of the frame record. */
static void spoil_stack_bounds(void *record, bool frame)
{
	switch (prandom_u32_state(&rnd) % 4) {
	case 0:
		current->stack = (void *)(uintptr_t)garbage_word();
		break;
	case 1:
		current->stack_size = garbage_word();
		break;
	case 2:
		/* Bounds around this place, so that they are plausible, and far larger than the stack. */
		current->stack = (void *)((uintptr_t)record - random_u64() % (1UL << 40));
		current->stack_size =
			(uintptr_t)record - (uintptr_t)current->stack + random_u64() % (1UL << 40);
		/* Climbing, but not to a frame; or anywhere, with an end of the stack that is odd. */
		if (frame && prandom_u32_state(&rnd) % 2)
			*(uintptr_t *)record = (uintptr_t)record + 8 * (random_u64() % (1UL << 24));
		break;
	default:
		current->stack = (void *)(uintptr_t)garbage_word();
		current->stack_size = garbage_word();
	}
}

/* Interrupts are off, because only an interrupt could look at this task's stack. */
static noinline void spoil_stack_pointer(struct subject *subject)
{
	void *record = (void *)arch_frame_record((uintptr_t)__builtin_frame_address(0));
	bool frame = prandom_u32_state(&rnd) % 2;
	size_t size = current->stack_size;
	void *stack = current->stack;
	unsigned long flags;

	local_irq_save(flags);
	/* The frame record may also lead elsewhere, as on an overwritten stack. */
	if (frame)
		spoil(record, 16);
	do {
		current->stack = stack;
		current->stack_size = size;
		spoil_stack_bounds(record, frame);
	} while ((uintptr_t)record - (uintptr_t)current->stack < NEARLY_FULL);
	read_byte(subject->object + 20);
	current->stack = stack;
	current->stack_size = size;
	if (frame)
		restore(record, 16);
	local_irq_restore(flags);
}

static void stack_pointer_of_the_task(struct kunit *test)
{
	struct subject subject = {};

	own_cache(test, &subject);
	run_rounds(test, spoil_stack_pointer, &subject, NULL);
	destroy_cache(&subject);
}

/* The two words of a frame: the caller's frame, and where to return to. */
static noinline void spoil_frame_record(struct subject *subject)
{
	void *record = (void *)arch_frame_record((uintptr_t)__builtin_frame_address(0));
	unsigned long flags;

	local_irq_save(flags);
	spoil(record, 16);
	read_byte(subject->object + 20);
	restore(record, 16);
	local_irq_restore(flags);
}

static void frame_record(struct kunit *test)
{
	struct subject subject = {};

	own_cache(test, &subject);
	run_rounds(test, spoil_frame_record, &subject, NULL);
	destroy_cache(&subject);
}

static void spoil_name(struct subject *subject)
{
	spoil(current->comm, sizeof(current->comm));
	read_byte(subject->object + 20);
	restore(current->comm, sizeof(current->comm));
}

static void name_of_the_task(struct kunit *test)
{
	struct subject subject = {};

	own_cache(test, &subject);
	run_rounds(test, spoil_name, &subject, NULL);
	destroy_cache(&subject);
}

#ifdef CONFIG_KASAN_GENERIC

/* --- Metadata of objects ------------------------------------------------------------------ */

static void find_cache(struct kunit *test, struct subject *subject)
{
	struct kasan_object object;

	KUNIT_ASSERT_NOT_NULL(test, subject->object);
	KUNIT_ASSERT_TRUE(test, kasan_port_find_object(subject->object, &object));
	KUNIT_ASSERT_EQ(test, object.kind, KASAN_OBJECT_SLAB);
	subject->cache = object.cache;
}

static struct kasan_alloc_meta *meta_of(const struct subject *subject)
{
	return (void *)(subject->object + subject->cache->alloc_meta_offset);
}

static void spoil_live_meta(struct subject *subject)
{
	spoil(meta_of(subject), sizeof(struct kasan_alloc_meta));
	read_byte(subject->object + 40);
	restore(meta_of(subject), sizeof(struct kasan_alloc_meta));
}

static void metadata_of_a_live_object(struct kunit *test)
{
	struct subject subject = {.object = kmalloc(40, GFP_KERNEL)};

	find_cache(test, &subject);
	run_rounds(test, spoil_live_meta, &subject, "Allocated by task ");
	kfree(subject.object);
}

static void spoil_freed_meta(struct subject *subject)
{
	spoil(meta_of(subject), sizeof(struct kasan_alloc_meta));
	read_byte(subject->object + 20);
	restore(meta_of(subject), sizeof(struct kasan_alloc_meta));
}

static void metadata_of_a_freed_object(struct kunit *test)
{
	struct subject subject = {.object = kmalloc(40, GFP_KERNEL)};

	find_cache(test, &subject);
	kfree(subject.object);
	run_rounds(test, spoil_freed_meta, &subject, "Allocated by task ");
}

/* The object itself stores which task freed it, and from where. */
static void spoil_freed_object(struct subject *subject)
{
	void *meta = subject->object + subject->cache->free_meta_offset;

	spoil(meta, sizeof(struct kasan_free_meta));
	read_byte(subject->object + 20);
	restore(meta, sizeof(struct kasan_free_meta));
}

static void track_of_a_free(struct kunit *test)
{
	struct subject subject = {.object = kmalloc(40, GFP_KERNEL)};

	find_cache(test, &subject);
	kfree(subject.object);
	run_rounds(test, spoil_freed_object, &subject, "Freed by task ");
}

/* The allocator reads the object that is about to be freed here. */
static void spoil_and_free(struct subject *subject)
{
	bool inside = prandom_u32_state(&rnd) % 2;
	void *meta = inside ? subject->object + subject->cache->free_meta_offset
			    : (char *)meta_of(subject);
	size_t size = inside ? sizeof(struct kasan_free_meta) : sizeof(struct kasan_alloc_meta);

	spoil(meta, size);
	KASAN_TEST_BUG(kfree(subject->object));
	restore(meta, size);
}

static void freed_again(struct kunit *test)
{
	struct subject subject = {.object = kmalloc(40, GFP_KERNEL)};

	find_cache(test, &subject);
	kfree(subject.object);
	run_rounds_of(test, spoil_and_free, &subject, NULL, KASAN_FREE, 0);
}

/* These handles have no seal: any value goes to the depot. */
static void spoil_handles(struct subject *subject)
{
	struct kasan_alloc_meta *meta = meta_of(subject);
	u32 near;

	spoil(meta->aux_stack, sizeof(meta->aux_stack));
	if (prandom_u32_state(&rnd) % 2) {
		/* Inside of the depot, but of no record. */
		__memcpy(&near, &meta->alloc.stack, sizeof(near));
		near += prandom_u32_state(&rnd) % 4096 - 2048;
		__memcpy(&meta->aux_stack[prandom_u32_state(&rnd) % 2], &near, sizeof(near));
	}
	read_byte(subject->object + 40);
	restore(meta->aux_stack, sizeof(meta->aux_stack));
}

static void handles_of_stacks(struct kunit *test)
{
	struct subject subject = {.object = kmalloc(40, GFP_KERNEL)};

	find_cache(test, &subject);
	run_rounds(test, spoil_handles, &subject, NULL);
	kfree(subject.object);
}

static void spoil_large(struct subject *subject)
{
	spoil(&subject->page->large, sizeof(subject->page->large));
	read_byte(subject->object + 20000);
	restore(&subject->page->large, sizeof(subject->page->large));
}

static void metadata_of_a_large_object(struct kunit *test)
{
	struct subject subject = {.object = kmalloc(20000, GFP_KERNEL)};

	KUNIT_ASSERT_NOT_NULL(test, subject.object);
	subject.page = virt_to_page(subject.object);
	KUNIT_ASSERT_TRUE(test, PageLarge(subject.page));
	run_rounds(test, spoil_large, &subject, NULL);
	kfree(subject.object);
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* The three words in a frame's left redzone: a magic number, where its variables are described, and
 * its function. */
static noinline void spoil_frame_description(struct subject *subject)
{
	char array[24];
	char *p = array;
	size_t size = 24;
	const u8 *shadow;

	HIDE_VAR(p);
	for (shadow = kasan_shadow_of(p); *shadow != KASAN_STACK_LEFT; shadow--)
		p -= 8;
	for (; shadow[-1] == KASAN_STACK_LEFT; shadow--)
		p -= 8;
	p = (char *)((uintptr_t)p & ~7UL);
	/* The magic number stays, so the other two words are used. */
	if (prandom_u32_state(&rnd) % 2) {
		p += 8;
		size -= 8;
	}
	spoil(p, size);
	read_byte(array + sizeof(array));
	restore(p, size);
}

static void frame_description(struct kunit *test)
{
	struct subject subject = {};

	run_rounds(test, spoil_frame_description, &subject, NULL);
}

#endif /* CONFIG_KASAN_GENERIC */

static struct kunit_case kasan_garbage_test_cases[] = {
	KUNIT_CASE(freelist_pointer),
	KUNIT_CASE(descriptor_of_a_slab),
	KUNIT_CASE(stack_pointer_of_the_task),
	KUNIT_CASE(frame_record),
	KUNIT_CASE(name_of_the_task),
#ifdef CONFIG_KASAN_GENERIC
	KUNIT_CASE(metadata_of_a_live_object),
	KUNIT_CASE(metadata_of_a_freed_object),
	KUNIT_CASE(track_of_a_free),
	KUNIT_CASE(freed_again),
	KUNIT_CASE(handles_of_stacks),
	KUNIT_CASE(metadata_of_a_large_object),
	KUNIT_CASE(frame_description),
#endif
	{},
};

KUNIT_SUITE(kasan_garbage, kasan_garbage_test_cases, KASAN_BUG_SUITE_INIT);
