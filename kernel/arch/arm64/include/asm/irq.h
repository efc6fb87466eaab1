/* SPDX-License-Identifier: MIT */
/* irq.h - interrupt handlers by number. */
#ifndef ASM_IRQ_H
#define ASM_IRQ_H

#include <kernel/types.h>
#include <asm/irqflags.h>
#include <asm/ptrace.h>

/* GIC numbers: 0-15 between CPUs, 16-31 private to a CPU, 32 and up shared. */
#define NR_IRQS 1020

typedef void (*irq_handler_t)(unsigned int irq, void *arg);

/**
 * request_irq() - call fn(irq, arg) for interrupt @irq, with interrupts off, on the interrupted
 * thread's stack
 *
 * Shared interrupts go to CPU 0. A private one is enabled on the calling CPU only.
 * Return: 0; -EINVAL: no such interrupt; -EBUSY: taken.
 */
int request_irq(unsigned int irq, irq_handler_t fn, void *arg);

/** free_irq() - undo request_irq(). */
void free_irq(unsigned int irq);

/** init_IRQ() - find and start the interrupt controller. Boot CPU, once. */
void init_IRQ(void);

#endif
