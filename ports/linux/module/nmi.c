// SPDX-License-Identifier: MIT
/*
 * nmi.c - a module with bugs in NMIs, for tests: the code that they interrupt allocates and frees, and has the locks of
 * KASAN when they come.
 *
 * On arm64 a counter of cycles makes the NMIs, on x86_64 another CPU. At last it prints `redzone-nmi: N NMIs, N bugs`.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kasan.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/version.h>

#define BUGS	50
#define BETWEEN 200
#define SECONDS 120
/* Each way to an allocation is a stack of its own: KASAN stores most of them for the first time. */
#define TURNS 14

static atomic_t nmis, bugs;
static char *object;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
/* Linux 7 has one function in place of two. */
#define kasan_record_aux_stack_noalloc kasan_record_aux_stack

/* Linux 7 has objects that may be allocated and freed in an NMI. Return: false if there was none. */
static bool use_object(void)
{
	void *own = kmalloc_nolock(64, 0, NUMA_NO_NODE);

	kfree_nolock(own);
	return own;
}
#else
static bool use_object(void)
{
	return true;
}
#endif

static noinline void read_at(char *from, size_t at)
{
	OPTIMIZER_HIDE_VAR(from);
	(void)READ_ONCE(from[at]);
}

static void in_each_nmi(void)
{
	if (!in_nmi() || atomic_read(&bugs) >= BUGS)
		return;
	/* As task_work_add() does in an NMI. */
	kasan_record_aux_stack_noalloc(object);
	if (!use_object())
		return;
	if (atomic_inc_return(&nmis) < BETWEEN * (atomic_read(&bugs) + 1))
		return;
	/* Linux switches the reports of a task off while it clears pages, and with them those of interrupts. */
	if (current->kasan_depth)
		return;
	read_at(object, 64);
	atomic_inc(&bugs);
}

#ifdef CONFIG_X86_64

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

static struct task_struct *sender;

static int handle(unsigned int type, struct pt_regs *regs)
{
	in_each_nmi();
	return NMI_HANDLED;
}

static int send(void *unused)
{
	while (!kthread_should_stop()) {
		__apic_send_IPI_mask(cpumask_of(0), NMI_VECTOR);
		udelay(20 + get_random_u32_below(80));
		cond_resched();
	}
	return 0;
}

static int start_nmis(void)
{
	int error = register_nmi_handler(NMI_LOCAL, handle, 0, "redzone");

	if (error)
		return error;
	sender = kthread_run_on_cpu(send, NULL, 1, "nmi/%u");
	if (IS_ERR(sender))
		unregister_nmi_handler(NMI_LOCAL, "redzone");
	return PTR_ERR_OR_ZERO(sender);
}

static void stop_nmis(void)
{
	kthread_stop(sender);
	unregister_nmi_handler(NMI_LOCAL, "redzone");
}

#else

static struct perf_event *event;

static void handle(struct perf_event *counter, struct perf_sample_data *data, struct pt_regs *regs)
{
	in_each_nmi();
}

static int start_nmis(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attributes),
		.pinned = 1,
		/* Not a multiple of what a round of the loop takes. */
		.sample_period = 99991,
	};

	event = perf_event_create_kernel_counter(&attributes, 0, NULL, handle, NULL);
	return PTR_ERR_OR_ZERO(event);
}

static void stop_nmis(void)
{
	perf_event_release_kernel(event);
}

#endif

static void allocate(unsigned int turns, unsigned int depth);

static noinline void turn_left(unsigned int turns, unsigned int depth)
{
	allocate(turns, depth);
	/* Not the last call, so this function stays on the stack. */
	barrier();
}

static noinline void turn_right(unsigned int turns, unsigned int depth)
{
	allocate(turns, depth);
	barrier();
}

static __always_inline void allocate(unsigned int turns, unsigned int depth)
{
	if (!depth)
		kfree(kmalloc(64, GFP_KERNEL));
	else if (turns & 1)
		turn_left(turns >> 1, depth - 1);
	else
		turn_right(turns >> 1, depth - 1);
}

static int __init run(void)
{
	const unsigned long end = jiffies + SECONDS * HZ;
	unsigned int turns = 0;
	int error;

	object = kmalloc(64, GFP_KERNEL);
	if (!object)
		return -ENOMEM;
	set_cpus_allowed_ptr(current, cpumask_of(0));
	error = start_nmis();
	if (error)
		return error;
	while (atomic_read(&bugs) < BUGS && time_before(jiffies, end)) {
		allocate(turns++, TURNS);
		cond_resched();
	}
	stop_nmis();
	pr_info("redzone-nmi: %d NMIs, %d bugs\n", atomic_read(&nmis), atomic_read(&bugs));
	return 0;
}
module_init(run);

MODULE_DESCRIPTION("Has bugs in NMIs");
MODULE_LICENSE("Dual MIT/GPL");
