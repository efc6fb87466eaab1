/* SPDX-License-Identifier: MIT */
/*
 * interrupt.h - handlers of device interrupts, and their threads.
 *
 * A handler runs with interrupts off, on top of the interrupted task. With a thread function, it may leave the work to the
 * thread irq/NUMBER-NAME, a real-time task of priority 50, which may sleep. In a real-time kernel all handlers run in such
 * threads, apart from those with IRQF_NO_THREAD.
 */
#ifndef KERNEL_INTERRUPT_H
#define KERNEL_INTERRUPT_H

#include <kernel/arch.h>
#include <kernel/types.h>

/** enum irqreturn - what a handler says: it was not its device; done; the thread is to go on */
typedef enum irqreturn { IRQ_NONE, IRQ_HANDLED, IRQ_WAKE_THREAD } irqreturn_t;

/** irq_handler_t - a handler, or the function of its thread. @dev: as given to request_irq(). */
typedef irqreturn_t (*irq_handler_t)(unsigned int irq, void *dev);

/* The interrupt stays masked until its thread has run: for devices that hold the line until the thread asks them. A
 * thread function without a handler needs it. */
#define IRQF_ONESHOT 1U
/* The handler is never run in a thread: the tick, for example. It may take no lock that sleeps in real-time kernels. */
#define IRQF_NO_THREAD 2U

/**
 * request_threaded_irq() - handle interrupt @irq from now on
 * @handler: called with interrupts off; NULL: only the thread.
 * @thread_fn: called in the thread if @handler returns IRQ_WAKE_THREAD; NULL: there is no thread.
 * @flags: IRQF_*. @name: of the device, for the thread. @dev: for the two functions and free_irq().
 *
 * Shared interrupts of the machine go to CPU 0. A private one is enabled on the calling CPU only, and can have no
 * thread. May sleep.
 *
 * Return: 0; -EINVAL: no such interrupt, or functions and flags that do not fit together; -EBUSY: it has a handler;
 * -ENOMEM.
 */
int request_threaded_irq(unsigned int irq, irq_handler_t handler, irq_handler_t thread_fn,
			 unsigned int flags, const char *name, void *dev);

/** request_irq() - the same without a thread, unless the kernel gives it one. */
static inline int request_irq(unsigned int irq, irq_handler_t handler, unsigned int flags,
			      const char *name, void *dev)
{
	return request_threaded_irq(irq, handler, NULL, flags, name, dev);
}

/** free_irq() - take the handler of shared interrupt @irq away, and wait until it and its thread have ended. @dev: the
 *  one of request_irq(). May sleep. */
void free_irq(unsigned int irq, void *dev);

#endif
