/* SPDX-License-Identifier: MIT */
/* test_sampled.c - sampled objects on pages of this process: bad accesses fault, and are reported with their object. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <kasan/port.h>
#include <kasan/sample.h>

#include "unit.h"

#define PAGE CONFIG_KASAN_PAGE_SIZE

static char *pool;
static bool cannot_open;

bool kasan_port_sample_open(void *page)
{
	return !cannot_open && !mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

void kasan_port_sample_close(void *page)
{
	mprotect(page, PAGE, PROT_NONE);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const greg_t *const regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const struct kasan_regs at = {.pc = (uintptr_t)regs[REG_RIP],
				      .sp = (uintptr_t)regs[REG_RSP],
				      .fp = (uintptr_t)regs[REG_RBP]};

	(void)number;
	/* Bit 1 of the error code: a write. */
	if (!kasan_sample_fault((uintptr_t)info->si_addr, 1, (regs[REG_ERR] & 2) != 0, &at))
		_exit(3);
}

static void set_up(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};

	action.sa_sigaction = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	if (pool)
		return;
	pool = mmap(NULL, KASAN_SAMPLE_PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(pool != MAP_FAILED);
	kasan_sample_start(pool);
}

static char *sampled(size_t size, size_t align)
{
	char *p;

	kasan_sample_next();
	p = kasan_sample_alloc(size, align, "things", 100, 0);
	REQUIRE(p);
	CHECK(kasan_sample_owns(p) && (uintptr_t)p % align == 0);
	CHECK_EQ(kasan_sample_size(p), size);
	memset(p, 1, size);
	return p;
}

static void accesses(void)
{
	unsigned int i;
	char *p;

	set_up();
	for (i = 0; i < 20; i++) {
		p = sampled(64, 8);
		if ((uintptr_t)(p + 64) % PAGE)
			EXPECT_REPORT("slab-out-of-bounds", *(volatile char *)(p - 1));
		else
			EXPECT_REPORT("slab-out-of-bounds", *(volatile char *)(p + 64) = 1);
		CHECK(unit_find(0, "Allocated by task ") > 0);
		CHECK(unit_find(0, " which belongs to the cache things of size 100") > 0);
		CHECK(kasan_sample_free(p, 0));
		EXPECT_REPORT("slab-use-after-free", *(volatile char *)(p + 9));
		CHECK_EQ(unit_last()->addr, (uintptr_t)(p + 9));
		CHECK(unit_find(0, "Freed by task ") > 0);
		CHECK(unit_find(0, "The object was sampled: it lies at the ") > 0);
	}
}

static void frees(void)
{
	char *p;

	set_up();
	p = sampled(100, 16);
	EXPECT_REPORT("invalid-free", CHECK(kasan_sample_free(p + 1, 0)));
	CHECK(kasan_sample_free(p, 0));
	EXPECT_REPORT("double-free", CHECK(kasan_sample_free(p, 0)));
	EXPECT_REPORT("invalid-free", CHECK(kasan_sample_free(pool, 0)));
	CHECK(!kasan_sample_free(pool - 1, 0));
	CHECK(!kasan_sample_free(pool + KASAN_SAMPLE_PAGES * PAGE, 0));
	CHECK(!kasan_sample_free(NULL, 0));
	CHECK_EQ(kasan_sample_size(p), 0);
}

/* Each byte around an object of each small size, on both sides. */
static void overwritten_bytes(void)
{
	char *p, *page;
	size_t size, at, by;

	set_up();
	for (size = 1; size <= 40; size++) {
		for (by = 0; by < 60; by += 13) {
			p = sampled(size, 1);
			page = (char *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1));
			/* On the side where the rest of the page is. */
			at = p == page ? size + by : (size_t)(p - page) - 1 - by;
			page[at] ^= 0x10;
			EXPECT_REPORT("slab-out-of-bounds", kasan_sample_free(p, 0));
			CHECK_EQ(kasan_untag_addr(unit_last()->addr), (uintptr_t)page + at);
			CHECK(strstr(unit_line((size_t)unit_find(0, "Write of size 1 ")),
				     " found at free by"));
		}
	}
}

static void when(void)
{
	struct kasan_sample_counts before, after;
	char *objects[CONFIG_KASAN_SAMPLE_OBJECTS];
	unsigned int i;

	set_up();
	CHECK(!kasan_sample_due());
	CHECK(!kasan_sample_alloc(8, 8, "x", 8, 0));
	kasan_sample_next();
	CHECK(kasan_sample_due());
	/* These cannot be sampled, and the next one is. */
	CHECK(!kasan_sample_alloc(PAGE + 1, 8, "x", 8, 0));
	CHECK(!kasan_sample_alloc(8, 2 * PAGE, "x", 8, 0));
	CHECK(!kasan_sample_alloc(0, 8, "x", 8, 0));
	cannot_open = true;
	CHECK(!kasan_sample_alloc(8, 8, "x", 8, 0));
	cannot_open = false;
	CHECK_EQ(kasan_option("kasan.sample", "50"), 0);
	CHECK(kasan_sample_tick(1000));
	kasan_sample_free(kasan_sample_alloc(PAGE, PAGE, "x", 8, 0), 0);
	CHECK(!kasan_sample_due());
	CHECK(!kasan_sample_tick(1049));
	CHECK(kasan_sample_tick(1050));
	CHECK_EQ(kasan_option("kasan.sample", "0"), 0);
	kasan_sample_free(kasan_sample_alloc(8, 8, "x", 8, 0), 0);
	CHECK(!kasan_sample_tick(9999));
	kasan_sample_get_counts(&before);
	CHECK_EQ(before.live, 0);
	for (i = 0; i < CONFIG_KASAN_SAMPLE_OBJECTS; i++)
		objects[i] = sampled(8, 8);
	kasan_sample_next();
	CHECK(!kasan_sample_alloc(8, 8, "x", 8, 0));
	kasan_sample_get_counts(&after);
	CHECK_EQ(after.live, CONFIG_KASAN_SAMPLE_OBJECTS);
	CHECK_EQ(after.skipped, before.skipped + 1);
	for (i = 0; i < CONFIG_KASAN_SAMPLE_OBJECTS; i++)
		CHECK(kasan_sample_free(objects[i], 0));
}

UNIT_MAIN(accesses, frees, overwritten_bytes, when)
