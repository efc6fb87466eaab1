/* SPDX-License-Identifier: MIT */
/*
 * port.c - the functions of the KASAN port: the running task, where to print, how to stop. It also counts the reports
 * for the kernel. Memory and objects are in memory.c, what runs on every allocation in port_inline.h.
 *
 * Not instrumented, because all of it runs inside reports or allocations.
 */
#include <kasan/config.h>
#include <kernel/arch.h>
#include <kernel/kasan_port.h>
#include <kernel/stacktrace.h>
#include <kernel/types.h>

static unsigned long reports_seen, reports_forgiven;

unsigned long kasan_reports_seen(void)
{
	unsigned long forgiven = __atomic_load_n(&reports_forgiven, __ATOMIC_RELAXED);
	unsigned long seen = __atomic_load_n(&reports_seen, __ATOMIC_RELAXED);

	return seen > forgiven ? seen - forgiven : 0;
}

unsigned long kasan_reports_total(void)
{
	return __atomic_load_n(&reports_seen, __ATOMIC_RELAXED);
}

void kasan_reports_forgive(unsigned long n)
{
	__atomic_fetch_add(&reports_forgiven, n, __ATOMIC_RELAXED);
}

#if defined(CONFIG_KASAN) || defined(KASAN_ALONE)

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kernel/bug.h>
#include <kernel/console.h>
#include <kernel/kallsyms.h>
#include <kernel/module.h>
#include <kernel/preempt.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/task.h>
#include <kernel/time.h>
#include <asm/current.h>

#include "internal.h"

void kasan_port_task(struct kasan_port_task *task)
{
	task->id = (uint32_t)current->pid;
	task->name = current->comm;
	if (!current_stack(&task->stack_start, &task->stack_end))
		task->stack_start = task->stack_end = 0;
	task->trace_end = (uintptr_t)current->irq_frame;
}

unsigned int *kasan_port_task_depth(void)
{
	return in_task() ? &current->kasan_depth : NULL;
}

uint64_t kasan_port_clock(void)
{
	return clock_ns();
}

/* An address in the lower half is a user address only if the running task has user memory. In a
 * kernel thread it is just a wild pointer. */
bool kasan_port_is_user(uintptr_t addr)
{
	return current->mm && addr < TASK_SIZE;
}

/* Without random.seed=: where tags start in this boot. */
static u64 boot_seed;

uint64_t kasan_port_seed(void)
{
	return random_seed ^ boot_seed;
}

#ifdef CONFIG_KASAN_TAGS
void kasan_choose_seed(void)
{
	const char *source = "random.seed=";
	u64 seed = 0;

	if (!random_seed_given)
		seed = arch_random_seed(&source);
	boot_seed = seed;
	if (!kasan_on())
		return;
	if (source)
		pr_info("kasan: tags start from %s\n", source);
	else
		pr_info("kasan: tags start from the time since reset, so they can be guessed: "
			"there is "
			"neither rng-seed in the device tree nor RNDR\n");
}
#endif

static kasan_line_tap_fn line_tap;

kasan_line_tap_fn kasan_line_tap(kasan_line_tap_fn tap)
{
	return __atomic_exchange_n(&line_tap, tap, __ATOMIC_ACQ_REL);
}

void kasan_port_print(const char *text)
{
	const kasan_line_tap_fn tap = __atomic_load_n(&line_tap, __ATOMIC_ACQUIRE);

	if (!tap || tap(text))
		console_write_line(text);
}

void kasan_port_panic(const char *why)
{
	panic("%s", why);
}

bool kasan_port_symbol(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym)
{
	/* Interrupts are off. Reports call this one at a time, but kasan.ignore= calls it before
	 * them, on any CPU. */
	static struct module_place places[NR_CPUS];
	struct module_place *const place = &places[smp_processor_id()];
	unsigned long start, bytes;
	const char *name;
	size_t n = 0;

	if (!size)
		return false;
	sym->module = NULL;
	if (!kallsyms_lookup(pc, &name, &start, &bytes)) {
		if (!module_lookup(pc, place) || place->part != MODULE_TEXT || !place->name[0])
			return false;
		name = place->name;
		start = place->start;
		bytes = place->size;
		sym->module = place->module;
	}
	for (; name[n] && n < size - 1; n++)
		buf[n] = name[n];
	buf[n] = '\0';
	sym->start = start;
	sym->size = bytes;
	return true;
}

bool kasan_port_variable(uintptr_t addr, char *buf, size_t size)
{
	const char *name;
	size_t n = 0;

	if (!kallsyms_variable(addr, &name))
		return module_variable(addr, buf, size);
	for (; name[n] && n < size - 1; n++)
		buf[n] = name[n];
	buf[n] = '\0';
	return n != 0;
}

bool kasan_port_is_interrupted(uintptr_t previous)
{
	return arch_is_interrupted(previous);
}

void kasan_port_print_banner(void)
{
	kasan_report_line("CPU: %u PID: %u Comm: %s", smp_processor_id(),
			  (unsigned int)current->pid, current->comm);
}

/*
 * The reporting CPU owns the console for the whole report. The runtime changes the interrupt state
 * meanwhile, so the state that console_lock() returns is not used, and preemption is off because the
 * task must not change its CPU while it owns the console.
 */
void kasan_port_report_begin(void)
{
	preempt_disable();
	(void)console_lock();
}

void kasan_port_report_end(const struct kasan_report_info *info)
{
	unsigned long flags;

	__atomic_fetch_add(&reports_seen, 1, __ATOMIC_RELAXED);
#if defined(CONFIG_KASAN) && !defined(CONFIG_KASAN_HW_TAGS)
	/* The compiler's checks come before the access. With hardware tags it has been done, or is not done at all. */
	if (!info->is_free && !info->is_async && !info->is_undefined)
		kasan_note_report(info->addr, info->size);
#endif
	flags = arch_local_irq_save();
	console_unlock(flags);
	preempt_enable();
	/* If the thread holds a lock, it goes on, and ends when it releases the last one. */
	if (current->kflags & PF_ONE_REPORT) {
		if (preemptible() && !holds_rtlock()) {
			kasan_flush_reports();
			kasan_call_death_callback();
			make_task_dead();
		}
		kthread_kill(current);
	}
	if (panic_on_warn) {
		kasan_flush_reports();
		kasan_call_death_callback();
		panic("KASAN: panic_on_warn set ...");
	}
}

#endif
