/* SPDX-License-Identifier: MIT */
/* scs_port.h - the POSIX port with a shadow call stack that a test fills itself: no compiler keeps one on x86_64. */
#ifndef SCS_PORT_H
#define SCS_PORT_H

#include <stdint.h>

unsigned long kasan_port_irq_save(void);
void kasan_port_irq_restore(unsigned long flags);
unsigned int kasan_port_cpu(void);

/* A thread's own. 0: it has none. */
extern __thread uintptr_t unit_scs_top, unit_scs_base;

#define KASAN_PORT_HAS_TASK_ID
static inline uint32_t kasan_port_task_id(void)
{
	return 7;
}

#define KASAN_PORT_HAS_SHADOW_STACK
static inline uintptr_t kasan_port_scs_top(void)
{
	return unit_scs_top;
}

static inline uintptr_t kasan_port_scs_base(uintptr_t top)
{
	(void)top;
	return unit_scs_base;
}

#endif /* SCS_PORT_H */
