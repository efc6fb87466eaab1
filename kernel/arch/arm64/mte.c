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
#include <kernel/param.h>
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

/* What all CPUs are to do: kasan.mode=, and kasan.write_only=. */
static bool checks_wanted, write_only_wanted;
static enum kasan_hw_mode mode_wanted;

/* --- What a CPU can do ------------------------------------------------------------------------ */

/* Boot parameters that take abilities away from all CPUs, so that the code for lesser CPUs can be tried on any. */
static unsigned int limit_mte = 15, limit_frac;
range_param("id_aa64pfr1.mte", limit_mte, 0, 15, "a number",
	    "the CPUs have no more memory tagging than this: 0 none, 2 tags, 3 asymmetric checks");
range_param("id_aa64pfr1.mte_frac", limit_frac, 0, 15, "a number",
	    "15: the CPUs cannot note a bad access and go on");

static const char *yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

static unsigned int id_field(u64 reg, unsigned int shift)
{
	return (reg >> shift) & 15;
}

void mte_check_instructions(void)
{
	/* A CPU that has the instructions but no tags ignores them: irg gives the tag 0, which nothing checks. The
	 * parameters have not been read, and take no instructions away. */
	if (CONFIG_KASAN_STACK && !id_field(read_sysreg(id_aa64pfr1_el1), ID_PFR1_MTE_SHIFT))
		early_panic("this kernel tags its stack variables (--mte-stack), and needs a CPU "
			    "that knows "
			    "MTE's instructions\n");
}

void mte_read_features(struct mte_features *features)
{
	const u64 pfr1 = read_sysreg(id_aa64pfr1_el1), pfr2 = read_sysreg(ID_AA64PFR2);
	const unsigned int version = min(id_field(pfr1, ID_PFR1_MTE_SHIFT), limit_mte);
	const bool tags = version >= ID_PFR1_MTE_TAGS;

	*features = (struct mte_features){
		.tags = tags,
		/* The only other value than 0 is 15: they cannot. */
		.async = tags && !id_field(pfr1, ID_PFR1_MTE_FRAC_SHIFT) && limit_frac != 15,
		.store_only = tags && id_field(pfr2, ID_PFR2_STORE_ONLY_SHIFT),
		.canonical = tags && id_field(pfr1, ID_PFR1_MTEX_SHIFT),
	};
	features->asymm = features->async && version >= ID_PFR1_MTE_ASYMM;
}

/* Return: does each bank of RAM have tags? One without them may as well end the boot with an abort. */
static bool all_ram_has_tags(void)
{
	const struct memblock_region *bank;
	bool ok = true;

	for (unsigned int i = 0; ok && (bank = memblock_memory_region(i)); i++) {
		const phys_addr_t page = memblock_phys_alloc_range(PAGE_SIZE, PAGE_SIZE, bank->base,
								   bank->base + bank->size);

		/* A bank without a free page has nothing to hand out. */
		if (!page)
			continue;
		ok = kasan_hw_tags_work(__va(page));
		memblock_phys_free(page, PAGE_SIZE);
	}
	return ok;
}

void arch_kasan_probe(const char *command_line)
{
	const char *why = "this CPU has no memory tags (MTE)";
	struct mte_features features;

	param_early(command_line, "id_aa64pfr1.mte");
	param_early(command_line, "id_aa64pfr1.mte_frac");
	mte_read_features(&features);
	mte_present = features.tags;
	if (mte_present) {
		write_sysreg(read_sysreg(sctlr_el1) | SCTLR_ATA, sctlr_el1);
		isb();
		mte_present = all_ram_has_tags();
		why = "this machine's memory tags (MTE) do not work, as in QEMU before 8";
	}
	kasan_init_hw_tags(mte_present);
	if (!mte_present) {
		printk("kasan: %s: KASAN is off, its parameters are ignored\n", why);
		return;
	}
	pr_info("kasan: MTE: asynchronous checks %s, asymmetric %s, store-only %s, canonical tags "
		"%s\n",
		yes_no(features.async), yes_no(features.asymm), yes_no(features.store_only),
		yes_no(features.canonical));
}

/* --- Switching on ----------------------------------------------------------------------------- */

/*
 * Return: the fields of SCTLR_EL1 for a CPU with @features. CPUs of one machine may differ; what one of them
 * cannot do is said, and it checks more than was asked for instead of less.
 */
static u64 checks_of(const struct mte_features *features)
{
	u64 checks = SCTLR_TCF(TCF_SYNC);

	if (mode_wanted == KASAN_MODE_ASYNC && features->async)
		checks = SCTLR_TCF(TCF_ASYNC);
	else if (mode_wanted == KASAN_MODE_ASYMM && features->asymm)
		checks = SCTLR_TCF(TCF_ASYMM);
	else if (mode_wanted != KASAN_MODE_SYNC)
		pr_warn("kasan.mode=%s: CPU %u cannot do that (%s); sync is used\n",
			mode_wanted == KASAN_MODE_ASYNC ? "async" : "asymm", smp_processor_id(),
			mode_wanted == KASAN_MODE_ASYNC ? "FEAT_MTE_ASYNC" : "FEAT_MTE3");
	if (write_only_wanted && features->store_only)
		checks |= SCTLR_TCSO;
	else if (write_only_wanted)
		pr_warn("kasan.write_only=on: CPU %u cannot do that (FEAT_MTE_STORE_ONLY); reads "
			"are "
			"checked as well\n",
			smp_processor_id());
	return checks;
}

static void enable_cpu(u64 checks)
{
	u64 sctlr = read_sysreg(sctlr_el1) & ~(SCTLR_TCF(3) | SCTLR_TCSO);

	/* Again on the boot CPU: random.seed= has been parsed. */
	kasan_seed_hw_tags();
	write_sysreg(0, TFSR_EL1);
	write_sysreg(sctlr | SCTLR_ATA | checks, sctlr_el1);
	isb();
	mte_exception_entry();
}

void arch_kasan_enable(void)
{
	static const char *const names[] = {"sync", "async", "asymm"};
	struct mte_features features;
	struct kasan_hw_options want;
	u64 checks;

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
	checks_wanted = true;
	mode_wanted = want.mode;
	write_only_wanted = want.write_only;
	mte_read_features(&features);
	checks = checks_of(&features);
	/* What the boot CPU cannot do is not tried on others, and the runtime is told. */
	if ((checks & SCTLR_TCF(3)) == SCTLR_TCF(TCF_SYNC) && mode_wanted != KASAN_MODE_SYNC) {
		mode_wanted = KASAN_MODE_SYNC;
		kasan_option("kasan.mode", names[KASAN_MODE_SYNC]);
	}
	if (write_only_wanted && !(checks & SCTLR_TCSO)) {
		write_only_wanted = false;
		kasan_no_write_only();
	}
	mte_may_be_async = mode_wanted != KASAN_MODE_SYNC;
	enable_cpu(checks);
	pr_info("kasan: hardware tags, mode %s, vmalloc %s, stack traces %s%s\n",
		names[mode_wanted], want.vmalloc ? "on" : "off", want.stacktrace ? "on" : "off",
		write_only_wanted ? ", writes only" : "");
}

void mte_enable_cpu(void)
{
	struct mte_features features;

	if (!mte_present || !checks_wanted)
		return;
	mte_read_features(&features);
	if (!features.tags)
		panic("CPU %u has no memory tags, the first one has", smp_processor_id());
	if (!kasan_hw_tags_join())
		pr_warn("kasan: CPU %u tags memory in blocks of another size; blocks are not "
			"used\n",
			smp_processor_id());
	enable_cpu(checks_of(&features));
}

void __mte_check_async_of(const struct pt_regs *regs)
{
	kasan_check_async_faults_at(regs->pc, regs->regs[29]);
}

#endif /* CONFIG_KASAN_HW_TAGS */
