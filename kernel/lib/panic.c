/* SPDX-License-Identifier: MIT */
/* panic.c - stops the system after an error, and prints warnings. */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/host.h>
#include <kernel/kallsyms.h>
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/stacktrace.h>

#define MESSAGE_MAX 512

bool panic_on_warn;
bool panic_on_oops;
core_param("panic_on_warn", panic_on_warn, bool, "0|1", "panic at a warning or a KASAN report");
core_param("panic_on_oops", panic_on_oops, bool, "0|1",
	   "panic instead of ending the faulting thread");

/* The CPU that panics, plus 1; 0 if none does. */
static unsigned int panic_cpu;

bool panic_in_progress(void)
{
	return __atomic_load_n(&panic_cpu, __ATOMIC_RELAXED) != 0;
}

void vpanic(const char *fmt, va_list args)
{
	static char message[MESSAGE_MAX];
	unsigned int cpu, nobody = 0;
	size_t len;

	local_irq_disable();
	/*
	 * A report during the panic would need locks that the stopped CPUs may hold for ever, so turn
	 * reports off. This call reports faults that hardware has only noted so far. If such a report
	 * panics, it does so first, and not inside this panic.
	 */
	if (!panic_in_progress())
		kasan_disable_current();
	cpu = smp_processor_id();
	if (!__atomic_compare_exchange_n(&panic_cpu, &nobody, cpu + 1, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED)) {
		if (nobody == cpu + 1) {
			/* panic() itself is broken: do not format a message or print a trace. */
			console_write_line("Kernel panic - not syncing: panic inside panic()");
			machine_exit(EXIT_STATUS_CRASH);
		}
		/* Another CPU was first, and stops this one. */
		for (;;)
			cpu_relax();
	}

	len = (size_t)vscnprintf(message, sizeof(message), fmt, args);
	if (len && message[len - 1] == '\n')
		message[len - 1] = '\0';
	console_bust();
	pr_emerg("Kernel panic - not syncing: %s\n", message);
	dump_stack();
	smp_send_stop();
	pr_emerg("---[ end Kernel panic - not syncing: %s ]---\n", message);
	machine_exit(kasan_reports_seen() ? EXIT_STATUS_KASAN : EXIT_STATUS_CRASH);
}

void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vpanic(fmt, args);
}

void bug_print(const char *file, int line)
{
	pr_crit("------------[ cut here ]------------\n"
		"kernel BUG at %s:%d!\n",
		file, line);
}

void warn_slowpath(const char *file, int line, const char *fmt, ...)
{
	void *caller = __builtin_return_address(0);
	char message[MESSAGE_MAX];
	unsigned long flags;
	va_list args;

	message[0] = '\0';
	if (fmt) {
		va_start(args, fmt);
		vsnprintf(message, sizeof(message), fmt, args);
		va_end(args);
	}

	/* Print one block on the console. While its lock is held no report may start, not even of
	 * faults that hardware has only noted so far: a CPU that holds the lock of the reports may be
	 * waiting for the console. */
	kasan_disable_current();
	flags = console_lock();
	pr_warn("------------[ cut here ]------------\n"
		"WARNING: CPU: %u PID: %d at %s:%d %pB\n",
		smp_processor_id(), current->pid, file, line, caller);
	if (message[0])
		pr_warn("%s", message);
	dump_stack();
	pr_warn("---[ end trace 0000000000000000 ]---\n");
	console_unlock(flags);
	kasan_enable_current();
	if (panic_on_warn)
		panic("kernel: panic_on_warn set ...");
}
