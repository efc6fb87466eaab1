/* SPDX-License-Identifier: MIT */
/*
 * kasan_inline.h - the hot functions of <kasan/port.h>. U-Boot runs on one processor with interrupts masked,
 * so there is nothing to disable.
 */
#ifndef UBOOT_KASAN_INLINE_H
#define UBOOT_KASAN_INLINE_H

static inline unsigned long kasan_port_irq_save(void)
{
	return 0;
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	(void)flags;
}

static inline unsigned int kasan_port_cpu(void)
{
	return 0;
}

#endif /* UBOOT_KASAN_INLINE_H */
