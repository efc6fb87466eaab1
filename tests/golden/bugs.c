/* SPDX-License-Identifier: MIT */
/*
 * bugs.c - one bug of each type, for the golden reports. `bugs TYPE` runs that one.
 *
 * Functions are named after their mistake, not inlined, and called from main() alone, so that the
 * report's trace is short and says it all.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

#define BUG static __attribute__((noinline)) void

/* Kernel functions: a driver frees with kfree(), and its report names the driver's function. */
void kfree(const void *p);
void *krealloc(const void *p, size_t size, unsigned int flags);
size_t kmem_cache_check_slack(void *cache);
void *vmalloc(unsigned long size);
void kasan_dma_map(const void *addr, size_t size, int direction);
void kasan_dma_unmap(const void *addr, size_t size, int direction);
void *__memset(void *dst, int c, size_t n);
enum { KASAN_DMA_TO_DEVICE = 1, KASAN_DMA_FROM_DEVICE };
void vfree(const void *addr);
void *__alloc_percpu(const char *name, size_t size, size_t stride, unsigned int gfp);
void free_percpu(const void *pointer);
struct mm_struct;
struct mm_struct *mm_alloc(void);
void kthread_use_mm(struct mm_struct *mm);
unsigned long vm_mmap(void *file, unsigned long addr, unsigned long size, unsigned long prot,
		      unsigned long flags, unsigned long offset);

/* Where behind an object of @size bytes an access is seen: hardware compares granules of 16 bytes. */
#ifndef GRANULE
#define GRANULE 1
#endif
#define END(size) (((size) + GRANULE - 1) / GRANULE * GRANULE)

static volatile int zero;
static volatile int thirteen = 13;
static volatile long sink;
static int table[10];
static char *volatile pointer;

BUG heap_overflow(void)
{
	char *p = malloc((size_t)thirteen);

	p[END(thirteen)] = 'x';
	free(p);
}

BUG heap_underflow(void)
{
	char *p = malloc(40);
	size_t before, at;

	/* Behind another object of the same page: the report describes that object and its page. */
	do {
		before = (uintptr_t)p % 4096;
		p = malloc(40);
		at = (uintptr_t)p % 4096;
	} while (at <= before || at - before > 256);
	sink = p[zero - 1];
	free(p);
}

BUG read_after_free(void)
{
	long *p = malloc(80);

	free(p);
	sink = p[thirteen - 10];
}

BUG read_of_freed_pages(void)
{
	char *p = malloc(20000);

	free(p);
	sink = p[9000 + zero];
}

BUG second_free(void)
{
	char *p = malloc(100);

	pointer = p;
	kfree(p);
	kfree(pointer);
}

BUG free_of_the_middle(void)
{
	char *p = malloc(100);

	pointer = p + 16 + zero;
	kfree(pointer);
	kfree(p);
}

BUG stack_overflow(void)
{
	char name[10] = "redzone";
	int numbers[4] = {1, 2, 3, 4};

	pointer = name;
	numbers[zero] = 5;
	sink = numbers[3] + pointer[thirteen - 3];
}

BUG variable_array_overflow(void)
{
	char bytes[thirteen];

	memset(bytes, 0, (size_t)thirteen);
	pointer = bytes;
	pointer[thirteen] = 1;
}

BUG use_of_an_ended_block(void)
{
	long *p = NULL;

	for (int i = 0; i <= zero; i++) {
		long inner[4] = {i, i, i, i};

		pointer = (char *)inner;
		p = inner + i;
	}
	sink = *(volatile long *)(pointer + ((char *)p - pointer));
}

BUG global_overflow(void)
{
	pointer = (char *)table;
	((volatile int *)pointer)[thirteen - 3] = 1;
}

BUG vmalloc_overflow(void)
{
	char *p = vmalloc(5000);

	sink = p[END(5000) + zero];
	vfree(p);
}

BUG negative_size(void)
{
	char *p = malloc(64);

	memset(p, 0, (size_t)(zero - 2));
	free(p);
}

BUG null_member(void)
{
	const struct {
		long a, b, c, d;
	} *volatile p = NULL;

	sink = p->d;
}

BUG wild_access(void)
{
	pointer = (char *)0xdead4ead00000100 + zero;
	*(volatile short *)pointer = 1;
}

/* The mistake of a system call that trusts its argument, here in a thread that has user memory. */
BUG driver_ioctl(const int *argument)
{
	sink = *(volatile const int *)argument;
}

BUG user_access(void)
{
	kthread_use_mm(mm_alloc());
	/* Readable and writable; private and anonymous. */
	driver_ioctl((const int *)vm_mmap(NULL, 0, 4096, 3, 0x22, 0));
}

/* Another object's memory, if there were no redzone. */
BUG read_far_before(void)
{
	char *p = malloc(1 << 20);

	sink = p[-4013 + thirteen];
	free(p);
}

/* This CPU's copy is the first one. */
BUG count_past_the_end(void)
{
	long *hits = __alloc_percpu("hits", sizeof(long), 64, 2);

	hits[(size_t)thirteen - 13 + END(sizeof(long)) / sizeof(long)] = 1;
	free_percpu(hits);
}

/* The device has not finished. */
BUG read_too_early(void)
{
	char *p = malloc(64);

	kasan_dma_map(p, 64, KASAN_DMA_FROM_DEVICE);
	sink = p[thirteen + 4];
	kasan_dma_unmap(p, 64, KASAN_DMA_FROM_DEVICE);
	free(p);
}

BUG unmap_of_a_part(void)
{
	char *p = malloc(64);

	kasan_dma_map(p, 64, KASAN_DMA_TO_DEVICE);
	kasan_dma_unmap(p, (size_t)thirteen, KASAN_DMA_TO_DEVICE);
	free(p);
}

/* What writes there without a check stands for a device that was given a wrong length. */
BUG end_of_a_transfer(void)
{
	char *p = malloc(20);

	kasan_dma_map(p, 20, KASAN_DMA_FROM_DEVICE);
	__memset(p + 20, 'x', 3);
	kasan_dma_unmap(p, 20, KASAN_DMA_FROM_DEVICE);
	free(p);
}

/* memmove() was meant. */
BUG shift_up_by_one(void)
{
	char *p = calloc(1, 64);

	pointer = p;
	memcpy(pointer + 1, pointer, (size_t)(thirteen * 2));
	free(p);
}

/* The hook of a device that has none. */
BUG call_of_null(void)
{
	static void (*volatile hook)(void);

	hook();
	sink = 1;
}

/* An address of the lower half: user memory elsewhere, but this thread has none. */
BUG low_access(void)
{
	pointer = (char *)0x7f1234567000 + zero;
	sink = *(volatile int *)pointer;
}

/* Inside the last granule of an object: with hardware tags and kasan.slack=check. */
static char *spilled(void)
{
	char *p = malloc((size_t)thirteen);

	pointer = p;
	pointer[thirteen] = '\0';
	pointer[thirteen + 2] = '\0';
	return p;
}

BUG found_at_free(void)
{
	kfree(spilled());
}

BUG found_at_krealloc(void)
{
	kfree(krealloc(spilled(), 14, 0));
}

BUG found_in_a_walk(void)
{
	char *p = spilled();

	sink = (long)kmem_cache_check_slack(NULL);
	kfree(p);
}

BUG read_of_poison(void)
{
	char *p = malloc(200);

	__asan_poison_memory_region(p + 32, 64);
	sink = p[32 + thirteen];
	__asan_unpoison_memory_region(p + 32, 64);
	free(p);
}

static const struct {
	const char *type;
	void (*run)(void);
} bugs[] = {
	{"slab-out-of-bounds", heap_overflow},
	{"slab-out-of-bounds-left", heap_underflow},
	{"slab-use-after-free", read_after_free},
	{"use-after-free", read_of_freed_pages},
	{"double-free", second_free},
	{"invalid-free", free_of_the_middle},
	{"stack-out-of-bounds", stack_overflow},
	{"alloca-out-of-bounds", variable_array_overflow},
	{"use-after-scope", use_of_an_ended_block},
	{"global-out-of-bounds", global_overflow},
	{"vmalloc-out-of-bounds", vmalloc_overflow},
	{"use-after-poison", read_of_poison},
	{"out-of-bounds", negative_size},
	{"null-ptr-deref", null_member},
	{"user-memory-access", user_access},
	{"wild-memory-access", wild_access},
	{"wild-memory-access-low", low_access},
	{"invalid-call", call_of_null},
	{"memcpy-param-overlap", shift_up_by_one},
	{"page-redzone", read_far_before},
	{"per-cpu", count_past_the_end},
	{"dma-use", read_too_early},
	{"dma-invalid-unmap", unmap_of_a_part},
	{"dma-out-of-bounds", end_of_a_transfer},
	{"slack-free", found_at_free},
	{"slack-krealloc", found_at_krealloc},
	{"slack-walk", found_in_a_walk},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++)
		if (argc == 2 && !strcmp(argv[1], bugs[i].type)) {
			bugs[i].run();
			return 0;
		}
	printf("bugs: no bug '%s'\n", argc > 1 ? argv[1] : "");
	return 2;
}
