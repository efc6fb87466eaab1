/* SPDX-License-Identifier: MIT */
/*
 * test_mistakes.c - one test for each mistake that other sanitizer runtimes have made. The comment above a test names
 * the mistake. The test fails on a runtime that makes it.
 *
 * Two more mistakes need instrumented code and have their own tests: "the report path itself instrumented"
 * (abi_symbols.py looks at the objects) and "globals whose constructors never run" (inst_globals.c).
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "fake_slab.h"

/* Mistake: addresses kept in int or masked with a 32-bit constant on a 64-bit target. */
static void addresses_keep_all_64_bits(void)
{
	char *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	/* An address with the same low 32 bits, 2^46 higher. */
	char *high = mmap((void *)0x400010000000, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	REQUIRE(low == (char *)0x10000000 && high == (char *)0x400010000000);
	kasan_poison(high, 4096, KASAN_SLAB_REDZONE);
	CHECK(kasan_byte_accessible(low));
	CHECK(!kasan_byte_accessible(high));
	EXPECT_NO_REPORT(__asan_load8_noabort((uintptr_t)low));
	EXPECT_REPORT("slab-out-of-bounds", __asan_load8_noabort((uintptr_t)high));
	CHECK_EQ(unit_last()->addr, 0x400010000000);
	CHECK(unit_find(0, "Read of size 8 at addr 0000400010000000 by task ") >= 0);
	kasan_unpoison(high, 4096);
	kasan_poison(low, 4096, KASAN_SLAB_REDZONE);
	CHECK(kasan_byte_accessible(high));
	kasan_unpoison(low, 4096);
	munmap(low, 4096);
	munmap(high, 4096);
}

/* The same mistake in a size: a range longer than 4 GiB, bad only near its end. */
static void sizes_keep_all_64_bits(void)
{
	const size_t size = 5UL << 30;
	char *huge = unit_arena(size);

	CHECK_EQ(kasan_first_bad((uintptr_t)huge, size), 0);
	kasan_poison(huge + size - 64, 8, KASAN_SLAB_REDZONE);
	CHECK_EQ(kasan_first_bad((uintptr_t)huge, size), (uintptr_t)huge + size - 64);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(huge, size));
	CHECK_EQ(unit_last()->size, size);
	kasan_unpoison(huge + size - 64, 8);
	munmap(huge, size);
}

/* Mistake: a range check that looks only at the first granule. */
static void range_check_sees_every_granule(void)
{
	char *p = unit_watched(65536);

	for (size_t at = 0; at < 4096; at += 8) {
		kasan_poison(p + at, 8, KASAN_SLAB_FREE);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 4096), (uintptr_t)p + at);
		CHECK_EQ(kasan_first_bad((uintptr_t)p + 1, 4095), (uintptr_t)p + (at ? at : 1));
		EXPECT_REPORT("slab-use-after-free", __asan_loadN_noabort((uintptr_t)p, 4096));
		kasan_unpoison(p + at, 8);
	}
	/* Accesses that start in a good granule and end in the next. */
	kasan_poison(p + 64, 8, KASAN_SLAB_FREE);
	EXPECT_REPORT("slab-use-after-free", __asan_load2_noabort((uintptr_t)p + 63));
	EXPECT_REPORT("slab-use-after-free", __asan_load4_noabort((uintptr_t)p + 61));
	EXPECT_REPORT("slab-use-after-free", __asan_load8_noabort((uintptr_t)p + 57));
	EXPECT_REPORT("slab-use-after-free", __asan_load16_noabort((uintptr_t)p + 49));
	EXPECT_NO_REPORT(__asan_load16_noabort((uintptr_t)p + 48));
	/* 16 bytes that start one granule earlier and end one later: three granules. */
	kasan_unpoison(p + 64, 8);
	kasan_poison(p + 72, 8, KASAN_SLAB_FREE);
	EXPECT_REPORT("slab-use-after-free", __asan_load16_noabort((uintptr_t)p + 57));
	kasan_unpoison(p + 72, 8);
}

/* --- Counting instructions: the trap flag raises SIGTRAP after each one ----------------------- */

static volatile unsigned long steps;

static void on_step(int sig)
{
	steps++;
}

static __attribute__((noinline)) unsigned long count_instructions(uintptr_t addr, size_t size)
{
	struct sigaction action = {.sa_handler = on_step}, old;

	sigaction(SIGTRAP, &action, &old);
	steps = 0;
#ifdef __x86_64__
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	kasan_first_bad(addr, size);
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
#else
	unit_skip("the processor has no trap flag");
#endif
	sigaction(SIGTRAP, &old, NULL);
	return steps;
}

/* Mistake: a range check byte by byte. */
static void range_check_reads_words(void)
{
	char *p = unit_watched(65536);

	/* 64 KiB have 8192 shadow bytes: reading each byte takes more than 8192 instructions. */
	for (size_t skew = 0; skew < 16; skew += 5) {
		unsigned long n = count_instructions((uintptr_t)p + skew, 65536 - skew);

		CHECKF(n > 0 && n < 4096, "%lu instructions for 8192 bytes of shadow", n);
	}
}

/* --- Heaps ------------------------------------------------------------------------------------ */

static char *handed_back;
static size_t handed_back_size;

static void release_and_reuse(struct kasan_heap *heap, void *raw)
{
	/* Like an allocator whose next caller is already waiting: use the chunk at once. */
	handed_back = raw;
	kasan_unpoison(raw, handed_back_size);
	memset(raw, 0x11, handed_back_size);
}

/* Mistake: poisoning the chunk after it was handed back. */
static void chunk_is_not_touched_after_release(void)
{
	static struct kasan_heap heap = {.name = "reuse", .release = release_and_reuse};
	char *raw = unit_watched(4096), *p;

	kasan_heap_add(&heap);
	handed_back_size = kasan_heap_span(&heap, 100, 0);
	REQUIRE(handed_back_size >= 100 && handed_back_size < 4096);
	kasan_poison(raw, 4096, KASAN_SLAB_REDZONE);
	p = kasan_heap_alloc(&heap, raw, 100, 0);
	REQUIRE(p);
	CHECK(kasan_heap_free(&heap, p, 0));
	REQUIRE(handed_back == raw);
	CHECK_EQ(kasan_first_bad((uintptr_t)raw, handed_back_size), 0);
	for (size_t i = 0; i < handed_back_size; i++)
		CHECK(raw[i] == 0x11);
}

static struct fake_slab *reused;

static void release_to_new_owner(struct kasan_cache *cache, void *object)
{
	kasan_slab_alloc(cache, object, reused->cache.object_size);
	memset(object, 0x22, reused->cache.object_size);
}

/* The same for slab objects that leave the quarantine. */
static void slot_is_not_touched_after_release(void)
{
	char *p;

	reused = fake_slab_create("reuse-slab", 64, 8, 0, 4);
	reused->cache.release = release_to_new_owner;
	p = fake_slab_alloc(reused, 64);
	CHECK_EQ(fake_slab_free(reused, p), KASAN_FREE_QUARANTINED);
	kasan_cache_shrink(&reused->cache);
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 64), 0);
	for (int i = 0; i < 64; i++)
		CHECK(p[i] == 0x22);
}

/* Mistake: store callbacks that report a read. */
static void stores_are_writes(void)
{
	char *p = unit_watched(4096);

	kasan_poison(p, 4096, KASAN_SLAB_REDZONE);
	for (const struct access_fn *fn = access_fns; fn->name; fn++) {
		unit_clear();
		fn->call((uintptr_t)p);
		CHECKF(unit_last()->is_write == fn->is_write, "%s", fn->name);
		CHECKF(unit_find(0, fn->is_write ? "Write of size " : "Read of size ") >= 0,
		       "%s: the text", fn->name);
		/* A misaligned access over the edge: the slow path must not lose the direction. */
		unit_clear();
		fn->call((uintptr_t)p + 5);
		CHECKF(unit_last()->is_write == fn->is_write, "%s, misaligned", fn->name);
	}
	EXPECT_REPORT("slab-out-of-bounds", __asan_storeN_noabort((uintptr_t)p, 3));
	CHECK(unit_last()->is_write);
	EXPECT_REPORT("slab-out-of-bounds", __asan_loadN_noabort((uintptr_t)p, 3));
	CHECK(!unit_last()->is_write);
}

/* Mistake: swapped memmove arguments. */
static void memmove_moves_the_right_way(void)
{
	void *(*volatile moves[])(void *, const void *, size_t) = {memmove, __asan_memmove,
								   __memmove};
	char *p = unit_watched(4096);

	for (int i = 0; i < 3; i++) {
		strcpy(p, "abcdefgh");
		strcpy(p + 100, "12345678");
		CHECK(moves[i](p, p + 100, 8) == p);
		CHECK(!strcmp(p, "12345678") && !strcmp(p + 100, "12345678"));
		strcpy(p, "abcdefgh");
		moves[i](p + 2, p, 6);
		CHECK(!strcmp(p, "ababcdef"));
		strcpy(p, "abcdefgh");
		moves[i](p, p + 2, 6);
		CHECK(!strcmp(p, "cdefghgh"));
	}
	kasan_poison(p + 2048, 2048, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_memmove(p, p + 2048, 8));
	CHECK(!unit_last()->is_write && unit_last()->addr == (uintptr_t)p + 2048);
	EXPECT_REPORT("slab-out-of-bounds", __asan_memmove(p + 2048, p, 8));
	CHECK(unit_last()->is_write && unit_last()->addr == (uintptr_t)p + 2048);
}

/* Mistake: inverted begin and end in __asan_allocas_unpoison(): the stack grows down, so the first argument, "top", is
 * the lower address. */
static void allocas_unpoison_takes_the_lower_address_first(void)
{
	uintptr_t p = (uintptr_t)unit_watched(4096);

	__asan_alloca_poison(p + 1024, 40);
	CHECK(!kasan_byte_accessible((void *)(p + 1024 - 8)));
	__asan_allocas_unpoison(p + 1024 - 32, p + 1024 + 96);
	CHECK_EQ(kasan_first_bad(p + 1024 - 64, 256), 0);
	/* Nothing outside [top, bottom) is unpoisoned. */
	kasan_poison((void *)(p + 512), 8, KASAN_ALLOCA_LEFT);
	kasan_poison((void *)(p + 2048), 8, KASAN_ALLOCA_RIGHT);
	__asan_allocas_unpoison(p + 520, p + 2048);
	CHECK(!kasan_byte_accessible((void *)(p + 512)));
	CHECK(!kasan_byte_accessible((void *)(p + 2048)));
}

/* Mistake: panicking on a legal access that crosses a granule. */
static void crossing_a_granule_is_legal(void)
{
	char *p = unit_watched(4096);

	kasan_poison(p + 1024, 1024, KASAN_SLAB_REDZONE);
	kasan_unpoison(p + 1024, 24 + 5); /* three whole granules and five bytes */
	for (const struct access_fn *fn = access_fns; fn->name; fn++)
		for (size_t at = 0; at + fn->size <= 29; at++) {
			unit_clear();
			fn->call((uintptr_t)p + 1024 + at);
			CHECKF(unit_reports() == 0, "%s at +%zu", fn->name, at);
		}
	for (size_t at = 0; at < 29; at++)
		for (size_t len = 1; at + len <= 29; len++)
			EXPECT_NO_REPORT(__asan_loadN_noabort((uintptr_t)p + 1024 + at, len));
}

/* Mistake: unpoisoning the whole slot, which hides the slack after an object. */
static void slack_after_an_object_is_poisoned(void)
{
	struct fake_slab *slab = fake_slab_create("slack", 256, 8, KASAN_CACHE_KMALLOC, 4);
	struct kasan_large_meta large = {0};
	char *p;

	for (size_t size = 1; size <= 256; size++) {
		p = fake_slab_alloc(slab, size);
		REQUIRE(p);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 256 + 1), (uintptr_t)p + size);
		fake_slab_free(slab, p);
		kasan_cache_shrink(&slab->cache);
	}
	p = unit_watched(16384);
	for (size_t size = 8000; size <= 8192; size++) {
		kasan_kmalloc_large(p, size, 8192, &large);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 8192),
			 size == 8192 ? 0 : (uintptr_t)p + size);
		CHECK_EQ(kasan_kfree_large(p, p, &large, 0), KASAN_FREE_NOW);
		kasan_unpoison_vmalloc(p, size);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 8192),
			 size == 8192 ? 0 : (uintptr_t)p + size);
	}
	p = kasan_posix_malloc(13);
	REQUIRE(p);
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 14), (uintptr_t)p + 13);
	kasan_posix_free(p);
}

/* --- Reports ---------------------------------------------------------------------------------- */

static unsigned int nested;
static char *nested_victim;
static void (*real_print)(const char *text);

static void bad_access_while_printing(const char *text)
{
	real_print(text);
	/* The report path touches poisoned memory, as if it were instrumented and read corrupt state. */
	nested++;
	__asan_load8_noabort((uintptr_t)nested_victim);
}

static bool bad_access_while_describing(const void *addr, struct kasan_object *obj)
{
	nested++;
	__asan_store1_noabort((uintptr_t)nested_victim);
	return false;
}

/* Mistake: the report path takes locks that the faulting context holds. Here the report path faults while it holds its
 * own lock, wherever it calls the port. It must neither hang nor recurse. These bugs are reported after it, as many as
 * there is room for; bugs in those reports are only counted. */
static void report_inside_a_report(void)
{
	char *p = unit_watched(4096);
	int at = 0;

	unit_clear();
	real_print = kasan_posix_hooks.print;
	nested_victim = p + 2048;
	*kasan_shadow_of(nested_victim) = KASAN_SLAB_REDZONE;
	nested = 0;
	kasan_posix_hooks.find_object = bad_access_while_describing;
	kasan_posix_hooks.print = bad_access_while_printing;
	*kasan_shadow_of(p + 1024) = KASAN_SLAB_REDZONE;
	__asan_load8_noabort((uintptr_t)p + 1024);
	kasan_posix_hooks.print = real_print;
	kasan_posix_hooks.find_object = NULL;
	CHECK(nested > 5);
	CHECK_EQ(unit_reports(), 1 + CONFIG_KASAN_WAITING_REPORTS);
	CHECK(unit_find(0, "kasan: ") > 0);
	/* The reports come one after the other, each whole. */
	for (unsigned int i = 0; i < unit_reports(); i++) {
		int memory, end;

		at = unit_find((size_t)at + 1, "BUG: KASAN: slab-out-of-bounds");
		REQUIRE(at > 0);
		memory = unit_find((size_t)at, "Memory state around the buggy address:");
		end = unit_find((size_t)at, "=====");
		CHECK(memory > at && end > memory);
		CHECK_EQ(end, unit_find((size_t)memory, "====="));
	}
	/* The next report is whole as well. */
	EXPECT_REPORT("slab-out-of-bounds", __asan_load8_noabort((uintptr_t)p + 1024));
	CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
	kasan_unpoison(p, 4096);
}

/* The same mistake seen from outside: the faulting context has interrupts off and may not sleep. */
static void report_with_interrupts_off(void)
{
	unsigned long flags = kasan_port_irq_save();
	char *p = unit_watched(4096);

	kasan_poison(p, 8, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load8_noabort((uintptr_t)p));
	CHECK_EQ(kasan_posix_irq_depth(), 1);
	kasan_port_irq_restore(flags);
	kasan_unpoison(p, 8);
}

/* Mistake: false positives after a task exits without unwinding (stale stack poison). */
static void stacks_are_clean_for_the_next_task(void)
{
	char *stack = unit_watched(65536);

	for (size_t i = 0; i < 65536; i += 256) {
		kasan_poison(stack + i, 32, KASAN_STACK_LEFT);
		kasan_unpoison(stack + i + 32, 13);
		kasan_poison(stack + i + 64, 32, KASAN_STACK_RIGHT);
	}
	kasan_unpoison_stack(stack, stack + 65536);
	CHECK_EQ(kasan_first_bad((uintptr_t)stack, 65536), 0);
	/* A part of a stack: only that part is unpoisoned. */
	kasan_poison(stack, 65536, KASAN_STACK_MID);
	kasan_unpoison_stack(stack + 4096, stack + 8192);
	CHECK_EQ(kasan_first_bad((uintptr_t)stack + 4096, 8192), (uintptr_t)stack + 8192);
	CHECK(!kasan_byte_accessible(stack + 4095));
	kasan_unpoison(stack, 65536);
}

/* Mistake: no answer to "who freed it?". */
static void freed_objects_name_who_freed_them(void)
{
	struct fake_slab *slab = fake_slab_create("freed-by", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 64);
	int freed, allocated;

	REQUIRE(p);
	fake_slab_free(slab, p);
	EXPECT_REPORT("slab-use-after-free", __asan_load1_noabort((uintptr_t)p + 3));
	allocated = unit_find(0, "Allocated by task ");
	freed = unit_find(0, "Freed by task ");
	CHECK(allocated > 0 && freed > allocated);
	CHECK(unit_find((size_t)freed, " fake_slab_free+0x") == freed + 1);
	CHECK(unit_find((size_t)freed, " freed_objects_name_who_freed_them+0x") == freed + 2);
	p = kasan_posix_malloc(40);
	kasan_posix_free(p);
	EXPECT_REPORT("slab-use-after-free", __asan_store4_noabort((uintptr_t)p));
	freed = unit_find(0, "Freed by task ");
	CHECK(freed > 0);
	CHECK(unit_find((size_t)freed, " freed_objects_name_who_freed_them+0x") > freed);
}

UNIT_MAIN(addresses_keep_all_64_bits, sizes_keep_all_64_bits, range_check_sees_every_granule,
	  range_check_reads_words, chunk_is_not_touched_after_release,
	  slot_is_not_touched_after_release, stores_are_writes, memmove_moves_the_right_way,
	  allocas_unpoison_takes_the_lower_address_first, crossing_a_granule_is_legal,
	  slack_after_an_object_is_poisoned, report_inside_a_report, report_with_interrupts_off,
	  stacks_are_clean_for_the_next_task, freed_objects_name_who_freed_them)
