/* SPDX-License-Identifier: MIT */
/* test_same.c - what a caller of the simple heaps sees is the same in every mode and without one: this file is built
 * with each, and expects the same results. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <kasan/kasan.h>
#include <kasan/page_heap.h>

static unsigned int failed;

#define CHECK(condition)                                                          \
	do {                                                                      \
		if (!(condition)) {                                               \
			printf("# line %d: %s is false\n", __LINE__, #condition); \
			failed++;                                                 \
		}                                                                 \
	} while (0)

/* An allocator that keeps each chunk's size in front of it, aligned as a machine's own would be, and overwrites what it
 * gets back. */
#define ALIGN (2 * sizeof(void *))
static char *arena, *bump;
static size_t live;

static void *take(struct kasan_heap *heap, size_t size)
{
	char *const raw = bump + ALIGN;

	(void)heap;
	if (size > 65536)
		return NULL;
	memcpy(bump, &size, sizeof(size));
	bump = raw + (size + ALIGN - 1) / ALIGN * ALIGN;
	live++;
	return raw;
}

static size_t raw_size(struct kasan_heap *heap, const void *raw)
{
	size_t size;

	(void)heap;
	memcpy(&size, (const char *)raw - ALIGN, sizeof(size));
	return size;
}

static void give(struct kasan_heap *heap, void *raw)
{
	__builtin_memset(raw, 0x5a, 1);
	live -= raw_size(heap, raw) <= 65536;
}

static char *plain(const void *object)
{
	return kasan_reset_tag(object);
}

/* Not memset(): with tags it is checked, and these pointers have lost theirs. */
static void fill(void *object, char value, size_t size)
{
	volatile char *const bytes = plain(object);

	for (size_t i = 0; i < size; i++)
		bytes[i] = value;
}

static bool holds(const void *object, char value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (plain(object)[i] != value)
			return false;
	return true;
}

static void reallocates(struct kasan_heap *heap)
{
	char *p = kasan_heap_realloc(heap, NULL, 24), *q;

	CHECK(p != NULL);
	fill(p, 'a', 24);
	q = kasan_heap_realloc(heap, p, 100);
	CHECK(q && q != p && holds(q, 'a', 24));
	fill(q, 'b', 100);
	p = kasan_heap_realloc(heap, q, 7);
	CHECK(p && holds(p, 'b', 7));
	/* Not free(). */
	q = kasan_heap_realloc(heap, p, 0);
	CHECK(q != NULL);
	p = kasan_heap_realloc(heap, q, 33);
	CHECK(p != NULL);
	fill(p, 'c', 33);
	/* No memory: the old object stays. */
	CHECK(!kasan_heap_realloc(heap, p, 1 << 20));
	CHECK(!kasan_heap_realloc(heap, p, SIZE_MAX - 4));
	CHECK(holds(p, 'c', 33));
	CHECK(kasan_heap_free(heap, p, 0));
}

static void allocates(struct kasan_heap *heap)
{
	char *p = kasan_heap_malloc(heap, 0), *q = kasan_heap_malloc(heap, 0);

	CHECK(p && q && p != q);
	CHECK(kasan_heap_free(heap, p, 0) && kasan_heap_free(heap, q, 0));
	CHECK(kasan_heap_free(heap, NULL, 0));
	p = kasan_heap_malloc(heap, 5);
	fill(p, 'x', 5);
	CHECK(kasan_heap_free(heap, p, 0));
	p = kasan_heap_calloc(heap, 7, 9);
	CHECK(p && holds(p, 0, 63));
	CHECK(kasan_heap_free(heap, p, 0));
	CHECK(!kasan_heap_calloc(heap, SIZE_MAX / 2, 3));
	CHECK(!kasan_heap_malloc(heap, 1 << 20));
	CHECK(!kasan_heap_memalign(heap, 24, 10));
	CHECK(kasan_heap_size(heap, NULL) == 0);
	kasan_heap_shrink(heap);
	CHECK(live == 0);
}

static void aligns(struct kasan_heap *heap)
{
	for (size_t align = 1; align <= 4096; align *= 2) {
		char *const p = kasan_heap_memalign(heap, align, 40);

		CHECK(p && !((uintptr_t)plain(p) & (align - 1)));
		fill(p, 'm', 40);
		CHECK(kasan_heap_size(heap, p) == 40);
		CHECK(kasan_heap_free(heap, p, 0));
	}
	kasan_heap_shrink(heap);
	CHECK(live == 0);
}

static void heap_with_sizes(void)
{
	static struct kasan_heap heap = {
		.name = "sizes", .acquire = take, .release = give, .raw_size = raw_size};

	kasan_heap_add(&heap);
	reallocates(&heap);
	allocates(&heap);
}

static void heap_without_sizes(void)
{
	static struct kasan_heap heap = {.name = "plain", .acquire = take, .release = give};

	kasan_heap_add(&heap);
	reallocates(&heap);
	allocates(&heap);
	aligns(&heap);
}

#define PAGE  ((size_t)(CONFIG_KASAN_PAGE_SIZE))
#define PAGES 24

static size_t asked, returned;
static char *pages, *next_page;

static void *take_pages(struct kasan_page_heap *heap, size_t count)
{
	char *const first = next_page;

	asked = count;
	if (count > (size_t)(pages + PAGES * PAGE - first) / PAGE)
		return NULL;
	next_page += count * PAGE;
	(void)heap;
	return first;
}

static void give_pages(struct kasan_page_heap *heap, void *first, size_t count)
{
	(void)heap;
	(void)first;
	returned = count;
}

static void page_heap(void)
{
	static struct kasan_page_heap heap = {
		.name = "pages", .acquire = take_pages, .release = give_pages};
	static const size_t sizes[][2] = {{0, 1},	 {1, 1},	{PAGE, 1},
					  {PAGE + 1, 2}, {3 * PAGE, 3}, {4 * PAGE - 1, 4}};
	void *p;

	pages = next_page = arena + 65536 - (uintptr_t)arena % 65536;
	heap.start = pages;
	heap.size = PAGES * PAGE;
	CHECK(!kasan_page_heap_add(&heap));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = kasan_page_alloc(&heap, sizes[i][0]);
		CHECK(p && asked == sizes[i][1]);
		CHECK(kasan_page_free(&heap, p, sizes[i][0], 0));
		CHECK(returned == sizes[i][1]);
	}
	asked = 0;
	CHECK(!kasan_page_alloc(&heap, SIZE_MAX - 1));
	CHECK(asked != 1);
	CHECK(!kasan_page_alloc(&heap, PAGES * PAGE));
	CHECK(kasan_page_free(&heap, NULL, 1, 0));
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"heap_with_sizes", heap_with_sizes},
		     {"heap_without_sizes", heap_without_sizes},
		     {"page_heap", page_heap}};
	static char memory[1 << 20];
	unsigned int before, all = 0;

	printf("TAP version 13\n1..%zu\n", sizeof(cases) / sizeof(cases[0]));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		before = failed;
		arena = memory;
		bump = memory + ALIGN - (uintptr_t)memory % ALIGN;
		cases[i].run();
		printf("%s %zu - %s\n", failed == before ? "ok" : "not ok", i + 1, cases[i].name);
		all += failed != before;
	}
	return all != 0;
}
