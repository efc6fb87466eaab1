// SPDX-License-Identifier: MIT
/*
 * port.c - the functions of <kasan/port.h>: the running task, the console, how to stop. memory.c has those that look at
 * memory.
 *
 * They run inside allocations and reports, so they are not instrumented and wait for no lock of Linux's.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/panic.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/debug.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <trace/events/error_report.h>

#include <asm/sections.h>

#include "redzone.h"

#include "arch.h"
#include "internal.h"

unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	return flags;
}

void kasan_port_irq_restore(unsigned long flags)
{
	raw_local_irq_restore(flags);
}

unsigned int kasan_port_cpu(void)
{
	return raw_smp_processor_id();
}

void kasan_port_task(struct kasan_port_task *task)
{
	const unsigned long sp = (unsigned long)__builtin_frame_address(0);
	const unsigned long stack = (unsigned long)task_stack_page(current);
	unsigned long low, high;

	task->id = task_pid_nr(current);
	task->name = current->comm;
	if (sp - stack < THREAD_SIZE) {
		task->stack_start = stack;
		task->stack_end = stack + THREAD_SIZE;
	} else if (kasan_arch_irq_stack(sp, &low, &high)) {
		task->stack_start = low;
		task->stack_end = high;
	} else {
		task->stack_start = task->stack_end = 0;
	}
}

#if defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_SW_TAGS)
/* The depth is the task's, in interrupts too, as everywhere in Linux. */
unsigned int *kasan_port_task_depth(void)
{
	return &current->kasan_depth;
}

void kasan_enable_current(void)
{
	current->kasan_depth--;
}
EXPORT_SYMBOL(kasan_enable_current);

void kasan_disable_current(void)
{
	current->kasan_depth++;
}
EXPORT_SYMBOL(kasan_disable_current);
#endif

uint64_t kasan_port_clock(void)
{
	return local_clock();
}

uint64_t kasan_port_seed(void)
{
	/* The random number generator may not be seeded yet, and must not be waited for. */
	return random_get_entropy() * 0x9e3779b97f4a7c15ULL + kasan_port_cpu();
}

bool kasan_port_is_user(uintptr_t addr)
{
	/* On some architectures programs have an address space of their own. */
	return IS_ENABLED(CONFIG_ARCH_HAS_NON_OVERLAPPING_ADDRESS_SPACE) && current->mm &&
	       addr < TASK_SIZE;
}

bool kasan_port_is_code(uintptr_t pc)
{
	return __kernel_text_address(pc);
}

bool kasan_port_symbol(uintptr_t pc, char *buf, size_t size, struct redzone_symbol *sym)
{
	char name[KSYM_NAME_LEN];
	unsigned long bytes, offset;
	char *module = NULL;
	const char *found = kallsyms_lookup(pc, &bytes, &offset, &module, name);

	if (!found || !size)
		return false;
	strscpy(buf, found, size);
	sym->start = pc - offset;
	sym->size = bytes;
	sym->module = module;
	return true;
}

/* --- Reports --- */

void kasan_port_print(const char *text)
{
	pr_err("%s\n", text);
}

void kasan_port_panic(const char *why)
{
	panic("%s", why);
}

void kasan_port_print_banner(void)
{
	dump_stack_print_info(KERN_ERR);
}

void kasan_port_report_begin(void)
{
	/* A bug is found under any lock, and the console takes locks of its own. */
	lockdep_off();
	disable_trace_on_warning();
}

/* Whoever wants more than one report does not want to panic at the first. */
static bool is_multi_shot(void)
{
	const bool multi_shot = redzone_save_multi_shot();

	redzone_restore_multi_shot(multi_shot);
	return multi_shot;
}

void kasan_port_report_end(const struct redzone_report_info *info)
{
	lockdep_on();
	if (!info->is_async)
		trace_error_report_end(ERROR_DETECTOR_KASAN, info->addr);
	add_taint(TAINT_BAD_PAGE, LOCKDEP_NOW_UNRELIABLE);
	kasan_test_reported();
	if (panic_on_warn && !is_multi_shot()) {
		redzone_flush_reports();
		check_panic_on_warn("KASAN");
	}
}

#if (defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_SW_TAGS)) && \
	!defined(CONFIG_KASAN_SHADOW_PIECES)
/* Linux calls it for a fault that it dies of: the fault may have been that of a check, which found no shadow. */
void kasan_non_canonical_hook(unsigned long addr)
{
	const char *type = "maybe wild-memory-access";
	uintptr_t access;

	if (addr < CONFIG_KASAN_SHADOW_OFFSET || !redzone_shadow_fault_to_access(addr, &access))
		return;
	if (access < PAGE_SIZE)
		type = "null-ptr-deref";
	else if (access < TASK_SIZE)
		type = "probably user-memory-access";
	pr_alert("KASAN: %s in range [0x%016lx-0x%016lx]\n", type, access,
		 access + KASAN_GRANULE_MASK);
}
#endif
