// SPDX-License-Identifier: MIT
/*
 * mte_cpu_test.c - the Memory Tagging Extension on each CPU: what its registers say against what the options ask for
 * and what the CPU can do; and filling tags where CPUs have blocks of different sizes.
 */
#include <kasan/tags_inline.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sched.h>
#include <kernel/workqueue.h>
#include <asm/pgtable.h>

#include "../../../tests/kasan_test.h"
#include "../mte.h"

/* As encodings: assemblers know the names only with the right -march. */
#define PSTATE_TCO S3_3_C4_C2_7

/* SCTLR_EL1 and TCR_EL1. For user mode there are no tags: ATA0, TCF0. */
#define SCTLR_TCF0 (3UL << 38)
#define SCTLR_TCF  (3UL << 40)
#define SCTLR_ATA0 BIT(42)
#define SCTLR_ATA  BIT(43)
#define SCTLR_TCSO BIT(59)
#define TCR_TBI1   BIT(38)
#define TCF_SHIFT  40

static struct {
	u64 sctlr, tcr, mair, tco;
	struct mte_features features;
} cpus[NR_CPUS];

static void read_cpu(struct work_struct *work)
{
	const unsigned int cpu = smp_processor_id();

	cpus[cpu].sctlr = read_sysreg(sctlr_el1);
	cpus[cpu].tcr = read_sysreg(tcr_el1);
	cpus[cpu].mair = read_sysreg(mair_el1);
	cpus[cpu].tco = read_sysreg(PSTATE_TCO);
	mte_read_features(&cpus[cpu].features);
}

/* What a CPU with @features must do for @options: SCTLR_EL1.TCF. */
static u64 right_tcf(const struct mte_features *features, const struct kasan_hw_options *options)
{
	if (options->mode == KASAN_MODE_ASYNC && features->async)
		return 2;
	return options->mode == KASAN_MODE_ASYMM && features->asymm ? 3 : 1;
}

static void registers_of_each_cpu(struct kunit *test)
{
	struct kasan_hw_options options;

	kasan_hw_options(&options);
	KUNIT_ASSERT_EQ(test, schedule_on_each_cpu(read_cpu), 0);
	for (unsigned int cpu = 0; cpu < num_online_cpus(); cpu++) {
		const struct mte_features *features = &cpus[cpu].features;
		const u64 sctlr = cpus[cpu].sctlr;
		const bool writes_only = options.write_only && features->store_only;

		KUNIT_EXPECT_TRUE(test, features->tags);
		KUNIT_EXPECT_EQ_MSG(test, (sctlr & SCTLR_TCF) >> TCF_SHIFT,
				    right_tcf(features, &options), "CPU %u", cpu);
		KUNIT_EXPECT_EQ_MSG(test, !!(sctlr & SCTLR_TCSO), writes_only, "CPU %u", cpu);
		KUNIT_EXPECT_EQ_MSG(test, sctlr & (SCTLR_ATA | SCTLR_ATA0 | SCTLR_TCF0), SCTLR_ATA,
				    "CPU %u", cpu);
		KUNIT_EXPECT_TRUE(test, cpus[cpu].tcr & TCR_TBI1);
		KUNIT_EXPECT_TRUE(test, cpus[cpu].tcr & BIT(TCR_EL1_TCMA1_SHIFT));
		KUNIT_EXPECT_EQ(test, cpus[cpu].mair >> (8 * MT_NORMAL_TAGGED) & 0xff,
				MAIR_EL1_TAGGED);
		/* The thread runs behind exceptions: each one must have switched checks on again. */
		KUNIT_EXPECT_EQ_MSG(test, cpus[cpu].tco, 0UL, "CPU %u", cpu);
	}
	/* The runtime was told of what the boot CPU cannot do. */
	if (options.mode != KASAN_MODE_SYNC)
		KUNIT_EXPECT_TRUE(test, options.mode == KASAN_MODE_ASYNC ? cpus[0].features.async
									 : cpus[0].features.asymm);
	if (options.write_only)
		KUNIT_EXPECT_TRUE(test, cpus[0].features.store_only);
}

/* Return: number of granules in the area without the tag @tag. */
static size_t wrong_tags(const char *area, size_t size, u8 tag)
{
	size_t wrong = 0;

	for (size_t i = 0; i < size; i += KASAN_GRANULE_SIZE)
		wrong += ((kasan_mte_ldg((uintptr_t)area + i) >> 56) & 15) != (tag & 15);
	return wrong;
}

/*
 * A CPU joins whose blocks have other sizes. Then no block may be filled at once, on any CPU: the test counts on the
 * page allocator and fill functions, which must still tag and clear every granule.
 */
static void blocks_of_another_size(struct kunit *test)
{
	const size_t size = PAGE_SIZE << 1, multiple = kasan_mte_multiple_size(),
		     zero = kasan_mte_zero_size();
	struct page *page = alloc_pages(GFP_KERNEL, 1);
	unsigned long flags;
	size_t wrong[2];
	char *area;

	KUNIT_ASSERT_NOT_NULL(test, page);
	area = page_to_virt(page);
	KUNIT_EXPECT_TRUE(test, kasan_tags_limit_blocks(multiple, zero));
	KUNIT_EXPECT_TRUE(test, kasan_hw_tags_join());
	/* No other code of this CPU in between, and no report. */
	local_irq_save(flags);
	KUNIT_EXPECT_FALSE(test, kasan_tags_limit_blocks(2 * multiple, zero / 2));
	kasan_tags_fill((uintptr_t)area, size, KASAN_TAG_MIN);
	wrong[0] = wrong_tags(area, size, KASAN_TAG_MIN);
	area[size - 1] = 1;
	kasan_tags_fill_zero((uintptr_t)area, size, KASAN_TAG_MIN + 1);
	wrong[1] = wrong_tags(area, size, KASAN_TAG_MIN + 1) + area[size - 1];
	kasan_init_hw_tags(true);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, wrong[0], 0UL);
	KUNIT_EXPECT_EQ(test, wrong[1], 0UL);
	KUNIT_EXPECT_TRUE(test, kasan_hw_tags_join());
	kasan_tags_fill((uintptr_t)area, size, kasan_get_tag(page_address(page)));
	__free_pages(page, 1);
}

KASAN_BUG_SUITE(kasan_mte, KUNIT_CASE(registers_of_each_cpu), KUNIT_CASE(blocks_of_another_size));
