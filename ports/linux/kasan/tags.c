// SPDX-License-Identifier: MIT
/*
 * tags.c - the start of the tag-based modes, and the failed checks that Linux's architecture hands over.
 */
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/static_key.h>

#include "redzone.h"

#include "internal.h"
#include "kasan.h"

#ifdef CONFIG_KASAN_SW_TAGS

void __init kasan_init_sw_tags(void)
{
	redzone_start();
}

/* An inline check's trap. @ip: the trap instruction. */
bool kasan_report(const void *addr, size_t size, bool is_write, unsigned long ip)
{
	return redzone_report_tag_mismatch((uintptr_t)addr, size, is_write, ip + 4,
					   (uintptr_t)__builtin_frame_address(0));
}

void kasan_tag_mismatch(unsigned long addr, unsigned long info, unsigned long ip);

/*
 * The compiler's check compares the tags of pointer and granule, and calls this if they differ. Linux has it leave out the
 * rest: of an object's last granule only the first bytes may be accessible, and then the granule has their number in the
 * place of the tag.
 */
void kasan_tag_mismatch(unsigned long addr, unsigned long info, unsigned long ip)
{
	const size_t size = 1UL << (info & 15);

	if (!redzone_byte_accessible((void *)addr) ||
	    !redzone_byte_accessible((void *)(addr + size - 1)))
		redzone_report_tag_mismatch(addr, size, info & 16, ip,
					    (uintptr_t)__builtin_frame_address(0));
}

#else

DEFINE_STATIC_KEY_FALSE(kasan_flag_enabled);
EXPORT_SYMBOL(kasan_flag_enabled);

/* Linux 6.12 cannot leave reads unchecked. */
#ifndef arch_enable_tag_checks_write_only
#define arch_enable_tag_checks_write_only() (-EOPNOTSUPP)
#endif

static struct redzone_hw_options options;

void __init kasan_init_hw_tags(void)
{
	const bool has_tags = system_supports_mte();

	redzone_init_hw_tags(has_tags);
	redzone_start();
	redzone_hw_options(&options);
	if (!redzone_on())
		return;
	static_branch_enable(&kasan_flag_enabled);
	kasan_redirect_strings();
	/* This CPU came before the parameters were read. */
	kasan_init_hw_tags_cpu();
}

void kasan_init_hw_tags_cpu(void)
{
	if (!static_branch_unlikely(&kasan_flag_enabled))
		return;
	if (smp_processor_id()) {
		redzone_hw_tags_join();
		redzone_seed_hw_tags();
	}
	kasan_enable_hw_tags();
}

void kasan_enable_hw_tags(void)
{
	switch (options.mode) {
	case KASAN_MODE_ASYNC:
		arch_enable_tag_checks_async();
		break;
	case KASAN_MODE_ASYMM:
		arch_enable_tag_checks_asymm();
		break;
	default:
		arch_enable_tag_checks_sync();
	}
	if (options.write_only && arch_enable_tag_checks_write_only()) {
		options.write_only = false;
		redzone_no_write_only();
		pr_warn("kasan.write_only=on: this CPU or this Linux cannot do that; reads are "
			"checked too\n");
	}
}
EXPORT_SYMBOL_GPL(kasan_enable_hw_tags);

/* The CPU has refused an access. @ip: the instruction. */
bool kasan_report(const void *addr, size_t size, bool is_write, unsigned long ip)
{
	return redzone_report_tag_fault((uintptr_t)addr, size, is_write, ip,
					(uintptr_t)__builtin_frame_address(0), true);
}

void kasan_report_async(void)
{
	/* Linux has cleared the bit already, and the runtime looks for itself. */
	write_sysreg_s(SYS_TFSR_EL1_TF1, SYS_TFSR_EL1);
	redzone_check_async_faults();
}

bool kasan_vmalloc_enabled(void)
{
	return IS_ENABLED(CONFIG_KASAN_VMALLOC) && options.vmalloc;
}
EXPORT_SYMBOL_GPL(kasan_vmalloc_enabled);

bool kasan_sync_fault_possible(void)
{
	return options.mode != KASAN_MODE_ASYNC;
}
EXPORT_SYMBOL_GPL(kasan_sync_fault_possible);

bool kasan_async_fault_possible(void)
{
	return options.mode != KASAN_MODE_SYNC;
}
EXPORT_SYMBOL_GPL(kasan_async_fault_possible);

bool kasan_write_only_enabled(void)
{
	return redzone_write_only_enabled();
}
EXPORT_SYMBOL_GPL(kasan_write_only_enabled);

void kasan_force_async_fault(void)
{
	arch_force_async_tag_fault();
}
EXPORT_SYMBOL_GPL(kasan_force_async_fault);

#endif
