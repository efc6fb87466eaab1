// SPDX-License-Identifier: MIT
/*
 * irq_test.c - handlers of device interrupts and their threads. The device is the interrupt controller, which can be
 * told that an interrupt is pending.
 */
#include <kernel/arch.h>
#include <kernel/atomic.h>
#include <kernel/errno.h>
#include <kernel/interrupt.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kunit/test.h>

#include "fault_walk.h"

#ifdef CONFIG_PREEMPT_RT
#define FORCED true
#else
#define FORCED false
#endif

/* What the last call of a function found out about its context. */
struct place {
	atomic_t calls;
	bool in_hardirq, in_softirq, irqs_off, in_thread;
	unsigned int policy, rt_priority;
};

static struct device {
	unsigned int irq;
	struct place handler, thread;
	irqreturn_t answer;
	atomic_t stay, inside, overlaps;
} device;

static void look(struct place *place)
{
	place->in_hardirq = in_hardirq();
	place->in_softirq = in_softirq();
	place->irqs_off = irqs_disabled();
	place->in_thread = strncmp(current->comm, "irq/", 4) == 0;
	place->policy = current->policy;
	place->rt_priority = current->rt_priority;
	atomic_inc(&place->calls);
}

static irqreturn_t handler(unsigned int irq, void *dev)
{
	struct device *d = dev;

	if (irq == d->irq)
		look(&d->handler);
	return d->answer;
}

static irqreturn_t thread(unsigned int irq, void *dev)
{
	struct device *d = dev;

	if (atomic_inc_return(&d->inside) > 1)
		atomic_inc(&d->overlaps);
	if (irq == d->irq)
		look(&d->thread);
	/* A thread may sleep. */
	while (atomic_read(&d->stay))
		msleep(10);
	atomic_dec(&d->inside);
	return IRQ_HANDLED;
}

/* The last interrupt of the machine: no device has it. */
static int init(struct kunit *test)
{
	memset(&device, 0, sizeof(device));
	device.answer = IRQ_HANDLED;
	for (unsigned int irq = NR_IRQS; irq-- && !device.irq;) {
		if (arch_irq_exists(irq, true))
			device.irq = irq;
	}
	return device.irq ? 0 : -ENODEV;
}

static void expect_calls(struct kunit *test, const struct place *place, int n)
{
	for (int tries = 0; tries < 500 && atomic_read(&place->calls) < n; tries++)
		msleep(10);
	KUNIT_EXPECT_EQ(test, atomic_read(&place->calls), n);
}

/* The handler is installed. */
static void interrupt(struct kunit *test)
{
	if (arch_irq_set_pending(device.irq))
		return;
	free_irq(device.irq, &device);
	kunit_skip(test, "the interrupt controller takes interrupts from devices only");
}

/* A handler that never has a thread. */
static void in_the_interrupt(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, request_irq(device.irq, handler, IRQF_NO_THREAD, "test", &device), 0);
	for (int i = 1; i <= 5; i++) {
		interrupt(test);
		expect_calls(test, &device.handler, i);
	}
	KUNIT_EXPECT_TRUE(test, device.handler.in_hardirq);
	KUNIT_EXPECT_TRUE(test, device.handler.irqs_off);
	KUNIT_EXPECT_FALSE(test, device.handler.in_thread);
	free_irq(device.irq, &device);
}

/* A handler for which the kernel decides: a real-time kernel gives it a thread. */
static void as_the_kernel_likes(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, request_irq(device.irq, handler, 0, "test", &device), 0);
	for (int i = 1; i <= 5; i++) {
		interrupt(test);
		expect_calls(test, &device.handler, i);
	}
	KUNIT_EXPECT_EQ(test, device.handler.in_hardirq, !FORCED);
	KUNIT_EXPECT_EQ(test, device.handler.irqs_off, !FORCED);
	KUNIT_EXPECT_EQ(test, device.handler.in_thread, FORCED);
	if (FORCED) {
		KUNIT_EXPECT_TRUE(test, device.handler.in_softirq);
		KUNIT_EXPECT_EQ(test, device.handler.policy, SCHED_FIFO);
		KUNIT_EXPECT_EQ(test, device.handler.rt_priority, 50);
	}
	free_irq(device.irq, &device);
}

/* The interrupt stays masked while its thread is at work. What came meanwhile is not lost, and the thread runs again. */
static void only_a_thread(struct kunit *test)
{
	KUNIT_ASSERT_EQ(
		test, request_threaded_irq(device.irq, NULL, thread, IRQF_ONESHOT, "test", &device),
		0);
	atomic_set(&device.stay, 1);
	interrupt(test);
	expect_calls(test, &device.thread, 1);
	interrupt(test);
	interrupt(test);
	msleep(30);
	KUNIT_EXPECT_EQ(test, atomic_read(&device.thread.calls), 1);
	atomic_set(&device.stay, 0);
	expect_calls(test, &device.thread, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&device.overlaps), 0);
	KUNIT_EXPECT_FALSE(test, device.thread.in_hardirq);
	KUNIT_EXPECT_FALSE(test, device.thread.in_softirq);
	KUNIT_EXPECT_FALSE(test, device.thread.irqs_off);
	KUNIT_EXPECT_TRUE(test, device.thread.in_thread);
	KUNIT_EXPECT_EQ(test, device.thread.policy, SCHED_FIFO);
	KUNIT_EXPECT_EQ(test, device.thread.rt_priority, 50);
	free_irq(device.irq, &device);
}

/* The handler decides whether its thread has work. */
static void handler_and_thread(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, request_threaded_irq(device.irq, handler, thread, 0, "test", &device),
			0);
	interrupt(test);
	expect_calls(test, &device.handler, 1);
	device.answer = IRQ_NONE;
	interrupt(test);
	expect_calls(test, &device.handler, 2);
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&device.thread.calls), 0);
	device.answer = IRQ_WAKE_THREAD;
	interrupt(test);
	expect_calls(test, &device.thread, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&device.handler.calls), 3);
	KUNIT_EXPECT_EQ(test, device.handler.in_hardirq, !FORCED);
	KUNIT_EXPECT_FALSE(test, device.thread.in_hardirq);
	KUNIT_EXPECT_FALSE(test, device.thread.in_softirq);
	free_irq(device.irq, &device);
}

/* free_irq() returns when the thread has ended; then the number is free for another. */
static int free_it(void *unused)
{
	free_irq(device.irq, &device);
	return 0;
}

static void freeing(struct kunit *test)
{
	struct task *task;
	int value = -1;

	KUNIT_ASSERT_EQ(
		test, request_threaded_irq(device.irq, NULL, thread, IRQF_ONESHOT, "test", &device),
		0);
	KUNIT_EXPECT_EQ(test, request_irq(device.irq, handler, 0, "second", &device), -EBUSY);
	atomic_set(&device.stay, 1);
	interrupt(test);
	expect_calls(test, &device.thread, 1);
	task = kthread_run(free_it, NULL, "free_irq");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_FALSE(test, kthread_join_timeout(task, 10, &value));
	atomic_set(&device.stay, 0);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&device.inside), 0);
	KUNIT_EXPECT_EQ(test, request_irq(device.irq, handler, IRQF_NO_THREAD, "third", &device),
			0);
	interrupt(test);
	expect_calls(test, &device.handler, 1);
	free_irq(device.irq, &device);
}

static void refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, request_irq(NR_IRQS, handler, 0, "test", NULL), -EINVAL);
	/* Between CPUs, or nothing. */
	KUNIT_EXPECT_EQ(test, request_irq(0, handler, IRQF_NO_THREAD, "test", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, request_irq(device.irq, NULL, 0, "test", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, request_threaded_irq(device.irq, NULL, thread, 0, "test", NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(
		test,
		request_threaded_irq(device.irq, handler, thread, IRQF_NO_THREAD, "test", NULL),
		-EINVAL);
}

static int request_and_free(void)
{
	int err = request_threaded_irq(device.irq, NULL, thread, IRQF_ONESHOT, "test", &device);

	if (!err)
		free_irq(device.irq, &device);
	return err;
}

static void without_memory(struct kunit *test)
{
	fault_walk_own(test, request_and_free, 2);
}

KUNIT_CASES(irq_test_cases, KUNIT_CASE(in_the_interrupt), KUNIT_CASE(as_the_kernel_likes),
	    KUNIT_CASE(only_a_thread), KUNIT_CASE(handler_and_thread), KUNIT_CASE(freeing),
	    KUNIT_CASE(refused), KUNIT_CASE(without_memory));

KUNIT_SUITE(irq, irq_test_cases, .init = init);
