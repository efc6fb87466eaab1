/* SPDX-License-Identifier: MIT */
/*
 * mte.c - Memory Tagging Extension: finding out what the CPUs can do, and switching it on.
 *
 * Memory with tags has the attribute MT_NORMAL_TAGGED in the page tables: the linear map and vmalloc space.
 * On a CPU without tags head.S gives that attribute the meaning of MT_NORMAL.
 *
 * Not instrumented, like everything around faults.
 */
#include <kasan/kasan.h>
#include <kernel/kernel.h>
#include <kernel/memblock.h>
#include <kernel/sched.h>
#include <asm/barrier.h>
#include "internal.h"
#include "mte.h"

#ifdef CONFIG_KASAN_HW_TAGS

/* Written as encodings: assemblers know the names only with the right -march. */
#define TFSR_EL1     S3_0_C5_C6_0
#define ID_AA64PFR2  S3_0_C0_C4_2
#define SCTLR_ATA    BIT(43)
#define SCTLR_TCF(n) ((u64)(n) << 40)
#define SCTLR_TCSO   BIT(59)
#define TCF_SYNC     1
#define TCF_ASYNC    2
#define TCF_ASYMM    3

bool mte_present, mte_may_be_async;

static u64 sctlr_checks;

static unsigned int mte_version(void)
{
	return (read_sysreg(id_aa64pfr1_el1) >> ID_PFR1_MTE_SHIFT) & 15;
}

/* FEAT_MTE_STORE_ONLY */
static bool has_store_only(void)
{
	return (read_sysreg(ID_AA64PFR2) >> 4) & 15;
}

void mte_check_instructions(void)
{
	/* A CPU that has the instructions but no tags ignores them: irg gives the tag 0, which nothing checks. */
	if (CONFIG_KASAN_STACK && !mte_version())
		early_panic("this kernel tags its stack variables (--mte-stack), and needs a CPU "
			    "that knows "
			    "MTE's instructions\n");
}

void arch_kasan_probe(void)
{
	const char *why = "this CPU has no memory tags (MTE)";
	phys_addr_t page;

	mte_present = mte_version() >= ID_PFR1_MTE_TAGS;
	if (mte_present) {
		write_sysreg(read_sysreg(sctlr_el1) | SCTLR_ATA, sctlr_el1);
		isb();
		page = memblock_phys_alloc(PAGE_SIZE, PAGE_SIZE);
		mte_present = page && kasan_hw_tags_work(__va(page));
		memblock_phys_free(page, PAGE_SIZE);
		why = "this machine's memory tags (MTE) do not work, as in QEMU before 8";
	}
	kasan_init_hw_tags(mte_present);
	if (!mte_present)
		printk("kasan: %s: KASAN is off, its parameters are ignored\n", why);
}

static void enable_cpu(void)
{
	u64 sctlr = read_sysreg(sctlr_el1) & ~(SCTLR_TCF(3) | SCTLR_TCSO);

	/* Again on the boot CPU: random.seed= has been parsed. */
	kasan_seed_hw_tags();
	write_sysreg(0, TFSR_EL1);
	write_sysreg(sctlr | SCTLR_ATA | sctlr_checks, sctlr_el1);
	isb();
	mte_exception_entry();
}

void arch_kasan_enable(void)
{
	static const u64 fields[] = {
		[KASAN_MODE_SYNC] = SCTLR_TCF(TCF_SYNC),
		[KASAN_MODE_ASYNC] = SCTLR_TCF(TCF_ASYNC),
		[KASAN_MODE_ASYMM] = SCTLR_TCF(TCF_ASYMM),
	};
	static const char *const names[] = {"sync", "async", "asymm"};
	struct kasan_hw_options want;

	if (!mte_present)
		return;
	kasan_hw_options(&want);
	if (!want.enabled) {
		/* Functions that tag their variables go on: without access to tags they store none. */
		if (CONFIG_KASAN_STACK) {
			write_sysreg(read_sysreg(sctlr_el1) & ~SCTLR_ATA, sctlr_el1);
			isb();
		}
		return;
	}
	if (want.mode == KASAN_MODE_ASYMM && mte_version() < ID_PFR1_MTE_ASYMM) {
		pr_warn("kasan.mode=asymm: this CPU cannot do that; sync is used\n");
		want.mode = KASAN_MODE_SYNC;
	}
	sctlr_checks = fields[want.mode];
	if (want.write_only) {
		if (has_store_only())
			sctlr_checks |= SCTLR_TCSO;
		else {
			kasan_no_write_only();
			pr_warn("kasan.write_only=on: this CPU cannot do that; reads are checked "
				"as well\n");
		}
	}
	mte_may_be_async = want.mode != KASAN_MODE_SYNC;
	enable_cpu();
	pr_info("kasan: hardware tags, mode %s, vmalloc %s, stack traces %s%s\n", names[want.mode],
		want.vmalloc ? "on" : "off", want.stacktrace ? "on" : "off",
		sctlr_checks & SCTLR_TCSO ? ", writes only" : "");
}

void mte_enable_cpu(void)
{
	if (!mte_present || !sctlr_checks)
		return;
	if (mte_version() < ID_PFR1_MTE_TAGS)
		panic("CPU %u has no memory tags, the first one has", smp_processor_id());
	enable_cpu();
}

void __mte_check_async_of(const struct pt_regs *regs)
{
	kasan_check_async_faults_at(regs->pc, regs->regs[29]);
}

#endif /* CONFIG_KASAN_HW_TAGS */
