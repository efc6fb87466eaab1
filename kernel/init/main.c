/* SPDX-License-Identifier: MIT */
/*
 * main.c - start_kernel() starts the parts of the kernel in order. kernel_init() then runs programs,
 * modules or tests, and stops the machine with an exit status.
 */
#include <kasan/kasan.h>
#include <kasan/version.h>
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/host.h>
#include <kernel/initrd.h>
#include <kernel/kasan_port.h>
#include <kernel/fault_inject.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/lockdep.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/param.h>
#include <kernel/percpu.h>
#include <kernel/program.h>
#include <kernel/rcupdate.h>
#include <kernel/sample.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/smp.h>
#include <kernel/softirq.h>
#include <kernel/string.h>
#include <kernel/workqueue.h>
#include <kunit/test.h>

/* The most arguments of the program, including its name. */
#define ARGS_MAX 256

#define COMMAND_LINE_MAX 4096

#ifdef CONFIG_KASAN_GENERIC
#define MODE_NAME "generic"
#elif defined(CONFIG_KASAN_SW_TAGS)
#define MODE_NAME "sw_tags"
#elif defined(CONFIG_KASAN_HW_TAGS)
#define MODE_NAME "hw_tags"
#else
#define MODE_NAME "off"
#endif

#if defined(CONFIG_KASAN_INLINE)
#define INSTRUMENTATION_NAME ", inline"
#elif defined(CONFIG_KASAN_OUTLINE)
#define INSTRUMENTATION_NAME ", outline"
#else
#define INSTRUMENTATION_NAME ""
#endif

#ifdef __clang__
#define COMPILER_NAME                                                                           \
	"clang " __stringify(__clang_major__) "." __stringify(__clang_minor__) "." __stringify( \
		__clang_patchlevel__)
#else
#define COMPILER_NAME                                                                 \
	"gcc " __stringify(__GNUC__) "." __stringify(__GNUC_MINOR__) "." __stringify( \
		__GNUC_PATCHLEVEL__)
#endif

static char program_name_default[] = "main";
static char *program_name = program_name_default;
core_param("program.name", program_name, charp, "a name", "argv[0] and thread name of the program");

/* A copy: the text in the device tree cannot be split in place, and the message at boot prints it
 * whole. */
static char command_line[COMMAND_LINE_MAX];
static char *program_args;

/* The bounds of .init_array, from the linker script. With KASAN it has the registration of every
 * global. Constructors of programs are not in it: they may need memory, and run later in the
 * program's thread. */
extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);

static void run_constructors(void)
{
	for (void (*const *ctor)(void) = __init_array_start; ctor < __init_array_end; ctor++)
		(*ctor)();
}

static int program_status(int value)
{
	/* Objects that are never freed are compared now, or not at all. */
	kasan_cache_check_slack(NULL);
	/* Reports of KASAN and leaks count first, then a crash in any thread, then the program's own result. */
	if (kasan_reports_seen() || program_leaks_seen())
		return EXIT_STATUS_KASAN;
	if (program_was_killed() || READ_ONCE(oops_count))
		return EXIT_STATUS_CRASH;
	return value ? EXIT_STATUS_PROGRAM : EXIT_STATUS_OK;
}

static int run_the_program(void)
{
	static char *argv[ARGS_MAX + 1];
	int argc;

	argv[0] = program_name;
	argc = split_args(program_args, argv + 1, ARGS_MAX - 1);
	if (argc < 0) {
		pr_err("program: more than %d arguments\n", ARGS_MAX - 1);
		return EXIT_STATUS_PROGRAM;
	}
	return program_status(run_program(argc + 1, argv));
}

/* Load the modules of module.load=, run the program, if there is one, and unload the modules. */
static int run_with_modules(void)
{
	int load = load_wanted_modules();
	int status = redzone_program_main ? run_the_program() : EXIT_STATUS_OK;
	int unload = unload_wanted_modules();

	if (kasan_reports_seen() || program_leaks_seen())
		return EXIT_STATUS_KASAN;
	if (READ_ONCE(oops_count) || load == -ETIMEDOUT || unload == -ETIMEDOUT)
		return EXIT_STATUS_CRASH;
	return !status && (load || unload) ? EXIT_STATUS_PROGRAM : status;
}

static int run_the_programs(void)
{
	static char *argv[ARGS_MAX + 1];
	int argc = split_args(program_args, argv + 1, ARGS_MAX - 1);

	if (argc < 0) {
		pr_err("program: more than %d arguments\n", ARGS_MAX - 1);
		return EXIT_STATUS_PROGRAM;
	}
	if (run_programs(argc + 1, argv))
		return EXIT_STATUS_OK;
	if (kasan_reports_seen() || program_leaks_seen())
		return EXIT_STATUS_KASAN;
	return READ_ONCE(oops_count) ? EXIT_STATUS_CRASH : EXIT_STATUS_PROGRAM;
}

/* Print how many page allocations were tagged so far, unless all were. @when: as in "of the boot". */
static void print_sampling(const char *when)
{
#ifdef CONFIG_KASAN_HW_TAGS
	struct kasan_sample_stats stats;

	kasan_sample_stats(&stats);
	if (stats.interval == 1 || !stats.allocations)
		return;
	pr_info("kasan: page_alloc.sample=%u: %lu of %lu page allocations %s are tagged (%lu %%)\n",
		stats.interval, stats.allocations - stats.skipped, stats.allocations, when,
		(stats.allocations - stats.skipped) * 100 / stats.allocations);
#endif
}

static int run_the_tests(void)
{
	unsigned long before = kasan_reports_seen();
	bool passed;

	fault_inject_start();
	passed = kunit_run_all();
	fault_inject_pause();

	/* Reports during the run were either provoked by a test case or made it fail, so KUnit has
	 * counted them. */
	kasan_reports_forgive(kasan_reports_seen() - before);
	if (kasan_reports_seen())
		return EXIT_STATUS_KASAN;
	return passed ? EXIT_STATUS_OK : EXIT_STATUS_PROGRAM;
}

static int kernel_init(void *unused)
{
	int status = EXIT_STATUS_OK;

	if (softirq_init_cpu(0))
		panic("no memory for the soft interrupts' thread of the boot CPU");
	smp_boot_secondaries();
	if (num_online_cpus() > 1)
		pr_info("smp: %u CPUs online\n", num_online_cpus());
	initrd_init();
	print_sampling("of the boot");

	if (modules_wanted())
		status = run_with_modules();
	else if (redzone_program_main)
		status = run_the_program();
	else if (have_programs())
		status = run_the_programs();
	else if (kunit_enabled())
		status = run_the_tests();

	if ((status == EXIT_STATUS_OK || status == EXIT_STATUS_PROGRAM) && lockdep_reports_seen())
		status = EXIT_STATUS_LOCKDEP;
	print_sampling("in all");
	lock_events_print();
	/* Printed with any loglevel=: without this line the end would look like a crash. */
	printk("reboot: System halted\n");
	machine_exit(status);
}

void start_kernel(void)
{
	const char *boot_args;
	struct task *init;
	bool could_check;

	lockdep_init();
	/* Interrupts are off here, but some of the functions below switch them on after a lock. No thread may run before
	 * this code has become the idle task: it would be one that might_sleep() and the scheduler take for the boot. */
	setup_arch(&boot_args);
	host_init();
	preempt_disable();
	run_constructors();
	percpu_init();

	pr_info("Redzone reference kernel " REDZONE_VERSION " (" CONFIG_ARCH_NAME
		", " MODE_NAME INSTRUMENTATION_NAME ", " COMPILER_NAME ", %u CPUs, %lu MiB)\n",
		nr_cpu_ids, (unsigned long)(memblock_phys_mem_size() >> 20));
	pr_info("Kernel command line: %s\n", boot_args);
	if (strscpy(command_line, boot_args, sizeof(command_line)) < 0)
		pr_warn("Kernel command line cut to %zu characters\n", sizeof(command_line) - 1);
	arch_kasan_probe(boot_args);
	could_check = kasan_on();
	program_args = parse_params(command_line);
	/* Printed with any loglevel=: it tells tools that a run without reports proves nothing. */
	if (could_check && !kasan_on())
		printk("kasan: kasan=off: KASAN is off, nothing is checked\n");
	kasan_choose_seed();
	arch_kasan_enable();

	/* kasan=off has been parsed: it decides whether RAM gets its own shadow. */
	kasan_shadow_init();
	mm_init();
	if (scs_init_cpu(0))
		panic("no memory for the shadow call stacks of the boot CPU");
	kasan_init(totalram_pages() << PAGE_SHIFT);
	sample_init();
	sched_init();
	rcu_init();
	workqueue_init();
	init_IRQ();
	time_init();

	init = kthread_create(kernel_init, NULL, "kernel_init");
	if (IS_ERR(init))
		panic("no memory for the first thread");
	wake_up_process(init);
	local_irq_disable();
	preempt_enable_no_resched();
	cpu_startup_entry();
}
