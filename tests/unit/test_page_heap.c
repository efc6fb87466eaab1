/* SPDX-License-Identifier: MIT */
/* test_page_heap.c - simple page allocators: redzones of both kinds, bad frees, quarantine, and which allocation a
 * report names. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define PAGE  CONFIG_KASAN_PAGE_SIZE
#define PAGES 20U

/* An allocator as small kernels have it: a stack of single pages, or a search for neighbours. */
static bool used[PAGES];
static unsigned int next_hint, release_count;
static size_t last_count;
static char *base;

static void *take(struct kasan_page_heap *heap, size_t count)
{
	for (unsigned int i = next_hint; i + count <= PAGES; i++) {
		size_t n = 0;

		while (n < count && !used[i + n])
			n++;
		if (n < count)
			continue;
		memset(used + i, true, count);
		return base + i * PAGE;
	}
	return NULL;
}

static void give(struct kasan_page_heap *heap, void *first, size_t count)
{
	const size_t page = (size_t)((char *)first - base) / PAGE;

	CHECKF(page + count <= PAGES && used[page], "page %zu is not in use", page);
	memset(used + page, false, count);
	/* Allocators do write into free pages, unchecked. */
	__memset(first, 1, count * PAGE);
	last_count = count;
	release_count++;
}

/* Each case has a heap of its own, which stays registered, over pages of its own. */
static void set_up(struct kasan_page_heap *heap)
{
	base = unit_arena(PAGES * PAGE);
	memset(used, false, sizeof(used));
	next_hint = release_count = 0;
	heap->name = "pages";
	heap->start = base;
	heap->size = PAGES * PAGE;
	heap->acquire = take;
	heap->release = give;
}

static struct kasan_page_heap *new_heap(struct kasan_page_heap *heap)
{
	set_up(heap);
	CHECK(!kasan_page_heap_add(heap));
	return heap;
}

static void *allocate(struct kasan_page_heap *heap, size_t size)
{
	return kasan_page_alloc(heap, size);
}

static bool refused(struct kasan_page_heap heap, const char *number)
{
	const char *why = kasan_page_heap_add(&heap);

	return CHECKF(why && strstr(why, number), "\"%s\" does not say %s", why ? why : "(none)",
		      number);
}

static void *no_memory(size_t size)
{
	(void)size;
	return NULL;
}

static void heaps_that_are_wrong(void)
{
	struct kasan_page_heap heap = {.name = "wrong", .acquire = take, .release = give};
	static struct kasan_page_heap first;
	char number[32];

	base = (char *)unit_watched(1 << 20) + (1 << 20) - PAGE;
	heap.start = base + 8;
	heap.size = PAGE;
	snprintf(number, sizeof(number), "%#lx", (unsigned long)base + PAGE);
	refused(heap, number);
	heap.start = base;
	heap.size = PAGE;
	kasan_posix_hooks.alloc = no_memory;
	refused(heap, "no memory for the records of 0x1 pages");
	kasan_posix_hooks.alloc = NULL;
	heap.size = PAGE + 1;
	snprintf(number, sizeof(number), "use %#lx", PAGE);
	refused(heap, number);
	heap.size = 0;
	refused(heap, number);
	/* Two allocators over the same pages. */
	new_heap(&first);
	heap.start = base + 3 * PAGE;
	heap.size = PAGE;
	snprintf(number, sizeof(number), "%#lx", (unsigned long)base);
	refused(heap, number);
	heap.start = (void *)~(PAGE - 1);
	heap.size = 2 * PAGE;
	snprintf(number, sizeof(number), "%#lx", 2 * PAGE);
	refused(heap, number);
}

static void size_to_the_byte(void)
{
	static struct kasan_page_heap heap;
	char *p;

	new_heap(&heap);
	EXPECT_REPORT("use-after-free", kasan_check_read(base, 1));
	for (size_t size = 0; size <= 2 * PAGE; size += size % 512 < 16 ? 1 : 496) {
		p = allocate(&heap, size);
		REQUIRE(p);
		CHECK_EQ(kasan_page_heap_size(&heap, p), size);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, size + 1), (uintptr_t)p + size);
		CHECK(kasan_page_free(&heap, p, size, 0));
		CHECK_EQ(last_count, size > PAGE ? 2 : 1);
		CHECK(!kasan_byte_accessible(p));
	}
}

static void redzone_of_whole_pages(void)
{
	static struct kasan_page_heap heap = {.redzone = 100};
	char *p, *q;
	uintptr_t a;

	new_heap(&heap);
	p = allocate(&heap, 2 * PAGE);
	q = allocate(&heap, PAGE);
	a = (uintptr_t)p;
	CHECK_EQ(q - p, 3 * PAGE);
	for (size_t at = 2 * PAGE; at < 3 * PAGE; at += 8)
		CHECK(!kasan_byte_accessible(p + at));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 2 * PAGE + 500, 4));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx", a));
	CHECK(unit_saw(" which belongs to the cache pages of size %lu", 2 * PAGE));
	CHECK(unit_saw("The buggy address is located 500 bytes to the right of"));
	CHECK(unit_saw(" allocated %lu-byte region [%016lx, %016lx)", 2 * PAGE, a, a + 2 * PAGE));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	CHECK(unit_find(0, " redzone_of_whole_pages+0x") > 0);
	CHECK(kasan_page_free(&heap, p, 0, 0));
	CHECK_EQ(last_count, 3);
	CHECK(kasan_page_free(&heap, q, PAGE, 0));
}

static void guards_of_single_pages(void)
{
	static struct kasan_page_heap heap = {.guard_every = 4};
	char *p[PAGES];
	unsigned int n = 0;

	new_heap(&heap);
	while (n < PAGES && (p[n] = allocate(&heap, PAGE)))
		n++;
	CHECK_EQ(n, PAGES * 3 / 4);
	for (unsigned int i = 0; i < n; i++)
		CHECK((size_t)(p[i] - base) / PAGE % 4 != 3);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(base + 3 * PAGE + 8, 1));
	CHECK(unit_saw("The buggy address is located 8 bytes to the right of"));
	CHECK(unit_saw(" allocated %lu-byte region [%016lx, %016lx)", PAGE,
		       (uintptr_t)base + 2 * PAGE, (uintptr_t)base + 3 * PAGE));
	/* A guard has no owner who could free it. */
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, base + 3 * PAGE, 0, 0)));
	for (unsigned int i = 0; i < n; i++)
		CHECK(kasan_page_free(&heap, p[i], PAGE, 0));
	/* Guards stay: the same number of pages can be had again. */
	for (n = 0; n < PAGES && (p[n] = allocate(&heap, PAGE));)
		n++;
	CHECK_EQ(n, PAGES * 3 / 4);
}

/* Without a redzone the page behind a live one may be free: an overrun into it belongs to the live one. */
static void overrun_into_a_free_page(void)
{
	static struct kasan_page_heap heap;
	char *p;

	new_heap(&heap);
	p = allocate(&heap, PAGE);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + PAGE, 1));
	CHECK(unit_saw("The buggy address is located 0 bytes to the right of"));
	CHECK(unit_find(0, "Allocated by task ") > 0);
}

static void bad_frees(void)
{
	static struct kasan_page_heap heap;
	char *p, *other;

	new_heap(&heap);
	p = allocate(&heap, 3 * PAGE);
	other = unit_arena(PAGE);
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, NULL, PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p + 1, 0, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p + PAGE, 0, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p + 5 * PAGE, 0, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, other, 0, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p, 2 * PAGE, 0)));
	CHECK_EQ(release_count, 0);
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p, 3 * PAGE, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p, 3 * PAGE, 0)));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p + PAGE, 0, 0)));
	CHECK_EQ(release_count, 1);
}

static void use_after_free(void)
{
	static struct kasan_page_heap heap = {.quarantine_max = 8 * PAGE};
	char *p, *q;
	uintptr_t a;

	new_heap(&heap);
	p = allocate(&heap, 5000);
	a = (uintptr_t)p;
	CHECK(kasan_page_free(&heap, p, 5000, 0));
	CHECK_EQ(release_count, 0);
	q = allocate(&heap, PAGE);
	CHECK(q != p);
	EXPECT_REPORT("use-after-free", kasan_check_read(p + 4999, 1));
	CHECK(unit_saw(" freed 5000-byte region [%016lx, %016lx)", a, a + 5000));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	CHECK(unit_find(0, "Freed by task ") > 0);
	/* Back in the allocator it is still known. */
	kasan_page_heap_shrink(&heap);
	CHECK_EQ(release_count, 1);
	EXPECT_REPORT("use-after-free", kasan_check_read(p, 1));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p, 5000, 0)));
}

/* The pages of a freed allocation find new owners one by one; the others still belong to it. */
static void parts_of_a_freed_allocation(void)
{
	static struct kasan_page_heap heap;
	char *p, *q[4];
	uintptr_t a;

	new_heap(&heap);
	p = allocate(&heap, 5 * PAGE);
	a = (uintptr_t)p;
	CHECK(kasan_page_free(&heap, p, 5 * PAGE, 0));
	/* The first page, a page in the middle, and two of which one is beyond. */
	q[0] = allocate(&heap, 100);
	next_hint = 2;
	q[1] = allocate(&heap, PAGE);
	next_hint = 4;
	q[2] = allocate(&heap, 2 * PAGE);
	CHECK(q[0] == p && q[1] == p + 2 * PAGE && q[2] == p + 4 * PAGE);
	for (unsigned int i = 1; i <= 3; i += 2) {
		EXPECT_REPORT("use-after-free", kasan_check_read(p + i * PAGE + 16, 1));
		CHECK(unit_saw("The buggy address is located %lu bytes inside of", i * PAGE + 16));
		CHECK(unit_saw(" freed %lu-byte region [%016lx, %016lx)", 5 * PAGE, a,
			       a + 5 * PAGE));
		CHECK(unit_find(0, "Allocated by task ") > 0);
		CHECK(unit_find(0, "Freed by task ") > 0);
		EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p + i * PAGE, 0, 0)));
		CHECK(unit_saw(" %lu-byte region [%016lx, %016lx)", 5 * PAGE, a, a + 5 * PAGE));
		CHECK(unit_find(0, "Freed by task ") > 0);
	}
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 100, 1));
	CHECK(unit_saw(" allocated 100-byte region [%016lx, %016lx)", a, a + 100));
	/* Its own part still is no start, and who frees a new owner's page frees that. */
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, q[2] + PAGE, 0, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p, 5 * PAGE, 0)));
	CHECK(unit_saw(" 100-byte region [%016lx, %016lx)", a, a + 100));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, q[2], 2 * PAGE, 0)));
	CHECK_EQ(last_count, 2);
	EXPECT_REPORT("use-after-free", kasan_check_read(p + 3 * PAGE, 1));
	CHECK(unit_saw(" freed %lu-byte region [%016lx, %016lx)", 5 * PAGE, a, a + 5 * PAGE));
	EXPECT_REPORT("use-after-free", kasan_check_read(p + 4 * PAGE, 1));
	CHECK(unit_saw(" freed %lu-byte region [%016lx, %016lx)", 2 * PAGE, a + 4 * PAGE,
		       a + 6 * PAGE));
}

static void quarantine_is_bounded_and_gives_way(void)
{
	static struct kasan_page_heap heap = {.quarantine_max = 8 * PAGE};
	char *p[PAGES];
	unsigned int n;

	new_heap(&heap);
	for (n = 0; n < 20; n++)
		p[n] = allocate(&heap, PAGE);
	for (n = 0; n < 20; n++) {
		CHECK(kasan_page_free(&heap, p[n], PAGE, 0));
		CHECK_EQ(release_count, n < 8 ? 0 : n - 7);
	}
	/* The oldest went first. */
	CHECK(!used[11] && used[12] && used[19]);
	/* Larger than the bound: at once, and nothing else has to go. */
	p[0] = allocate(&heap, 9 * PAGE);
	CHECK(kasan_page_free(&heap, p[0], 9 * PAGE, 0));
	CHECK_EQ(release_count, 13);
	CHECK(used[12]);
	/* An allocation that needs the held pages gets them. */
	for (n = 0; n < PAGES; n++)
		REQUIRE(allocate(&heap, PAGE));
	CHECK(!allocate(&heap, PAGE));
}

/* The tail, the head, a page in the middle: what is left is live, has the first stack, and can be freed in turn. */
static void an_allocation_is_freed_in_parts(void)
{
	static struct kasan_page_heap heap = {.redzone = PAGE, .quarantine_max = 3 * PAGE};
	char *p;
	uintptr_t a;

	new_heap(&heap);
	p = allocate(&heap, 8 * PAGE - 100);
	a = (uintptr_t)p;
	/* Two pages in the middle stay in quarantine. */
	EXPECT_NO_REPORT(CHECK(kasan_page_free_part(&heap, p + 2 * PAGE, 2 * PAGE, 0)));
	CHECK_EQ(release_count, 0);
	EXPECT_REPORT("use-after-free", kasan_check_read(p + 3 * PAGE, 1));
	CHECK(unit_saw(" freed %lu-byte region [%016lx, %016lx)", 2 * PAGE, a + 2 * PAGE,
		       a + 4 * PAGE));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	CHECK(unit_find(0, " an_allocation_is_freed_in_parts+0x") > 0);
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_NO_REPORT(kasan_check_write(p, 2 * PAGE));
	EXPECT_NO_REPORT(kasan_check_write(p + 4 * PAGE, 4 * PAGE - 100));
	CHECK_EQ(kasan_page_heap_size(&heap, p), 2 * PAGE);
	CHECK_EQ(kasan_page_heap_size(&heap, p + 4 * PAGE), 4 * PAGE - 100);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 8 * PAGE - 100, 1));
	CHECK(unit_saw(" allocated %lu-byte region [%016lx, %016lx)", 4 * PAGE - 100, a + 4 * PAGE,
		       a + 8 * PAGE - 100));
	CHECK(unit_find(0, " an_allocation_is_freed_in_parts+0x") > 0);
	/* Freed before, not aligned, over the end of a part, into the redzone, outside. */
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free_part(&heap, p + 3 * PAGE, PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free_part(&heap, p + 8, PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free_part(&heap, p, 3 * PAGE, 0)));
	EXPECT_REPORT("invalid-free",
		      CHECK(!kasan_page_free_part(&heap, p + 7 * PAGE, 2 * PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free_part(&heap, p + 8 * PAGE, PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free_part(&heap, p, (size_t)-1, 0)));
	/* A whole free of what is left of the head, with its size. */
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p, 8 * PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p, 2 * PAGE, 0)));
	CHECK_EQ(release_count, 1);
	CHECK_EQ(last_count, 2);
	/* Singly; the redzone goes with the last page. */
	kasan_page_heap_shrink(&heap);
	for (unsigned int i = 4; i < 8; i++) {
		EXPECT_NO_REPORT(
			CHECK(kasan_page_free_part(&heap, p + i * PAGE, i == 7 ? 0 : PAGE, 0)));
		kasan_page_heap_shrink(&heap);
		CHECK_EQ(last_count, i == 7 ? 2 : 1);
	}
	for (unsigned int i = 0; i < PAGES; i++)
		CHECK(!used[i]);
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free_part(&heap, p, PAGE, 0)));
}

/* Pages that the allocator gave before the heap was added stay usable; their frees are checked from then on. */
static void early_pages_come_back(void)
{
	static struct kasan_page_heap heap = {.quarantine_max = 8 * PAGE};
	char *p[4];

	set_up(&heap);
	for (unsigned int i = 0; i < 4; i++)
		p[i] = allocate(&heap, i == 1 ? 2 * PAGE : PAGE);
	CHECK(kasan_page_free(&heap, p[2], PAGE, 0));
	CHECK_EQ(release_count, 1);
	CHECK(!kasan_page_heap_add(&heap));
	EXPECT_NO_REPORT(kasan_check_write(base, 5 * PAGE));
	EXPECT_REPORT("use-after-free", kasan_check_read(base + 5 * PAGE, 1));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p[1] + 1, PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, p[3], 2 * PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p[1], 2 * PAGE, 0)));
	CHECK_EQ(release_count, 1);
	EXPECT_REPORT("use-after-free", kasan_check_read(p[1] + PAGE, 1));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p[1], 2 * PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p[0], PAGE, 0)));
	/* The page that was free before is handed out as any other. */
	CHECK((p[2] = allocate(&heap, 100)) == base + 3 * PAGE);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p[2] + 100, 1));
	EXPECT_NO_REPORT(CHECK(kasan_page_free_part(&heap, p[3], PAGE, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free_part(&heap, p[3], PAGE, 0)));
}

static void pages_in_use_are_adopted(void)
{
	static struct kasan_page_heap heap;
	char *early;

	new_heap(&heap);
	early = take(&heap, 2);
	kasan_page_heap_adopt(&heap, early, 2 * PAGE);
	EXPECT_NO_REPORT(kasan_check_write(early, 2 * PAGE));
	CHECK_EQ(kasan_page_heap_size(&heap, early), 2 * PAGE);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(early + 2 * PAGE, 1));
	CHECK(unit_find(0, "Allocated by task ") < 0);
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, early, 2 * PAGE, 0)));
	EXPECT_REPORT("use-after-free", kasan_check_read(early, 1));
	CHECK(unit_find(0, "Allocated by task ") < 0);
	CHECK(unit_find(0, "Freed by task ") > 0);
}

/* --- Several CPUs -------------------------------------------------------------------------------- */

#define ROUNDS 2000

static pthread_mutex_t take_lock = PTHREAD_MUTEX_INITIALIZER;

static void *locked_take(struct kasan_page_heap *heap, size_t count)
{
	void *raw;

	pthread_mutex_lock(&take_lock);
	raw = take(heap, count);
	pthread_mutex_unlock(&take_lock);
	return raw;
}

static void locked_give(struct kasan_page_heap *heap, void *first, size_t count)
{
	pthread_mutex_lock(&take_lock);
	give(heap, first, count);
	pthread_mutex_unlock(&take_lock);
}

static void *churn(void *argument)
{
	struct kasan_page_heap *heap = argument;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const size_t size = PAGE * (1 + i % 3) - i % 100;
		char *p = kasan_page_alloc(heap, size);

		if (p) {
			CHECK_EQ(kasan_first_bad((uintptr_t)p, size), 0);
			CHECK(kasan_page_free(heap, p, size, 0));
		}
	}
	return NULL;
}

static void on_several_cpus(void)
{
	static struct kasan_page_heap heap = {.quarantine_max = 6 * PAGE, .redzone = PAGE};
	pthread_t thread[4];

	new_heap(&heap);
	heap.acquire = locked_take;
	heap.release = locked_give;
	unit_clear();
	for (int i = 0; i < 4; i++)
		REQUIRE(!pthread_create(&thread[i], NULL, churn, &heap));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(unit_reports(), 0);
	kasan_page_heap_shrink(&heap);
	for (unsigned int i = 0; i < PAGES; i++)
		CHECKF(!used[i], "page %u is lost", i);
}

UNIT_MAIN(heaps_that_are_wrong, size_to_the_byte, redzone_of_whole_pages, guards_of_single_pages,
	  overrun_into_a_free_page, bad_frees, use_after_free, parts_of_a_freed_allocation,
	  quarantine_is_bounded_and_gives_way, pages_in_use_are_adopted,
	  an_allocation_is_freed_in_parts, early_pages_come_back, on_several_cpus)
