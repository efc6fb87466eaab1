// SPDX-License-Identifier: MIT
/*
 * kasan_hw_test.c - hardware tags: compares the instructions that fill tags with a plain loop, and checks
 * when the modes of kasan.mode= that only note a bad access report it.
 */
#include <kasan/tags_inline.h>
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/irqflags.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/vmalloc.h>
#include <kernel/workqueue.h>

#include "../../../tests/kasan_test.h"
#include "../../../tests/user_test.h"

/* --- Filling ---------------------------------------------------------------------------------- */

#define GRANULE	   KASAN_GRANULE_SIZE
#define AREA_ORDER 4
#define AREA	   (PAGE_SIZE << AREA_ORDER)
#define PATTERN	   0xa5a5a5a5a5a5a5a5UL
/* Tags of the surrounding memory and of the filled range. Never the same tag twice in a row. */
#define AROUND KASAN_TAG_INVALID
#define TAG(n) ((u8)(KASAN_TAG_MIN + (n) % (KASAN_TAG_MAX - KASAN_TAG_MIN + 1)))
/* Bytes that are examined before and behind a range: more than the block of any instruction here. */
#define MARGIN (64 * GRANULE)

/* The test's own memory, by an address without a tag, which matches all. */
static char *area;

static void plain_fill(char *from, size_t size, u8 tag, bool zero)
{
	for (size_t i = 0; i < size; i += GRANULE) {
		u64 *words = (u64 *)(from + i);

		kasan_mte_stg((uintptr_t)kasan_set_tag(words, tag));
		words[0] = words[1] = zero ? 0 : PATTERN;
	}
}

static int fill_suite_init(struct kunit_suite *suite)
{
	struct page *page;

	if (kasan_enabled()) {
		page = alloc_pages(GFP_KERNEL, AREA_ORDER);
		if (!page)
			return -ENOMEM;
		area = page_to_virt(page);
		plain_fill(area, AREA, AROUND, false);
	}
	return kasan_test_suite_init(suite);
}

static void fill_suite_exit(struct kunit_suite *suite)
{
	kasan_test_suite_exit(suite);
	if (area)
		free_pages((unsigned long)area, AREA_ORDER);
	area = NULL;
}

/* Return: number of granules in [@from, @from + @size) without the tag @tag or the bytes of @zero. */
static size_t wrong_granules(const char *from, size_t size, u8 tag, bool zero)
{
	const u64 word = zero ? 0 : PATTERN;
	size_t wrong = 0;

	for (size_t i = 0; i < size; i += GRANULE) {
		const volatile u64 *words = (const volatile u64 *)(from + i);
		u8 found = (u8)(kasan_mte_ldg((uintptr_t)words) >> 56) & 15;

		wrong += found != (tag & 15) || words[0] != word || words[1] != word;
	}
	return wrong;
}

/* Check that exactly [@at, @at + @size) was filled. Then restore it. */
static void check_filled(struct kunit *test, char *at, size_t size, u8 tag, bool zero)
{
	KUNIT_EXPECT_EQ_MSG(test, wrong_granules(at - MARGIN, MARGIN, AROUND, false), 0UL,
			    "before %zu bytes at ...%03lx, zero %d", size, (uintptr_t)at & 0xfff,
			    zero);
	KUNIT_EXPECT_EQ_MSG(test, wrong_granules(at, size, tag, zero), 0UL,
			    "in %zu bytes at ...%03lx, zero %d", size, (uintptr_t)at & 0xfff, zero);
	KUNIT_EXPECT_EQ_MSG(test, wrong_granules(at + size, MARGIN, AROUND, false), 0UL,
			    "behind %zu bytes at ...%03lx, zero %d", size, (uintptr_t)at & 0xfff,
			    zero);
	plain_fill(at, size, AROUND, false);
}

static void fill(struct kunit *test, size_t offset, size_t granules)
{
	char *at = area + PAGE_SIZE + offset * GRANULE;
	size_t size = granules * GRANULE;

	kasan_tags_fill((uintptr_t)at, size, TAG(granules));
	check_filled(test, at, size, TAG(granules), false);
	kasan_tags_fill_zero((uintptr_t)at, size, TAG(granules + 1));
	check_filled(test, at, size, TAG(granules + 1), true);
}

static void every_size(struct kunit *test)
{
	/* Ranges start before, at and behind the blocks that stgm and dc gzva fill, also near a page's end. */
	static const size_t offsets[] = {0, 1, 3, 8, 15, 251};

	for (size_t granules = 1; granules <= 640; granules++)
		for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
			fill(test, offsets[i], granules);
}

static void every_alignment(struct kunit *test)
{
	for (size_t offset = 0; offset < 64; offset++)
		for (size_t granules = 1; granules <= 40; granules++)
			fill(test, offset, granules);
}

static void several_pages(struct kunit *test)
{
	const size_t page = PAGE_SIZE / GRANULE;

	for (size_t pages = 3; pages <= 13; pages += 2)
		for (size_t offset = 0; offset < 17; offset += 4)
			for (size_t more = 0; more < 3; more++)
				fill(test, offset, pages * page - 1 + more);
}

/* An address without a tag asks for tag 15; the tag does not move the end of a range. */
static void every_tag(struct kunit *test)
{
	for (unsigned int tag = KASAN_TAG_MIN; tag <= 0xff; tag++) {
		char *at = area + PAGE_SIZE;

		/* The pointer's own tag does not matter. */
		kasan_tags_fill((uintptr_t)kasan_set_tag(at, 0xf3), 31 * GRANULE, (u8)tag);
		check_filled(test, at, 31 * GRANULE, (u8)tag, false);
		kasan_tags_fill_zero((uintptr_t)kasan_set_tag(at, 0xf3), 31 * GRANULE, (u8)tag);
		check_filled(test, at, 31 * GRANULE, (u8)tag, true);
	}
	kasan_tags_fill((uintptr_t)area + PAGE_SIZE, 0, 0xf3);
	kasan_tags_fill_zero((uintptr_t)area + PAGE_SIZE, 0, 0xf3);
	check_filled(test, area + PAGE_SIZE, 0, 0xf3, false);
}

/* Each instruction alone: this many bytes, cleared or not. */
static void instructions(struct kunit *test)
{
	const size_t multiple = kasan_mte_multiple_size(), zero = kasan_mte_zero_size();
	char *at = area + PAGE_SIZE, *tagged = kasan_set_tag(at, 0xf4);

	KUNIT_EXPECT_EQ(test, kasan_mte_stg((uintptr_t)tagged), (uintptr_t)tagged + 16);
	check_filled(test, at, 16, 0xf4, false);
	KUNIT_EXPECT_EQ(test, kasan_mte_st2g((uintptr_t)tagged), (uintptr_t)tagged + 32);
	check_filled(test, at, 32, 0xf4, false);
	KUNIT_EXPECT_EQ(test, kasan_mte_stzg((uintptr_t)tagged), (uintptr_t)tagged + 16);
	check_filled(test, at, 16, 0xf4, true);
	KUNIT_EXPECT_EQ(test, kasan_mte_stz2g((uintptr_t)tagged), (uintptr_t)tagged + 32);
	check_filled(test, at, 32, 0xf4, true);
	KUNIT_EXPECT_LE(test, multiple, MARGIN);
	kasan_mte_stgm((uintptr_t)at, 0x4444444444444444UL);
	check_filled(test, at, multiple, 0xf4, false);
	KUNIT_EXPECT_LE(test, zero, MARGIN);
	if (zero) {
		kasan_mte_dc_gva((uintptr_t)tagged);
		check_filled(test, at, zero, 0xf4, false);
		kasan_mte_dc_gzva((uintptr_t)tagged);
		check_filled(test, at, zero, 0xf4, true);
	}
}

/* --- Random tags ------------------------------------------------------------------------------ */

/* All 12 tags come in so many draws: one of them stays away once in 1e17 times. */
#define DRAWS 500

/* Bit N: tag N. */
static u16 valid_tags(void)
{
	u16 tags = 0;

	for (unsigned int tag = KASAN_TAG_MIN; tag <= KASAN_TAG_MAX; tag++)
		tags |= BIT(tag & 15);
	return tags;
}

/* Return: which tags DRAWS calls gave, bit N: tag N. */
static u16 drawn(struct kunit *test, u64 exclude)
{
	const uintptr_t addr = (uintptr_t)area;
	u16 tags = 0;

	for (int i = 0; i < DRAWS; i++) {
		const uintptr_t tagged = kasan_mte_irg(addr, exclude);

		/* Nothing but the four bits of the tag changes. */
		KUNIT_EXPECT_EQ(test, (tagged ^ addr) & ~(15UL << 56), 0UL);
		tags |= BIT(tagged >> 56 & 15);
	}
	return tags;
}

/* Every mask that forbids nothing but one, two or all but one or two of the valid tags. */
static void exclusion(struct kunit *test)
{
	const u16 valid = valid_tags();

	KUNIT_EXPECT_EQ(test, drawn(test, 0), valid);
	for (unsigned int i = 0; i < 16; i++) {
		for (unsigned int j = i; j < 16; j++) {
			const u16 pair = BIT(i) | BIT(j);
			const u16 rest = valid & ~pair, both = valid & pair;

			KUNIT_EXPECT_EQ(test, drawn(test, pair), rest);
			/* If GCR_EL1 and the mask forbid all tags, the architecture says 0. */
			KUNIT_EXPECT_EQ(test, drawn(test, (u16)~pair), both ? both : (u16)BIT(0));
		}
	}
}

static void mask_of_tag(struct kunit *test)
{
	for (unsigned int tag = 0; tag < 16; tag++) {
		const uintptr_t addr = (uintptr_t)kasan_set_tag(area, 0xf0 | tag);

		KUNIT_EXPECT_EQ(test, kasan_mte_gmi(addr, 0), BIT(tag));
		KUNIT_EXPECT_EQ(test, kasan_mte_gmi(addr, 0xc003), 0xc003 | BIT(tag));
	}
}

/* What each CPU's registers say. */
static u64 cpu_gcr[NR_CPUS], cpu_rgsr[NR_CPUS];

static void read_random(struct work_struct *work)
{
	const unsigned int cpu = smp_processor_id();

	__asm__ __volatile__("mrs %0, " KASAN_MTE_GCR : "=r"(cpu_gcr[cpu]));
	__asm__ __volatile__("mrs %0, " KASAN_MTE_RGSR : "=r"(cpu_rgsr[cpu]));
}

static void every_cpu_random(struct kunit *test)
{
	unsigned int cpu;

	KUNIT_ASSERT_EQ(test, schedule_on_each_cpu(read_random), 0);
	for (cpu = 0; cpu < num_online_cpus(); cpu++) {
		KUNIT_EXPECT_EQ(test, cpu_gcr[cpu], KASAN_MTE_GCR_RRND | (u16)~valid_tags());
		KUNIT_EXPECT_NE(test, cpu_rgsr[cpu] >> KASAN_MTE_RGSR_SEED, 0UL);
	}
}

/* The seed of the port decides where a CPU starts, and each CPU starts elsewhere. */
static void seeds(struct kunit *test)
{
	static const u64 of_port[] = {0, 1, 2, 0x123456789abcdef, ULONG_MAX};
	const u64 before = random_seed;
	unsigned long flags;
	u64 states[ARRAY_SIZE(of_port)];

	for (unsigned int i = 0; i < ARRAY_SIZE(of_port); i++) {
		local_irq_save(flags);
		random_seed = of_port[i];
		kasan_seed_hw_tags();
		__asm__ __volatile__("mrs %0, " KASAN_MTE_RGSR : "=r"(states[i]));
		random_seed = before;
		kasan_seed_hw_tags();
		local_irq_restore(flags);
		for (unsigned int j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, states[i], states[j]);
		for (unsigned int cpu = 1; cpu < 64; cpu++) {
			const u16 seed = kasan_tags_cpu_seed(of_port[i], cpu);

			KUNIT_EXPECT_NE(test, seed, 0);
			for (unsigned int other = 0; other < cpu; other++)
				KUNIT_EXPECT_NE(test, seed, kasan_tags_cpu_seed(of_port[i], other));
		}
	}
}

KUNIT_CASES(kasan_hw_fill_cases, KUNIT_CASE(exclusion), KUNIT_CASE(mask_of_tag),
	    KUNIT_CASE(every_cpu_random), KUNIT_CASE(seeds), KUNIT_CASE(instructions),
	    KUNIT_CASE(every_size), KUNIT_CASE(every_alignment), KUNIT_CASE(several_pages),
	    KUNIT_CASE(every_tag));

KUNIT_SUITE(kasan_hw_fill, kasan_hw_fill_cases, .suite_init = fill_suite_init,
	    .suite_exit = fill_suite_exit, .init = kasan_bug_test_init, .exit = kasan_test_exit);

/* --- Late reports ----------------------------------------------------------------------------- */

static void needs_late(struct kunit *test)
{
	kunit_needs(test, kasan_may_be_late(KASAN_WRITE), "kasan.mode=async or asymm");
}

/* A write, because asymm only notes writes. */
static noinline void write_noted(char *freed)
{
	HIDE_VAR(freed);
	KASAN_TEST_BUG(WRITE_ACCESS(freed[20], 1));
}

static char *freed_object(struct kunit *test)
{
	char *p = kmalloc(64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	kfree(p);
	return p;
}

/* Does the symbol of the last report's place begin with @name? */
static bool reported_in(const char *name)
{
	char text[KSYM_SYMBOL_LEN];

	sprint_symbol(text, kasan_expect_last()->ip);
	return str_has_prefix(text, name) != 0;
}

static void at_a_context_switch(struct kunit *test)
{
	char *freed = freed_object(test);
	unsigned long before, flags;

	needs_late(test);
	KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1, {
		local_irq_save(flags);
		before = kasan_report_count();
		write_noted(freed);
		/* No place that looks for noted accesses has been passed since. */
		KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
		local_irq_restore(flags);
		msleep(1);
		KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
	});
}

static void at_a_tick(struct kunit *test)
{
	char *freed = freed_object(test);
	unsigned long before, flags;
	u64 start;

	needs_late(test);
	KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1, {
		/* No other task runs here meanwhile. */
		preempt_disable();
		local_irq_save(flags);
		before = kasan_report_count();
		write_noted(freed);
		KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
		local_irq_restore(flags);
		for (start = clock_ns(); clock_ns() - start < 10 * NSEC_PER_SEC;)
			if (kasan_report_count() != before)
				break;
		preempt_enable();
		KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
	});
	/* The report names the interrupted code, not the interrupt. */
	KUNIT_EXPECT_FALSE(test, reported_in("el1_irq_handler"));
	KUNIT_EXPECT_FALSE(test, reported_in("__schedule"));
}

static char *syscall_freed;

static long sys_writes_to_freed(const u64 *args)
{
	/* No interrupt is to come before the end. */
	local_irq_disable();
	write_noted(syscall_freed);
	return 0;
}

static void at_the_return_to_user_mode(struct kunit *test)
{
	int status = 0;

	needs_late(test);
	syscall_freed = freed_object(test);
	KUNIT_ASSERT_EQ(test, user_test_init(test), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN, sys_writes_to_freed), 0);
	KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1,
				  status = USER_TEST_RUN(test, "own", "0"));
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
	KUNIT_EXPECT_EQ(test, status, 0);
	KUNIT_EXPECT_TRUE(test, reported_in("exit_to_user_mode+"));
}

struct late_callback {
	struct rcu_head head;
	struct work_struct work;
	char *freed;
};

static noinline void late_rcu_callback(struct rcu_head *head)
{
	write_noted(container_of(head, struct late_callback, head)->freed);
}

static noinline void late_work(struct work_struct *work)
{
	write_noted(container_of(work, struct late_callback, work)->freed);
}

/* After the wait for a callback its report is printed, and the report names the callback. */
static void at_the_end_of_a_callback(struct kunit *test)
{
	static struct late_callback late;
	unsigned int named = 0;

	needs_late(test);
	late.freed = freed_object(test);
	for (int i = 0; i < 20; i++) {
		unsigned long before = kasan_report_count();

		KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1, {
			call_rcu(&late.head, late_rcu_callback);
			rcu_barrier();
			KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
		});
		named += reported_in("late_rcu_callback");
	}
	INIT_WORK(&late.work, late_work);
	for (int i = 0; i < 20; i++) {
		unsigned long before = kasan_report_count();

		KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1, {
			schedule_work(&late.work);
			flush_work(&late.work);
			KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
		});
		named += reported_in("late_work");
	}
	/* An interrupt in between may find it first. */
	KUNIT_EXPECT_GE(test, named, 20U);
}

/* An access noted while a task is silenced is never reported. An access noted before is. */
static void silence_has_sharp_ends(struct kunit *test)
{
	char *freed = freed_object(test);
	unsigned long before = kasan_report_count();

	needs_late(test);
	kasan_disable_current();
	write_noted(freed);
	kasan_enable_current();
	kasan_settle();
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
	KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1, {
		write_noted(freed);
		kasan_disable_current();
		kasan_enable_current();
		KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
	});
}

static bool filter_saw_late;

static bool note_late(const struct kasan_report_info *info)
{
	filter_saw_late = info->is_async;
	return true;
}

/* A filter must not take the report without an address for one of a write to NULL. */
static void filter_knows(struct kunit *test)
{
	char *freed = freed_object(test);
	kasan_report_filter_fn saved;

	needs_late(test);
	filter_saw_late = false;
	saved = kasan_report_filter(note_late);
	KUNIT_EXPECT_KASAN_REPORT(test, NULL, KASAN_WRITE, 1, {
		write_noted(freed);
		kasan_settle();
	});
	KUNIT_EXPECT_TRUE(test, filter_saw_late);
	/* A bad free is reported in full in every mode. */
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(freed));
	KUNIT_EXPECT_FALSE(test, filter_saw_late);
	kasan_report_filter(saved);
}

static int late_then_null(void *freed)
{
	volatile int *p = NULL;

	write_noted(freed);
	kasan_settle();
	HIDE_VAR(p);
	KASAN_TEST_BUG((void)*p);
	return 0;
}

/* The first report has no address, which is not the address 0. */
static void null_pointer_after_a_late_report(struct kunit *test)
{
	unsigned long before = kasan_report_count();
	char *freed = freed_object(test);
	int value = 0;

	needs_late(test);
	KUNIT_EXPECT_KASAN_FAIL(test, {
		struct task *task = kthread_run(late_then_null, freed, "late_null");

		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		value = kthread_join(task);
	});
	KUNIT_EXPECT_EQ(test, value, -EFAULT);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 2);
}

/* --- Faults of the MMU, in every mode --------------------------------------------------------- */

static int read_guard_page(void *guard)
{
	volatile char *p = guard;

	HIDE_VAR(p);
	KASAN_TEST_BUG((void)*p);
	return 0;
}

/* Nothing is mapped there, so there is no tag to compare. But the area that ends there is known. */
static void guard_page_of_an_area(struct kunit *test)
{
	char *p = vmalloc(2 * PAGE_SIZE);
	int value = 0;

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_KASAN_REPORT(test, "vmalloc-out-of-bounds", KASAN_READ, 1, {
		struct task *task = kthread_run(read_guard_page, p + 2 * PAGE_SIZE, "guard");

		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		value = kthread_join(task);
	});
	KUNIT_EXPECT_EQ(test, value, -EFAULT);
	vfree(p);
}

static u8 tag_at(const void *p)
{
	return (u8)(kasan_mte_ldg((uintptr_t)kasan_reset_tag(p)) >> 56) | 0xf0;
}

/* vmap() leaves the pages to their owner: a second mapping has no tag of its own. */
static void vmap_leaves_tags_alone(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);
	char *own, *mapped;

	KUNIT_ASSERT_NOT_NULL(test, page);
	own = page_address(page);
	mapped = vmap(&page, 1);
	KUNIT_ASSERT_NOT_NULL(test, mapped);
	KUNIT_EXPECT_EQ(test, kasan_get_tag(mapped), KASAN_TAG_KERNEL);
	KUNIT_EXPECT_EQ(test, tag_at(own), kasan_get_tag(own));
	WRITE_ACCESS(own[5], 7);
	KUNIT_EXPECT_EQ(test, mapped[5], 7);
	vfree(mapped);
	KUNIT_EXPECT_EQ(test, tag_at(own), kasan_get_tag(own));
	__free_page(page);
}

/* Skipped pages keep the tags of free pages, so all free pages must have those tags. */
static void pages_of_an_area_look_free(struct kunit *test)
{
	char *p = vmalloc(PAGE_SIZE);
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, p);
	page = vmalloc_to_page(p);
	/* The page is held, so that it is not allocated again in between. */
	get_page(page);
	vfree(p);
	KUNIT_EXPECT_EQ(test, tag_at(page_to_virt(page)), KASAN_TAG_INVALID);
	put_page(page);
}

/* Memory functions end at a bad byte, also if the MMU finds it first, and the caller goes on. */
static void memory_function_at_null(struct kunit *test)
{
	char local[24] = {1}, *to = local, *from = (char *)8;
	size_t n = sizeof(local);

	HIDE_VAR(to);
	HIDE_VAR(from);
	HIDE_VAR(n);
	KASAN_EXPECT_BUG(test, "null-ptr-deref", KASAN_READ, 24, memcpy(to, from, n));
	KASAN_EXPECT_BUG(test, "null-ptr-deref", KASAN_WRITE, 24, memset(from, 0, n));
	KUNIT_EXPECT_EQ(test, local[0], 1);
}

/* kasan.write_only= for explicit checks, whatever the CPU can do: they let bad reads pass, and nothing else. */
static void explicit_checks_of_writes_only(struct kunit *test)
{
	unsigned int saved = 0;
	char *ptr = kmalloc(64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	HIDE_VAR(ptr);
	kasan_option_number("kasan.write_only", &saved);
	kasan_option("kasan.write_only", "on");
	KUNIT_EXPECT_TRUE(test, kasan_write_only_enabled());
	KUNIT_EXPECT_TRUE(test, kasan_check_read(ptr + 64, 8));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 8,
			 kasan_check_write(ptr + 64, 8));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, kasan_check_byte(ptr + 64));
	KUNIT_EXPECT_KASAN_FAIL(test, KASAN_TEST_BUG(kasan_check_read(ptr, (size_t)-8)));
	kasan_no_write_only();
	KUNIT_EXPECT_FALSE(test, kasan_write_only_enabled());
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 8, kasan_check_read(ptr + 64, 8));
	kasan_option("kasan.write_only", saved ? "on" : "off");
	kfree(ptr);
}

/* Ranges begin and end anywhere in blocks and pages: one bad granule is found if it is inside, and only then. */
static void checks_of_ranges(struct kunit *test)
{
	const size_t size = 3 * PAGE_SIZE;
	char *ptr = kmalloc(size, GFP_KERNEL);
	u64 since;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	HIDE_VAR(ptr);
	for (unsigned int i = 0; i < 2000; i++) {
		const size_t first = get_random_u32() % size;
		const size_t length = 1 + get_random_u32() % (i & 1 ? 600 : size - first);
		const size_t bad = ALIGN_DOWN(get_random_u32() % size, GRANULE);
		const size_t end = min(first + length, size);
		bool passes;

		KUNIT_ASSERT_TRUE(test, kasan_check_read(ptr + first, end - first));
		kasan_poison(ptr + bad, GRANULE, KASAN_SLAB_FREE);
		/* The answer matters, and not the report. */
		kasan_disable_current();
		passes = kasan_check_read(ptr + first, end - first);
		kasan_enable_current();
		kasan_unpoison(ptr + bad, GRANULE);
		KUNIT_ASSERT_EQ(test, passes, bad >= end || bad + GRANULE <= first);
	}
	/* With -icount this is the number of instructions. */
	since = clock_ns();
	for (unsigned int i = 0; i < 1000; i++)
		kasan_check_read(ptr + 32, PAGE_SIZE);
	kunit_info(test, "a check of %lu bytes: %lu ns\n", PAGE_SIZE,
		   (unsigned long)(clock_ns() - since) / 1000);
	kfree(ptr);
}

KASAN_BUG_SUITE(kasan_hw, KUNIT_CASE(checks_of_ranges), KUNIT_CASE(at_a_context_switch),
		KUNIT_CASE(at_a_tick), KUNIT_CASE(at_the_return_to_user_mode),
		KUNIT_CASE(at_the_end_of_a_callback), KUNIT_CASE(silence_has_sharp_ends),
		KUNIT_CASE(filter_knows), KUNIT_CASE(null_pointer_after_a_late_report),
		KUNIT_CASE(guard_page_of_an_area), KUNIT_CASE(vmap_leaves_tags_alone),
		KUNIT_CASE(pages_of_an_area_look_free), KUNIT_CASE(memory_function_at_null),
		KUNIT_CASE(explicit_checks_of_writes_only));
